/* SPDX-License-Identifier: Apache-2.0 */
/* Alone in its file, so that a test can put a clock of its own in its place. */
#include "base/monotonic.h"

#include <time.h>

uint64_t assay_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
