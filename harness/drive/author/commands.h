/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that follow `assay new`: compile, verify, run, keep, compare. */
#ifndef ASSAY_DRIVE_AUTHOR_COMMANDS_H
#define ASSAY_DRIVE_AUTHOR_COMMANDS_H

#include "drive/author/request.h"
#include "model/catalog.h"

/* What was decided about the files that are written. */
struct assay_new_plan {
	const struct assay_new_request *q;
	const struct assay_catalog_op *op; /* NULL: it is new */
	const char *stem;                  /* the file without ".c" */
	const char *suite;                 /* one that runs what is new; NULL: none does */
	const char *bench_dir;             /* that the commands have to name; NULL: none */
	const int64_t *axes;               /* of one shape of an op that is not new */
};

/* Put the commands of @r together. ASSAY_ENOMEM; ASSAY_ENOTFOUND where this program has no headers beside it. */
int assay_new_commands(const struct assay_new_plan *w, struct assay_new_result *r, struct assay_err *err);

#endif
