/* SPDX-License-Identifier: Apache-2.0 */
/* What was done to a database as a whole. */
#ifndef ASSAY_MODEL_DATABASE_REPORT_H
#define ASSAY_MODEL_DATABASE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define ASSAY_DATABASE_MAX_COUNTS 16

/* One number of what was done: "results_added", "runs_in_baselines"; bytes end in "_bytes". */
struct assay_database_count {
	const char *name;
	uint64_t value;
};

/* All-zero is nothing done. */
struct assay_database_report {
	const char *action; /* "merge", "prune" */
	const char *db;
	bool dry; /* of a prune: nothing was done, this is what would be */
	struct assay_database_count counts[ASSAY_DATABASE_MAX_COUNTS];
	size_t n_counts;
	struct assay_strings notes; /* what a person should know, a line each */
};

static inline void assay_database_count_add(struct assay_database_report *r, const char *name, uint64_t value)
{
	if (r->n_counts < ASSAY_DATABASE_MAX_COUNTS)
		r->counts[r->n_counts++] = (struct assay_database_count){ name, value };
}

static inline void assay_database_report_release(struct assay_database_report *r)
{
	assay_strings_release(&r->notes);
	*r = (struct assay_database_report){ 0 };
}

#endif
