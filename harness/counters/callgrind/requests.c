/* SPDX-License-Identifier: Apache-2.0 */
/* What the measured program says to valgrind: a few instructions that do nothing outside of it. */
#include "counters/callgrind/callgrind.h"

#if ASSAY_VALGRIND
#include <valgrind/callgrind.h>
#else
#define RUNNING_ON_VALGRIND             0
#define CALLGRIND_START_INSTRUMENTATION ((void)0)
#define CALLGRIND_ZERO_STATS            ((void)0)
#define CALLGRIND_DUMP_STATS_AT(name)   ((void)0)
#define CALLGRIND_STOP_INSTRUMENTATION  ((void)0)
#endif

bool assay_callgrind_inside(void)
{
	return RUNNING_ON_VALGRIND != 0;
}

void assay_callgrind_start(void)
{
	CALLGRIND_START_INSTRUMENTATION;
}

void assay_callgrind_zero(void)
{
	CALLGRIND_ZERO_STATS;
}

void assay_callgrind_dump(bool check)
{
	if (check)
		CALLGRIND_DUMP_STATS_AT(ASSAY_CALLGRIND_CHECK);
	else
		CALLGRIND_DUMP_STATS_AT(ASSAY_CALLGRIND_RUN);
}

void assay_callgrind_stop(void)
{
	CALLGRIND_STOP_INSTRUMENTATION;
}
