/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in the store: what goes in comes out, what is replaced is replaced whole, what makes no sense is refused. */
#include "store_fixture.h"

#include <math.h>

STORE_TEST(test_a_run_comes_back_whole)
{
	struct fixture *f = *state;
	struct assay_store *s;
	struct assay_run in, out;
	struct assay_result r[3];

	make_run(&in, "quick", "m1");
	make_result(&r[0], 0, 10000);
	for (size_t k = 0; k < 6000; k++)
		r[0].samples[k].flags |= k < 100 ? ASSAY_DISTURB_MIGRATION : ASSAY_DISTURB_SLOW;
	r[0].samples[7000].flags |= ASSAY_SAMPLE_NEW_ROUND;
	assert_ok(f, assay_summary_fill(&r[0], &f->err));
	assert_true(r[0].rounds == 2 && r[0].slow_core_frac > 0.5 && r[0].disturbed_frac > 0);
	make_result(&r[1], 1, 1);
	make_result(&r[2], 2, 0);
	r[0].roof = (struct assay_result_roof){ ASSAY_BOUND_BANDWIDTH, "stream.read", "l3", { 0.25, 1.0 / 3, true } };
	r[0].c.reference = true;
	r[0].deviation = (struct assay_deviation){ 5, "element 102 of 'q': got 1, want 0" };
	r[1].max_rel_err = -1;
	r[1].digest[0] = '\0';
	r[1].c.n_axes = 0;
	r[1].c.cache = ASSAY_CACHE_WARM;
	r[2].status = ASSAY_STATUS_CRASHED;
	strcpy(r[2].reason, "killed by signal 11 (SIGSEGV) — in 'run'");
	r[2].log = strdup("first line\n  second line, “with” marks\n… 12 bytes left out\n");
	r[2].checked = r[2].correct = r[2].steady = r[2].converged = false;
	r[2].n_cpus = r[2].n_metrics = r[2].counters.n = 0;
	make_counters(&r[1].counters);
	r[1].raw_metrics = strdup("ops_per_s\t0.10000000000000001\t\n");
	strcpy(r[1].metrics[0].source, ASSAY_SOURCE_SDE);
	r[1].metrics[0].estimated = true;
	r[2].numa_node = 1;

	s = open_store(f, ASSAY_STORE_WRITE);
	assert_ok(f, assay_store_run_begin(s, &in, &f->err));
	assert_int_equal(in.id, 1);
	for (unsigned i = 0; i < 3; i++)
		assert_ok(f, assay_store_result_add(s, in.id, &r[i], &f->err));
	assay_store_close(s);

	s = open_store(f, ASSAY_STORE_READ);
	assert_ok(f, assay_store_run_load(s, 0, &out, &f->err));
	assert_int_equal(out.id, 1);
	assert_string_equal(out.suite, "quick");
	assert_true(out.seed == in.seed && out.started_ns == in.started_ns && out.ended_ns == 0);
	assert_memory_equal(&out.build, &in.build, sizeof(in.build));
	assert_memory_equal(&out.machine, &in.machine, sizeof(in.machine));
	assert_int_equal(out.n_environment, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_string_equal(out.environment[i].name, in.environment[i].name);
		assert_string_equal(out.environment[i].value, in.environment[i].value);
	}
	assert_int_equal(out.all_threads, 3);
	assert_int_equal(out.n_all_cpus, 3);
	assert_memory_equal(out.all_cpus, in.all_cpus, 3 * sizeof(int));
	assert_int_equal(out.n_results, 3);
	for (unsigned i = 0; i < 3; i++)
		assert_same_result(&out.results[i], &r[i]);
	assay_run_release(&out);
	assay_store_close(s);
	for (unsigned i = 0; i < 3; i++)
		assay_result_release(&r[i]);
}

/* A run whose first result cannot be stored is not there, either. */
STORE_TEST(test_a_run_begins_with_its_first_result)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run_info *runs = NULL;
	struct assay_run in, out;
	struct assay_result r;
	size_t n;

	make_run(&in, "quick", "m1");
	make_result(&r, 0, 100);
	strcpy(r.metrics[1].tag, r.metrics[0].tag); /* the database refuses it, after the run */
	assert_error(f, assay_store_run_begin_with(s, &in, &r, &f->err), ASSAY_ESTORE, "");
	assert_int_equal(in.id, 0);
	assert_ok(f, assay_store_runs(s, NULL, 0, &runs, &n, &f->err));
	assert_int_equal(n, 0);
	free(runs);
	assay_result_release(&r);

	make_result(&r, 0, 100);
	assert_ok(f, assay_store_run_begin_with(s, &in, &r, &f->err));
	assert_int_equal(in.id, 1);
	assert_ok(f, assay_store_run_load(s, 1, &out, &f->err));
	assert_int_equal(out.n_results, 1);
	assert_same_result(&out.results[0], &r);
	assay_run_release(&out);
	assay_result_release(&r);
	assay_store_close(s);
}

STORE_TEST(test_end_of_a_run)
{
	struct fixture *f = *state;
	struct assay_result r;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run out;

	assert_error(f, assay_store_run_load(s, 0, &out, &f->err), ASSAY_ENOTFOUND, "no runs in");
	assert_error(f, assay_store_run_load(s, 7, &out, &f->err), ASSAY_ENOTFOUND, "no run 7 in");
	assert_error(f, assay_store_run_end(s, 1, 5, &f->err), ASSAY_ENOTFOUND, "no open run 1");
	add_run(f, s, "quick", "m1", 0, 1, true);
	assert_error(f, assay_store_run_load(s, 7, &out, &f->err), ASSAY_ENOTFOUND, ": the nearest is 1");
	assert_error(f, assay_store_run_end(s, 1, 5, &f->err), ASSAY_ENOTFOUND, "no open run 1");
	make_result(&r, 5, 10);
	assert_error(f, assay_store_result_add(s, 1, &r, &f->err), ASSAY_ESTORE, "the run has ended");
	assert_error(f, assay_store_result_add(s, 2, &r, &f->err), ASSAY_ENOTFOUND, "no run 2");
	assay_result_release(&r);
	assert_ok(f, assay_store_run_load(s, 0, &out, &f->err));
	assert_true(out.ended_ns == out.started_ns + 1000);
	assert_int_equal(out.n_results, 1);
	assay_run_release(&out);
	assay_store_close(s);
}

/* What only the whole run decides is replaced, and nothing else of the result. */
STORE_TEST(test_metrics_are_replaced)
{
	struct fixture *f = *state;
	struct assay_result r, other;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run out;

	add_run(f, s, "quick", "m1", 0, 3, false);
	make_result(&r, 1, 100);
	make_result(&other, 8, 100);
	r.n_metrics = 1;
	assert_int_equal(assay_result_add_metric(&r, "roof_frac", "1", 1, 0.75), 0);
	assert_int_equal(assay_counters_add_missing(&r.counters, "other_frac", "assay", "no roof"), 0);
	assert_int_equal(assay_counters_add(&r.counters, &(struct assay_count){ .name = "roof_ns",
										.source = "assay",
										.how = "stream.read at l3",
										.value = 80,
										.per_iteration = true,
										.running_frac = 1 }),
			 0);
	r.roof = (struct assay_result_roof){ .bound = ASSAY_BOUND_ARITHMETIC, .op = "peak.i8_dot", .name = "i8" };
	r.status = ASSAY_STATUS_WRONG;
	strcpy(r.reason, "digest differs from that of ref");
	r.correct = false;
	assert_ok(f, assay_store_metrics_put(s, 1, &r, &f->err));
	assert_error(f, assay_store_metrics_put(s, 1, &other, &f->err), ASSAY_ENOTFOUND,
		     "run 1 has no result of 'matmul.ternary/");
	r.metrics[0].value = NAN;
	assert_error(f, assay_store_metrics_put(s, 1, &r, &f->err), ASSAY_ELIMIT, "metric 'time_s' is");
	r.metrics[0].value = 2.25e-6;

	assert_ok(f, assay_store_run_load(s, 1, &out, &f->err));
	assert_same_result(&out.results[1], &r);
	assert_int_equal(out.results[0].n_metrics, 3);
	assert_int_equal(out.results[2].status, ASSAY_STATUS_OK);
	assay_run_release(&out);
	assay_store_close(s);
	assay_result_release(&r);
	assay_result_release(&other);
}

/* A case measured once more keeps its place; all of it is the new one. */
STORE_TEST(test_results_are_replaced)
{
	struct fixture *f = *state;
	struct assay_result r, other;
	struct assay_sample *samples = NULL;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run out;
	size_t n = 0;

	add_run(f, s, "quick", "m1", 0, 3, false);
	make_result(&r, 1, 250);
	make_result(&other, 8, 100);
	r.samples[100].flags |= ASSAY_SAMPLE_NEW_ROUND;
	assert_ok(f, assay_summary_fill(&r, &f->err));
	assert_int_equal(r.rounds, 2);
	assert_int_equal(assay_result_set_metric(&r, "time_s", "s", -1, 2.2515e-6), 0);
	assert_int_equal(assay_result_set_count(&r, "page_faults", "os", "getrusage", 18), 0);
	assert_int_equal(r.n_metrics, 3);
	assert_int_equal(r.counters.n, 2);
	assert_ok(f, assay_store_result_replace(s, 1, &r, &f->err));
	assert_error(f, assay_store_result_replace(s, 1, &other, &f->err), ASSAY_ENOTFOUND,
		     "run 1 has no result of 'matmul.ternary/");
	assert_ok(f, assay_store_samples_load(s, 1, r.c.key, &samples, &n, &f->err));
	assert_int_equal(n, 250);
	assert_memory_equal(samples, r.samples, n * sizeof(*samples));
	free(samples);
	assert_error(f, assay_store_samples_load(s, 1, other.c.key, &samples, &n, &f->err), ASSAY_ENOTFOUND,
		     "run 1 has no result of 'matmul.ternary/");
	assert_ok(f, assay_store_run_load(s, 1, &out, &f->err));
	assert_same_result(&out.results[1], &r);
	assert_int_equal(out.results[0].n_samples, out.results[2].n_samples);
	assay_run_release(&out);

	/* a later round may fail: then no number of it is left */
	assay_result_drop_numbers(&r);
	r.status = ASSAY_STATUS_CRASHED;
	strcpy(r.reason, "round 2: killed by signal 11");
	r.log = strdup("words of the second round");
	assert_ok(f, assay_store_result_replace(s, 1, &r, &f->err));
	assert_ok(f, assay_store_run_load(s, 1, &out, &f->err));
	assert_same_result(&out.results[1], &r);
	assert_ok(f, assay_store_samples_load(s, 1, r.c.key, &samples, &n, &f->err));
	assert_int_equal(n, 0);
	assert_null(samples);
	assay_run_release(&out);
	assay_store_close(s);
	assay_result_release(&r);
	assay_result_release(&other);
}

#define N_SPOILED 27

/* Spoil a good result in way @i: the code and a part of the message that refuses it. */
static int spoil(struct assay_result *r, unsigned i, const char **part)
{
	*part = "cannot store";
	switch (i) {
	case 0:
		r->metrics[1].value = INFINITY;
		*part = "metric 'ops_per_s' is inf";
		return ASSAY_ELIMIT;
	case 1:
		r->metrics[1].value = NAN;
		*part = "metric 'ops_per_s' is";
		return ASSAY_ELIMIT;
	case 2:
		r->counters.v[0].value = -INFINITY;
		*part = "counter 'page_faults' is -inf";
		return ASSAY_ELIMIT;
	case 3:
		r->median_ns = NAN;
		*part = "median_ns is";
		return ASSAY_ELIMIT;
	case 4:
		r->ci95_hi_ns = INFINITY;
		*part = "ci95_hi_ns is inf";
		return ASSAY_ELIMIT;
	case 5:
		r->max_rel_err = NAN;
		*part = "max_rel_err is";
		return ASSAY_ELIMIT;
	case 6:
		r->roof.in_turn.most_frac = INFINITY;
		*part = "roof_most_frac is inf";
		return ASSAY_ELIMIT;
	case 7:
		r->roof.in_turn.least_frac = NAN;
		*part = "roof_least_frac is";
		return ASSAY_ELIMIT;
	case 8:
		r->n_samples = 0;
		*part = "ok_is_measured";
		break;
	case 9:
		r->correct = false;
		*part = "ok_is_correct";
		break;
	case 10:
		r->status = ASSAY_STATUS_FAILED;
		*part = "other_than_ok_says_why";
		break;
	case 11:
		strcpy(r->metrics[2].tag, "time_s");
		*part = "metric 'time_s'";
		break;
	case 12:
		r->warmup_ns = UINT64_MAX;
		*part = "a number is above";
		break;
	case 13:
		r->status = ASSAY_N_STATUS;
		break;
	case 14:
		r->dropped_frac = 1.5;
		break;
	case 15:
		r->dropped_frac = -0.5;
		break;
	case 16:
		r->c.variant[0] = '\0';
		break;
	case 17:
		r->c.op[0] = '\0';
		break;
	case 18:
		r->c.axes[0].name[0] = '\0';
		break;
	case 19:
		r->ci95_lo_ns = r->ci95_hi_ns + 1;
		break;
	case 20:
		r->ci95_lo_ns = -1;
		break;
	case 21:
		r->min_ns = -1;
		break;
	case 22:
		r->mad_ns = -1;
		break;
	case 23:
		r->numa_node = -2;
		break;
	case 24:
		r->roof.in_turn.least_frac = -1;
		break;
	case 25:
		r->metrics[0].better = 2;
		break;
	case 26:
		r->counters.v[0].name[0] = '\0';
		break;
	}
	return ASSAY_ESTORE;
}

/*
 * A result that contradicts itself or has a value that is not a number is refused as a whole, alone or in a transaction
 * of many: neither result nor case stays behind.
 */
STORE_TEST(test_bad_results_are_refused)
{
	struct fixture *f = *state;
	struct assay_store *s = open_store(f, ASSAY_STORE_WRITE);
	struct assay_run out;

	add_run(f, s, "quick", "m1", 0, 1, false);
	for (unsigned i = 0; i < 2 * N_SPOILED; i++) {
		const bool bulk = i % 2;
		struct assay_result r;
		const char *part;
		int code;

		make_result(&r, 1, 10);
		code = spoil(&r, i / 2, &part);
		if (bulk)
			assert_ok(f, assay_store_bulk_begin(s, &f->err));
		assert_error(f, assay_store_result_add(s, 1, &r, &f->err), code, part);
		if (bulk)
			assert_int_equal(assay_store_bulk_end(s, code, &f->err), code);
		assay_result_release(&r);
	}
	assert_ok(f, assay_store_run_load(s, 1, &out, &f->err));
	assert_int_equal(out.n_results, 1);
	assert_error(f, assay_store_result_add(s, 1, &out.results[0], &f->err), ASSAY_ESTORE,
		     "run 1 already has a result of");
	/* an output can be infinitely wrong, which the reason says */
	strcpy(out.results[0].c.key, "x/y/-/t=1/warm");
	out.results[0].status = ASSAY_STATUS_WRONG;
	strcpy(out.results[0].reason, "output has a NaN");
	out.results[0].max_rel_err = INFINITY;
	assert_ok(f, assay_store_result_add(s, 1, &out.results[0], &f->err));
	assay_run_release(&out);
	assert_ok(f, assay_store_run_load(s, 1, &out, &f->err));
	assert_int_equal(out.n_results, 2);
	assert_true(out.results[1].max_rel_err < 0);
	assay_run_release(&out);
	assay_store_close(s);
}

/* The schema itself stands guard, whoever writes. */
STORE_TEST(test_checks_of_the_schema)
{
	static const char *const refused[] = {
		"UPDATE result SET median_ns = 9e999",
		"UPDATE result SET median_ns = 9e999 - 9e999", /* NaN is NULL */
		"UPDATE result_numbers SET encoded = 'fast'",
		"UPDATE result_numbers SET encoded = x''",
		"UPDATE number_name SET kind = 'missing', how = ''",
		"UPDATE result SET series = 99",
		"UPDATE result SET status = 'fine'",
		"UPDATE result SET run = 99",
		"UPDATE result SET correct = 0",
		"UPDATE run SET machine = 'elsewhere'",
		"DELETE FROM machine",
		"UPDATE bench_case SET cache = 'hot'",
	};
	struct fixture *f = *state;
	struct assay_store *s;

	make_database(f);
	s = open_store(f, ASSAY_STORE_WRITE);
	for (size_t i = 0; i < N_OF(refused); i++)
		assert_int_equal(sqlite3_exec(s->db, refused[i], NULL, NULL, NULL) & 0xff, SQLITE_CONSTRAINT);
	assay_store_close(s);
	/* a reader changes nothing */
	s = open_store(f, ASSAY_STORE_READ);
	assert_int_equal(sqlite3_exec(s->db, "DELETE FROM result", NULL, NULL, NULL) & 0xff, SQLITE_READONLY);
	assay_store_close(s);
	assert_intact(f);
}

UNIT_GROUP(NULL, NULL)
