/* SPDX-License-Identifier: Apache-2.0 */
/* A gate from the request to the verdict: a stored run, or stored counts, against manifest, policy and baseline. */
#ifndef ASSAY_DRIVE_GATING_H
#define ASSAY_DRIVE_GATING_H

#include <stdbool.h>
#include <stdint.h>

#include "drive/request.h"
#include "drive/watch.h"
#include "model/gate_report.h"

/* All-zero but for `db` is the default. Strings are borrowed. */
struct assay_gate_request {
	const char *db;
	const char *suite;             /* NULL: that of the run, or the default one */
	int64_t run_id;                /* 0: the newest of the suite */
	const char *manifest, *policy; /* NULL: those under baselines/ */
	const char *baseline;          /* NULL: the newest of this machine and suite, else the last comparable run */
	const char *exact_file;        /* recorded counts; NULL: exact/SUITE.json in the folder of baselines */
	bool allow_no_baseline;        /* where nothing is there to compare with, judge the rest */
	bool strict;                   /* INCONCLUSIVE fails, too */
	enum assay_take take;          /* counts: judge the newest counts of the suite alone */
};

/*
 * Judge; @report is all-zero before and to be released in either case. Warns where counts were not judged, with the
 * command that changes it. ASSAY_EUSAGE where there is no run, manifest or baseline of that name.
 */
int assay_gate(const struct assay_gate_request *q, const struct assay_watch *w, struct assay_gate_report *report,
	       struct assay_err *err);

#endif
