/* SPDX-License-Identifier: Apache-2.0 */
/* A gate made by hand: one run, one base, a manifest and a policy, and what is expected of it after a change. */
#ifndef ASSAY_TESTS_GATE_WORLD_H
#define ASSAY_TESTS_GATE_WORLD_H

#include "judge_fixture.h"

#include <math.h>

#include "judge/gate.h"

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

static inline void set_time(struct assay_result *r, double median_ns)
{
	r->median_ns = median_ns;
	r->ci95_lo_ns = median_ns * 0.995;
	r->ci95_hi_ns = median_ns * 1.005;
}

static inline void add_result(struct world *w, struct assay_run *run, struct assay_result *into,
			      const struct assay_case *c)
{
	struct assay_result *r = &into[run->n_results++];

	r->c = *c;
	r->status = ASSAY_STATUS_OK;
	r->checked = r->correct = true;
	r->samples = w->samples;
	r->n_samples = N_OF(w->samples);
	set_time(r, 100);
}

static inline void add_entry(struct world *w, const char *key, enum assay_manifest_demand demand)
{
	struct assay_manifest_entry *e = &w->entries[w->manifest.n_entries++];

	snprintf(e->key, sizeof(e->key), "%s", key);
	e->demand = demand;
	e->line = (unsigned)w->manifest.n_entries;
}

/* Three cases, in run, base and manifest alike, and no limits: a gate that passes. */
static inline void world_make(struct world *w)
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
	snprintf(w->run.suite, sizeof(w->run.suite), "s");
	w->run.results = w->head_results;
	w->base.results = w->base_results;
	w->run.id = 12;
	w->base.id = 11;
	w->run.seed = w->base.seed = 1;
	w->run.ended_ns = w->base.ended_ns = 1;
	snprintf(w->run.build.commit, sizeof(w->run.build.commit), "8c1f0aa8c1f0aa8c1f0aa");
	snprintf(w->run.machine.id, sizeof(w->run.machine.id), "aaaa");
	snprintf(w->base.machine.id, sizeof(w->base.machine.id), "aaaa");
	snprintf(w->manifest.path, sizeof(w->manifest.path), "baselines/quick.manifest");
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

static inline void add_limit(struct world *w, const char *cases, const char *metric, bool floor, double limit)
{
	struct assay_limit *l = &w->limits[w->policy.n_limits++];

	snprintf(l->cases, sizeof(l->cases), "%s", cases);
	snprintf(l->metric, sizeof(l->metric), "%s", metric);
	l->floor = floor;
	l->limit = limit;
	l->line = 5;
}

static inline void metrics_release(struct world *w)
{
	for (size_t i = 0; i < MAX_RESULTS; i++) {
		free(w->head_results[i].metrics);
		free(w->base_results[i].metrics);
	}
}

static inline void set_digests(struct world *w, const char *head, const char *base)
{
	snprintf(w->head_results[0].digest, sizeof(w->head_results[0].digest), "%s", head);
	snprintf(w->base_results[0].digest, sizeof(w->base_results[0].digest), "%s", base);
}

static inline void set_code(struct world *w, const char *head, const char *base)
{
	snprintf(w->head_results[0].code_hash, sizeof(w->head_results[0].code_hash), "%s", head);
	snprintf(w->base_results[0].code_hash, sizeof(w->base_results[0].code_hash), "%s", base);
}

static inline void fail_as(struct world *w, size_t i, enum assay_status status, const char *reason)
{
	w->head_results[i].status = status;
	w->head_results[i].checked = w->head_results[i].correct = false;
	snprintf(w->head_results[i].reason, sizeof(w->head_results[i].reason), "%s", reason);
}

/* ---- changes that several tests make ---- */

static inline void slower(struct world *w)
{
	set_time(&w->head_results[0], 130);
}

static inline void faster(struct world *w)
{
	set_time(&w->head_results[0], 70);
}

static inline void at_the_margin(struct world *w)
{
	set_time(&w->head_results[0], 110);
}

static inline void other_digest(struct world *w)
{
	set_digests(w, "0123456789abcdef", "fedcba9876543210");
}

/* ---- what becomes of it ---- */

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

static inline const struct assay_gate_case *find_row(const struct assay_gate_report *r, const char *key,
						     const char *metric)
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

/* The kind of doubt that the words of the row tell. */
static inline enum assay_doubt doubt_in_words(const struct assay_gate_case *c)
{
	static const struct {
		const char *words;
		enum assay_doubt doubt;
	} kinds[] = {
		{ "the machine changed, not the program", ASSAY_DOUBT_MACHINE },
		{ "; but so did ", ASSAY_DOUBT_MOVED },
		{ "host too noisy", ASSAY_DOUBT_NOISE },
		{ "too few samples", ASSAY_DOUBT_SAMPLES },
	};

	if (c->verdict != ASSAY_INCONCLUSIVE)
		return ASSAY_DOUBT_NONE;
	for (size_t i = 0; i < N_OF(kinds); i++)
		if (strstr(c->reason, kinds[i].words))
			return kinds[i].doubt;
	return ASSAY_DOUBT_MARGIN;
}

static inline void check_gate(struct world *w, const struct gate_row *want)
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
	if (row->evidence == ASSAY_EVIDENCE_STORED && row->doubt != doubt_in_words(row))
		fail_msg("%s: doubt %d: %s", want->name, (int)row->doubt, row->reason);
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

#endif
