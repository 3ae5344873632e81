/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known about exact counts beyond functions: counts by source line and by thread, and the mix of instructions.
 * All of a case is one text with a line for each entry, as the store keeps it.
 */
#ifndef ASSAY_MODEL_EXACT_DETAIL_H
#define ASSAY_MODEL_EXACT_DETAIL_H

#include "base/text.h"
#include "model/exact.h"

struct assay_exact_line {
	char file[ASSAY_NAME_MAX]; /* name without folders */
	unsigned line;
	char function[ASSAY_EXACT_FUNCTION_MAX]; /* into which it was compiled */
	struct assay_exact_counts counts;
};

/* "vector instructions of 512 bits", and so on: names of step/decode.h. */
struct assay_exact_mix {
	char name[ASSAY_NAME_MAX];
	uint64_t count;
};

/* Append an entry to a detail; names are cut where they are too long. */
void assay_exact_detail_add_line(struct assay_text *detail, const struct assay_exact_line *l);
void assay_exact_detail_add_thread(struct assay_text *detail, const struct assay_exact_counts *c);
void assay_exact_detail_add_mix(struct assay_text *detail, const struct assay_exact_mix *m);

/*
 * The next entry of its kind from *at on, which begins as the detail (NULL is an empty one). False when there is none;
 * anything that is not an entry is skipped.
 */
bool assay_exact_next_line(const char **at, struct assay_exact_line *out);
bool assay_exact_next_thread(const char **at, struct assay_exact_counts *out);
bool assay_exact_next_mix(const char **at, struct assay_exact_mix *out);

/* Does a record keep this line? It does if the line has some share of any count of its case. */
bool assay_exact_line_matters(const struct assay_exact_line *l, const struct assay_exact_counts *total);

/*
 * The line of @function in which @event grew most from @base to @head, or shrank most if the function has less of it
 * in @head. Lines are matched in their order, so that those behind one that was put in keep their counts. False where
 * lines are not known.
 */
bool assay_exact_changed_line(const struct assay_exact_case *base, const struct assay_exact_case *head,
			      const char *function, enum assay_exact_event event, struct assay_exact_line *out);

/* "exact_imbalance": instructions of the thread that had most, over their mean. */
#define ASSAY_EXACT_IMBALANCE "exact_imbalance"

/* Any metric of the case: those of assay_exact_metric(), and the imbalance; NaN where there is only one thread. */
double assay_exact_case_metric(const struct assay_exact_case *c, const char *tag);

#endif
