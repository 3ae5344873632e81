/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Goes over the runs before, forwards from each change that was accepted and backwards from the newest, and takes the
 * times of the cases that look for some. Neither needs samples, and both end after a number of runs that does not
 * depend on how many there are.
 */
#include "drive/gate/gate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "store/comparison.h"
#include "store/store.h"

/* Runs that are looked into: a part of them may lack the case. */
#define RUNS_READ 60

struct gathering {
	const struct assay_run *run;
	struct assay_segments *out;
	struct assay_segment *v;
	struct place {
		size_t from;       /* the first run that counts */
		int64_t oldest[2]; /* run of the first and of the last window */
	} * places;
	struct assay_name_index keys;
	struct assay_trend_point *runs; /* oldest first */
	bool *read;                     /* which of them were looked into */
	size_t n_runs, at;
	bool back, no_memory;
	double error;
};

static void describe(const struct assay_trend_point *run, char *buf, size_t size)
{
	time_t t = (time_t)(run->started_ns / 1000000000u);
	char date[32] = "";
	bool dirty;
	const char *commit = assay_trend_commit(run, &dirty);
	struct tm tm;

	if (gmtime_r(&t, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	if (commit[0])
		snprintf(buf, size, "%.12s%s, %s", commit, dirty ? "+" : "", date);
	else
		snprintf(buf, size, "run %" PRId64 ", %s", run->run_id, date);
}

/* ---- changes that were accepted ---- */

/*
 * The first run with the commit behind the change; where none is comparable, the first after the answer. SIZE_MAX: the
 * change came after the run that is judged.
 */
static size_t first_behind(const struct gathering *g, const struct assay_change_answer *a)
{
	for (size_t i = 0; i < g->n_runs; i++) {
		bool dirty;

		if (!strcmp(assay_trend_commit(&g->runs[i], &dirty), a->to_commit) && !dirty)
			return i;
	}
	if (g->run->started_ns < a->asked_ns)
		return SIZE_MAX;
	for (size_t i = 0; i < g->n_runs; i++)
		if (g->runs[i].started_ns >= a->asked_ns)
			return i;
	return g->n_runs;
}

static int find_accepted(struct gathering *g, struct assay_store *store, struct assay_err *err)
{
	struct assay_stored_change *changes = NULL;
	size_t n = 0;
	int rc = assay_store_changes(store, &changes, &n, err);

	for (size_t k = 0; k < n; k++) {
		const struct assay_stored_change *c = &changes[k];
		size_t i, from;

		if (!c->answer.confirmed || strcmp(c->machine_id, g->run->machine.id) ||
		    !assay_name_index_find(&g->keys, c->key, &i))
			continue;
		from = first_behind(g, &c->answer);
		if (from == SIZE_MAX || (g->v[i].since[0] && from < g->places[i].from))
			continue;
		g->places[i].from = from;
		if (from < g->n_runs)
			describe(&g->runs[from], g->v[i].since, sizeof(g->v[i].since));
		else
			snprintf(g->v[i].since, sizeof(g->v[i].since), "%.12s", c->answer.to_commit);
	}
	free(changes);
	return rc;
}

/* ---- times ---- */

static void note_gone(struct gathering *g, const char *key)
{
	struct assay_segments *s = g->out;
	struct assay_gone *grown;

	for (size_t i = 0; i < s->n_gone; i++)
		if (!strcmp(s->gone[i].key, key))
			return;
	grown = realloc(s->gone, (s->n_gone + 1) * sizeof(*grown));
	if (grown) {
		s->gone = grown;
		grown[s->n_gone] = (struct assay_gone){ strdup(key), g->runs[g->at].run_id };
	}
	if (grown && grown[s->n_gone].key)
		s->n_gone++;
	else
		g->no_memory = true;
}

static void take(void *gathering, const struct assay_result *r)
{
	struct gathering *g = gathering;
	struct assay_stored_point p = assay_stored_point_of(r);
	struct assay_segment *s;
	struct place *place;
	bool same_code;
	size_t i;

	if (!assay_run_result_counts(g->run, r) || !r->n_samples)
		return;
	if (!assay_name_index_find(&g->keys, r->c.key, &i)) {
		if (assay_run_is_imported(g->run))
			note_gone(g, r->c.key);
		return;
	}
	if (g->at < g->places[i].from)
		return;
	s = &g->v[i];
	place = &g->places[i];
	same_code = r->code_hash[0] && !strcmp(r->code_hash, g->run->results[i].code_hash);
	if (!g->back) {
		if (!place->oldest[0])
			place->oldest[0] = g->runs[g->at].run_id;
		assay_segment_admit(s, &p, same_code, g->error);
	} else if (s->last.n < ASSAY_SEGMENT_RUNS) {
		place->oldest[1] = g->runs[g->at].run_id;
		s->last.other_code |= !same_code;
		s->last.v[s->last.n++] = p;
	}
}

/* Does a case that begins at run @from look for more? Any case where @from is SIZE_MAX. */
static bool looking(const struct gathering *g, size_t from)
{
	for (size_t i = 0; i < g->run->n_results; i++) {
		const struct assay_segment *s = &g->v[i];

		if (!assay_run_result_counts(g->run, &g->run->results[i]))
			continue;
		if (g->back ? g->at >= g->places[i].from && s->last.n < ASSAY_SEGMENT_RUNS
			    : g->places[i].from == from && s->first.n < ASSAY_SEGMENT_RUNS)
			return true;
	}
	return false;
}

/* Take the times of run @at, once on either way. */
static int read_run(struct gathering *g, struct assay_store *store, size_t at, struct assay_err *err)
{
	int rc;

	g->at = at;
	g->read[at] = true;
	rc = assay_store_each_time(store, g->runs[at].run_id, take, g, err);
	return rc || !g->no_memory ? rc : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

/* The times that cases which begin at other runs take on the way are their own, too. */
static int read_forwards(struct gathering *g, struct assay_store *store, struct assay_err *err)
{
	int rc = 0;

	for (size_t from = 0; from < g->n_runs && !rc; from++)
		for (size_t k = 0; k < RUNS_READ && from + k < g->n_runs && !rc && looking(g, from); k++)
			if (!g->read[from + k])
				rc = read_run(g, store, from + k, err);
	return rc;
}

static int read_backwards(struct gathering *g, struct assay_store *store, struct assay_err *err)
{
	int rc = 0;

	g->back = true;
	for (size_t k = 1; k <= RUNS_READ && k <= g->n_runs && !rc; k++) {
		g->at = g->n_runs - k;
		if (!looking(g, 0))
			break;
		rc = read_run(g, store, g->at, err);
	}
	return rc;
}

/* ---- the whole ---- */

static int begin(struct gathering *g, const struct assay_policy *policy, struct assay_segments *out,
		 struct assay_err *err)
{
	const size_t n = g->run->n_results;
	int rc = 0;

	g->out = out;
	out->v = g->v = calloc(n + 1, sizeof(*g->v));
	g->places = calloc(n + 1, sizeof(*g->places));
	g->read = calloc(g->n_runs + 1, sizeof(*g->read));
	if (!g->v || !g->places || !g->read)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	g->error = policy->alpha / (double)(n ? n : 1);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct assay_case *c = &g->run->results[i].c;
		size_t at;

		g->v[i].margin_frac = assay_policy_margin(policy, c);
		rc = assay_name_index_put(&g->keys, c->key, i, &at, NULL, err);
	}
	return rc;
}

/* Two windows of the same runs are one. */
static void join(struct gathering *g)
{
	for (size_t i = 0; i < g->run->n_results; i++)
		if (g->v[i].first.n == g->v[i].last.n && g->places[i].oldest[0] == g->places[i].oldest[1])
			g->v[i].first.n = 0;
}

static void name(const struct gathering *g, bool moved, struct assay_segments *out)
{
	const size_t n = g->n_runs;
	char since[96];

	describe(&g->runs[0], since, sizeof(since));
	if (moved)
		snprintf(out->name, sizeof(out->name), "the last %zu runs, as the machine changed since %s",
			 n < ASSAY_SEGMENT_RUNS ? n : ASSAY_SEGMENT_RUNS, since);
	else if (n > ASSAY_SEGMENT_RUNS)
		snprintf(out->name, sizeof(out->name), "the first %d and last %d of %zu runs since %s",
			 ASSAY_SEGMENT_RUNS, ASSAY_SEGMENT_RUNS, n, since);
	else
		snprintf(out->name, sizeof(out->name), "%zu runs since %s", n, since);
}

static void release(struct gathering *g)
{
	assay_name_index_release(&g->keys);
	free(g->places);
	free(g->read);
	free(g->runs);
}

/* Windows of all cases, unless there are too few runs for any. Release @g in either case. */
static int gather(struct gathering *g, struct assay_store *store, const struct assay_policy *policy,
		  struct assay_segments *out, struct assay_err *err)
{
	int rc = assay_store_comparables(store, g->run, &g->runs, &g->n_runs, err);

	*out = (struct assay_segments){ 0 };
	if (rc || g->n_runs < 2)
		return rc;
	rc = begin(g, policy, out, err);
	if (!rc)
		rc = find_accepted(g, store, err);
	if (!rc)
		rc = read_forwards(g, store, err);
	return rc ? rc : read_backwards(g, store, err);
}

int assay_segments_load(struct assay_store *store, const struct assay_run *run, const struct assay_policy *policy,
			struct assay_segments *out, struct assay_err *err)
{
	struct gathering g = { .run = run };
	int rc = gather(&g, store, policy, out, err);

	if (!rc && out->v) {
		join(&g);
		name(&g, assay_segments_follow_machine(out->v, run->n_results, g.error), out);
	}
	release(&g);
	return rc;
}

int assay_segments_runs(struct assay_store *store, const struct assay_run *run, const struct assay_policy *policy,
			int64_t **ids, size_t *n, struct assay_err *err)
{
	struct gathering g = { .run = run };
	struct assay_segments segments;
	int64_t *v = NULL;
	size_t count = 0;
	int rc;

	rc = gather(&g, store, policy, &segments, err);
	if (!rc && !(v = calloc(g.n_runs + 1, sizeof(*v))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; !rc && g.read && i < g.n_runs; i++)
		if (g.read[i])
			v[count++] = g.runs[i].run_id;
	if (!rc) {
		*ids = v;
		*n = count;
	}
	assay_segments_release(&segments);
	release(&g);
	return rc;
}

void assay_segments_release(struct assay_segments *s)
{
	for (size_t i = 0; i < s->n_gone; i++)
		free(s->gone[i].key);
	free(s->gone);
	free(s->v);
	*s = (struct assay_segments){ 0 };
}
