/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the points of a case, finds the changes, and asks of each whether the other cases of the machine moved with it,
 * in the runs around: then it is one event of the machine, and no news about the case.
 */
#include "drive/history/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drive/show/show.h"
#include "stats/change_points.h"
#include "store/comparison.h"
#include "store/store.h"

/* A change is the machine's when this share of the other cases moved in the same direction, and there are so many. */
#define MACHINE_FRAC  0.75
#define MACHINE_CASES 3
/* Runs by which the change of another case may lie off. */
#define APART 2
/* Runs of the case on either side of a change in which the others are looked at. */
#define AROUND 50

/* The points since the time that was asked for, with a time; the caller frees *out. */
static int load(const struct assay_history *h, const struct assay_case *c, uint64_t since_ns,
		struct assay_trend_point **out, size_t *n, struct assay_err *err)
{
	char unit[ASSAY_METRIC_UNIT_MAX];
	size_t kept = 0;
	int rc = assay_history_points(h, c, NULL, out, n, unit, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < *n; i++) {
		const struct assay_trend_point *p = &(*out)[i];

		if (p->started_ns >= since_ns && isfinite(p->median_ns) && p->median_ns > 0)
			(*out)[kept++] = *p;
	}
	*n = kept;
	return 0;
}

/* @shortest (NULL: not asked, as @takes_turns may be) gets the points that a level must have to be seen. */
static int find(const struct assay_history_request *q, const double *ns, size_t n, struct assay_change **out,
		size_t *n_out, size_t *shortest, bool *takes_turns, struct assay_err *err)
{
	const struct assay_change_rule rule = { .alpha = q->alpha, .least_frac = q->least_frac };
	struct assay_change_points s;
	int rc;

	*out = NULL;
	*n_out = 0;
	assay_change_points_init(&s, 0);
	rc = assay_change_points_add(&s, ns, n);
	if (!rc)
		rc = assay_change_points_find(&s, &rule, out, n_out);
	if (!rc && shortest)
		*shortest = assay_change_points_shortest(&s, q->alpha);
	if (!rc && takes_turns)
		*takes_turns = s.takes_turns;
	assay_change_points_release(&s);
	return rc ? assay_err_set(err, rc, "cannot search %zu runs for changes: %s", n, assay_error_text(rc)) : 0;
}

static int find_changes(const struct assay_history_request *q, struct assay_case_history *h, struct assay_err *err)
{
	double *ns = malloc((h->n_points + 1) * sizeof(*ns));
	struct assay_change *v = NULL;
	size_t n = 0;
	int rc;

	if (!ns)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < h->n_points; i++)
		ns[i] = h->points[i].median_ns;
	rc = find(q, ns, h->n_points, &v, &n, &h->least_level, &h->takes_turns, err);
	h->least_points = assay_change_points_least(0);
	free(ns);
	if (!rc && n) {
		h->changes = calloc(n, sizeof(*h->changes));
		if (!h->changes)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < n && !rc; i++)
		h->changes[h->n_changes++] = (struct assay_trend_change){ .from = v[i].from,
									  .at = v[i].at,
									  .to = v[i].to,
									  .ratio = v[i].ratio,
									  .ci_lo = v[i].ci.lo,
									  .ci_hi = v[i].ci.hi,
									  .p = v[i].p };
	free(v);
	return rc;
}

/* The time of the point @by before or after @at, or of the last that there is. */
static uint64_t when(const struct assay_case_history *h, size_t at, int by)
{
	if (by < 0)
		return h->points[at > (size_t)-by ? at - (size_t)-by : 0].started_ns;
	return h->points[at + (size_t)by < h->n_points ? at + (size_t)by : h->n_points - 1].started_ns;
}

/* Did another case, of @n times @t, move with @c? @ns has room for them. */
static int ask(const struct assay_history_request *q, const struct assay_case_history *h, struct assay_trend_change *c,
	       const struct assay_case_time *t, size_t n, double *ns, struct assay_err *err)
{
	uint64_t from = when(h, c->at, -1 - APART), to = when(h, c->at, APART);
	struct assay_change *v = NULL;
	size_t n_v = 0;
	bool moved = false;
	int rc;

	if (t[0].started_ns >= when(h, c->at, -1) || t[n - 1].started_ns < when(h, c->at, 0))
		return 0;
	for (size_t i = 0; i < n; i++)
		ns[i] = t[i].median_ns;
	rc = find(q, ns, n, &v, &n_v, NULL, NULL, err);
	for (size_t i = 0; i < n_v && !moved; i++)
		moved = t[v[i].at].started_ns > from && t[v[i].at].started_ns <= to &&
			(v[i].ratio > 1) == (c->ratio > 1);
	free(v);
	c->n_others++;
	c->n_moved += moved;
	return rc;
}

static int ask_others(const struct assay_history_request *q, struct assay_store *store,
		      const struct assay_case_history *h, struct assay_trend_change *c, struct assay_err *err)
{
	const uint64_t from = when(h, c->at, -AROUND), to = when(h, c->at, AROUND - 1);
	struct assay_case_time *t = NULL;
	double *ns = NULL;
	size_t n = 0;
	int rc = assay_store_times_beside(store, h->c.key, h->machine_id, from, to, &t, &n, err);

	if (!rc && !(ns = malloc((n + 1) * sizeof(*ns))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0, of; i < n && !rc; i += of) {
		for (of = 1; i + of < n && t[i + of].bench_case == t[i].bench_case; of++)
			;
		rc = ask(q, h, c, t + i, of, ns, err);
	}
	free(ns);
	free(t);
	c->of_machine = c->n_others >= MACHINE_CASES && (double)c->n_moved >= MACHINE_FRAC * (double)c->n_others;
	return rc;
}

static int no_points(const struct assay_history_request *q, const struct assay_case *c, struct assay_err *err)
{
	time_t since = (time_t)(q->since_ns / 1000000000u);
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&since, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%MZ", &tm);
	return assay_err_set(err, ASSAY_EUSAGE, "no stored run of '%s' since %s has a time", c->key, date);
}

/* Fill in the earlier answers about the changes. */
static int find_answers(struct assay_store *store, struct assay_case_history *h, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < h->n_changes && !rc; i++) {
		struct assay_trend_change *c = &h->changes[i];
		struct assay_change_answer a;
		bool found = false;

		if (assay_change_question(h->points, c, &a))
			rc = assay_store_change_find(store, h->c.key, h->machine_id, &a, &found, err);
		else if (c->confirmed == ASSAY_NOT_ASKED)
			c->why[0] = '\0';
		if (!rc && found)
			assay_change_tell(c, &a);
	}
	return rc;
}

int assay_case_history_of(const struct assay_history *h, const struct assay_case *c,
			  const struct assay_history_request *q, struct assay_case_history *out, struct assay_err *err)
{
	int rc;

	*out = (struct assay_case_history){ .c = *c };
	memcpy(out->machine_id, h->newest.machine_id, sizeof(out->machine_id));
	memcpy(out->machine_label, h->newest.machine_label, sizeof(out->machine_label));
	rc = load(h, c, q->since_ns, &out->points, &out->n_points, err);
	if (!rc && !out->n_points)
		rc = no_points(q, c, err);
	if (!rc)
		rc = find_changes(q, out, err);
	for (size_t k = 0; k < out->n_changes && !rc; k++)
		rc = ask_others(q, h->store, out, &out->changes[k], err);
	if (!rc)
		rc = find_answers(h->store, out, err);
	return rc;
}

int assay_case_history(const struct assay_history_request *q, struct assay_case_history *out, struct assay_err *err)
{
	struct assay_history h = { 0 };
	const struct assay_case *c = NULL;
	int rc = assay_history_open_case(&h, q->db, q->machine, q->key, &c, err);

	*out = (struct assay_case_history){ 0 };
	if (!rc)
		rc = assay_case_history_of(&h, c, q, out, err);
	assay_history_close(&h);
	return rc;
}

void assay_case_history_release(struct assay_case_history *h)
{
	free(h->points);
	free(h->changes);
	*h = (struct assay_case_history){ 0 };
}

/* ---- change answers ---- */

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
			snprintf(c->why, sizeof(c->why), "run %" PRId64 " has no known commit", points[i]->run_id);
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
