/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of one database into another, where they get new numbers. Inside of the store. */
#ifndef ASSAY_STORE_COPY_H
#define ASSAY_STORE_COPY_H

#include "store/db.h"

/* A table and those whose rows belong to its rows. */
struct assay_store_tree {
	const char *table;
	const char *owner;                           /* column that names whom a row belongs to; NULL: nobody */
	bool numbered;                               /* its rows have an id, by which others refer to them */
	const struct assay_store_tree *const *parts; /* NULL, or ends with NULL */
};
extern const struct assay_store_tree assay_store_run_tree, assay_store_comparison_tree, assay_store_exact_tree,
	assay_store_certify_tree, assay_store_profile_tree;

struct assay_store_copier;
/* Both databases are borrowed. */
int assay_store_copier_new(struct assay_store_copier **c, struct assay_store *to, struct assay_store *from,
			   struct assay_err *err);
void assay_store_copier_free(struct assay_store_copier *c);

/*
 * Copy row @id of a tree with all that belongs to it, and what they refer to; *new_id is its number then. Where it is
 * one already, that row is there and only what belongs to it is copied.
 */
int assay_store_copy(struct assay_store_copier *c, const struct assay_store_tree *tree, int64_t id, int64_t *new_id,
		     struct assay_err *err);
/* How many results were copied so far. */
size_t assay_store_copied_results(const struct assay_store_copier *c);

/* ---- merge kinds ---- */

/* The kinds of whole things that are merged, and what each is known by. Inside of the store. */

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
