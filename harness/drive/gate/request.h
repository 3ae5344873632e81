/* SPDX-License-Identifier: Apache-2.0 */
/* The request for a gate. */
#ifndef ASSAY_DRIVE_GATE_REQUEST_H
#define ASSAY_DRIVE_GATE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "drive/request.h"

/* All-zero but for `db` is the default. Strings are borrowed. */
struct assay_gate_request {
	const char *db;
	const char *suite;             /* NULL: that of the run, or the default one */
	int64_t run_id;                /* 0: the newest of the suite */
	uint64_t begun_ns;             /* unix time: judge the run as if it had begun then; 0: as it is stored */
	const char *manifest, *policy; /* NULL: those under baselines/ */
	const char *baseline;          /* NULL: the newest of this machine and suite, else the last comparable run */
	const char *exact_file;        /* recorded counts; NULL: exact/SUITE.json in the folder of baselines */
	bool allow_no_baseline;        /* where nothing is there to compare with, judge the rest */
	bool strict;                   /* INCONCLUSIVE fails, too */
	bool suspects_fail;            /* of those, what is likely slower than its margin does */
	enum assay_take take;          /* counts: judge the newest counts of the suite alone */
};

#endif
