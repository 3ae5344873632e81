/* SPDX-License-Identifier: Apache-2.0 */
/* Which function a change of time is blamed on, and when none is. */
#include "unit.h"

#include <math.h>

#include "assay/random.h"
#include "judge/function_blame.h"
#include "model/profile_diff.h"

struct part {
	const char *base_name, *head_name;
	uint64_t base, head; /* samples of all pairs */
	uint64_t uneven;     /* that the first pair has more */
};

#define PAIRS 10

/* A function that a compiler cloned on one side has one name in the source. */
static void add(struct assay_because_evidence *e, unsigned side, const char *name, unsigned line, size_t pair,
		uint64_t weight)
{
	struct assay_because_function *f;

	if (!weight)
		return;
	f = assay_because_function_at(e, name, assay_function_name_length(name), "a.so");
	assert_non_null(f);
	snprintf(f->file, sizeof(f->file), "a.c");
	f->line = f->last_line = line;
	f->weight[side][pair] += weight;
}

static struct assay_because_evidence *evidence(double profiled)
{
	struct assay_because_evidence *e = calloc(1, sizeof(*e));

	assert_non_null(e);
	e->seconds = 4;
	e->n_pairs = PAIRS;
	e->pairs = calloc(PAIRS, sizeof(*e->pairs));
	assert_non_null(e->pairs);
	for (unsigned i = 0; i < PAIRS; i++)
		e->pairs[i] = (struct assay_because_pair){ 1000, 1000 * (profiled + (i % 2 ? 0.0001 : -0.0001)) };
	return e;
}

/* Of a case whose base took 1000 ns an iteration when it was compared. */
static struct assay_gate_because blame_by(struct assay_because_evidence *e, double ratio, double half)
{
	struct assay_sample samples[4];
	struct assay_pair pair = { .n_blocks = 2 };
	const struct assay_comparison_case c = { .because = e, .pairs = &pair, .n_pairs = 1 };
	const struct assay_gate_case row = { .metric = "time_s",
					     .evidence = ASSAY_EVIDENCE_PAIRED,
					     .ratio = ratio,
					     .ci_lo = ratio - half,
					     .ci_hi = ratio + half };
	struct assay_gate_because out;

	for (unsigned i = 0; i < 4; i++)
		samples[i] = (struct assay_sample){ .iterations = 10, .ns = 10000 };
	pair.side[ASSAY_BASE].samples = pair.side[ASSAY_HEAD].samples = samples;
	assert_true(assay_function_blame_applies(&c, &row));
	assert_int_equal(assay_function_blame(&c, &row, &out, NULL), 0);
	assert_true(out.asked && (e->unknown[0] || fabs(out.whole_ns - 1000 * (ratio - 1)) < 1e-9));
	return out;
}

/* The name of the first function that is blamed; "": none is. */
static const char *blamed(const struct assay_gate_because *b)
{
	return b->n_parts ? b->parts[0].function : "";
}

/* An iteration of 1000 ns that @ratio changed, in 4 s of ten pairs, of which each side has a tenth of the samples. */
static struct assay_gate_because blame(const struct part *v, size_t n, double ratio, double profiled)
{
	struct assay_because_evidence *e = evidence(profiled);
	struct assay_gate_because out;

	for (unsigned i = 0; i < PAIRS; i++)
		for (size_t k = 0; k < n; k++) {
			add(e, 0, v[k].base_name, (unsigned)k + 1, i, v[k].base / PAIRS);
			add(e, 1, v[k].head_name, (unsigned)k + 11, i, v[k].head / PAIRS + (i ? 0 : v[k].uneven));
		}
	out = blame_by(e, ratio, 0.002);
	assay_because_evidence_free(e);
	return out;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' lacks '%s'", text, part);
}

/* A program of which each side's process took so long and reported such a rate, which is judged. */
static bool rate_applies(uint64_t base_ns, uint64_t head_ns, const char *unit, struct assay_because_evidence *e,
			 struct assay_gate_because *out)
{
	const struct assay_gate_case row = {
		.metric = "speed", .evidence = ASSAY_EVIDENCE_PAIRED, .ratio = 2, .ci_lo = 1.9, .ci_hi = 2.1
	};
	const struct assay_comparison_case c = { .because = e,
						 .pairs = (struct assay_pair[PAIRS]){ { 0 } },
						 .n_pairs = PAIRS };
	struct assay_sample samples[2][2];
	bool applies;

	for (unsigned i = 0; i < PAIRS; i++) {
		c.pairs[i].n_blocks = 1;
		for (unsigned side = 0; side < 2; side++) {
			for (unsigned k = 0; k < 2; k++)
				samples[side][k] =
					(struct assay_sample){ .iterations = 1, .ns = side ? head_ns : base_ns };
			c.pairs[i].side[side].samples = samples[side];
			assert_int_equal(
				assay_result_set_metric(&c.pairs[i].side[side], "speed", unit, 1, side ? 1 : 2), 0);
		}
	}
	applies = assay_function_blame_applies(&c, &row);
	if (applies)
		assert_int_equal(assay_function_blame(&c, &row, out, NULL), 0);
	for (unsigned i = 0; i < 2 * PAIRS; i++) {
		c.pairs[i / 2].side[i % 2].samples = NULL;
		assay_result_release(&c.pairs[i / 2].side[i % 2]);
	}
	return applies;
}

TEST(what_a_program_reports)
{
	struct assay_because_evidence *e = evidence(1.5);
	struct assay_gate_because out;

	for (unsigned i = 0; i < PAIRS; i++) {
		add(e, 0, "one", 1, i, 500);
		add(e, 0, "two", 2, i, 500);
		add(e, 1, "one", 1, i, 500);
		add(e, 1, "two", 2, i, 1000);
	}
	assert_true(rate_applies(1000, 1500, "B/s", e, &out));
	has(out.text, "because two (a.c:2) takes +500 ns (");
	has(out.text, ", the whole change of the time of a process");
	/* as long as before, the other way, memory */
	assert_false(rate_applies(1000, 1000, "B/s", e, &out));
	assert_false(rate_applies(1500, 1000, "B/s", e, &out));
	assert_false(rate_applies(1000, 1500, "B", e, &out));
	assay_because_evidence_free(e);
}

TEST(the_one_that_grew)
{
	static const struct part v[] = { { "one", "one", 4000, 4000, 0 },
					 { "two", "two.constprop.0", 4000, 6000, 0 },
					 { "three", "three", 2000, 2000, 0 } };
	const struct assay_gate_because b = blame(v, 3, 1.2, 1.2), down = blame(v, 3, 0.8, 0.8);

	assert_string_equal(blamed(&b), "two");
	assert_int_equal(b.n_parts, 1);
	assert_string_equal(b.parts[0].file, "a.c");
	assert_int_equal(b.parts[0].line, 12);
	assert_float_equal(b.parts[0].change_ns, 200, 1e-9);
	assert_true(b.parts[0].ci_lo_ns > 170 && b.parts[0].ci_hi_ns < 230 && b.parts[0].ci_lo_ns < 200 &&
		    b.parts[0].ci_hi_ns > 200);
	has(b.text, "because two (a.c:12) takes +200 ns (");
	has(b.text, "), the whole change");
	assert_int_equal(b.samples, 22000);
	/* of what became faster nothing that took more is blamed */
	assert_true(strcmp(blamed(&down), "two"));
}

TEST(chance_is_not_blamed)
{
	static const struct part even[] = { { "one", "one", 400, 400, 0 }, { "two", "two", 400, 420, 0 } };
	struct assay_gate_because b = blame(even, 2, 1.02, 1.02);

	assert_string_equal(blamed(&b), "");
	assert_int_equal(b.n_parts, 0);
	has(b.text,
	    "cause unknown: no single function stands out; +20.0 ns is 16 of 820 samples in 4 s; --profile-for ");
	has(b.text, " would show it");
}

/* As many samples more, but of one process alone: that is what processes differ by. */
TEST(what_processes_differ_by_is_not_blamed)
{
	static const struct part v[] = { { "one", "one", 4000, 4000, 5000 }, { "two", "two", 4000, 4000, 0 } };

	const struct assay_gate_because b = blame(v, 2, 1.02, 1.02);

	assert_string_equal(blamed(&b), "");
}

TEST(what_differs_while_it_is_profiled_is_not_explained)
{
	static const struct part v[] = { { "one", "one", 4000, 6000, 0 } };

	has(blame(v, 1, 1.2, 1.1).text, "while they were profiled, the sides differed by +9.");
	assert_int_equal(blame(v, 1, 1.2, 1.1).n_parts, 0);
	/* a tenth of the change may lie between */
	assert_int_equal(blame(v, 1, 1.2, 1.185).n_parts, 1);
}

TEST(code_that_moved_is_not_blamed)
{
	static const struct part v[] = { { "one", "one", 4000, 8000, 0 },
					 { "two", "two", 4000, 0, 0 },
					 { "x", "x", 2000, 3000, 0 } };
	const struct assay_gate_because b = blame(v, 3, 1.1, 1.1);

	assert_string_equal(blamed(&b), "");
	has(b.text, "work moved between functions, +100 ns in all: one (a.c:11) takes +400 ns");
	has(b.text, "two (a.c:2) takes -400 ns");
}

TEST(several_and_none)
{
	static const struct part v[] = { { "one", "one", 4000, 5000, 0 },
					 { "two", "two", 4000, 4600, 0 },
					 { "x", "x", 2000, 2000, 0 } };
	const struct assay_gate_because b = blame(v, 3, 1.16, 1.16), none = blame(v, 0, 1.16, 1.16);

	assert_string_equal(blamed(&b), "one");
	has(b.text, "because one (a.c:11) takes +100 ns");
	has(b.text, ", two (a.c:12) takes +60.0 ns");
	has(b.text, "); together +160 ns, the whole change");
	assert_true(b.n_parts == 2 && b.rest_ns == 0);
	has(none.text, "no samples were taken");
}

/*
 * Parts sum to the change that was judged, whatever the samples took or the profiled processes were slowed down: what
 * chance leaves goes to the parts, and what is beyond chance is told.
 */
TEST(parts_sum_to_the_change)
{
	static const struct part near[] = { { "one", "one", 4000, 5010, 0 },
					    { "two", "two", 4000, 4610, 0 },
					    { "x", "x", 2000, 1980, 0 } };
	static const struct part far[] = { { "one", "one", 4000, 5000, 0 },
					   { "a", "a", 1500, 1620, 0 },
					   { "b", "b", 1500, 1620, 0 },
					   { "c", "c", 1500, 1620, 0 },
					   { "d", "d", 1500, 1620, 0 } };
	struct assay_gate_because b = blame(near, 3, 1.16, 1.16);
	double sum = 0;

	assert_int_equal(b.n_parts, 2);
	for (size_t i = 0; i < b.n_parts; i++) {
		sum += b.parts[i].change_ns;
		assert_true(b.parts[i].ci_lo_ns < b.parts[i].change_ns && b.parts[i].change_ns < b.parts[i].ci_hi_ns);
	}
	assert_float_equal(sum, 160, 1e-9);
	assert_float_equal(b.whole_lo_ns, 158, 1e-9);
	assert_float_equal(b.whole_hi_ns, 162, 1e-9);
	b = blame(far, 5, 1.148, 1.148);
	assert_int_equal(b.n_parts, 1);
	assert_float_equal(b.parts[0].change_ns + b.rest_ns, 148, 1e-9);
	assert_float_equal(b.rest_ns, 48, 3);
	has(b.text, "; the cause of the other +48.");
	has(b.text, " is unknown");
}

/* Of three alike, the one whose machine code differs, or that executes more, is to blame where samples do not tell. */
TEST(what_is_known_beforehand)
{
	static const char *const names[] = { "one", "two", "three" };

	for (unsigned how = 0; how < 3; how++) {
		struct assay_because_evidence *e = evidence(1.02);
		struct assay_gate_because out;

		for (size_t k = 0; k < PAIRS; k++)
			for (unsigned f = 0; f < 3; f++)
				for (unsigned side = 0; side < 2; side++)
					add(e, side, names[f], f + 1, k, 100 + (k % 2) + (side && f == 1 ? 4 : 0));
		for (unsigned f = 0; f < 3 && how; f++) {
			e->functions[f].code = how == 1 && f == 1 ? ASSAY_CODE_DIFFERS : ASSAY_CODE_SAME;
			e->functions[f].counted[0] = how == 2 ? 50000 : -1;
			e->functions[f].counted[1] = how == 2 ? 50000 + (f == 1 ? 1000 : 0) : -1;
		}
		out = blame_by(e, 1.02, 0.01);
		if (!how) {
			assert_string_equal(blamed(&out), "");
		} else {
			assert_string_equal(blamed(&out), "two");
			assert_int_equal(out.parts[0].evidence, how == 1 ? ASSAY_BECAUSE_CODE : ASSAY_BECAUSE_EXACT);
			has(out.text,
			    how == 1 ? "; no other function's machine code differs"
				     : "; a call executes 1000 instructions more of it, and of no other function");
		}
		assay_because_evidence_free(e);
	}
}

/* A change that the samples deny is not believed because the machine code differs. */
TEST(code_that_differs_and_takes_no_more_is_not_blamed)
{
	struct assay_because_evidence *e = evidence(1.1);
	struct assay_gate_because out;

	for (size_t k = 0; k < PAIRS; k++)
		for (unsigned side = 0; side < 2; side++) {
			add(e, side, "one", 1, k, 10000);
			add(e, side, "two", 2, k, 10000 + (side ? 2000 : 0));
		}
	e->functions[0].code = ASSAY_CODE_DIFFERS;
	e->functions[1].code = ASSAY_CODE_SAME;
	out = blame_by(e, 1.1, 0.002);
	assert_string_equal(blamed(&out), "two");
	assert_int_equal(out.parts[0].evidence, ASSAY_BECAUSE_SAMPLED);
	assay_because_evidence_free(e);
}

TEST(what_keeps_from_sampling_is_told)
{
	struct assay_because_evidence *e = evidence(1.1);
	struct assay_gate_because out;

	snprintf(e->unknown, sizeof(e->unknown), "it crashed");
	out = blame_by(e, 1.1, 0.002);
	assert_string_equal(out.text, "cause unknown: it crashed");
	assay_because_evidence_free(e);
}

/* ---- how often it is right: simulated comparisons of fixed seeds ---- */

#define TRIES 400
#define FIVE  5

struct draw {
	uint64_t seed, at;
};

static double uniform(struct draw *d)
{
	const struct assay_philox r = assay_random4(d->seed, 1, d->at++);

	return ((double)r.v[0] + 1) / 4294967297.0;
}

static double normal(struct draw *d)
{
	return sqrt(-2 * log(uniform(d))) * cos(6.283185307179586 * uniform(d));
}

/* Of how many samples, drawn one by one, lie in a function of this share. */
static uint64_t binomial(struct draw *d, uint64_t n, double p)
{
	return (uint64_t)fmax(0, floor((double)n * p + sqrt((double)n * p * (1 - p)) * normal(d) + 0.5));
}

struct trial {
	double percent;  /* that one of five equal functions takes more; spread: that all take more together */
	bool spread;     /* over all five */
	bool code_known; /* and that of the one alone differs */
	double layout;   /* standard deviation of what a process takes more or less in each function */
	uint64_t rate_hz;
};

struct outcome {
	unsigned right, wrong, none;
};

/* Four seconds of ten pairs, whose whole change was measured to a standard error of 0.05 %. */
static void try_once(const struct trial *t, uint64_t seed, struct outcome *o)
{
	static const char *const names[FIVE] = { "one", "two", "three", "four", "five" };
	struct draw d = { seed, 0 };
	const unsigned slow = (unsigned)(seed % FIVE);
	const double whole = t->spread ? t->percent / 100 : t->percent / 100 / FIVE;
	const double measured = 1 + whole + 0.0005 * normal(&d);
	struct assay_because_evidence *e = evidence(1 + whole);
	struct assay_gate_because out;

	for (size_t k = 0; k < PAIRS; k++)
		for (unsigned side = 0; side < 2; side++) {
			double time[FIVE], sum = 0;
			const uint64_t n = 2 * t->rate_hz / PAIRS;

			for (unsigned f = 0; f < FIVE; f++) {
				time[f] = 1 + t->layout * normal(&d);
				if (side)
					time[f] *= 1 + (t->spread || f == slow ? t->percent / 100 : 0);
				sum += time[f];
			}
			for (unsigned f = 0; f < FIVE; f++)
				add(e, side, names[f], f + 1, k, binomial(&d, n, time[f] / sum));
		}
	for (unsigned f = 0; f < FIVE; f++)
		e->functions[f].code = !t->code_known ? ASSAY_CODE_UNKNOWN
				       : f == slow    ? ASSAY_CODE_DIFFERS
						      : ASSAY_CODE_SAME;
	out = blame_by(e, measured, 0.00098);
	if (!out.n_parts)
		o->none++;
	else if (!t->spread && !strcmp(blamed(&out), names[slow]))
		o->right++;
	else
		o->wrong++;
	assay_because_evidence_free(e);
}

TEST(how_often_it_is_right)
{
	static const struct {
		struct trial t;
		double least_right, most_wrong; /* of all tries */
	} rows[] = {
		/* 4 s at 40 kHz, drawn one by one, without and with the layout of processes */
		{ { 5, false, false, 0, 39989 }, 0.88, 0.0025 },
		{ { 5, false, true, 0, 39989 }, 0.99, 0.0025 },
		{ { 5, false, true, 0.002, 39989 }, 0.95, 0.0025 },
		{ { 10, false, false, 0, 39989 }, 0.99, 0.0025 },
		{ { 10, false, false, 0.002, 39989 }, 0.99, 0.0025 },
		{ { 10, false, true, 0, 39989 }, 0.99, 0.0025 },
		/* as timers give it: what is not enough is said */
		{ { 5, false, false, 0, 4987 }, 0, 0.01 },
		{ { 10, false, true, 0, 9973 }, 0.95, 0.01 },
		/* all became slower: nobody is to blame */
		{ { 1, true, false, 0, 39989 }, 0, 0.01 },
		{ { 1, true, false, 0.002, 39989 }, 0, 0.01 },
		{ { 2, true, false, 0, 39989 }, 0, 0.01 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct outcome o = { 0, 0, 0 };

		for (uint64_t seed = 1; seed <= TRIES; seed++)
			try_once(&rows[i].t, 1000 * i + seed, &o);
		print_message("%4.0f %%%s%s, layout %.1f %%, %5.0f Hz: right %3u, wrong %3u, none %3u of %d\n",
			      rows[i].t.percent, rows[i].t.spread ? " of all" : "",
			      rows[i].t.code_known ? ", code" : "", 100 * rows[i].t.layout, (double)rows[i].t.rate_hz,
			      o.right, o.wrong, o.none, TRIES);
		if (o.right < rows[i].least_right * TRIES || o.wrong > rows[i].most_wrong * TRIES)
			fail_msg("row %zu is right too rarely, or wrong too often", i);
	}
}

UNIT_GROUP(NULL, NULL)
