/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons in the store. The same handle, errors and promises as store.h. */
#ifndef ASSAY_STORE_COMPARISON_H
#define ASSAY_STORE_COMPARISON_H

#include "model/comparison.h"
#include "store/store.h"

/*
 * Open a comparison (its cases are not looked at) and set cmp->id. Machine and both builds need ids; they are stored
 * once and referred to. A policy of NULL is an empty one. ASSAY_ELIMIT when alpha is not between 0 and 1.
 */
int assay_store_comparison_begin(struct assay_store *s, struct assay_comparison *cmp, struct assay_err *err);
/*
 * The same with all its cases and controls, without their pairs, in one transaction; case_ids[i] becomes the id of case
 * i. ASSAY_ESTORE when a case that is no control is named twice. On error nothing of it is stored.
 */
int assay_store_comparison_begin_with(struct assay_store *s, struct assay_comparison *cmp, int64_t *case_ids,
				      struct assay_err *err);

/* Replace in_base, in_head, reason and difference. ASSAY_ENOTFOUND unless it is a case of an open comparison. */
int assay_store_comparison_case_update(struct assay_store *s, int64_t case_id, const struct assay_comparison_case *c,
				       struct assay_err *err);

/*
 * One finished pair, one transaction, so that a kill loses at most the pair in flight. ASSAY_ELIMIT, and nothing is
 * stored, when a number is NaN or infinite (but an infinite max_rel_err of a side that is not ok becomes "does not
 * apply"). ASSAY_ESTORE when the comparison ended or the pair contradicts itself: blocks without samples of either
 * side, a side that is not ok and says no reason, a metric twice. ASSAY_ENOTFOUND when there is no such case.
 */
int assay_store_pair_add(struct assay_store *s, int64_t case_id, const struct assay_pair *p, struct assay_err *err);

/*
 * Mark it finished, with the verdict (a name of assay_verdict_name) and exit code that were given: it takes nothing
 * further. Without it, it was interrupted. ASSAY_ENOTFOUND unless open.
 */
int assay_store_comparison_end(struct assay_store *s, int64_t id, uint64_t ended_ns, const char *verdict, int exit_code,
			       struct assay_err *err);

/*
 * The whole comparison, its samples bit by bit as they were added, cases and pairs in the order they were added; id 0:
 * the newest, finished or not. The skip_reason of a case is not stored. @verdict (ASSAY_VERDICT_MAX) and
 * @exit_code may be NULL; of an unfinished one they are "" and -1. ASSAY_ENOTFOUND when there is none. @out is
 * untouched on error; release it with assay_comparison_release.
 */
int assay_store_comparison_load(struct assay_store *s, int64_t id, struct assay_comparison *out, char *verdict,
				int *exit_code, struct assay_err *err);

/* Newest first, at most @limit (0: all); @machine_id NULL: any. @out is malloc'ed. */
int assay_store_comparisons(struct assay_store *s, const char *machine_id, size_t limit,
			    struct assay_comparison_info **out, size_t *n, struct assay_err *err);

/* Keep an answer in place of an earlier one to the same question; nothing, where the case or the machine is unknown. */
int assay_store_change_put(struct assay_store *s, const char *key, const char *machine_id,
			   const struct assay_change_answer *a, struct assay_err *err);
/* Fill @a, of which both commits and `slower` are set. */
int assay_store_change_find(struct assay_store *s, const char *key, const char *machine_id,
			    struct assay_change_answer *a, bool *found, struct assay_err *err);
/* All answers, as a new array. */
struct assay_stored_change {
	char key[ASSAY_KEY_MAX];
	char machine_id[ASSAY_DIGEST_LEN + 1];
	struct assay_change_answer answer;
};
int assay_store_changes(struct assay_store *s, struct assay_stored_change **out, size_t *n, struct assay_err *err);

/* ---- because ---- */

/* Why cases of a comparison changed, in the store. The same handle, errors and promises as store.h. */

/*
 * Keep @e as that of the case @case_id, in one transaction. ASSAY_ESTORE where it has one already, ASSAY_ENOTFOUND
 * where there is no such case.
 */
int assay_store_because_add(struct assay_store *s, int64_t case_id, const struct assay_because_evidence *e,
			    struct assay_err *err);
/* That of the case @case_id as a new one; NULL: it has none. ASSAY_ESTORE where it is not what was stored. */
int assay_store_because_load(struct assay_store *s, int64_t case_id, struct assay_because_evidence **out,
			     struct assay_err *err);

#endif
