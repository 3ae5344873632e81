/* SPDX-License-Identifier: Apache-2.0 */
/* Every verdict of the gate and its exit code. */
#include "judge_fixture.h"

#include <math.h>

#include "judge/gate.h"

/* ---- a world of one run, one base, a manifest and a policy ------------------------------------------------------- */

#define MAX_RESULTS 6

struct world {
	struct assay_run run, base;
	struct assay_result head_results[MAX_RESULTS], base_results[MAX_RESULTS];
	struct assay_sample samples[100]; /* shared by all results */
	struct assay_manifest manifest, other;
	struct assay_manifest_entry entries[MAX_RESULTS], other_entries[1];
	struct assay_policy policy;
	struct assay_margin margins[2];
	struct assay_limit limits[2];
	struct assay_run base2;
	const struct assay_run *base_list[2];
	const struct assay_manifest *other_list[1];
	struct assay_gate_input in;
};

static void set_time(struct assay_result *r, double median_ns)
{
	r->median_ns = median_ns;
	r->ci95_lo_ns = median_ns * 0.995;
	r->ci95_hi_ns = median_ns * 1.005;
}

static void add_result(struct world *w, struct assay_run *run, struct assay_result *into, const struct assay_case *c)
{
	struct assay_result *r = &into[run->n_results++];

	r->c = *c;
	r->status = ASSAY_STATUS_OK;
	r->checked = r->correct = true;
	r->samples = w->samples;
	r->n_samples = N_OF(w->samples);
	set_time(r, 100);
}

static void add_entry(struct world *w, const char *key, enum assay_manifest_demand demand)
{
	struct assay_manifest_entry *e = &w->entries[w->manifest.n_entries++];

	snprintf(e->key, sizeof(e->key), "%s", key);
	e->demand = demand;
	e->line = (unsigned)w->manifest.n_entries;
}

/* Three cases, in run, base and manifest alike, and no limits: a gate that passes. */
static void world_make(struct world *w)
{
	const struct assay_case cases[] = { make_case("m.a", "ref", 1, 1, false), make_case("m.a", "avx2", 1, 2, true),
					    make_case("m.b", "ref", 7, 1, false) };

	memset(w, 0, sizeof(*w));
	for (size_t i = 0; i < N_OF(cases); i++) {
		char key[ASSAY_KEY_MAX];

		add_result(w, &w->run, w->head_results, &cases[i]);
		add_result(w, &w->base, w->base_results, &cases[i]);
		assay_case_portable_key(&cases[i], key);
		add_entry(w, key, i == 1 ? ASSAY_MANIFEST_MAY_SKIP : ASSAY_MANIFEST_REQUIRED);
	}
	w->run.results = w->head_results;
	w->base.results = w->base_results;
	w->run.id = 12;
	w->base.id = 11;
	w->run.seed = w->base.seed = 1;
	w->run.ended_ns = w->base.ended_ns = 1;
	snprintf(w->run.build.commit, sizeof(w->run.build.commit), "8c1f0aa8c1f0aa8c1f0aa");
	snprintf(w->run.machine.id, sizeof(w->run.machine.id), "aaaa");
	snprintf(w->base.machine.id, sizeof(w->base.machine.id), "aaaa");
	w->manifest.entries = w->entries;
	w->other.entries = w->other_entries;
	w->other.n_entries = 1;
	snprintf(w->other_entries[0].key, sizeof(w->other_entries[0].key), "o.chat/ref/-/t=1/warm");
	w->policy = assay_policy_default();
	snprintf(w->policy.path, sizeof(w->policy.path), "policy.conf");
	w->policy.margins = w->margins;
	w->policy.limits = w->limits;
	w->base_list[0] = &w->base;
	w->other_list[0] = &w->other;
	w->in = (struct assay_gate_input){
		.run = &w->run,
		.manifest = &w->manifest,
		.policy = &w->policy,
		.base = w->base_list,
		.n_base = 1,
		.base_name = "baseline 'main' (1 run)",
		.other_manifests = w->other_list,
		.n_other_manifests = 1,
		.all_threads = 2,
	};
}

static void add_limit(struct world *w, const char *cases, const char *metric, bool floor, double limit)
{
	struct assay_limit *l = &w->limits[w->policy.n_limits++];

	snprintf(l->cases, sizeof(l->cases), "%s", cases);
	snprintf(l->metric, sizeof(l->metric), "%s", metric);
	l->floor = floor;
	l->limit = limit;
	l->line = 5;
}

static void metrics_release(struct world *w)
{
	for (size_t i = 0; i < MAX_RESULTS; i++) {
		free(w->head_results[i].metrics);
		free(w->base_results[i].metrics);
	}
}

static void set_digests(struct world *w, const char *head, const char *base)
{
	snprintf(w->head_results[0].digest, sizeof(w->head_results[0].digest), "%s", head);
	snprintf(w->base_results[0].digest, sizeof(w->base_results[0].digest), "%s", base);
}

static void set_code(struct world *w, const char *head, const char *base)
{
	snprintf(w->head_results[0].code_hash, sizeof(w->head_results[0].code_hash), "%s", head);
	snprintf(w->base_results[0].code_hash, sizeof(w->base_results[0].code_hash), "%s", base);
}

static void fail_as(struct world *w, size_t i, enum assay_status status, const char *reason)
{
	w->head_results[i].status = status;
	w->head_results[i].checked = w->head_results[i].correct = false;
	snprintf(w->head_results[i].reason, sizeof(w->head_results[i].reason), "%s", reason);
}

/* ---- what each change of that world leads to -------------------------------------------------------------------- */

static void as_it_is(struct world *w)
{
	(void)w;
}
static void slower(struct world *w)
{
	set_time(&w->head_results[0], 130);
}
static void faster(struct world *w)
{
	set_time(&w->head_results[0], 70);
}
static void at_the_margin(struct world *w)
{
	set_time(&w->head_results[0], 110);
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
static void other_digest(struct world *w)
{
	set_digests(w, "0123456789abcdef", "fedcba9876543210");
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
static void other_machine(struct world *w)
{
	w->base.machine.id[0] = 'b';
}
static void other_machine_allowed(struct world *w)
{
	other_machine(w);
	w->in.allow_no_baseline = true;
}
static void no_baseline(struct world *w)
{
	w->in.n_base = 0;
	w->in.no_base_reason = "no run of suite 'quick' on this machine yet";
}
static void no_baseline_allowed(struct world *w)
{
	no_baseline(w);
	w->in.allow_no_baseline = true;
}
static void empty_baseline(struct world *w)
{
	w->base.n_results = 0;
}
static void added_case(struct world *w)
{
	w->base.n_results = 2;
}
static void missing(struct world *w)
{
	w->run.n_results = 2;
}
static void missing_interrupted(struct world *w)
{
	missing(w);
	w->run.ended_ns = 0;
}
static void skipped(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_SKIPPED, "needs avx9");
}
static void may_skip(struct world *w)
{
	fail_as(w, 1, ASSAY_STATUS_SKIPPED, "needs avx9");
}
static void crashed(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_CRASHED, "killed by signal 11 (SIGSEGV)");
}
static void timed_out(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_TIMEOUT, "no end after 120 s");
}
static void failed(struct world *w)
{
	fail_as(w, 1, ASSAY_STATUS_FAILED, "over its memory limit");
}
static void wrong(struct world *w)
{
	fail_as(w, 0, ASSAY_STATUS_WRONG, "out[3]: got 3, want 4");
}
static void fast_and_wrong(struct world *w)
{
	faster(w);
	w->head_results[0].correct = false;
}
static void unchecked(struct world *w)
{
	w->head_results[0].checked = false;
}
static void optional_absent(struct world *w)
{
	add_entry(w, "m.a/openblas/n=1/t=1/warm", ASSAY_MANIFEST_OPTIONAL);
}
static void optional_vanished(struct world *w)
{
	add_entry(w, "m.a/avx2/n=2/t=1/warm", ASSAY_MANIFEST_OPTIONAL);
}
static void may_skip_absent(struct world *w)
{
	add_entry(w, "m.a/avx512/n=2/t=1/warm", ASSAY_MANIFEST_MAY_SKIP);
}
static void unlisted(struct world *w)
{
	w->manifest.n_entries = 2;
}
static void unlisted_crashed(struct world *w)
{
	unlisted(w);
	fail_as(w, 2, ASSAY_STATUS_CRASHED, "killed by signal 6 (SIGABRT)");
}
static void below_floor(struct world *w)
{
	add_limit(w, "m.b/*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 41.2), 0);
}
static void above_floor(struct world *w)
{
	add_limit(w, "m.b/*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 50), 0);
}
static void above_ceiling(struct world *w)
{
	add_limit(w, "*", "rss_peak_bytes", false, 1000);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			assay_result_add_metric(&w->head_results[i], "rss_peak_bytes", "B", -1, 999.0 + (double)i), 0);
}
static void absent_metric(struct world *w)
{
	add_limit(w, "m.*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 60), 0);
}
static void limit_of_other_suite(struct world *w)
{
	add_limit(w, "o.chat/*", "kv_cache_hit_rate", true, 0.5);
}
static void limit_on_crashed(struct world *w)
{
	crashed(w);
	add_limit(w, "m.a/ref*", "kv_cache_hit_rate", true, 0.5);
}

#define CASE_A "m.a/ref/n=1/t=1/warm"
#define CASE_B "m.b/ref/n=7/t=1/warm"

struct gate_row {
	const char *name;
	void (*change)(struct world *w); /* NULL: made by other means */
	enum assay_verdict whole;
	int exit, strict_exit;
	/* one row that must be there */
	const char *key, *metric;
	enum assay_evidence evidence;
	enum assay_verdict verdict;
	const char *reason; /* NULL: any */
};

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
	  "+10.0 % (+8.9 % to +11.1 %), allowed +10 %: a slowdown of 11.1 % or more would have been seen" },
	{ "one sample", one_sample, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, "too few samples for an interval (1 here), give the case a larger budget" },
	{ "noisy host", noisy, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE,
	  "host too noisy: 31 % of the samples were disturbed, 30 % are allowed" },
	{ "rare switches", rare_switches, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_REGRESSED, NULL },
	{ "frequent switches", frequent_switches, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, "host too noisy: 100 % of the samples were disturbed, 30 % are allowed" },
	{ "rare steal", rare_steal, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_REGRESSED,
	  NULL },
	{ "frequent steal", frequent_steal, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCONCLUSIVE, "host too noisy: 100 % of the samples were disturbed, 30 % are allowed" },
	{ "migrated", migrated, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE,
	  "host too noisy: 100 % of the samples were disturbed, 30 % are allowed" },
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
	  ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE, "run 11 of the baseline has other inputs: seed 2, this has 1" },
	{ "other digest and machine", digest_of_other_machine, ASSAY_WRONG_RESULT, 3, 3, CASE_A, "digest",
	  ASSAY_EVIDENCE_EXACT, ASSAY_WRONG_RESULT, NULL },
	{ "other machine", other_machine, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, "run 11 of the baseline is of another machine: baaa (), this is aaaa ()" },
	{ "other machine is not no baseline", other_machine_allowed, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s",
	  ASSAY_EVIDENCE_STORED, ASSAY_INCOMPARABLE, NULL },
	{ "no baseline", no_baseline, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, "no run of suite 'quick' on this machine yet" },
	{ "no baseline, allowed", no_baseline_allowed, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, NULL },
	{ "baseline of other cases", empty_baseline, ASSAY_INCOMPARABLE, 5, 5, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_INCOMPARABLE, "the baseline has none of the cases of this run" },
	{ "added case", added_case, ASSAY_PASS, 0, 0, CASE_B, "status", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
	  "measured and right, not in the baseline" },
	{ "missing", missing, ASSAY_NOT_MEASURED, 4, 4, CASE_B, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "in the manifest (line 3) but not in the run" },
	{ "missing, interrupted", missing_interrupted, ASSAY_NOT_MEASURED, 4, 4, CASE_B, "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_NOT_MEASURED, "in the manifest (line 3) but not in the run, which did not finish" },
	{ "skipped", skipped, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "skipped, but the manifest requires it: needs avx9" },
	{ "skipped, allowed", may_skip, ASSAY_PASS, 0, 0, "m.a/avx2/n=1/t=2/warm", "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_PASS, "skipped: needs avx9" },
	{ "crashed", crashed, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "crashed: killed by signal 11 (SIGSEGV)" },
	{ "timed out", timed_out, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "timeout: no end after 120 s" },
	{ "failed, though it may be skipped", failed, ASSAY_NOT_MEASURED, 4, 4, "m.a/avx2/n=1/t=2/warm", "status",
	  ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, "failed: over its memory limit" },
	{ "wrong", wrong, ASSAY_WRONG_RESULT, 3, 3, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_WRONG_RESULT,
	  "out[3]: got 3, want 4" },
	{ "fast and wrong", fast_and_wrong, ASSAY_WRONG_RESULT, 3, 3, CASE_A, "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_WRONG_RESULT, "wrong output" },
	{ "unchecked", unchecked, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED,
	  "its output was never compared with the right one" },
	{ "optional plugin absent", optional_absent, ASSAY_PASS, 0, 0, "m.a/openblas/n=1/t=1/warm", "status",
	  ASSAY_EVIDENCE_NONE, ASSAY_PASS, "not in this build, which the manifest allows" },
	{ "case of an optional plugin vanished", optional_vanished, ASSAY_NOT_MEASURED, 4, 4, "m.a/avx2/n=2/t=1/warm",
	  "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, "in the manifest (line 4) but not in the run" },
	{ "may be skipped, yet is absent", may_skip_absent, ASSAY_NOT_MEASURED, 4, 4, "m.a/avx512/n=2/t=1/warm",
	  "status", ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, NULL },
	{ "not in the manifest", unlisted, ASSAY_PASS, 0, 0, CASE_B, "time_s", ASSAY_EVIDENCE_STORED, ASSAY_PASS,
	  "+0.0 % (-1.0 % to +1.0 %), allowed +10 %; not in the manifest" },
	{ "not in the manifest, crashed", unlisted_crashed, ASSAY_NOT_MEASURED, 4, 4, CASE_B, "status",
	  ASSAY_EVIDENCE_NONE, ASSAY_NOT_MEASURED, "crashed: killed by signal 6 (SIGABRT); not in the manifest" },
	{ "below a floor", below_floor, ASSAY_REGRESSED, 1, 1, CASE_B, "tokens_per_s", ASSAY_EVIDENCE_NONE,
	  ASSAY_REGRESSED, "tokens_per_s is 41.2 tok/s, below the floor of 50 tok/s" },
	{ "on a floor", above_floor, ASSAY_PASS, 0, 0, CASE_B, "tokens_per_s", ASSAY_EVIDENCE_NONE, ASSAY_PASS,
	  "tokens_per_s is 50 tok/s, floor 50 tok/s" },
	{ "above a ceiling", above_ceiling, ASSAY_REGRESSED, 1, 1, CASE_B, "rss_peak_bytes", ASSAY_EVIDENCE_NONE,
	  ASSAY_REGRESSED, "rss_peak_bytes is 1001 B, above the ceiling of 1000 B" },
	{ "metric absent", absent_metric, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "tokens_per_s", ASSAY_EVIDENCE_NONE,
	  ASSAY_NOT_MEASURED, "tokens_per_s was not measured, floor 50" },
	{ "limit of another suite", limit_of_other_suite, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	  ASSAY_PASS, NULL },
	{ "limit on what crashed", limit_on_crashed, ASSAY_NOT_MEASURED, 4, 4, CASE_A, "status", ASSAY_EVIDENCE_NONE,
	  ASSAY_NOT_MEASURED, NULL },
};

static const struct {
	struct slow_cores how;
	struct gate_row gate;
} slow_gates[] = {
	{ { 130, true, false, false },
	  { "slower on a slow core", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_INCONCLUSIVE,
	    "+30.0 % (+28.7 % to +31.3 %), allowed +10 %; but its core was slow, which may cost half of the speed: a "
	    "slowdown of "
	    "122.2 % or more would have been seen" } },
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
	    "+0.0 % (-1.0 % to +1.0 %), allowed +10 %; but its core was slow when the baseline was measured, which may "
	    "cost half of "
	    "the speed: a slowdown of 122.2 % or more would have been seen" } },
	{ { 70, false, true, false },
	  { "faster than a base on a slow core", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s",
	    ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE, NULL } },
	{ { 40, false, true, false },
	  { "faster than a slow core explains", NULL, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_IMPROVED, NULL } },
	{ { 130, true, true, false },
	  { "slower, both on slow cores", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_INCONCLUSIVE,
	    "+30.0 % (+28.7 % to +31.3 %), allowed +10 %; but its core was slow, now and when the baseline was "
	    "measured, which may cost half of "
	    "the speed: a slowdown of 344.3 % or more would have been seen" } },
	{ { 230, true, true, false },
	  { "far slower, both on slow cores", NULL, ASSAY_REGRESSED, 1, 1, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_REGRESSED, NULL } },
	{ { 110, false, true, true },
	  { "same code as a base on a slow core, at the margin", NULL, ASSAY_INCONCLUSIVE, 0, 6, CASE_A, "time_s",
	    ASSAY_EVIDENCE_STORED, ASSAY_INCONCLUSIVE,
	    "same code, +10.0 % (+8.9 % to +11.1 %), allowed +10 %: a slowdown of 11.1 % or more would have been "
	    "seen" } },
	{ { 100, false, true, true },
	  { "same code as a base on a slow core", NULL, ASSAY_PASS, 0, 0, CASE_A, "time_s", ASSAY_EVIDENCE_STORED,
	    ASSAY_PASS, NULL } },
};

static const struct assay_gate_case *find_row(const struct assay_gate_report *r, const char *key, const char *metric)
{
	const struct assay_gate_case *found = NULL;

	for (size_t i = 0; i < r->n_cases; i++) {
		if (strcmp(r->cases[i].key, key) || strcmp(r->cases[i].metric, metric))
			continue;
		assert_null(found); /* one row a case and metric */
		found = &r->cases[i];
	}
	return found;
}

static void check_gate(struct world *w, const struct gate_row *want)
{
	struct assay_gate_report r = { 0 };
	struct assay_err err = { 0 };
	const struct assay_gate_case *row;

	if (assay_gate_judge(&w->in, &r, &err))
		fail_msg("%s: %s", want->name, err.text);
	row = find_row(&r, want->key, want->metric);
	if (!row)
		fail_msg("%s: no row", want->name);
	if (want->reason && strcmp(row->reason, want->reason))
		fail_msg("%s: '%s', want '%s'", want->name, row->reason, want->reason);
	if (row->missing != (strstr(row->reason, "but not in the run") != NULL))
		fail_msg("%s: missing %d", want->name, row->missing);
	if (row->verdict != want->verdict || row->evidence != want->evidence)
		fail_msg("%s: %s, %s", want->name, assay_verdict_name(row->verdict),
			 assay_evidence_name(row->evidence));
	if (r.verdict != want->whole || (int)r.exit != want->exit)
		fail_msg("%s: whole %s, exit %d", want->name, assay_verdict_name(r.verdict), (int)r.exit);
	assay_gate_report_release(&r);

	w->in.strict = true;
	assert_int_equal(assay_gate_judge(&w->in, &r, &err), 0);
	assert_int_equal(r.exit, want->strict_exit);
	assay_gate_report_release(&r);
	metrics_release(w);
}

static void test_gates(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(gates); i++) {
		struct world w;

		world_make(&w);
		gates[i].change(&w);
		check_gate(&w, &gates[i]);
	}
}

static void test_slow_cores(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(slow_gates); i++) {
		struct world w;

		world_make(&w);
		on_slow_cores(&w, &slow_gates[i].how);
		check_gate(&w, &slow_gates[i].gate);
	}
}

/* The gravest wins: each pair of findings, whatever their order in the run. */
static void test_order_of_gravity(void **state)
{
	static const struct {
		void (*a)(struct world *w);
		void (*b)(struct world *w);
		int want;
	} pairs[] = {
		{ other_digest, missing, 3 },
		{ missing, other_digest, 3 },
		{ wrong, below_floor, 3 },
		{ missing, slower, 4 },
		{ failed, slower, 4 },
		{ slower, no_baseline, 5 },
		{ no_baseline, missing, 4 },
		{ below_floor, no_baseline, 1 },
		{ at_the_margin, below_floor, 1 },
		{ at_the_margin, failed, 4 },
		{ below_floor, other_machine, 1 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(pairs); i++) {
		struct assay_gate_report r = { 0 };
		struct world w;

		world_make(&w);
		pairs[i].a(&w);
		pairs[i].b(&w);
		w.in.strict = true;
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		assert_int_equal(r.exit, pairs[i].want);
		assay_gate_report_release(&r);
		metrics_release(&w);
	}
}

static void test_report(void **state)
{
	const struct assay_gate_case *row;
	struct assay_gate_report r = { 0 };
	struct world w;

	(void)state;
	world_make(&w);
	below_floor(&w);
	w.run.build.dirty = true;
	w.head_results[0].dropped_frac = 0.25;
	assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
	assert_string_equal(r.base, "baseline 'main' (1 run)");
	assert_string_equal(r.head, "run 12 (8c1f0aa8c1f0+)");
	assert_true(r.alpha == 0.01);
	assert_false(r.no_baseline);
	assert_int_equal(r.n_cases, 4);
	row = find_row(&r, CASE_A, "time_s");
	assert_true(fabs(row->ratio - 1.0) < 1e-12);
	assert_true(row->margin_frac == 0.1);
	assert_true(row->dropped_frac == 0.25);
	assert_true(row->ci_lo < 1.0 && row->ci_hi > 1.0);
	assert_true(row->smallest_detectable_frac > 0.1);
	assert_true(isnan(row->value) && isnan(row->limit));
	row = find_row(&r, CASE_B, "tokens_per_s");
	assert_true(row->value == 41.2 && row->limit == 50);
	assert_true(isnan(row->ratio) && isnan(row->ci_lo) && isnan(row->ci_hi) && isnan(row->margin_frac));
	assert_true(isnan(row->smallest_detectable_frac) && isnan(row->dropped_frac));
	assay_gate_report_release(&r);
	metrics_release(&w);

	world_make(&w);
	no_baseline(&w);
	assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
	assert_string_equal(r.base, "");
	assert_true(r.no_baseline);
	assay_gate_report_release(&r);
}

/* One core: the manifest's t=all is met by t=1, but only there. */
static void test_one_core(void **state)
{
	static const struct {
		unsigned all_threads;
		int want;
	} rows[] = { { 1, 0 }, { 2, 4 }, { 0, 4 } };

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = { 0 };
		struct world w;

		world_make(&w);
		w.head_results[1].c = make_case("m.a", "avx2", 1, 1, false);
		w.base_results[1].c = w.head_results[1].c;
		w.in.all_threads = rows[i].all_threads;
		assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
		assert_int_equal(r.exit, rows[i].want);
		assay_gate_report_release(&r);
	}
}

static void test_empty_run(void **state)
{
	struct assay_gate_report r = { 0 };
	struct world w;

	(void)state;
	world_make(&w);
	w.run.n_results = 0;
	w.manifest.n_entries = 0;
	w.in.allow_no_baseline = true;
	assert_int_equal(assay_gate_judge(&w.in, &r, NULL), 0);
	assert_int_equal(r.exit, 4);
	assert_int_equal(r.verdict, ASSAY_NOT_MEASURED);
	assay_gate_report_release(&r);
}

static void bad_limit_glob(struct world *w)
{
	add_limit(w, "m.aa/*", "time_s", false, 1);
}
static void far_limit_glob(struct world *w)
{
	add_limit(w, "generate.chat/*", "time_s", false, 1);
}
static void bad_margin_glob(struct world *w)
{
	snprintf(w->margins[0].cases, sizeof(w->margins[0].cases), "*/cuda/*");
	w->margins[0].stored_frac = 0.5;
	w->margins[0].line = 3;
	w->policy.n_margins = 1;
}
static void bad_metric(struct world *w)
{
	add_limit(w, "m.b/*", "token_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 60), 0);
}
static void metric_of_another_case(struct world *w)
{
	add_limit(w, "m.a/*", "tokens_per_s", true, 50);
	assert_int_equal(assay_result_add_metric(&w->head_results[2], "tokens_per_s", "1/s", 1, 60), 0);
}

static void test_policy_names(void **state)
{
	static const struct {
		void (*change)(struct world *w);
		const char *want;
	} rows[] = {
		{ bad_limit_glob, "policy.conf:5: 'm.aa/*' selects no case of any suite, did you mean 'm.a'?" },
		{ far_limit_glob, "policy.conf:5: 'generate.chat/*' selects no case of any suite" },
		{ bad_margin_glob, "policy.conf:3: '*/cuda/*' selects no case of any suite" },
		{ bad_metric, "policy.conf:5: no case that 'm.b/*' selects has a metric 'token_per_s', did you mean "
			      "'tokens_per_s'?" },
		{ metric_of_another_case,
		  "policy.conf:5: no case that 'm.a/*' selects has a metric 'tokens_per_s', there are none" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = { 0 };
		struct assay_err err = { 0 };
		struct world w;

		world_make(&w);
		rows[i].change(&w);
		assert_int_equal(assay_gate_judge(&w.in, &r, &err), ASSAY_EUSAGE);
		assert_string_equal(err.text, rows[i].want);
		assert_null(r.cases);
		metrics_release(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gates),
		cmocka_unit_test(test_slow_cores),
		cmocka_unit_test(test_order_of_gravity),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_one_core),
		cmocka_unit_test(test_empty_run),
		cmocka_unit_test(test_policy_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
