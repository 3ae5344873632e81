/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons in the store: every bit comes back, and what makes no sense is refused. */
#include "store_comparison_fixture.h"

enum { N_CASES = 8 };

/* Three measured cases, controls (one repeated), one that is new, one that is gone; pairs as rounds over the cases. */
static void fill(struct fixture *f, struct assay_store *s, struct assay_comparison *cmp)
{
	static const enum assay_control controls[N_CASES] = { ASSAY_CONTROL_NONE,   ASSAY_CONTROL_AA,
							      ASSAY_CONTROL_SLOWER, ASSAY_CONTROL_NONE,
							      ASSAY_CONTROL_NONE,   ASSAY_CONTROL_AA,
							      ASSAY_CONTROL_NONE,   ASSAY_CONTROL_NONE };
	static const unsigned numbers[N_CASES] = { 0, 0, 0, 1, 2, 0, 3, 4 };
	int64_t ids[N_CASES];

	cmp->cases = calloc(N_CASES, sizeof(*cmp->cases));
	assert_non_null(cmp->cases);
	cmp->n_cases = N_CASES;
	for (unsigned i = 0; i < N_CASES; i++) {
		make_case(&cmp->cases[i], numbers[i], controls[i]);
		if (numbers[i] == 3)
			cmp->cases[i].in_base = false;
		if (numbers[i] == 4) {
			cmp->cases[i].in_head = false;
			SET(cmp->cases[i].reason, "needs avx512_vnni");
		}
	}
	assert_ok(f, assay_store_comparison_begin_with(s, cmp, ids, &f->err));
	for (unsigned round = 0; round < N_PAIRS; round++)
		for (unsigned i = 0; i < N_CASES && numbers[i] < 3; i++) {
			struct assay_pair p;

			make_pair(&p, 10 * i + round);
			if (i == 3 && round == 1)
				fail_side(&p, ASSAY_HEAD, ASSAY_STATUS_CRASHED, "signal 11");
			if (i == 3 && round == 2)
				fail_side(&p, ASSAY_BASE, ASSAY_STATUS_TIMEOUT, "over 120 s");
			if (i == 4 && round == 3) {
				fail_side(&p, ASSAY_HEAD, ASSAY_STATUS_WRONG, "error of infinity");
				p.side[ASSAY_HEAD].max_rel_err = INFINITY;
			}
			if (i == 4 && round == 0) /* digests that differ: both ok, nothing timed */
				drop_samples(&p);
			add_pair(f, s, ids[i], &cmp->cases[i], &p);
		}
	SET(cmp->cases[4].difference, "outputs differ from byte 17 of 4096 on");
	assert_ok(f, assay_store_comparison_case_update(s, ids[4], &cmp->cases[4], &f->err));
}

STORE_TEST(test_round_trip)
{
	struct fixture *f = *state;
	struct assay_comparison cmp[2], got;
	char verdict[ASSAY_VERDICT_MAX];
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	int exit_code;

	for (unsigned k = 0; k < 2; k++) {
		make_comparison(&cmp[k], "m1");
		fill(f, s, &cmp[k]);
		assert_int_equal(cmp[k].id, 1 + k);
	}
	cmp[0].ended_ns = cmp[0].started_ns + 5;
	assert_ok(f, assay_store_comparison_end(s, 1, cmp[0].ended_ns, "WRONG_RESULT", 3, &f->err));
	assay_store_close(s);

	s = open_store(f, ASSAY_STORE_READ);
	assert_ok(f, assay_store_comparison_load(s, 1, &got, verdict, &exit_code, &f->err));
	same_comparison(&got, &cmp[0]);
	assert_int_equal(got.cases[3].n_pairs, N_PAIRS);
	assert_string_equal(verdict, "WRONG_RESULT");
	assert_int_equal(exit_code, 3);
	assay_comparison_release(&got);
	/* the newest, which did not finish */
	assert_ok(f, assay_store_comparison_load(s, 0, &got, verdict, &exit_code, &f->err));
	same_comparison(&got, &cmp[1]);
	assert_string_equal(verdict, "");
	assert_int_equal(exit_code, -1);
	assay_comparison_release(&got);
	assert_ok(f, assay_store_comparison_load(s, 2, &got, NULL, NULL, &f->err));
	assay_comparison_release(&got);
	assay_store_close(s);

	/* stored once, referred to twice */
	assert_int_equal(ask(f->db, "SELECT count(*) FROM machine"), 1);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM build"), 2);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM bench_case"), 5);
	assay_comparison_release(&cmp[0]);
	assay_comparison_release(&cmp[1]);
}

/* Everything that cannot be true is refused as a whole. */
STORE_TEST(test_bad_pairs)
{
	enum fault {
		NO_SAMPLES,
		NAN_METRIC,
		INFINITE_METRIC,
		METRIC_TWICE,
		NAN_ERROR,
		INFINITE_ERROR,
		NO_REASON,
		BETTER_2,
		ITERATIONS,
		N_FAULTS,
	};
	static const struct {
		int code;
		const char *part;
	} want[N_FAULTS] = {
		[NO_SAMPLES] = { ASSAY_ESTORE, "blocks, but no samples of head" },
		[NAN_METRIC] = { ASSAY_ELIMIT, "metric 'hit_rate' is" },
		[INFINITE_METRIC] = { ASSAY_ELIMIT, "metric 'hit_rate' is inf on the side of head" },
		[METRIC_TWICE] = { ASSAY_ESTORE, "cannot store metric 'tokens_per_s'" },
		[NAN_ERROR] = { ASSAY_ELIMIT, "max_rel_err of head is" },
		[INFINITE_ERROR] = { ASSAY_ELIMIT, "max_rel_err of head is inf" },
		[NO_REASON] = { ASSAY_ESTORE, "other_than_ok_says_why" },
		[BETTER_2] = { ASSAY_ESTORE, "cannot store metric 'hit_rate'" },
		[ITERATIONS] = { ASSAY_ESTORE, "above the largest that can be stored" },
	};
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	int64_t case_id;

	begin(f, s, "m1", &case_id);
	for (unsigned i = 0; i < N_FAULTS; i++) {
		struct assay_result *head;
		struct assay_pair p;

		make_pair(&p, 1);
		head = &p.side[ASSAY_HEAD];
		if (i == NO_SAMPLES) {
			free(head->samples);
			head->samples = NULL;
		}
		if (i == NAN_METRIC || i == INFINITE_METRIC)
			head->metrics[1].value = i == NAN_METRIC ? NAN : INFINITY;
		if (i == METRIC_TWICE)
			head->metrics[1] = head->metrics[0];
		if (i == NAN_ERROR || i == INFINITE_ERROR)
			head->max_rel_err = i == NAN_ERROR ? NAN : INFINITY;
		if (i == NO_REASON)
			head->status = ASSAY_STATUS_CRASHED;
		if (i == BETTER_2)
			head->metrics[1].better = 2;
		if (i == ITERATIONS)
			p.iterations = UINT64_MAX;
		assert_error(f, assay_store_pair_add(s, case_id, &p, &f->err), want[i].code, want[i].part);
		assay_pair_release(&p);
	}
	assay_store_close(s);
	assert_int_equal(ask(f->db, "SELECT (SELECT count(*) FROM pair) + (SELECT count(*) FROM pair_side)"
				    " + (SELECT count(*) FROM pair_metric)"),
			 0);
}

STORE_TEST(test_bad_cases_and_comparisons)
{
	static const double alphas[] = { 0, 1, -0.01, NAN, INFINITY };
	struct fixture *f = *state;
	struct assay_comparison cmp;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	int64_t ids[2];

	make_comparison(&cmp, "m1");
	for (size_t i = 0; i < N_OF(alphas); i++) {
		cmp.alpha = alphas[i];
		assert_error(f, assay_store_comparison_begin(s, &cmp, &f->err), ASSAY_ELIMIT, "not between 0 and 1");
	}
	cmp.alpha = 0.01;
	cmp.family = 0;
	assert_error(f, assay_store_comparison_begin(s, &cmp, &f->err), ASSAY_ESTORE, "cannot store comparison with");
	assert_int_equal(cmp.id, 0);
	assay_comparison_release(&cmp);
	assert_int_equal(ask(f->db, "SELECT (SELECT count(*) FROM comparison) + (SELECT count(*) FROM machine)"), 0);

	make_cases(&cmp, "m1", 1);
	make_case(&cmp.cases[1], 5, ASSAY_CONTROL_SLOWER);
	cmp.cases[1].injected_frac = 0;
	assert_error(f, assay_store_comparison_begin_with(s, &cmp, ids, &f->err), ASSAY_ESTORE, "slower_is_slower");
	cmp.cases[1].injected_frac = NAN;
	assert_error(f, assay_store_comparison_begin_with(s, &cmp, ids, &f->err), ASSAY_ELIMIT, "injected_frac");
	make_case(&cmp.cases[1], 0, ASSAY_CONTROL_NONE);
	assert_error(f, assay_store_comparison_begin_with(s, &cmp, ids, &f->err), ASSAY_ESTORE,
		     "comparison 1 already has the case 'matmul.ternary/");
	assert_int_equal(ask(f->db, "SELECT (SELECT count(*) FROM comparison) + (SELECT count(*) FROM bench_case)"), 0);
	make_case(&cmp.cases[1], 0, ASSAY_CONTROL_AA);
	assert_ok(f, assay_store_comparison_begin_with(s, &cmp, ids, &f->err));
	assert_true(cmp.id == 1 && ids[0] == 1 && ids[1] == 2);
	assert_error(f, assay_store_comparison_case_update(s, 99, &cmp.cases[0], &f->err), ASSAY_ENOTFOUND,
		     "no case 99");
	assay_comparison_release(&cmp);
	assay_store_close(s);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM comparison_case"), 2);
	assert_int_equal(ask(f->db, "SELECT count(*) FROM bench_case"), 1);
}

STORE_TEST(test_an_ended_comparison_stays_as_it_is)
{
	struct fixture *f = *state;
	struct assay_comparison_case c;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	int64_t case_id, id;
	struct assay_pair p;

	id = begin(f, s, "m1", &case_id);
	make_pair(&p, 0);
	make_case(&c, 1, ASSAY_CONTROL_NONE);
	assert_error(f, assay_store_pair_add(s, 12, &p, &f->err), ASSAY_ENOTFOUND, "no case 12 of a comparison");
	assert_error(f, assay_store_comparison_end(s, id, 5, "FINE", 0, &f->err), ASSAY_ESTORE, "verdict_is_known");
	assert_error(f, assay_store_comparison_end(s, id, 5, NULL, 0, &f->err), ASSAY_ESTORE, "ended_has_verdict");
	assert_error(f, assay_store_comparison_end(s, 2, 5, "PASS", 0, &f->err), ASSAY_ENOTFOUND,
		     "no open comparison 2");
	for (unsigned v = 0; v < ASSAY_N_VERDICTS; v++) { /* all verdicts there are can be stored */
		assert_ok(f, assay_store_comparison_end(s, id, 5, assay_verdict_name(v), 1, &f->err));
		assert_error(f, assay_store_comparison_end(s, id, 6, "PASS", 0, &f->err), ASSAY_ENOTFOUND,
			     "no open comparison 1");
		assert_error(f, assay_store_pair_add(s, case_id, &p, &f->err), ASSAY_ESTORE,
			     "the comparison has ended");
		assert_error(f, assay_store_comparison_case_update(s, case_id, &c, &f->err), ASSAY_ENOTFOUND,
			     "no case 1 of an open comparison");
		run_sql(f->db, "UPDATE comparison SET ended_ns = NULL, verdict = NULL, exit_code = NULL");
	}
	assay_pair_release(&p);
	assay_store_close(s);
}

UNIT_GROUP(NULL, NULL)
