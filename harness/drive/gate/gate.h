/* SPDX-License-Identifier: Apache-2.0 */
/* A gate from the request to the verdict: a stored run, or stored counts, against manifest, policy and baseline. */
#ifndef ASSAY_DRIVE_GATE_GATE_H
#define ASSAY_DRIVE_GATE_GATE_H

#include "base/err.h"
#include "drive/gate/request.h"
#include "drive/watch.h"
#include "judge/policy.h"
#include "judge/stored.h"
#include "model/gate_report.h"
#include "model/history.h"
#include "model/result.h"

struct assay_store;

/*
 * Judge; @report is all-zero before and to be released in either case. Warns where counts were not judged, with the
 * command that changes it. ASSAY_EUSAGE where there is no run, manifest or baseline of that name.
 */
int assay_gate(const struct assay_gate_request *q, const struct assay_watch *w, struct assay_gate_report *report,
	       struct assay_err *err);

/* ---- segments ---- */

/* The stored runs that a gate without a named baseline judges by. */

struct assay_segments {
	struct assay_segment *v; /* one for each result of the run, malloc'ed; NULL: there is at most one run before */
	struct assay_gone *gone; /* of an imported run: what the runs that were looked into have beside; malloc'ed */
	size_t n_gone;
	char name[160]; /* of those without a change of their own, to be shown */
};

/* Load the segments of the cases of @run. Release @out in either case. */
int assay_segments_load(struct assay_store *store, const struct assay_run *run, const struct assay_policy *policy,
			struct assay_segments *out, struct assay_err *err);
void assay_segments_release(struct assay_segments *s);

/* The runs that a gate of @run looks into. @ids is malloc'ed; untouched on error. */
int assay_segments_runs(struct assay_store *store, const struct assay_run *run, const struct assay_policy *policy,
			int64_t **ids, size_t *n, struct assay_err *err);

/* ---- baselines ---- */

/* Named baselines in a database, and the committed file of exact counts. */

/* Add the run *id (0: the newest finished one, which *id then is) to baseline @name of its suite and machine. */
int assay_baseline_save(const char *db, const char *name, int64_t *id, struct assay_err *err);
/* Its runs are kept. */
int assay_baseline_drop(const char *db, const char *name, struct assay_err *err);
/*
 * Those called @name; NULL: all. ASSAY_EUSAGE where none is called so. Free *out with
 * assay_baseline_infos_release(*out, *n).
 */
int assay_baseline_list(const char *db, const char *name, struct assay_baseline_info **out, size_t *n,
			struct assay_err *err);

struct assay_baseline_update {
	char path[4096 + ASSAY_NAME_MAX + 16]; /* of the file */
	size_t n_cases;                        /* recorded */
	size_t n_kept;                         /* recorded earlier and not counted this time; none with @prune */
};
/* Record the counts that @q chooses (suite, run_id, exact_file) in the file. */
int assay_baseline_update(const struct assay_gate_request *q, bool prune, struct assay_baseline_update *out,
			  struct assay_err *err);

#endif
