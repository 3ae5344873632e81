/* SPDX-License-Identifier: Apache-2.0 */
/* Each line is a history of its own; baselines come from the store and releases from git. */
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

/* One more line, of case @c on the machine of @h. */
static int add_line(const struct assay_trend_request *q, const struct assay_history *h, const struct assay_case *c,
		    const char *name, struct assay_trend_lines *out, struct assay_err *err)
{
	struct assay_trend_line *l;
	int rc;

	if (assay_grow(&out->lines, out->n_lines, sizeof(*out->lines)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trend");
	l = &out->lines[out->n_lines++];
	*l = (struct assay_trend_line){ 0 };
	snprintf(l->name, sizeof(l->name), "%s", name);
	if (q->metric) {
		rc = assay_history_points(h, c, q->metric, &l->points, &l->n_points, out->unit, err);
		if (rc)
			return rc;
	} else {
		rc = load_times(h, c, l, err);
	}
	return rc ? rc : assay_store_trend_gaps(h->store, c->key, h->newest.machine_id, &l->gaps, &l->n_gaps, err);
}

/* Do they differ in the variant alone? */
static bool same_but_variant(const struct assay_case *a, const struct assay_case *b)
{
	if (strcmp(a->op, b->op) || a->cache != b->cache || a->threads != b->threads || a->n_axes != b->n_axes)
		return false;
	for (unsigned i = 0; i < a->n_axes; i++)
		if (strcmp(a->axes[i].text, b->axes[i].text))
			return false;
	return true;
}

/* A variant that lacks the metric has no line. */
static int add_variants(const struct assay_trend_request *q, const struct assay_history *h,
			struct assay_trend_lines *out, struct assay_err *err)
{
	struct assay_err why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < h->n && !rc; i++) {
		if (!same_but_variant(&h->cases[i], &out->c))
			continue;
		rc = add_line(q, h, &h->cases[i], h->cases[i].variant, out, &why);
		if (rc == ASSAY_EUSAGE && q->metric) {
			assay_trend_line_release(&out->lines[--out->n_lines]);
			rc = 0;
		}
	}
	if (rc || !out->n_lines)
		return assay_err_set(err, rc ? rc : ASSAY_EUSAGE, "%s", why.text);
	return 0;
}

/* Machines of one label are told apart by the start of their fingerprints. */
static void machine_name(const struct assay_run_info *runs, size_t n, size_t i, char *buf, size_t size)
{
	bool twin = false;

	for (size_t k = 0; k < n && !twin; k++)
		twin = !strcmp(runs[k].machine_label, runs[i].machine_label) &&
		       strcmp(runs[k].machine_id, runs[i].machine_id) != 0;
	snprintf(buf, size, twin ? "%.100s (%.8s)" : "%.100s", runs[i].machine_label, runs[i].machine_id);
}

/* A line for each machine that has the case. */
static int add_machines(const struct assay_trend_request *q, const struct assay_history *of,
			struct assay_trend_lines *out, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc = assay_store_newest_runs(of->store, &runs, &n, err);

	for (size_t i = 0; i < n && !rc; i++) {
		struct assay_history h = { 0 };
		const struct assay_case *c = NULL;
		char name[128];

		machine_name(runs, n, i, name, sizeof(name));
		rc = assay_history_open(&h, q->db, runs[i].machine_id, err);
		if (!rc && !assay_history_find(&h, out->c.key, &c, NULL) && !strcmp(c->key, out->c.key))
			rc = add_line(q, &h, c, name, out, err);
		assay_history_close(&h);
	}
	free(runs);
	if (!rc && out->n_lines > 1)
		out->machine[0] = '\0';
	return rc;
}

static int add_mark(struct assay_trend_lines *out, const struct assay_trend_mark *m, struct assay_err *err)
{
	if (assay_grow(&out->marks, out->n_marks, sizeof(*out->marks)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trend");
	out->marks[out->n_marks++] = *m;
	return 0;
}

static int add_baselines(const struct assay_history *h, struct assay_trend_lines *out, struct assay_err *err)
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
static int add_releases(const struct assay_trend_request *q, struct assay_trend_lines *out, struct assay_err *err)
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

int assay_trend_lines(const struct assay_trend_request *q, struct assay_trend_lines *out, struct assay_err *err)
{
	struct assay_history h = { 0 };
	const struct assay_case *c = NULL;
	int rc = assay_history_open_case(&h, q->db, q->machine, q->key, &c, err);

	*out = (struct assay_trend_lines){ .unit = "s" };
	if (!rc) {
		out->c = *c;
		snprintf(out->machine, sizeof(out->machine), "%s", h.newest.machine_label);
		rc = q->per == ASSAY_TREND_PER_MACHINE   ? add_machines(q, &h, out, err)
		     : q->per == ASSAY_TREND_PER_VARIANT ? add_variants(q, &h, out, err)
							 : add_line(q, &h, c, "", out, err);
	}
	if (!rc)
		rc = add_baselines(&h, out, err);
	if (!rc)
		rc = add_releases(q, out, err);
	assay_history_close(&h);
	return rc;
}

void assay_trend_lines_release(struct assay_trend_lines *l)
{
	for (size_t i = 0; i < l->n_lines; i++)
		assay_trend_line_release(&l->lines[i]);
	free(l->lines);
	free(l->marks);
	*l = (struct assay_trend_lines){ 0 };
}
