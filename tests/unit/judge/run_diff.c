/* SPDX-License-Identifier: Apache-2.0 */
/* Two sides of stored results against each other: what moved, what may not be compared, and the cause that is named. */
#include "unit.h"

#include <math.h>

#include "judge/advice.h"
#include "judge/run_diff.h"

/* A case that took @ns, ± 1 %, by code @code. */
static void add(struct assay_run *run, const char *variant, double ns, const char *code)
{
	struct assay_result *r = &run->results[run->n_results++];

	*r = (struct assay_result){ .checked = true,
				    .correct = true,
				    .n_samples = 50,
				    .median_ns = ns,
				    .ci95_lo_ns = 0.99 * ns,
				    .ci95_hi_ns = 1.01 * ns };
	strcpy(r->c.op, "op");
	strcpy(r->c.variant, variant);
	strcpy(r->code_hash, code);
	r->c.threads = 1;
	assert_int_equal(assay_case_make_key(&r->c, NULL), 0);
}

static struct assay_run run_with(struct assay_result *results, int64_t id, const char *machine)
{
	struct assay_run run = { .id = id, .seed = 42, .started_ns = (uint64_t)id, .results = results };

	strcpy(run.machine.id, machine);
	return run;
}

static struct assay_diff compare(const struct assay_run *base, const struct assay_run *head)
{
	const struct assay_run *const b[] = { base }, *const h[] = { head };
	const struct assay_diff_runs sides[2] = { { b, 1, "base" }, { h, 1, "head" } };
	struct assay_diff d;

	assert_int_equal(assay_diff_runs_compare(&sides[0], &sides[1], NULL, &d, NULL), 0);
	return d;
}

static const struct assay_diff_case *case_of(const struct assay_diff *d, const char *variant)
{
	for (size_t i = 0; i < d->n_cases; i++)
		if (!strcmp(d->cases[i].c.variant, variant))
			return &d->cases[i];
	fail_msg("no %s", variant);
	return NULL;
}

TEST(cases_are_told_apart)
{
	struct assay_result v[2][8];
	struct assay_run base = run_with(v[0], 1, "m"), head = run_with(v[1], 2, "m");
	struct assay_diff d;

	add(&base, "fast", 100, "a"), add(&head, "fast", 50, "b");
	add(&base, "slow", 100, "a"), add(&head, "slow", 104, "b");
	add(&base, "still", 100, "a"), add(&head, "still", 101, "b");
	add(&base, "same", 100, "a"), add(&head, "same", 110, "a");
	add(&base, "wrong", 100, "a"), add(&head, "wrong", 100, "b");
	add(&base, "gone", 100, "a"), add(&head, "fresh", 100, "b");
	v[1][4].status = ASSAY_STATUS_WRONG;
	strcpy(v[1][4].reason, "element 3");
	d = compare(&base, &head);
	assert_int_equal(d.n_cases, 7);
	assert_int_equal(case_of(&d, "fast")->result, ASSAY_DIFF_FASTER);
	assert_true(fabs(case_of(&d, "fast")->ratio - 0.5) < 1e-12);
	assert_true(case_of(&d, "fast")->lo < 0.5 && case_of(&d, "fast")->hi > 0.5);
	assert_int_equal(case_of(&d, "slow")->result, ASSAY_DIFF_SLOWER);
	assert_int_equal(case_of(&d, "still")->result, ASSAY_DIFF_UNCLEAR);
	assert_int_equal(case_of(&d, "same")->result, ASSAY_DIFF_MACHINE);
	assert_int_equal(case_of(&d, "wrong")->result, ASSAY_DIFF_NOT_MEASURED);
	assert_string_equal(case_of(&d, "wrong")->reason, "head: wrong: element 3");
	assert_int_equal(case_of(&d, "gone")->result, ASSAY_DIFF_ONLY_BASE);
	assert_int_equal(case_of(&d, "fresh")->result, ASSAY_DIFF_ONLY_HEAD);
	assert_int_equal(d.n_same_code, 1);
	assert_int_equal(d.n_same_code_moved, 1);
	assert_true(fabs(d.same_code_most - 1.1) < 1e-12);
	assert_non_null(strstr(d.uncovered, "within the two runs alone"));
	assay_diff_sort(&d, NULL);
	assert_string_equal(d.cases[0].c.variant, "same");
	assert_string_equal(d.cases[3].c.variant, "fast");
	assay_diff_release(&d);
}

/* A case that cannot run here is no finding: if both runs skipped it, or for variants, if the one run did. */
TEST(what_was_skipped_has_nothing_to_compare)
{
	struct assay_result v[2][3];
	struct assay_run base = run_with(v[0], 1, "m"), head = run_with(v[1], 2, "m");
	struct assay_diff d;

	for (int i = 0; i < 2; i++) {
		add(i ? &head : &base, "ref", 100, "a");
		add(i ? &head : &base, "gpu", 100, "a");
		add(i ? &head : &base, "late", 100, "a");
		v[i][1].status = ASSAY_STATUS_SKIPPED;
		strcpy(v[i][1].reason, "no device");
	}
	v[1][2].status = ASSAY_STATUS_SKIPPED;
	d = compare(&base, &head);
	assert_int_equal(case_of(&d, "gpu")->result, ASSAY_DIFF_SKIPPED);
	assert_string_equal(case_of(&d, "gpu")->reason, "no device");
	assert_int_equal(case_of(&d, "late")->result, ASSAY_DIFF_NOT_MEASURED);
	assay_diff_release(&d);
	assert_int_equal(assay_diff_variants_compare(&head, NULL, &d, NULL), 0);
	assert_int_equal(case_of(&d, "gpu")->result, ASSAY_DIFF_SKIPPED);
	assert_int_equal(case_of(&d, "late")->result, ASSAY_DIFF_SKIPPED);
	assay_diff_release(&d);
}

TEST(another_machine_or_seed_is_incomparable)
{
	struct assay_result v[2][1];
	struct assay_run base = run_with(v[0], 1, "m"), head = run_with(v[1], 2, "n");
	struct assay_diff d;

	add(&base, "x", 100, "a"), add(&head, "x", 50, "b");
	d = compare(&base, &head);
	assert_int_equal(d.cases[0].result, ASSAY_DIFF_INCOMPARABLE);
	assert_non_null(strstr(d.cases[0].reason, "different machines: base m (), head n ()"));
	assert_true(isnan(d.cases[0].ratio) && d.cases[0].ns[0] == 100 && d.cases[0].ns[1] == 50);
	assay_diff_release(&d);
	head = run_with(v[1], 2, "m");
	head.n_results = 1;
	head.seed = 43;
	d = compare(&base, &head);
	assert_string_equal(d.cases[0].reason, "different inputs: base has seed 42, head 43");
	assay_diff_release(&d);
}

TEST(several_runs_of_a_side_tell_their_spread)
{
	struct assay_result v[4][1];
	struct assay_run run[4];
	const struct assay_run *const b[] = { &run[0], &run[1] }, *const h[] = { &run[2], &run[3] };
	const struct assay_diff_runs sides[2] = { { b, 2, "base" }, { h, 2, "head" } };
	static const double ns[] = { 100, 110, 120, 132 };
	struct assay_diff d;

	for (int i = 0; i < 4; i++) {
		run[i] = run_with(v[i], i + 1, "m");
		add(&run[i], "x", ns[i], i < 2 ? "a" : "b");
	}
	assert_int_equal(assay_diff_runs_compare(&sides[0], &sides[1], NULL, &d, NULL), 0);
	/* 1.2 times, but runs of one side differ by a tenth: R, with c4(3) and two degrees of freedom */
	assert_true(fabs(d.cases[0].ratio - 1.2) < 1e-12);
	assert_true(fabs(d.cases[0].lo - 1.0334865) < 1e-6);
	assert_int_equal(d.cases[0].result, ASSAY_DIFF_SLOWER);
	assert_int_equal(d.side[1].run, 4);
	assert_non_null(strstr(d.uncovered, "between those of a side"));
	assay_diff_release(&d);
}

TEST(variants_are_held_against_ref_or_the_slowest)
{
	struct assay_result v[3];
	struct assay_run run = run_with(v, 1, "m");
	struct assay_diff d;

	add(&run, "b", 100, "b"), add(&run, "ref", 50, "a"), add(&run, "c", 10, "c");
	assert_int_equal(assay_diff_variants_compare(&run, NULL, &d, NULL), 0);
	assert_int_equal(d.n_cases, 2);
	assert_string_equal(case_of(&d, "c")->base_variant, "ref");
	assert_true(fabs(case_of(&d, "c")->ratio - 0.2) < 1e-12);
	assert_int_equal(case_of(&d, "b")->result, ASSAY_DIFF_SLOWER);
	assay_diff_release(&d);
	strcpy(v[1].c.variant, "a");
	assert_int_equal(assay_diff_variants_compare(&run, NULL, &d, NULL), 0);
	assert_string_equal(case_of(&d, "c")->base_variant, "b");
	assay_diff_sort(&d, NULL);
	/* by key, although the other was measured first */
	assert_string_equal(d.cases[0].c.variant, "c");
	assay_diff_release(&d);
}

/* ---- because ---- */

static const struct {
	const char *what;
	const char *name;
	double from, to; /* of the number */
	double ns[2];
	const char *text; /* NULL: it explains nothing */
} causes[] = {
	{ "instructions, all of it",
	  "exact_instructions",
	  9e6,
	  3e6,
	  { 900, 300 },
	  "3.0x fewer instructions (exact): 9.00 M to 3.00 M, 100 % of the change" },
	{ "two thirds of it", "exact_instructions", 1000, 1000 / 1.588, { 800, 400 }, "" },
	{ "just less", "exact_instructions", 1000, 1000 / 1.587, { 800, 400 }, NULL },
	{ "more than a factor left", "exact_instructions", 1000, 100, { 1600, 100 }, NULL },
	{ "a factor left", "exact_instructions", 1000, 100, { 1499, 100 }, "" },
	{ "the other direction", "exact_instructions", 1000, 2000, { 800, 400 }, NULL },
	{ "misses that are worth it", "exact_ll_misses", 4, 2, { 800, 400 }, "" },
	{ "misses that are not", "exact_ll_misses", 2, 1, { 1000, 500 }, NULL },
	{ "faults that are worth it", "minor_faults", 0, 1, { 1000, 5000 }, "more page faults (os): 0 to 1" },
	{ "too few faults", "minor_faults", 0, 1, { 1000, 8501 }, NULL },
	{ "too many", "minor_faults", 0, 100, { 1000, 7000 }, NULL },
	{ "not too many", "minor_faults", 0, 90, { 1000, 7000 }, "" },
	{ "the machine",
	  "roof_ns",
	  100,
	  150,
	  { 400, 600 },
	  "50.0 % more time that the roof of the machine allows: 100 ns to 150 ns, 100 % of the change" },
	{ "threads",
	  "parallel_efficiency",
	  0.9,
	  0.45,
	  { 100, 200 },
	  "2.0x less efficiency of the threads: 90.0 % to 45.0 %, 100 % of the change" },
};

TEST(a_cause_must_explain_direction_and_size)
{
	for (size_t i = 0; i < N_OF(causes); i++) {
		struct assay_diff_number m = { .value = { causes[i].from, causes[i].to } };
		struct assay_diff_case c = { .c = { .threads = 1 }, .numbers = &m, .n_numbers = 1 };

		strcpy(m.name, causes[i].name);
		strcpy(m.source, strstr(m.name, "exact") ? "exact" : strstr(m.name, "faults") ? "os" : "");
		memcpy(c.ns, causes[i].ns, sizeof(c.ns));
		c.ratio = c.lo = c.hi = c.ns[1] / c.ns[0];
		assay_because_find(&c);
		if (!causes[i].text != !c.because.name[0] ||
		    (causes[i].text && !strstr(c.because.text, causes[i].text)))
			fail_msg("%s: %s", causes[i].what, c.because.text);
	}
}

TEST(instructions_explain_what_the_roof_holds_back)
{
	struct assay_diff_number m[] = { { .name = "exact_instructions", .source = "exact", .value = { 1600, 100 } },
					 { .name = "roof_frac", .value = { 0.06, 0.5 } } };
	struct assay_diff_case c = { .c = { .threads = 1 }, .numbers = m, .n_numbers = 2, .ns = { 800, 100 } };

	c.ratio = c.lo = c.hi = 0.125;
	assay_because_find(&c);
	assert_string_equal(c.because.text,
			    "16x fewer instructions (exact): 1600 to 100, as far as the roof lets it (50 %)");
	m[1].value[1] = 0.499;
	assay_because_find(&c);
	assert_string_equal(c.because.name, "");
	/* nor where they moved less than the time */
	m[1].value[1] = 0.9;
	m[0].value[1] = 700;
	assay_because_find(&c);
	assert_string_equal(c.because.name, "");
}

TEST(exact_counts_come_first)
{
	struct assay_diff_number m[] = { { .name = "roof_ns", .value = { 100, 50 } },
					 { .name = "PAPI_TOT_INS", .value = { 1000, 500 } },
					 { .name = "exact_instructions", .value = { 1000, 510 } } };
	struct assay_diff_case c = { .c = { .threads = 1 }, .numbers = m, .n_numbers = 3, .ns = { 100, 50 } };

	c.ratio = c.lo = c.hi = 0.5;
	assay_because_find(&c);
	assert_string_equal(c.because.name, "exact_instructions");
	m[2].value[0] = NAN;
	assay_because_find(&c);
	assert_string_equal(c.because.name, "PAPI_TOT_INS");
	m[1].value[0] = m[0].value[0] = NAN;
	assay_because_find(&c);
	assert_string_equal(c.because.name, "");
	assert_non_null(strstr(c.because.text, "no instructions were counted on both sides"));
}

UNIT_GROUP(NULL, NULL)
