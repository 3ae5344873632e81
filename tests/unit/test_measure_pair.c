/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run measures of a case a pair measures of each side: the same metrics and counts, and what the policy demands
 * of them holds or fails alike, in a gate and in a comparison.
 */
#include "measure_world.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/comparison_judge.h"
#include "judge/gate.h"
#include "measure/measure_pair.h"

#define N          1024
#define KEPT_BYTES 12345 /* of compare_keeps */

struct measured {
	struct assay_strings plugins[2];
	struct assay_inventory *inv;
	struct assay_case c;
	struct assay_case_facts facts;
	struct assay_result of_run;
	struct assay_pair pair;
};

static struct assay_measure_options options_of(const struct world *w, const struct measured *m)
{
	return (struct assay_measure_options){ .topology = w->topology,
					       .host = &w->host,
					       .clock = &w->clock,
					       .seed = 42,
					       .plugins = &m->plugins[ASSAY_HEAD] };
}

static void plan(struct world *w, const char *const sides[2], struct measured *m)
{
	struct assay_err err = { 0 };

	*m = (struct measured){ .c = make_case("work", N, 1, ASSAY_CACHE_WARM) };
	snprintf(m->c.op, sizeof(m->c.op), "lenient.triple");
	assert_int_equal(assay_case_make_key(&m->c, NULL), 0);
	for (int i = 0; i < 2; i++) {
		add_plugin(&m->plugins[i], w->dir, "compare_op");
		add_plugin(&m->plugins[i], w->dir, sides[i]);
	}
	if (assay_inventory_open(&m->inv, &m->plugins[ASSAY_HEAD], NULL, &w->host, &err) ||
	    assay_inventory_describe(m->inv, &m->c, 1, &m->facts, &err))
		fail_msg("%s", err.text);
}

static void take_pair_with(const struct assay_measure_options *o, bool changed_only, struct assay_kept_memory *kept,
			   struct assay_pair_lessons *lessons, struct measured *m)
{
	const struct assay_pair_options po = { .plugins = { &m->plugins[0], &m->plugins[1] },
					       .sampling_ns = 10000000,
					       .changed_only = changed_only,
					       .kept = kept };
	struct assay_err err = { 0 };
	char difference[256];

	assay_pair_release(&m->pair);
	if (assay_measure_pair(&m->c, assay_inventory_catalog(m->inv), &m->facts, o, &po, lessons, &m->pair, difference,
			       &err))
		fail_msg("%s", err.text);
	assert_string_equal(difference, "");
}

static void take_pair(const struct assay_measure_options *o, struct assay_pair_lessons *lessons, struct measured *m)
{
	take_pair_with(o, false, NULL, lessons, m);
}

/* The head measured alone, and in a pair with the base. */
static void measure_both(struct world *w, bool verify_only, struct measured *m)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_measure_options o;
	struct assay_err err = { 0 };

	plan(w, (const char *const[2]){ "compare_base", "compare_keeps" }, m);
	o = options_of(w, m);
	o.verify_only = verify_only;
	if (assay_measure_case(&m->c, assay_inventory_catalog(m->inv), &m->facts, &o, &m->of_run, &err))
		fail_msg("%s", err.text);
	take_pair(&o, &lessons, m);
	if (m->of_run.status || m->pair.side[0].status || m->pair.side[1].status)
		fail_msg("'%s', '%s', '%s'", m->of_run.reason, m->pair.side[0].reason, m->pair.side[1].reason);
}

static void release(struct measured *m)
{
	assay_result_release(&m->of_run);
	assay_pair_release(&m->pair);
	assay_inventory_close(m->inv);
	for (int i = 0; i < 2; i++)
		assay_strings_release(&m->plugins[i]);
}

static double side_value(const struct assay_pair_side *s, const char *tag)
{
	for (size_t i = 0; i < s->n_metrics; i++)
		if (!strcmp(s->metrics[i].tag, tag))
			return s->metrics[i].value;
	return NAN;
}

/* Name by name, in the same order. */
static void same_names(const struct assay_result *r, const struct assay_pair_side *s)
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
	/* what takes other cases, and counts under a simulator, is of whole runs */
	static const char *const not_here[] = { "roof_frac", "parallel_efficiency" };
	const struct assay_pair_side *head, *base;
	struct measured m;

	measure_both(*state, false, &m);
	base = &m.pair.side[ASSAY_BASE];
	head = &m.pair.side[ASSAY_HEAD];
	same_names(&m.of_run, head);
	same_names(&m.of_run, base);
	for (size_t i = 0; i < assay_n_metrics; i++) {
		const char *tag = assay_metrics[i].tag;
		bool here = !assay_exact_is_metric(tag) && strcmp(tag, not_here[0]) && strcmp(tag, not_here[1]);

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
		const struct assay_pair_side *s = &m.pair.side[i];

		assert_true(side_value(s, "time_s") > 0 && side_value(s, "rss_peak_bytes") > 1e6);
		assert_true(fabs(side_value(s, "ops_per_s") * side_value(s, "time_s") - N) < 1e-6);
		assert_true(fabs(side_value(s, "bytes_per_s") * side_value(s, "time_s") - 8 * N) < 1e-6);
		assert_true(fabs(side_value(s, "items_per_s") * side_value(s, "time_s") - N) < 1e-6);
		assert_true(assay_counters_find(&s->counters, "disturbed_samples") != NULL);
	}
	release(&m);
}

/* Without samples there is no time, but what making the case took. */
TEST(verifying_measures_memory)
{
	struct measured m;

	measure_both(*state, true, &m);
	assert_true(assay_result_metric(&m.of_run, "prepare_bytes")->value == KEPT_BYTES);
	assert_non_null(assay_result_metric(&m.of_run, "rss_peak_bytes"));
	assert_non_null(assay_result_metric(&m.of_run, "machine_total_bytes"));
	assert_null(assay_result_metric(&m.of_run, "time_s"));
	assert_int_equal(m.of_run.counters.n, 0);
	release(&m);
}

/* ---- from the measurement to the verdict ---- */

static enum assay_verdict demand_verdict(const struct assay_gate_report *r, const char *metric)
{
	enum assay_verdict found = ASSAY_N_VERDICTS;

	for (size_t i = 0; i < r->n_cases; i++)
		if (!strcmp(r->cases[i].metric, metric)) {
			assert_int_equal(found, ASSAY_N_VERDICTS);
			found = r->cases[i].verdict;
		}
	return found;
}

static enum assay_verdict gated(const struct measured *m, const struct assay_policy *p, const char *metric)
{
	struct assay_result results[] = { m->of_run };
	const struct assay_run run = { .results = results, .n_results = 1 };
	const struct assay_manifest manifest = { .n_entries = 0 };
	const struct assay_gate_input in = {
		.run = &run, .manifest = &manifest, .policy = p, .allow_no_baseline = true
	};
	struct assay_gate_report r;
	struct assay_err err = { 0 };
	enum assay_verdict v;

	if (assay_gate_judge(&in, &r, &err))
		fail_msg("%s", err.text);
	v = demand_verdict(&r, metric);
	assay_gate_report_release(&r);
	return v;
}

static enum assay_verdict compared(const struct measured *m, const struct assay_policy *p, const char *metric)
{
	struct assay_pair pairs[] = { m->pair };
	struct assay_comparison_case c = { .c = m->c, .in_base = true, .in_head = true, .pairs = pairs, .n_pairs = 1 };
	const struct assay_comparison cmp = {
		.alpha = 0.01, .family = 1, .max_pairs = 64, .rule = ASSAY_JUDGE_RULE, .cases = &c, .n_cases = 1
	};
	struct assay_gate_report r;
	struct assay_err err = { 0 };
	enum assay_verdict v;

	if (assay_comparison_judge(&cmp, p, &(struct assay_comparison_judging){ 0 }, &r, &err))
		fail_msg("%s", err.text);
	v = demand_verdict(&r, metric);
	assay_gate_report_release(&r);
	return v;
}

TEST(memory_is_judged_alike)
{
	static const struct {
		const char *metric, *holds, *fails;
	} rows[] = {
		{ "prepare_bytes", "<= 12345", "<= 0" },   { "op_bytes", "<= 1e9", "<= 0" },
		{ "rss_peak_bytes", "<= 1e12", "<= 0" },   { "machine_used_bytes", ">= 1", "<= 0" },
		{ "machine_total_bytes", ">= 1", "<= 0" }, { "prepare_s", "<= 100", "<= -1" },
		{ "arith_intensity", ">= 0.1", ">= 1" },   { "items_per_s", ">= 1", ">= 1e18" },
	};
	struct measured m;

	measure_both(*state, false, &m);
	for (size_t i = 0; i < N_OF(rows); i++)
		for (int fails = 0; fails < 2; fails++) {
			enum assay_verdict want = fails ? ASSAY_REGRESSED : ASSAY_PASS, got[2];
			struct assay_policy p;
			char text[128];

			snprintf(text, sizeof(text), "limit \"lenient.*\" { require = {\"%s %s\"} }\n", rows[i].metric,
				 fails ? rows[i].fails : rows[i].holds);
			assert_int_equal(assay_policy_parse(&p, text, "p.conf", NULL), 0);
			got[0] = gated(&m, &p, rows[i].metric);
			got[1] = compared(&m, &p, rows[i].metric);
			if (got[0] != want || got[1] != want)
				fail_msg("%s: gate %s, comparison %s", text, assay_verdict_name(got[0]),
					 assay_verdict_name(got[1]));
			assay_policy_release(&p);
		}
	release(&m);
}

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
		struct assay_pair_lessons lessons = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, rows[i].side, &m);
		o = options_of(*state, &m);
		take_pair(&o, &lessons, &m);
		if (m.pair.side[0].status != rows[i].status[0] || m.pair.side[1].status != rows[i].status[1] ||
		    lessons.own_memory != rows[i].own_memory)
			fail_msg("row %zu: '%s', '%s', own memory %d", i, m.pair.side[0].reason, m.pair.side[1].reason,
				 lessons.own_memory);
		release(&m);
	}
}

/* A pair learns which output is right, and the oracle is not asked about it again; about other inputs it is. */
TEST(lessons_are_kept)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_measure_options o;
	struct assay_accepted first;
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_base", "compare_keeps" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &lessons, &m);
	first = lessons.accepted;
	assert_true(first.digest[0][0] && first.max_rel_err[0] == -1);
	assert_true(first.digest[1][0] && strcmp(first.digest[0], first.digest[1])); /* of the audit */
	/* an error that no oracle found comes back only if none is asked */
	lessons.accepted.max_rel_err[0] = 0.125;
	take_pair(&o, &lessons, &m);
	assert_true(m.pair.side[0].max_rel_err == 0.125 && m.pair.side[1].max_rel_err == 0.125);
	o.seed = 43;
	take_pair(&o, &lessons, &m);
	assert_true(m.pair.side[0].max_rel_err == -1 && m.pair.side[1].max_rel_err == -1);
	assert_string_not_equal(first.digest[0], lessons.accepted.digest[0]);
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
		struct assay_pair_lessons lessons = { 0 };
		struct assay_measure_options o;
		struct measured m;

		plan(*state, (const char *const[2]){ "compare_base", rows[i].head }, &m);
		o = options_of(*state, &m);
		take_pair_with(&o, rows[i].changed_only, NULL, &lessons, &m);
		for (int side = 0; side < 2; side++) {
			assert_int_equal(m.pair.side[side].status, ASSAY_STATUS_OK);
			assert_true(m.pair.side[side].digest[0] != '\0');
			assert_true(side_value(&m.pair.side[side], "op_bytes") > 0);
		}
		assert_int_equal(m.pair.n_blocks > 0, rows[i].samples);
		release(&m);
	}
}

/* Is @x within the times of the calls that the samples of a side make up? A median of some of them is. */
static bool within_calls(const struct assay_pair *p, int side, size_t parts, double x)
{
	double least = INFINITY, most = 0;

	for (size_t i = 0; i < 2 * p->n_blocks; i += parts) {
		double call = 0;

		for (size_t k = 0; k < parts; k++)
			call += (double)p->side[side].samples[i + k].ns * 1e-9;
		least = fmin(least, call);
		most = fmax(most, call);
	}
	return x >= least * (1 - 1e-9) && x <= most * (1 + 1e-9);
}

/* After how many samples was the host asked? */
static size_t polls(const struct assay_pair *p, int side)
{
	size_t n = 0;

	for (size_t i = 0; i < 2 * p->n_blocks; i++)
		n += (p->side[side].samples[i].flags & ASSAY_SAMPLE_POLLED) != 0;
	return n;
}

/* The first pair shows that calls have parts; from the next on each part is a turn, and inputs alone are common. */
TEST(long_calls_are_divided)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_measure_options o;
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_parts", "compare_parts" }, &m);
	o = options_of(*state, &m);
	for (size_t parts = 1; parts <= 8; parts += 7) {
		take_pair(&o, &lessons, &m);
		assert_true(lessons.turn_parts == 1 && lessons.call_turns == 8 && !lessons.own_memory);
		assert_true(m.pair.n_blocks >= 2 && 2 * m.pair.n_blocks % parts == 0);
		for (int side = 0; side < 2; side++) {
			const struct assay_pair_side *s = &m.pair.side[side];

			assert_int_equal(s->status, ASSAY_STATUS_OK);
			for (size_t i = 0; i < 2 * m.pair.n_blocks; i++)
				assert_int_equal(!(s->samples[i].flags & ASSAY_SAMPLE_CONTINUES),
						 i % parts == parts - 1);
			assert_true(within_calls(&m.pair, side, parts, side_value(s, "time_s")));
			/* a call takes 12 ms, and every 10 ms the host is asked, not after every part */
			assert_true(polls(&m.pair, side) > 0);
			assert_true(parts == 1 || polls(&m.pair, side) < 2 * m.pair.n_blocks);
		}
	}
	release(&m);
}

/* What another case left behind the pages of the file. */
static void soil(const struct assay_kept_memory *kept)
{
	unsigned char junk[4096];
	struct stat st;

	memset(junk, 0x5A, sizeof(junk));
	assert_int_equal(fstat(kept->fd, &st), 0);
	assert_true((size_t)st.st_size > sizeof(*kept->shared));
	for (off_t at = (off_t)sizeof(*kept->shared); at < st.st_size; at += (off_t)sizeof(junk))
		assert_true(pwrite(kept->fd, junk, sizeof(junk), at) > 0);
}

/* Pairs that use the same memory one after the other give what others give, whatever the one before left there. */
TEST(memory_is_kept)
{
	struct assay_pair_lessons lessons = { 0 };
	struct assay_kept_memory kept = { 0 };
	struct assay_measure_options o;
	struct assay_shared *shared;
	char digest[ASSAY_DIGEST_LEN + 1];
	struct measured m;

	plan(*state, (const char *const[2]){ "compare_base", "compare_keeps" }, &m);
	o = options_of(*state, &m);
	take_pair(&o, &lessons, &m);
	memcpy(digest, m.pair.side[0].digest, sizeof(digest));
	take_pair_with(&o, false, &kept, &lessons, &m);
	shared = kept.shared;
	assert_non_null(shared);
	soil(&kept);
	take_pair_with(&o, false, &kept, &lessons, &m);
	assert_ptr_equal(kept.shared, shared);
	for (int side = 0; side < 2; side++) {
		assert_int_equal(m.pair.side[side].status, ASSAY_STATUS_OK);
		assert_string_equal(m.pair.side[side].digest, digest);
	}
	assay_kept_memory_release(&kept);
	assert_null(kept.shared);
	release(&m);
}

/* What is wrong once, and right when it is tried again, was wrong. */
TEST(wrong_once_is_wrong)
{
	struct assay_pair_lessons lessons = { 0 };
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
	take_pair(&o, &lessons, &m);
	assert_int_equal(m.pair.side[ASSAY_BASE].status, ASSAY_STATUS_OK);
	assert_int_equal(m.pair.side[ASSAY_HEAD].status, ASSAY_STATUS_WRONG);
	assert_false(lessons.own_memory);
	release(&m);
	unsetenv("ASSAY_TEST_ONCE");
	unlink(path);
}

MEASURE_MAIN
