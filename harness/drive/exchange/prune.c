/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs may go. A change of a level is known by the runs on both of its sides. So these stay, as many as it takes
 * to find the same changes in them alone. So do the runs that the next gate without a named baseline will look into.
 */
#include <stdlib.h>
#include <string.h>

#include "drive/exchange/exchange.h"
#include "drive/gate/gate.h"
#include "machine/clock.h"
#include "stats/change_points.h"
#include "store/merge.h"
#include "store/profile.h"

#define SIDE_RUNS 20 /* on each side of a change, to begin with */
#define DAY_NS    86400000000000u

enum fate { GOES, IS_NEW, OF_BASELINE, OF_SEGMENT, BESIDE_CHANGE, OPEN, N_FATES };

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

/* Those of @points that are within @side runs of a change; @out has room for all. */
static size_t beside(const struct assay_trend_point *points, size_t n, const struct assay_change *v, size_t n_changes,
		     size_t side, struct assay_trend_point *out)
{
	size_t kept = 0, k = 0;

	for (size_t i = 0; i < n; i++) {
		while (k < n_changes && v[k].at + side <= i)
			k++;
		if (k < n_changes && i + side >= v[k].at)
			out[kept++] = points[i];
	}
	return kept;
}

/* Are the changes of @few those of all points, between the same runs? */
static bool same_changes(const struct assay_trend_point *all, const struct assay_change *want, size_t n_want,
			 const struct assay_trend_point *few, const struct assay_change *found, size_t n_found)
{
	bool same = n_found == n_want;

	for (size_t i = 0; i < n_want && same; i++)
		same = few[found[i].at].run_id == all[want[i].at].run_id;
	return same;
}

/*
 * The fewest runs, by doubling, in which the changes of @points are found alone; all where that is none. At once: other
 * cases may keep more, and nothing can be asked of what is gone.
 */
static int narrow(const struct assay_trend_point *points, size_t n, struct assay_trend_point *out, size_t *kept)
{
	struct assay_change *want = NULL, *found = NULL;
	size_t n_want = 0, n_found = 0;
	bool same = false;
	int rc = find(points, n, &want, &n_want);

	*kept = 0;
	for (size_t side = SIDE_RUNS; !rc && n_want && !same; side *= 2) {
		*kept = beside(points, n, want, n_want, side, out);
		if (*kept == n)
			break;
		rc = find(out, *kept, &found, &n_found);
		same = !rc && same_changes(points, want, n_want, out, found, n_found);
		free(found);
		found = NULL;
	}
	free(want);
	return rc;
}

static int keep_sides(struct pruning *p, const struct index *x, const char *key, const char *machine)
{
	struct assay_trend_point *points = NULL, *few = NULL;
	size_t n = 0, kept = 0;
	int rc = assay_store_trend(p->s, key, machine, &points, &n, p->err);

	if (!rc) {
		few = calloc(n + 1, sizeof(*few));
		if (!few || narrow(points, n, few, &kept))
			rc = assay_err_set(p->err, ASSAY_ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < kept && !rc; i++)
		keep(p, x, few[i].run_id, BESIDE_CHANGE);
	free(points);
	free(few);
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

static bool of_one_gate(const struct assay_run_info *a, const struct assay_run_info *b)
{
	return a->seed == b->seed && !strcmp(a->suite, b->suite) && !strcmp(a->machine_id, b->machine_id);
}

static int keep_read(struct pruning *p, const struct index *x, const struct assay_run *run)
{
	const struct assay_policy policy = assay_policy_default();
	int64_t *ids = NULL;
	size_t n = 0;
	int rc = assay_segments_runs(p->s, run, &policy, &ids, &n, p->err);

	for (size_t i = 0; i < n && !rc; i++)
		keep(p, x, ids[i], OF_SEGMENT);
	free(ids);
	return rc;
}

/* Keep the runs that a gate of this run needs, and those that a gate of the next such run needs. */
static int keep_segment(struct pruning *p, const struct index *x, int64_t run_id)
{
	struct assay_run run;
	int rc = assay_store_run_load(p->s, run_id, &run, p->err);

	if (rc)
		return rc;
	rc = keep_read(p, x, &run);
	run.id = 0; /* is not stored yet: all others are before it */
	if (!rc)
		rc = keep_read(p, x, &run);
	assay_run_release(&run);
	return rc;
}

/* Of the runs that a gate holds against each other, the newest of those with the most cases stands for the next. */
static int keep_segments(struct pruning *p, const struct index *x)
{
	bool *seen = calloc(p->n + 1, sizeof(*seen));
	int rc = seen ? 0 : assay_err_set(p->err, ASSAY_ENOMEM, "out of memory");

	for (size_t i = 0; i < p->n && !rc; i++) {
		const struct assay_run_info *most = &p->runs[i];

		for (size_t k = i; k < p->n && !seen[i]; k++) {
			if (!of_one_gate(&p->runs[k], &p->runs[i]))
				continue;
			seen[k] = k != i;
			if (p->runs[k].n_ok > most->n_ok)
				most = &p->runs[k];
		}
		if (!seen[i])
			rc = keep_segment(p, x, most->id);
	}
	free(seen);
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
		rc = keep_segments(p, &x);
	if (!rc)
		rc = keep_changes(p, &x);
	free(x.v);
	return rc;
}

static int carry_out(struct pruning *p, struct assay_database_report *out)
{
	int64_t *ids = calloc(p->n + 1, sizeof(*ids));
	const struct assay_store_profile_rule rule = { .keep = p->q->keep_runs,
						       .older_ns = p->older_ns,
						       .dry = p->q->dry };
	size_t kept[N_FATES] = { 0 }, profiles = 0;
	struct assay_store_pruned done = { 0 };
	int rc = ids ? 0 : assay_err_set(p->err, ASSAY_ENOMEM, "out of memory");

	for (size_t i = 0; i < p->n && !rc; i++) {
		if (p->fate[i] == GOES)
			ids[kept[GOES]] = p->runs[i].id;
		kept[p->fate[i]]++;
	}
	if (!rc)
		rc = assay_store_profiles_prune(p->s, &rule, &profiles, p->err);
	if (!rc)
		rc = assay_store_prune(p->s,
				       &(struct assay_store_prune_rule){
					       .ids = ids, .n = kept[GOES], .older_ns = p->older_ns, .dry = p->q->dry },
				       &done, p->err);
	free(ids);
	if (rc)
		return rc;
	assay_database_count_add(out, "runs_removed", done.runs);
	assay_database_count_add(out, "results_removed", done.results);
	assay_database_count_add(out, "comparisons_removed", done.comparisons);
	assay_database_count_add(out, "profiles_removed", profiles);
	assay_database_count_add(out, "runs_kept", p->n - kept[GOES]);
	assay_database_count_add(out, "kept_as_newer", kept[IS_NEW]);
	assay_database_count_add(out, "kept_in_baselines", kept[OF_BASELINE]);
	assay_database_count_add(out, "kept_for_gates", kept[OF_SEGMENT]);
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
