/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of whole things that are merged, and what each is known by. Inside of the store. */
#ifndef ASSAY_STORE_MERGE_KINDS_H
#define ASSAY_STORE_MERGE_KINDS_H

#include "store/copy.h"

enum assay_merge_what {
	ASSAY_MERGE_RUN,
	ASSAY_MERGE_COMPARISON,
	ASSAY_MERGE_COUNTS,
	ASSAY_MERGE_CERTIFICATION,
	ASSAY_MERGE_PROFILE,
	ASSAY_N_MERGE,
};

/* One kind of them, of which a row of a table is the head. */
struct assay_merge_kind {
	const struct assay_store_tree *tree;
	const char *list;     /* ids, oldest first */
	const char *head;     /* what it is known by, as one text, of an id */
	const char *same;     /* ids with the head ?1 that began at ?2 */
	const char *began;    /* when, of an id */
	const char *contents; /* a line for each part, of an id */
	const char *finished; /* of an id: did it finish, and how much does it hold? */
	const char *clear;    /* deletes what it holds, of an id */
	const char *take_end; /* of an unfinished one: its end is that of ?2 .. ?4 */
	int (*verify)(struct assay_store *s, int64_t id, struct assay_err *err);
};

extern const struct assay_merge_kind assay_merge_kinds[ASSAY_N_MERGE];

#endif
