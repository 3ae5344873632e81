/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/history/change_answers.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/comparison.h"

bool assay_change_question(const struct assay_trend_point *all, struct assay_trend_change *c,
			   struct assay_change_answer *a)
{
	const struct assay_trend_point *points[2] = { &all[c->at - 1], &all[c->at] };
	char *to[2] = { a->from_commit, a->to_commit };

	*a = (struct assay_change_answer){ .slower = c->ratio > 1 };
	for (int i = 0; i < 2; i++) {
		bool dirty;
		const char *commit = assay_trend_commit(points[i], &dirty);

		snprintf(to[i], sizeof(a->to_commit), "%s", commit);
		if (!commit[0])
			snprintf(c->why, sizeof(c->why), "run %" PRId64 " is of no known commit", points[i]->run_id);
		else if (dirty)
			snprintf(c->why, sizeof(c->why), "run %" PRId64 " was built with changes on top of %.12s",
				 points[i]->run_id, commit);
		else
			continue;
		return false;
	}
	if (strcmp(a->from_commit, a->to_commit))
		return true;
	c->confirmed = ASSAY_NOT_CONFIRMED;
	snprintf(c->why, sizeof(c->why), "both sides are commit %.12s, so the machine changed", a->from_commit);
	return false;
}

void assay_change_tell(struct assay_trend_change *c, const struct assay_change_answer *a)
{
	c->confirmed = a->confirmed ? ASSAY_CONFIRMED : ASSAY_NOT_CONFIRMED;
	c->comparison_id = a->comparison_id;
	memcpy(c->why, a->reason, sizeof(c->why));
}

int assay_change_answers_known(struct assay_store *store, const char *key, const char *machine_id,
			       const struct assay_trend_point *points, struct assay_trend_change *changes, size_t n,
			       struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_change_answer a;
		bool found = false;

		if (assay_change_question(points, &changes[i], &a))
			rc = assay_store_change_find(store, key, machine_id, &a, &found, err);
		else if (changes[i].confirmed == ASSAY_NOT_ASKED)
			changes[i].why[0] = '\0';
		if (!rc && found)
			assay_change_tell(&changes[i], &a);
	}
	return rc;
}
