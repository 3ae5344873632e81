/* SPDX-License-Identifier: Apache-2.0 */
/* The questions about changes of a history, and the answers to them. */
#ifndef ASSAY_DRIVE_HISTORY_CHANGE_ANSWERS_H
#define ASSAY_DRIVE_HISTORY_CHANGE_ANSWERS_H

#include <stdbool.h>

#include "base/err.h"
#include "model/history.h"

struct assay_store;

/*
 * Put the question about @c, a change in @points, into @a. False if nothing is to be measured, with the answer in @c or
 * the reason why there is none.
 */
bool assay_change_question(const struct assay_trend_point *points, struct assay_trend_change *c,
			   struct assay_change_answer *a);
void assay_change_tell(struct assay_trend_change *c, const struct assay_change_answer *a);

/* Fill in the earlier answers about the @n changes in @points. */
int assay_change_answers_known(struct assay_store *store, const char *key, const char *machine_id,
			       const struct assay_trend_point *points, struct assay_trend_change *changes, size_t n,
			       struct assay_err *err);

#endif
