/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs may go. A change of a level is known by the runs on both of its sides. So these stay: twice as many as the
 * search for changes wants of a level, so that it finds the same in what is left.
 */
#include <stdlib.h>
#include <string.h>

#include "drive/database.h"
#include "machine/clock.h"
#include "stats/change_points.h"
#include "store/store_prune.h"

#define SIDE_RUNS 10 /* of a change that stay */
#define DAY_NS    86400000000000u

enum fate { GOES, IS_NEW, OF_BASELINE, BESIDE_CHANGE, OPEN, N_FATES };

struct pruning {
	const struct assay_prune_request *q;
	uint64_t older_ns; /* as it says, in the one way or the other */
	struct assay_store *s;
	const struct assay_watch *w;
	struct assay_run_info *runs; /* newest first */
	enum fate *fate;             /* one a run */
	size_t n;
	struct assay_err *err;
};

/* How many runs of its suite and machine are newer than run @at, up to @most. */
static size_t newer(const struct pruning *p, size_t at, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < at && n < most; i++)
		n += !strcmp(p->runs[i].suite, p->runs[at].suite) &&
		     !strcmp(p->runs[i].machine_id, p->runs[at].machine_id);
	return n;
}

static enum fate first_fate(const struct pruning *p, size_t at, uint64_t now_ns)
{
	const struct assay_run_info *r = &p->runs[at];
	const size_t keep = p->q->keep_runs ? p->q->keep_runs : 1;

	if (!r->ended_ns && r->started_ns + DAY_NS > now_ns)
		return OPEN;
	if (p->older_ns && r->started_ns >= p->older_ns)
		return IS_NEW;
	return newer(p, at, keep) < keep ? IS_NEW : GOES;
}

/* Runs are found by their number; a hash would be more code than thousands of runs are worth. */
static int by_id(const void *a, const void *b)
{
	const struct assay_run_info *const *x = a, *const *y = b;

	return ((*x)->id > (*y)->id) - ((*x)->id < (*y)->id);
}

struct index {
	struct assay_run_info **v; /* of pruning.runs, by id */
	size_t n;
};

static void keep(struct pruning *p, const struct index *x, int64_t id, enum fate fate)
{
	const struct assay_run_info key = { .id = id };
	const struct assay_run_info *const want = &key;
	struct assay_run_info *const *found = bsearch(&want, x->v, x->n, sizeof(want), by_id);

	if (found && p->fate[*found - p->runs] == GOES)
		p->fate[*found - p->runs] = fate;
}

static int keep_baselines(struct pruning *p, const struct index *x)
{
	struct assay_baseline_info *v = NULL;
	size_t n = 0;
	int rc = assay_store_baselines(p->s, NULL, NULL, &v, &n, p->err);

	for (size_t i = 0; i < n && !rc; i++)
		for (size_t k = 0; k < v[i].n_runs; k++)
			keep(p, x, v[i].runs[k], OF_BASELINE);
	assay_baseline_infos_release(v, n);
	return rc;
}

static int find(const struct assay_trend_point *points, size_t n, struct assay_change **out, size_t *n_out)
{
	const struct assay_change_rule rule = { .alpha = 0 };
	struct assay_change_points c;
	int rc = 0;

	assay_change_points_init(&c, 0);
	for (size_t i = 0; i < n && !rc; i++)
		rc = assay_change_points_add(&c, &points[i].median_ns, 1);
	if (!rc)
		rc = assay_change_points_find(&c, &rule, out, n_out);
	assay_change_points_release(&c);
	return rc;
}

static int keep_sides(struct pruning *p, const struct index *x, const char *key, const char *machine)
{
	struct assay_trend_point *points = NULL;
	struct assay_change *v = NULL;
	size_t n = 0, n_changes = 0;
	int rc = assay_store_trend(p->s, key, machine, &points, &n, p->err);

	if (!rc && find(points, n, &v, &n_changes))
		rc = assay_err_set(p->err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < n_changes && !rc; i++) {
		size_t from = v[i].at > SIDE_RUNS ? v[i].at - SIDE_RUNS : 0, to = v[i].at + SIDE_RUNS;

		for (size_t k = from; k < to && k < n; k++)
			keep(p, x, points[k].run_id, BESIDE_CHANGE);
	}
	free(points);
	free(v);
	return rc;
}

static int keep_changes_of(struct pruning *p, const struct index *x, const char *machine)
{
	struct assay_case *cases = NULL;
	size_t n = 0;
	int rc = assay_store_cases(p->s, machine, &cases, &n, p->err);

	for (size_t i = 0; i < n && !rc; i++) {
		rc = keep_sides(p, x, cases[i].key, machine);
		assay_watch_tell(p->w, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							      .done_frac = (double)(i + 1) / (double)n,
							      .text = "changes of levels" });
		if (!rc)
			rc = assay_watch_check(p->w, p->err);
	}
	free(cases);
	return rc;
}

static int keep_changes(struct pruning *p, const struct index *x)
{
	int rc = 0;

	for (size_t i = 0; i < p->n && !rc; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = !strcmp(p->runs[k].machine_id, p->runs[i].machine_id);
		if (!seen)
			rc = keep_changes_of(p, x, p->runs[i].machine_id);
	}
	return rc;
}

static int decide(struct pruning *p)
{
	const uint64_t now_ns = assay_clock_unix_ns();
	struct index x = { .n = p->n };
	int rc;

	p->fate = calloc(p->n + 1, sizeof(*p->fate));
	x.v = calloc(p->n + 1, sizeof(struct assay_run_info *));
	rc = p->fate && x.v ? 0 : assay_err_set(p->err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < p->n && !rc; i++) {
		p->fate[i] = first_fate(p, i, now_ns);
		x.v[i] = &p->runs[i];
	}
	if (!rc)
		qsort(x.v, x.n, sizeof(struct assay_run_info *), by_id);
	if (!rc)
		rc = keep_baselines(p, &x);
	if (!rc)
		rc = keep_changes(p, &x);
	free(x.v);
	return rc;
}

static int carry_out(struct pruning *p, struct assay_database_report *out)
{
	int64_t *ids = calloc(p->n + 1, sizeof(*ids));
	size_t kept[N_FATES] = { 0 };
	struct assay_store_pruned done = { 0 };
	int rc = ids ? 0 : assay_err_set(p->err, ASSAY_ENOMEM, "out of memory");

	for (size_t i = 0; i < p->n && !rc; i++) {
		if (p->fate[i] == GOES)
			ids[kept[GOES]] = p->runs[i].id;
		kept[p->fate[i]]++;
	}
	if (!rc)
		rc = assay_store_prune(p->s, ids, kept[GOES], p->older_ns, p->q->dry, &done, p->err);
	free(ids);
	if (rc)
		return rc;
	assay_database_count_add(out, "runs_removed", done.runs);
	assay_database_count_add(out, "results_removed", done.results);
	assay_database_count_add(out, "comparisons_removed", done.comparisons);
	assay_database_count_add(out, "runs_kept", p->n - kept[GOES]);
	assay_database_count_add(out, "kept_as_newer", kept[IS_NEW]);
	assay_database_count_add(out, "kept_in_baselines", kept[OF_BASELINE]);
	assay_database_count_add(out, "kept_beside_changes", kept[BESIDE_CHANGE]);
	assay_database_count_add(out, "kept_as_open", kept[OPEN]);
	assay_database_count_add(out, "before_bytes", done.before_bytes);
	assay_database_count_add(out, "after_bytes", done.after_bytes);
	return 0;
}

int assay_database_prune(const struct assay_prune_request *q, const struct assay_watch *w,
			 struct assay_database_report *out, struct assay_err *err)
{
	struct pruning p = { .q = q, .older_ns = q->older_ns, .w = w, .err = err };
	int rc = assay_store_open(&p.s, q->db, ASSAY_STORE_READ, err);

	*out = (struct assay_database_report){ .action = "prune", .db = q->db, .dry = q->dry };
	if (q->days)
		p.older_ns = assay_clock_unix_ns() - q->days * DAY_NS;
	/* a database that is not there is not made to be pruned */
	if (!rc && !q->dry) {
		assay_store_close(p.s);
		p.s = NULL;
		rc = assay_store_open(&p.s, q->db, ASSAY_STORE_WRITE, err);
	}
	if (!rc)
		rc = assay_store_runs(p.s, NULL, 0, &p.runs, &p.n, err);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = 3e9 });
	if (!rc)
		rc = decide(&p);
	if (!rc)
		rc = carry_out(&p, out);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	free(p.runs);
	free(p.fate);
	assay_store_close(p.s);
	return rc;
}
