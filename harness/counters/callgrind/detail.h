/* SPDX-License-Identifier: Apache-2.0 */
/* Collects what a file in callgrind's format says beyond functions, see model/exact_detail.h. All-zero is empty. */
#ifndef ASSAY_COUNTERS_CALLGRIND_DETAIL_H
#define ASSAY_COUNTERS_CALLGRIND_DETAIL_H

#include "model/exact_detail.h"

struct assay_callgrind_detail {
	struct assay_exact_line *lines; /* malloc'ed, in the order of the file */
	size_t n_lines;
	struct assay_exact_mix *mix; /* malloc'ed */
	size_t n_mix;
	struct assay_exact_counts *threads; /* malloc'ed */
	size_t n_threads;
};

/* All are 0 or ASSAY_ENOMEM. Two lines of one function, file and number are one, as are two mixes of one name. */
int assay_callgrind_detail_line(struct assay_callgrind_detail *d, const struct assay_exact_line *l);
int assay_callgrind_detail_mix(struct assay_callgrind_detail *d, const struct assay_exact_mix *m);
int assay_callgrind_detail_thread(struct assay_callgrind_detail *d, const struct assay_exact_counts *c);

/* The detail as a malloc'ed text, sorted; NULL without memory. */
char *assay_callgrind_detail_text(struct assay_callgrind_detail *d);
void assay_callgrind_detail_release(struct assay_callgrind_detail *d);

#endif
