/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be asked about a change of a history, and what was answered. */
#ifndef ASSAY_DRIVE_HISTORY_CHANGE_ANSWERS_H
#define ASSAY_DRIVE_HISTORY_CHANGE_ANSWERS_H

#include <stdbool.h>

#include "base/err.h"
#include "model/history.h"

struct assay_store;

/*
 * The question of @c, a change in @points, into @a. False, with the answer or why there is none in @c, where nothing is
 * to be measured.
 */
bool assay_change_question(const struct assay_trend_point *points, struct assay_trend_change *c,
			   struct assay_change_answer *a);
void assay_change_tell(struct assay_trend_change *c, const struct assay_change_answer *a);

/* What was answered earlier of the @n changes in @points. */
int assay_change_answers_known(struct assay_store *store, const char *key, const char *machine_id,
			       const struct assay_trend_point *points, struct assay_trend_change *changes, size_t n,
			       struct assay_err *err);

#endif
