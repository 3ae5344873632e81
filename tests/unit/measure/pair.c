/* SPDX-License-Identifier: Apache-2.0 */
/* Process pairs: what their sides have in common, what they learn, and who is called wrong. */
#include <sys/personality.h>
#include <sys/types.h>
#include <unistd.h>

#include "counters/preloaded.h"
#include "judge/comparison_judge.h"
#include "judge/gate.h"
#include "measure/case_metrics.h"
#include "measure/measure.h"
#include "model/summary.h"
#include "pair_trace.h"
#include "pair_world.h"
#include "unit.h"

/* Both sides map the same tensors, as long as both are right with it; who is wrong is told by memory of its own. */
TEST(tensors_are_common)
{
	static const struct {
		const char *side[2];
		enum assay_status status[2];
		bool own_memory;
	} rows[] = {
		{ { "compare_base", "compare_keeps" }, { ASSAY_STATUS_OK, ASSAY_STATUS_OK }, false },
		{ { "compare_scratch", "compare_scratch" }, { ASSAY_STATUS_OK, ASSAY_STATUS_OK }, true },
		{ { "compare_base", "compare_spoils" }, { ASSAY_STATUS_OK, ASSAY_STATUS_WRONG }, true },
		{ { "compare_spoils", "compare_base" }, { ASSAY_STATUS_WRONG, ASSAY_STATUS_OK }, true },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, rows[i].side, &m);
		o = options_of(*state, &m);
		take_pair(&o, &calibration, &m);
		if (m.pair.side[0].status != rows[i].status[0] || m.pair.side[1].status != rows[i].status[1] ||
		    calibration.own_memory != rows[i].own_memory)
			fail_msg("row %zu: '%s', '%s', own memory %d", i, m.pair.side[0].reason, m.pair.side[1].reason,
				 calibration.own_memory);
		release(&m);
	}
}

/* Pairs behind the first leave out checks; that common inputs were changed, and by whom, is told all the same. */
TEST(spoiled_inputs_are_told_later)
{
	static const char *const rows[2][2] = { { "compare_spoils", "compare_base" },
						{ "compare_base", "compare_spoils" } };

	for (int bad = 0; bad < 2; bad++) {
		struct assay_pair_calibration first = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, (const char *const[2]){ "compare_base", "compare_base" }, &m);
		o = options_of(*state, &m);
		take_pair(&o, &first, &m);
		assert_ok(&m);
		release(&m);
		plan(*state, rows[bad], &m);
		o = options_of(*state, &m);
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct assay_pair_calibration calibration = first;

			take_pair_as(&o, (struct assay_pair_options){ .pair_seed = seed }, &calibration, &m);
			assert_int_equal(m.pair.side[bad].status, ASSAY_STATUS_WRONG);
			assert_int_equal(m.pair.side[!bad].status, ASSAY_STATUS_OK);
		}
		release(&m);
	}
}

/* A pair learns which output is right, and the oracle is not asked about it again; about other inputs it is. */
TEST(lessons_are_kept)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_measure_options o;
	struct assay_accepted first;
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_base", "compare_keeps" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &calibration, &m);
	first = calibration.accepted;
	assert_true(first.digest[0][0] && first.max_rel_err[0] == -1);
	assert_true(first.digest[1][0] && strcmp(first.digest[0], first.digest[1])); /* of the audit */
	/* an error that no oracle found comes back only if none is asked */
	calibration.accepted.max_rel_err[0] = 0.125;
	take_pair(&o, &calibration, &m);
	assert_true(m.pair.side[0].max_rel_err == 0.125 && m.pair.side[1].max_rel_err == 0.125);
	o.worker.settings.seed = 43;
	take_pair(&o, &calibration, &m);
	assert_true(m.pair.side[0].max_rel_err == -1 && m.pair.side[1].max_rel_err == -1);
	assert_string_not_equal(first.digest[0], calibration.accepted.digest[0]);
	release(&m);
}

/* Code that is the same is checked on both sides, and timed only where that is wanted. */
TEST(the_same_code_takes_no_samples)
{
	static const struct {
		const char *head;
		bool changed_only, samples;
	} rows[] = {
		{ "compare_base", true, false },
		{ "compare_base", false, true },
		{ "compare_slower", true, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, (const char *const[2]){ "compare_base", rows[i].head }, &m);
		o = options_of(*state, &m);
		take_pair_as(&o, (struct assay_pair_options){ .changed_only = rows[i].changed_only }, &calibration, &m);
		for (int side = 0; side < 2; side++) {
			assert_int_equal(m.pair.side[side].status, ASSAY_STATUS_OK);
			assert_true(m.pair.side[side].digest[0] != '\0');
			assert_true(side_value(&m.pair.side[side], "op_bytes") > 0);
		}
		assert_int_equal(m.pair.n_blocks > 0, rows[i].samples);
		release(&m);
	}
}

/* Where the part of the file begins that the sides share out; tensors end far before. */
#define OWN_PARTS ((off_t)1 << 42)

/* Data that another case left in the file. */
static void soil(const struct assay_kept_memory *kept)
{
	const off_t page = sysconf(_SC_PAGESIZE), begin = (off_t)sizeof(*kept->shared) + page - 1;
	unsigned char junk[4096];
	size_t n = 0;

	assert_true(page % (off_t)sizeof(junk) == 0);
	memset(junk, 0x5A, sizeof(junk));
	/* from the start of a page on, so that no write reaches into a hole */
	for (off_t at = lseek(kept->fd, begin - begin % page, SEEK_DATA); at >= 0;
	     at = lseek(kept->fd, at + (off_t)sizeof(junk), SEEK_DATA), n++)
		assert_true(pwrite(kept->fd, junk, sizeof(junk), at) == (ssize_t)sizeof(junk));
	assert_true(n > 0);
}

/* Bytes that the file has from @from on, and before @to. */
static off_t bytes_between(const struct assay_kept_memory *kept, off_t from, off_t to)
{
	off_t sum = 0, end;

	for (off_t at = lseek(kept->fd, from, SEEK_DATA); at >= 0 && at < to; at = lseek(kept->fd, end, SEEK_DATA)) {
		end = lseek(kept->fd, at, SEEK_HOLE);
		sum += (end < to ? end : to) - at;
	}
	return sum;
}

/* Pairs that use the same memory one after the other give what others give, whatever the one before left there. */
TEST(memory_is_kept)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_kept_memory kept = { 0 };
	struct assay_measure_options o;
	struct assay_pair_shared *shared;
	char digest[ASSAY_DIGEST_LEN + 1];
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_base", "compare_keeps" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &calibration, &m);
	memcpy(digest, m.pair.side[0].digest, sizeof(digest));
	take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &calibration, &m);
	shared = kept.shared;
	assert_non_null(shared);
	soil(&kept);
	take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &calibration, &m);
	assert_ptr_equal(kept.shared, shared);
	for (int side = 0; side < 2; side++) {
		assert_int_equal(m.pair.side[side].status, ASSAY_STATUS_OK);
		assert_string_equal(m.pair.side[side].digest, digest);
	}
	assay_kept_memory_release(&kept);
	assert_null(kept.shared);
	release(&m);
}

/*
 * Prepared buffers of the size of huge pages lie in the kept file, too: apart for the two sides, and zero
 * whatever was there. The pairs after the first use it again.
 */
TEST(prepared_memory_is_kept)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_kept_memory kept = { 0 };
	struct assay_measure_options o;
	struct measured m;
	off_t had = 0, has;

	plan(*state, (const char *const[2]){ "compare_hoards", "compare_hoards" }, &m);
	m.facts.copies = 3;
	o = options_of(*state, &m);
	for (int i = 0; i < 3; i++) {
		take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &calibration, &m);
		assert_ok(&m);
		assert_false(calibration.own_memory);
		has = bytes_between(&kept, OWN_PARTS, 2 * OWN_PARTS);
		assert_true(has >= 2 * 3 * (3 << 20));
		assert_true(!i || has == had);
		had = has;
		soil(&kept);
	}
	assay_kept_memory_release(&kept);
	release(&m);
}

/*
 * A fill that leaves more than tensors behind has to be done by each side and for each copy, on zeros: common memory
 * may have anything there.
 */
TEST(a_fill_with_state)
{
	for (uint64_t copies = 1; copies <= 3; copies += 2) {
		struct assay_pair_calibration calibration = { 0 };
		struct assay_kept_memory kept = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan_of(*state, "stateful.triple", (const char *const[2]){ "compare_state", "compare_state" }, &m);
		m.facts.copies = copies;
		o = options_of(*state, &m);
		for (int i = 0; i < 2; i++) {
			take_pair_as(&o, (struct assay_pair_options){ .kept = &kept }, &calibration, &m);
			assert_ok(&m);
			assert_false(calibration.own_memory);
			/* the oracle was not asked about what it accepted: forget that */
			calibration.accepted = (struct assay_accepted){ 0 };
			soil(&kept);
		}
		assay_kept_memory_release(&kept);
		release(&m);
	}
}

/* A case that is wrong once, and right when it is tried again, was wrong. */
TEST(wrong_once_is_wrong)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_measure_options o;
	char path[] = "/tmp/assay-once-XXXXXX";
	struct measured m;
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	setenv("ASSAY_TEST_ONCE", path, 1);
	plan(*state, (const char *const[2]){ "compare_base", "compare_once" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &calibration, &m);
	assert_int_equal(m.pair.side[ASSAY_BASE].status, ASSAY_STATUS_OK);
	assert_int_equal(m.pair.side[ASSAY_HEAD].status, ASSAY_STATUS_WRONG);
	assert_false(calibration.own_memory);
	release(&m);
	unsetenv("ASSAY_TEST_ONCE");
	unlink(path);
}

/* ---- pair layout ---- */

/* Where the memory of the sides of a pair lies. */

/* May this process start others without drawn addresses? Some sandboxes refuse it. */
static bool addresses_can_be_fixed(void)
{
	const int now = personality(0xffffffff);
	const bool can = now >= 0 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0;

	if (can)
		personality((unsigned long)now);
	return can;
}

/* The sides of a pair have all that they use at the same addresses, which each pair draws anew. */
TEST(sides_lie_alike)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_measure_options o;
	int64_t tensor[2], prepared[2], code[2], stack[2];
	struct measured m;
	struct trace t;

	trace_open(&t, "0");
	setenv("ASSAY_TEST_PREPARE", "100000", 1);
	plan(*state, (const char *const[2]){ "compare_trace", "compare_trace" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &calibration, &m);
	for (uint64_t i = 0; i < 2; i++) {
		trace_clear(&t);
		take_pair_as(&o, (struct assay_pair_options){ .pair_seed = 7 + i, .iterations = m.pair.iterations },
			     &calibration, &m);
		assert_ok(&m);
		trace_read(&t);
		assert_true(t.tensor[0] == t.tensor[1] && t.prepared[0] && t.prepared[0] == t.prepared[1]);
		if (addresses_can_be_fixed())
			assert_true(t.code[0] == t.code[1] && t.stack[0] == t.stack[1] && t.job[0] == t.job[1]);
		tensor[i] = t.tensor[0];
		prepared[i] = t.prepared[0];
		code[i] = t.code[0];
		stack[i] = t.stack[0];
	}
	assert_true(tensor[0] != tensor[1] && prepared[0] != prepared[1]);
	assert_true(code[0] != code[1] && stack[0] != stack[1]);
	unsetenv("ASSAY_TEST_PREPARE");
	trace_close(&t);
	release(&m);
}

/* ---- pair metrics ---- */

/*
 * A pair measures of each side all that a run measures of a case: metrics, counts, and anything that the policy demands
 * of them holds or fails alike, in a gate and in a comparison.
 */

#define KEPT_BYTES 12345 /* of compare_keeps */

/* The head measured alone, and in a pair with the base. */
static void measure_both(struct world *w, bool verify_only, struct measured *m)
{
	struct assay_pair_calibration calibration = { 0 };
	struct assay_measure_options o;
	struct assay_err err = { 0 };

	plan(w, (const char *const[2]){ "compare_base", "compare_keeps" }, m);
	o = options_of(w, m);
	o.verify_only = verify_only;
	if (assay_measure_case(&m->c, assay_inventory_catalog(m->inv), &m->facts, &o, &m->of_run, &err))
		fail_msg("%s", err.text);
	take_pair(&o, &calibration, m);
	if (m->of_run.status || m->pair.side[0].status || m->pair.side[1].status)
		fail_msg("'%s', '%s', '%s'", m->of_run.reason, m->pair.side[0].reason, m->pair.side[1].reason);
}

/* Name by name, in the same order. */
static void same_names(const struct assay_result *r, const struct assay_result *s)
{
	assert_int_equal(r->n_metrics, s->n_metrics);
	for (size_t i = 0; i < r->n_metrics; i++) {
		assert_string_equal(r->metrics[i].tag, s->metrics[i].tag);
		assert_string_equal(r->metrics[i].unit, s->metrics[i].unit);
		assert_int_equal(r->metrics[i].better, s->metrics[i].better);
	}
	assert_int_equal(r->counters.n, s->counters.n);
	for (size_t i = 0; i < r->counters.n; i++) {
		assert_string_equal(r->counters.v[i].name, s->counters.v[i].name);
		assert_string_equal(r->counters.v[i].source, s->counters.v[i].source);
	}
	assert_int_equal(r->counters.n_missing, s->counters.n_missing);
	for (size_t i = 0; i < r->counters.n_missing; i++)
		assert_string_equal(r->counters.missing[i].name, s->counters.missing[i].name);
}

TEST(a_side_has_what_a_case_has)
{
	/*
	 * what takes other cases, a device, a budget or tokens, what only cold cases have, and counts under a
	 * simulator, is not here
	 */
	static const char *const not_here[] = { "roof_frac", "parallel_efficiency", "rotated_bytes",
						"machine_busy_frac", "tokens_per_ms" };
	const struct assay_result *head, *base;
	struct measured m;

	measure_both(*state, false, &m);
	base = &m.pair.side[ASSAY_BASE];
	head = &m.pair.side[ASSAY_HEAD];
	same_names(&m.of_run, head);
	same_names(&m.of_run, base);
	for (size_t i = 0; i < assay_n_metrics; i++) {
		const char *tag = assay_metrics[i].tag;
		bool here = !assay_exact_is_metric(tag) && strncmp(tag, "device_", 7);

		for (size_t k = 0; k < N_OF(not_here); k++)
			here = here && strcmp(tag, not_here[k]) != 0;
		if (here != isfinite(side_value(head, tag)))
			fail_msg("%s", tag);
	}
	/* what does not depend on the time is the same */
	assert_true(side_value(head, "prepare_bytes") == KEPT_BYTES && side_value(base, "prepare_bytes") == 0);
	assert_true(assay_result_metric(&m.of_run, "prepare_bytes")->value == KEPT_BYTES);
	assert_true(side_value(head, "op_bytes") == assay_result_metric(&m.of_run, "op_bytes")->value);
	assert_true(side_value(head, "arith_intensity") == assay_result_metric(&m.of_run, "arith_intensity")->value);
	/* and rates follow from it */
	for (int i = 0; i < 2; i++) {
		const struct assay_result *s = &m.pair.side[i];

		assert_true(side_value(s, "time_s") > 0 && side_value(s, "rss_peak_bytes") > 1e6);
		assert_true(fabs(side_value(s, "ops_per_s") * side_value(s, "time_s") - N) < 1e-6);
		assert_true(fabs(side_value(s, "bytes_per_s") * side_value(s, "time_s") - 8 * N) < 1e-6);
		assert_true(fabs(side_value(s, "items_per_s") * side_value(s, "time_s") - N) < 1e-6);
		assert_true(assay_counters_find(&s->counters, "disturbed_samples") != NULL);
	}
	release(&m);
}

/* ---- from the measurement to the verdict ---- */

/* ---- rounds ---- */

/* Cases measured in several rounds: which are worth it, and what the rounds come to. */

static const struct assay_cost cost = { .ops = 1000, .bytes_read = 64 };

/* One round: @n samples of @ns each. */
static void make_round(struct assay_result *r, size_t n, uint64_t ns, double hits, double rss)
{
	struct assay_count count = {
		.name = "kv_hits", .source = "op", .per_iteration = true, .value = hits, .running_frac = 1
	};
	struct assay_count roof = { .name = "roof_ns", .source = "assay", .value = hits, .running_frac = 1 };

	*r = (struct assay_result){ .status = ASSAY_STATUS_OK,
				    .checked = true,
				    .correct = true,
				    .n_samples = n,
				    .steady = true,
				    .warmup_ns = 7,
				    .max_rel_err = 1e-7,
				    .c.budget_ns = 1000 };
	strcpy(r->c.key, "op/v/-/t=1/warm");
	strcpy(r->digest, "0123");
	r->samples = calloc(n, sizeof(*r->samples));
	assert_non_null(r->samples);
	for (size_t i = 0; i < n; i++)
		r->samples[i] = (struct assay_sample){ .iterations = 1, .ns = ns };
	assert_int_equal(0, assay_summary_fill(r, NULL));
	assert_int_equal(0, assay_time_metrics(r, &cost, NULL));
	assert_int_equal(0, assay_result_add_metric(r, "tpot_s", "s", -1, hits / 100));
	assert_int_equal(0, assay_result_add_metric(r, "rss_peak_bytes", "B", -1, rss));
	assert_int_equal(0, assay_counters_add(&r->counters, &count));
	snprintf(roof.how, sizeof(roof.how), "peak.i8_dot; in turn, %.1f to %.1f %%", hits, hits + 5);
	r->roof = (struct assay_result_roof){
		ASSAY_BOUND_ARITHMETIC, "peak.i8_dot", "i8", { hits / 100, (hits + 5) / 100, true }
	};
	assert_int_equal(0, assay_counters_add(&r->counters, &roof));
	assert_int_equal(0, assay_disturbance_counts(r, NULL));
}

static double metric(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	assert_non_null(m);
	return m->value;
}

TEST(rounds_add_up)
{
	struct assay_result r, second, third;
	size_t n_metrics, n_counts;

	make_round(&r, 10, 100, 30, 5000);
	make_round(&second, 20, 140, 60, 9000);
	make_round(&third, 5, 110, 90, 4000);
	second.samples[3].switches = 1;
	second.max_rel_err = 3e-7;
	third.steady = false;
	n_metrics = r.n_metrics;
	n_counts = r.counters.n;
	assert_int_equal(0, assay_result_add_round(&r, &second, &cost, NULL));
	assert_int_equal(2, r.rounds);
	assert_true(r.steady);
	assert_int_equal(0, assay_result_add_round(&r, &third, &cost, NULL));

	assert_int_equal(3, r.rounds);
	assert_int_equal(35, r.n_samples);
	assert_true(r.samples[10].flags & ASSAY_SAMPLE_NEW_ROUND && r.samples[30].flags & ASSAY_SAMPLE_NEW_ROUND);
	assert_true(r.median_ns == 110);
	/* of the samples: from the median; of the op: the mean of the rounds */
	assert_true(metric(&r, "time_s") == 110e-9);
	assert_true(metric(&r, "ops_per_s") == 1000 / 110e-9);
	assert_true(metric(&r, "tpot_s") == 0.6);
	assert_true(metric(&r, "rss_peak_bytes") == 9000);
	assert_true(assay_counters_find(&r.counters, "kv_hits")->value == 60);
	assert_string_equal(assay_counters_find(&r.counters, "roof_ns")->how, "peak.i8_dot; in turn, 30.0 to 95.0 %");
	assert_true(assay_counters_find(&r.counters, "involuntary_switches")->value == 1);
	assert_int_equal(n_metrics, r.n_metrics);
	assert_int_equal(n_counts, r.counters.n);
	assert_false(r.steady);
	assert_false(r.converged); /* 100, 110 and 140 are far apart, however alike the samples of each are */
	assert_true(r.warmup_ns == 21 && r.max_rel_err == 3e-7);
	assay_result_release(&r);
	assay_result_release(&second);
	assay_result_release(&third);
}

/* Without @tag, and without the counts. */
static void forget(struct assay_result *r, const char *tag)
{
	for (size_t i = 0; i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].tag, tag))
			r->metrics[i] = r->metrics[--r->n_metrics];
	assay_counters_release(&r->counters);
}

/* A round that does not know a value has no weight in its mean. */
TEST(means_are_of_the_rounds_that_know)
{
	struct assay_result r, round[3];

	make_round(&r, 10, 100, 30, 5000);
	for (unsigned i = 0; i < 3; i++) {
		make_round(&round[i], 10, 100, 60 + 30 * i, 5000);
		if (i == 1)
			forget(&round[i], "tpot_s");
		assert_int_equal(0, assay_result_add_round(&r, &round[i], &cost, NULL));
		assay_result_release(&round[i]);
	}
	assert_int_equal(4, r.rounds);
	assert_true(metric(&r, "tpot_s") == (0.3 + 0.6 + 1.2) / 3);
	assert_true(assay_counters_find(&r.counters, "kv_hits")->value == 70);
	assert_true(assay_counters_find(&r.counters, "roof_ns")->value == 70);
	assay_result_release(&r);
}

TEST(a_bad_round_decides)
{
	static const struct {
		enum assay_status status;
		const char *reason, *digest, *want;
		enum assay_status want_status;
	} cases[] = {
		{ ASSAY_STATUS_CRASHED, "killed by signal 11", "0123", "round 2: killed by signal 11",
		  ASSAY_STATUS_CRASHED },
		{ ASSAY_STATUS_TIMEOUT, "after 5 s", "0123", "round 2: after 5 s", ASSAY_STATUS_TIMEOUT },
		{ ASSAY_STATUS_OK, "", "4567",
		  "round 2: the output differs from that of the round before, with the same inputs",
		  ASSAY_STATUS_WRONG },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_result r, second;

		make_round(&r, 10, 100, 1, 1);
		make_round(&second, 10, 100, 1, 1);
		second.status = cases[i].status;
		strcpy(second.reason, cases[i].reason);
		strcpy(second.digest, cases[i].digest);
		r.log = strdup("first");
		second.log = strdup("second");
		assert_int_equal(0, assay_result_add_round(&r, &second, &cost, NULL));
		assert_string_equal("second", r.log);
		assert_int_equal(cases[i].want_status, r.status);
		assert_string_equal(cases[i].want, r.reason);
		assert_int_equal(cases[i].want_status != ASSAY_STATUS_WRONG, r.correct);
		assert_int_equal(0, r.n_samples + r.n_metrics + r.counters.n);
		assert_true(r.median_ns == 0);
		assay_result_release(&r);
		assay_result_release(&second);
	}
}

MEASURE_GROUP
