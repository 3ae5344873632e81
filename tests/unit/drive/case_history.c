/* SPDX-License-Identifier: Apache-2.0 */
/* The history of a case from a database: points, changes, and which of them are the machine's. */
#include "store_fixture.h"

#include <jansson.h>

#include "drive/gate/gate.h"
#include "drive/history/history.h"
#include "reports/emitter.h"
#include "store/comparison.h"

#define RUNS  40
#define STEP  20 /* the first run of the second level */
#define HOUR  UINT64_C(3600000000000)
#define START UINT64_C(1790000000000000000) /* 2026-09-21 14:13:20 UTC */
#define ZEROS "00000000000000000000000000000000000000"
#define CASE0 "matmul.ternary/avx2/m=0,level=dram/t=2/cold"

/* RUNS runs of five cases, of which the first @slower take 10 % more from run STEP on, or all time out in run 3. */
static void fill(struct fixture *f, struct assay_store *s, const char *machine, unsigned slower)
{
	for (unsigned k = 0; k < RUNS; k++) {
		struct assay_run run;

		make_run(&run, "quick", machine);
		run.started_ns = START + k * HOUR;
		run.started_unknown = false;
		snprintf(run.build.commit, sizeof(run.build.commit), "%02x%038u", k, 0);
		snprintf(run.build.id, sizeof(run.build.id), "%032x", k);
		run.build.plugin = (struct assay_commit){ 0 };
		assert_ok(f, assay_store_run_begin(s, &run, &f->err));
		for (unsigned i = 0; i < 5; i++) {
			struct assay_result r;
			double level = i < slower && k >= STEP ? 1100 : 1000;

			make_result(&r, i, 1);
			r.median_ns = level * (1 + 0.001 * (double)((k * 7 + i) % 11));
			r.ci95_lo_ns = r.median_ns * 0.99;
			r.ci95_hi_ns = r.median_ns * 1.01;
			if (k == 3) {
				r.status = ASSAY_STATUS_TIMEOUT;
				strcpy(r.reason, "over 120 s");
			}
			assert_ok(f, assay_store_result_add(s, run.id, &r, &f->err));
			assay_result_release(&r);
		}
		assert_ok(f, assay_store_run_end(s, run.id, run.started_ns + 1000, &f->err));
	}
}

static char *emit(const struct assay_case_history *h, const char *format)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_CHANGES, .history = h };
	struct assay_text out = { 0 };
	struct assay_err err;

	assert_int_equal(assay_emit(&r, format, NULL, &out, &err), 0);
	return assay_text_take(&out);
}

/* One step of a case, as all formats show it. */
static void assert_shown(const struct assay_case_history *h, const char *event, int moved)
{
	const char *from, *to, *is;
	double ratio, lo, hi, p;
	int before, after, n;
	json_t *j, *c;
	char *s;

	s = emit(h, "json");
	j = json_loads(s, 0, NULL);
	free(s);
	c = json_array_get(json_object_get(j, "changes"), 0);
	assert_int_equal(json_array_size(json_object_get(j, "points")), RUNS - 1);
	assert_int_equal(json_unpack(c, "{s:s,s:s,s:F,s:[F,F],s:F,s:i,s:i,s:s,s:{s:i},s:n}", "from_commit", &from,
				     "to_commit", &to, "ratio", &ratio, "ci", &lo, &hi, "p", &p, "runs_before", &before,
				     "runs_after", &after, "event", &is, "others", "moved", &n, "confirmed"),
			 0);
	assert_string_equal(from, "13" ZEROS);
	assert_string_equal(to, "14" ZEROS);
	assert_true(lo < 1.1 && 1.1 < hi && lo <= ratio && ratio <= hi && p < 0.01);
	assert_int_equal(before, STEP - 1);
	assert_int_equal(after, RUNS - STEP);
	assert_string_equal(is, event);
	assert_int_equal(n, moved);
	json_decref(j);

	s = emit(h, "csv");
	assert_non_null(strstr(s, "\n21,14" ZEROS ",1,1790072000000000000,"));
	free(s);
	s = emit(h, "text");
	assert_non_null(strstr(s, "from run 20 (130000000000+) to run 21 (140000000000+)"));
	assert_true(!strstr(s, "the machine changed: so did 4 of 4 other cases") == !!strcmp(event, "machine"));
	free(s);
}

STORE_TEST(test_a_step_of_one_case)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	const struct assay_history_request q = { .db = f->db, .key = CASE0 };
	struct assay_case_history h;

	fill(f, s, "m1", 1);
	/* another process may write meanwhile */
	assert_int_equal(sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_ok(f, assay_case_history(&q, &h, &f->err));
	assert_int_equal(h.n_changes, 1);
	assert_int_equal(h.changes[0].n_others, 4);
	assert_shown(&h, "case", 0);
	assay_case_history_release(&h);
	assay_store_close(s);
}

STORE_TEST(test_a_step_of_the_machine)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_history_request q = { .db = f->db, .key = CASE0 };
	struct assay_case_history h;

	fill(f, s, "m1", 5);
	fill(f, s, "m2", 0);
	assay_store_close(s);
	/* the last machine has no change */
	assert_ok(f, assay_case_history(&q, &h, &f->err));
	assert_string_equal(h.machine_id, "m2");
	assert_int_equal(h.n_changes, 0);
	assay_case_history_release(&h);
	q.machine = "of m1";
	assert_ok(f, assay_case_history(&q, &h, &f->err));
	assert_int_equal(h.n_changes, 1);
	assert_shown(&h, "machine", 4);
	assay_case_history_release(&h);

	/* one run, and none */
	q.since_ns = START + (RUNS - 1) * HOUR;
	assert_ok(f, assay_case_history(&q, &h, &f->err));
	assert_int_equal(h.n_points, 1);
	assert_int_equal(h.n_changes, 0);
	assay_case_history_release(&h);
	q.since_ns++;
	assert_error(f, assay_case_history(&q, &h, &f->err), ASSAY_EUSAGE,
		     "no stored run of '" CASE0 "' since 2026-09-23T05:13Z has a time");
	assay_case_history_release(&h);
	q.machine = "m3";
	assert_error(f, assay_case_history(&q, &h, &f->err), ASSAY_EUSAGE,
		     "no machine 'm3' has stored runs: the last is 'label of m2' (m2)");
	assay_case_history_release(&h);
}

/* The runs that a gate of the last run judges by, before and after the answer that the code made the step. */
STORE_TEST(test_segments_begin_behind_a_confirmed_change)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_change_answer a = { .slower = true, .decided = true, .asked_ns = START + RUNS * HOUR };
	const struct assay_policy policy = assay_policy_default();
	struct assay_segments g;
	struct assay_run run = { 0 };

	fill(f, s, "m1", 1);
	assert_int_equal(sqlite3_exec(s->db, "UPDATE build SET dirty = 0", NULL, NULL, NULL), SQLITE_OK);
	assert_ok(f, assay_store_run_load(s, 0, &run, &f->err));
	assert_ok(f, assay_segments_load(s, &run, &policy, &g, &f->err));
	assert_string_equal(g.name, "the first 20 and last 20 of 39 runs since 000000000000, 2026-09-21");
	/* run 3 timed out */
	assert_int_equal(g.v[0].first.n, 20);
	assert_int_equal(g.v[0].last.n, 20);
	assert_true(g.v[0].first.v[18].median < 1020 && g.v[0].last.v[0].median > 1090);
	assay_segments_release(&g);

	snprintf(a.from_commit, sizeof(a.from_commit), "13" ZEROS);
	snprintf(a.to_commit, sizeof(a.to_commit), "14" ZEROS);
	snprintf(a.reason, sizeof(a.reason), "compared");
	for (int confirmed = 0; confirmed < 2; confirmed++) {
		a.confirmed = confirmed;
		assert_ok(f, assay_store_change_put(s, CASE0, "m1", &a, &f->err));
		assert_ok(f, assay_segments_load(s, &run, &policy, &g, &f->err));
		assert_int_equal(g.v[0].first.n, confirmed ? 0 : 20);
		assert_int_equal(g.v[0].last.n, confirmed ? RUNS - 1 - STEP : 20);
		assert_string_equal(g.v[0].since, confirmed ? "140000000000, 2026-09-22" : "");
		assert_int_equal(g.v[1].first.n, 20);
		assay_segments_release(&g);
	}
	/* an answer that came after the run that is judged, of a commit that it does not know */
	snprintf(a.to_commit, sizeof(a.to_commit), "ff" ZEROS);
	assert_ok(f, assay_store_change_put(s, CASE0, "m1", &a, &f->err));
	assert_ok(f, assay_segments_load(s, &run, &policy, &g, &f->err));
	assert_int_equal(g.v[0].last.n, RUNS - 1 - STEP);
	assay_segments_release(&g);
	/* asked before: what came after is behind it */
	a.asked_ns = START + 30 * HOUR;
	assert_ok(f, assay_store_change_put(s, CASE0, "m1", &a, &f->err));
	assert_ok(f, assay_segments_load(s, &run, &policy, &g, &f->err));
	assert_int_equal(g.v[0].last.n, 9);
	assay_segments_release(&g);
	assay_run_release(&run);
	assay_store_close(s);
}

UNIT_GROUP(NULL, NULL)
