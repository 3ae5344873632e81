/* SPDX-License-Identifier: Apache-2.0 */
/* Digests and times of a run against the stored ones: slower, faster, the same code, slow cores, a noisy host. */
#include "gate_world.h"

static void as_it_is(struct world *w)
{
}
static void one_sample(struct world *w)
{
	w->head_results[0].n_samples = 1;
}
static void wide_margin(struct world *w)
{
	slower(w);
	snprintf(w->margins[0].cases, sizeof(w->margins[0].cases), "m.a/*");
	w->margins[0].stored_frac = 0.5;
	w->policy.n_margins = 1;
}
static void noisy(struct world *w)
{
	slower(w);
	for (size_t i = 0; i < 31; i++)
		w->samples[i].steal_ticks = 1;
}
static void noisy_and_far_slower(struct world *w)
{
	noisy(w);
	set_time(&w->head_results[0], 300);
}
static void noisy_by(struct world *w, uint32_t flags, uint32_t switches, uint32_t ticks, uint64_t ns)
{
	slower(w);
	for (size_t i = 0; i < N_OF(w->samples); i++)
		w->samples[i] = (struct assay_sample){
			.iterations = 1, .ns = ns, .flags = flags, .switches = switches, .steal_ticks = ticks
		};
}
/* A time of the head, and whose core was slow. */
struct slow_cores {
	double head_ns;
	bool head, base, same_code;
};
static void on_slow_cores(struct world *w, const struct slow_cores *how)
{
	set_time(&w->head_results[0], how->head_ns);
	w->head_results[0].slow_core = how->head;
	w->base_results[0].slow_core = how->base;
	if (how->same_code)
		set_code(w, "c0de", "c0de");
}
static void one_base_of_two_on_slow_core(struct world *w)
{
	static struct assay_result copy[MAX_RESULTS];

	faster(w);
	memcpy(copy, w->base_results, sizeof(copy));
	copy[0].slow_core = true;
	w->base2 = w->base;
	w->base2.results = copy;
	w->base_list[1] = &w->base2;
	w->in.n_base = 2;
}
static void rare_switches(struct world *w)
{
	noisy_by(w, ASSAY_DISTURB_SWITCH, 2, 0, 100000000);
}
static void frequent_switches(struct world *w)
{
	noisy_by(w, ASSAY_DISTURB_SWITCH, 3, 0, 100000000);
}
static void rare_steal(struct world *w)
{
	noisy_by(w, ASSAY_DISTURB_STEAL, 0, 1, 500000000);
}
static void frequent_steal(struct world *w)
{
	noisy_by(w, ASSAY_DISTURB_STEAL, 0, 2, 500000000);
}
static void migrated(struct world *w)
{
	noisy_by(w, ASSAY_DISTURB_MIGRATION | ASSAY_DISTURB_SWITCH, 1, 0, 1000000000);
}
static void same_code(struct world *w)
{
	slower(w);
	set_code(w, "c0de", "c0de");
}
static void same_code_faster(struct world *w)
{
	faster(w);
	set_code(w, "c0de", "c0de");
}
static void same_code_unchanged(struct world *w)
{
	set_code(w, "c0de", "c0de");
}
static void other_code(struct world *w)
{
	slower(w);
	set_code(w, "c0de", "beef");
}
/* The first case has new code and is slower; @n others have the old and take @ns. */
static void others_moved(struct world *w, size_t n, double ns)
{
	other_code(w);
	for (size_t i = 1; i <= n; i++) {
		set_time(&w->head_results[i], ns);
		snprintf(w->head_results[i].code_hash, sizeof(w->head_results[i].code_hash), "cafe");
		snprintf(w->base_results[i].code_hash, sizeof(w->base_results[i].code_hash), "cafe");
	}
}
static void all_slower(struct world *w)
{
	others_moved(w, 2, 130);
}
static void one_other_slower(struct world *w)
{
	others_moved(w, 1, 130);
}
static void others_faster(struct world *w)
{
	others_moved(w, 2, 70);
}
static void others_as_before(struct world *w)
{
	others_moved(w, 2, 100);
}
static void all_faster(struct world *w)
{
	others_moved(w, 2, 70);
	faster(w);
}
static void unknown_code(struct world *w)
{
	slower(w);
	set_code(w, "", "");
}
static void same_digest(struct world *w)
{
	set_digests(w, "0123", "0123");
}
static void digest_of_other_seed(struct world *w)
{
	other_digest(w);
	w->base.seed = 2;
}
static void digest_of_other_machine(struct world *w)
{
	other_digest(w);
	w->base.machine.id[0] = 'b';
}

static const struct gate_row gates[] = {
	{ "unchanged", as_it_is, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_PASS,
	  "+0.0 % (-1.0 % to +1.0 %), allowed +10 %" },
	{ "slower", slower, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED,
	  "+30.0 % (+28.7 % to +31.3 %), allowed +10 %" },
	{ "slower within its own margin", wide_margin, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_PASS, NULL },
	{ "faster", faster, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_IMPROVED, NULL },
	{ "at the margin", at_the_margin, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE,
	  "+10.0 % (+8.9 % to +11.1 %), allowed +10 %: a slowdown of 11.1 % or more would have been detected" },
	{ "one sample", one_sample, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, "too few samples for an interval (1 here), give the case a larger budget" },
	{ "noisy host", noisy, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE,
	  "host too noisy: 31 % of samples disturbed (limit 30 %)" },
	{ "noisy host, slow beyond doubt", noisy_and_far_slower, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED, NULL },
	{ "rare switches", rare_switches, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_REGRESSED, NULL },
	{ "frequent switches", frequent_switches, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, "host too noisy: 100 % of samples disturbed (limit 30 %)" },
	{ "rare steal", rare_steal, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED,
	  NULL },
	{ "frequent steal", frequent_steal, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, "host too noisy: 100 % of samples disturbed (limit 30 %)" },
	{ "migrated", migrated, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE,
	  "host too noisy: 100 % of samples disturbed (limit 30 %)" },
	{ "faster than two bases, one on a slow core", one_base_of_two_on_slow_core, ASSAY_INCONCLUSIVE, 0, 6, CASE_A,
	  "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE, NULL },
	{ "same code, slower", same_code, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE,
	  "same code, +30.0 % (+28.7 % to +31.3 %), allowed +10 %: the machine changed, not the program" },
	{ "same code, faster", same_code_faster, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, NULL },
	{ "same code, unchanged", same_code_unchanged, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_PASS, "same code, +0.0 % (-1.0 % to +1.0 %), allowed +10 %" },
	{ "other code", other_code, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED,
	  NULL },
	{ "other code, and the machine is slower", all_slower, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE,
	  "+30.0 % (+28.7 % to +31.3 %), allowed +10 %; but so did 2 of 2 cases whose code is the same: the machine "
	  "changed" },
	{ "other code, one more slower", one_other_slower, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED, NULL },
	{ "other code, and the machine is faster", others_faster, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED, NULL },
	{ "other code, the others as before", others_as_before, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED, NULL },
	{ "other code, faster like all", all_faster, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, NULL },
	{ "unknown code", unknown_code, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED,
	  NULL },
	{ "other digest", other_digest, ASSAY_WRONG_RESULT, 3, 3, CASE_A, "digest", ASSAY_EVIDENCE_EXACT,
	  ASSAY_WRONG_RESULT,
	  "output 01234567… differs from fedcba98… in run 11 of the baseline, for the same inputs" },
	{ "same digest", same_digest, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_PASS, NULL },
	{ "other digest and seed", digest_of_other_seed, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE,
	  "run 11 of the baseline has different inputs: seed 2, and this run has seed 1" },
	{ "other digest and machine", digest_of_other_machine, ASSAY_WRONG_RESULT, 3, 3, CASE_A, "digest",
	  ASSAY_EVIDENCE_EXACT, ASSAY_WRONG_RESULT, NULL },
};

static const struct {
	struct slow_cores how;
	struct gate_row gate;
} slow_gates[] = {
	{ { 130, true, false, false },
	  { "slower on a slow core", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_INCONCLUSIVE,
	    "+30.0 % (+28.7 % to +31.3 %), allowed +10 %; but its core was slow, which can halve the speed: a "
	    "slowdown of "
	    "122.2 % or more would have been detected" } },
	{ { 230, true, false, false },
	  { "slower than a slow core explains", NULL, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_REGRESSED, NULL } },
	{ { 100, true, false, false },
	  { "unchanged although on a slow core", NULL, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_PASS, "+0.0 % (-1.0 % to +1.0 %), allowed +10 %" } },
	{ { 130, false, true, false },
	  { "slower than a base on a slow core", NULL, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_REGRESSED, NULL } },
	{ { 100, false, true, false },
	  { "as slow as a base on a slow core", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_INCONCLUSIVE,
	    "+0.0 % (-1.0 % to +1.0 %), allowed +10 %; but its core was slow when the baseline was measured, which can "
	    "halve the speed: a slowdown of 122.2 % or more would have been detected" } },
	{ { 70, false, true, false },
	  { "faster than a base on a slow core", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s",
	    ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE, NULL } },
	{ { 40, false, true, false },
	  { "faster than a slow core explains", NULL, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_IMPROVED, NULL } },
	{ { 130, true, true, false },
	  { "slower, both on slow cores", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_INCONCLUSIVE,
	    "+30.0 % (+28.7 % to +31.3 %), allowed +10 %; but its core was slow both now and when the baseline "
	    "was measured, which can halve the speed: a slowdown of 344.3 % or more would have been detected" } },
	{ { 230, true, true, false },
	  { "far slower, both on slow cores", NULL, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_REGRESSED, NULL } },
	{ { 110, false, true, true },
	  { "same code as a base on a slow core, at the margin", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s",
	    ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE,
	    "same code, +10.0 % (+8.9 % to +11.1 %), allowed +10 %: a slowdown of 11.1 % or more would have been "
	    "detected" } },
	{ { 100, false, true, true },
	  { "same code as a base on a slow core", NULL, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_PASS, NULL } },
};

TEST(test_gates)
{
	for (size_t i = 0; i < N_OF(gates); i++) {
		struct world w;

		world_make(&w);
		gates[i].change(&w);
		check_gate(&w, &gates[i]);
	}
}

TEST(test_slow_cores)
{
	for (size_t i = 0; i < N_OF(slow_gates); i++) {
		struct world w;

		world_make(&w);
		on_slow_cores(&w, &slow_gates[i].how);
		check_gate(&w, &slow_gates[i].gate);
	}
}

/* Undecided, but more likely slower than the margin than not: that fails where suspects do. */
TEST(test_suspects)
{
	static const struct {
		double median_ns;
		bool same_code, suspect;
	} rows[] = { { 110.5, false, true }, { 109.5, false, false }, { 110.5, true, false } };

	for (size_t i = 0; i < N_OF(rows); i++)
		for (int fail = 0; fail < 2; fail++) {
			struct assay_gate_report r = { 0 };
			struct assay_err err = { 0 };
			const struct assay_gate_case *row;
			struct world w;

			world_make(&w);
			set_time(&w.head_results[0], rows[i].median_ns);
			if (rows[i].same_code)
				set_code(&w, "c0de", "c0de");
			w.in.suspects_fail = fail;
			assert_int_equal(assay_gate_judge(&w.in, &r, &err), 0);
			row = find_row(&r, CASE_A, "time_s");
			assert_non_null(row);
			assert_int_equal(row->verdict, ASSAY_INCONCLUSIVE);
			assert_int_equal(row->suspect, rows[i].suspect);
			assert_int_equal(!strncmp(row->reason, "apparently 10.5 % slower: +10.5 % (", 34),
					 rows[i].suspect);
			assert_int_equal(r.exit, fail && rows[i].suspect ? ASSAY_EXIT_INCONCLUSIVE : ASSAY_EXIT_OK);
			assay_gate_report_release(&r);
		}
}

UNIT_GROUP(NULL, NULL)
