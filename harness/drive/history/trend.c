/* SPDX-License-Identifier: Apache-2.0 */
/* Baselines come from the store and releases from git. */
#include "drive/history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "drive/repository.h"
#include "drive/show/show.h"
#include "store/store.h"

/* The points of time with their changes. */
static int load_times(const struct assay_history *h, const struct assay_case *c, struct assay_trend_line *l,
		      struct assay_err *err)
{
	const struct assay_history_request usual = { 0 };
	struct assay_case_history found;
	int rc = assay_case_history_of(h, c, &usual, &found, err);

	if (!rc) {
		l->points = found.points;
		l->n_points = found.n_points;
		l->changes = found.changes;
		l->n_changes = found.n_changes;
		found.points = NULL;
		found.changes = NULL;
	}
	assay_case_history_release(&found);
	return rc;
}

static int add_mark(struct assay_trend *out, const struct assay_trend_mark *m, struct assay_err *err)
{
	if (assay_grow(&out->marks, out->n_marks, sizeof(*out->marks)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trend");
	out->marks[out->n_marks++] = *m;
	return 0;
}

static int add_baselines(const struct assay_history *h, struct assay_trend *out, struct assay_err *err)
{
	struct assay_baseline_info *v = NULL;
	size_t n = 0;
	int rc = assay_store_baselines(h->store, NULL, NULL, &v, &n, err);

	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_trend_mark m = { .run_id = v[i].n_runs ? v[i].runs[v[i].n_runs - 1] : 0 };

		snprintf(m.name, sizeof(m.name), "baseline %.*s", ASSAY_NAME_MAX - 10, v[i].name);
		rc = add_mark(out, &m, err);
	}
	assay_baseline_infos_release(v, n);
	return rc;
}

/* A trend is drawn with its releases where a repository is at hand, and without them elsewhere. */
static int add_releases(const struct assay_trend_request *q, struct assay_trend *out, struct assay_err *err)
{
	struct assay_repository r;
	struct assay_strings tags = { 0 };
	int rc = assay_repository_open(&r, NULL, q->interrupted, NULL);

	if (!rc)
		rc = assay_repository_tags(&r, &tags, NULL);
	if (rc) {
		assay_strings_release(&tags);
		return rc == ASSAY_EINTERRUPTED ? assay_err_set(err, rc, "interrupted") : 0;
	}
	for (size_t i = 0; i + 1 < tags.n && !rc; i += 2) {
		struct assay_trend_mark m = { 0 };

		snprintf(m.commit, sizeof(m.commit), "%s", tags.v[i]);
		snprintf(m.name, sizeof(m.name), "%.*s", ASSAY_NAME_MAX - 1, tags.v[i + 1]);
		rc = add_mark(out, &m, err);
	}
	assay_strings_release(&tags);
	return rc;
}

int assay_trend_make(const struct assay_trend_request *q, struct assay_trend *out, struct assay_err *err)
{
	struct assay_history h = { 0 };
	const struct assay_case *c = NULL;
	int rc = assay_history_open_case(&h, q->db, q->machine, q->key, &c, err);

	*out = (struct assay_trend){ .unit = "s" };
	if (!rc) {
		out->c = *c;
		snprintf(out->machine, sizeof(out->machine), "%s", h.newest.machine_label);
		rc = q->metric ? assay_history_points(&h, c, q->metric, &out->line.points, &out->line.n_points,
						      out->unit, err)
			       : load_times(&h, c, &out->line, err);
	}
	if (!rc)
		rc = assay_store_trend_gaps(h.store, c->key, h.newest.machine_id, &out->line.gaps, &out->line.n_gaps,
					    err);
	if (!rc)
		rc = add_baselines(&h, out, err);
	if (!rc)
		rc = add_releases(q, out, err);
	assay_history_close(&h);
	return rc;
}

void assay_trend_release(struct assay_trend *t)
{
	assay_trend_line_release(&t->line);
	free(t->marks);
	*t = (struct assay_trend){ 0 };
}
