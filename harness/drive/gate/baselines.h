/* SPDX-License-Identifier: Apache-2.0 */
/* Named baselines in a database, and the committed file of exact counts. */
#ifndef ASSAY_DRIVE_GATE_BASELINES_H
#define ASSAY_DRIVE_GATE_BASELINES_H

#include "drive/gate/request.h"
#include "model/history.h"

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
