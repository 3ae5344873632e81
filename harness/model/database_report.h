/* SPDX-License-Identifier: Apache-2.0 */
/* What was done to a database as a whole, and what became of a file of another tool. */
#ifndef ASSAY_MODEL_DATABASE_REPORT_H
#define ASSAY_MODEL_DATABASE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/result.h"

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

/* One run of it. */
struct assay_import_run {
	int64_t id;
	size_t n_cases, n_ok;
	uint64_t n_samples;
	char suite[ASSAY_NAME_MAX];
	char machine[128]; /* label; "" where nobody said it */
	char commit[65];   /* likewise */
	bool dated;        /* it is known when it was measured */
};

struct assay_import_report {
	char format[ASSAY_NAME_MAX];
	char digest[ASSAY_DIGEST_LEN + 1]; /* of all bytes of the file */
	struct assay_import_run *runs;     /* malloc'ed; those that were added */
	size_t n_runs;
	/* Earlier runs of the same bytes, malloc'ed: with the same options, so that they were not added again, and with
	 * others. */
	int64_t *same, *other;
	size_t n_same, n_other;
	int64_t replaced;    /* of those, the one that was removed; 0: none */
	size_t n_aggregates; /* means and the like, which are no samples */
};

void assay_import_report_release(struct assay_import_report *r);

#endif
