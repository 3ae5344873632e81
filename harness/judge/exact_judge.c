/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts of exact counts. No statistics: a count is equal within its tolerance, or it is not. */
#include "judge/exact_judge.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "judge/limits.h"

#define FUNCTIONS_NAMED 3

struct judging {
	const struct assay_exact_judge_input *in;
	struct assay_gate_report *r;
	bool failed;
};

/* Verdict and exit of the whole become the graver of theirs and this one. */
static void count_verdict(struct judging *j, enum assay_verdict verdict)
{
	j->r->verdict = assay_verdict_worse(j->r->verdict, verdict);
	j->r->exit = assay_exit_worse(j->r->exit, assay_verdict_exit(verdict, j->in->strict));
}

static struct assay_gate_case *add_row(struct judging *j, const char *key, const char *metric,
				       enum assay_verdict verdict)
{
	struct assay_gate_case *v = realloc(j->r->cases, (j->r->n_cases + 1) * sizeof(*v)), *c;

	if (!v) {
		j->failed = true;
		return NULL;
	}
	j->r->cases = v;
	c = &v[j->r->n_cases++];
	*c = (struct assay_gate_case){ .evidence = ASSAY_EVIDENCE_EXACT, .verdict = verdict };
	snprintf(c->key, sizeof(c->key), "%s", key);
	snprintf(c->metric, sizeof(c->metric), "%s", metric);
	c->ratio = c->ci_lo = c->ci_hi = c->margin_frac = NAN;
	c->dropped_frac = c->smallest_detectable_frac = c->value = c->limit = NAN;
	if (j->r->n_cases == 1) {
		j->r->verdict = verdict;
		j->r->exit = ASSAY_EXIT_OK;
	}
	count_verdict(j, verdict);
	return c;
}

static void add_finding(struct judging *j, const char *key, enum assay_verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void add_finding(struct judging *j, const char *key, enum assay_verdict verdict, const char *fmt, ...)
{
	struct assay_gate_case *c = add_row(j, key, "exact", verdict);
	va_list ap;

	if (!c)
		return;
	va_start(ap, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, ap);
	va_end(ap);
}

/* ---- functions -------------------------------------------------------------------------------------------------- */

struct change {
	const char *name;
	uint64_t base, head;
};

static uint64_t distance(const struct change *c)
{
	return c->head > c->base ? c->head - c->base : c->base - c->head;
}

static int larger_first(const void *a, const void *b)
{
	uint64_t x = distance(a), y = distance(b);

	return x < y ? 1 : x > y ? -1 : strcmp(((const struct change *)a)->name, ((const struct change *)b)->name);
}

/* "band: instructions +3.1 % (40 985 → 42 256)" */
static void change_text(const struct change *c, const char *event, char *buf, size_t size)
{
	char base[32], head[32], share[32];

	assay_exact_count_text(c->base, base, sizeof(base));
	assay_exact_count_text(c->head, head, sizeof(head));
	assay_exact_change_text(c->base, c->head, share, sizeof(share));
	snprintf(buf, size, "%s: %s %s (%s → %s)", c->name, event, share, base, head);
}

/* All functions in which @event differs, the largest difference first. Fills at most n_functions of both. */
static size_t changes_of(const struct assay_exact_case *base, const struct assay_exact_case *head,
			 enum assay_exact_event event, struct change *out)
{
	size_t n = 0;

	for (size_t i = 0; i < head->n_functions; i++) {
		const struct assay_exact_function *f = &head->functions[i];
		const struct assay_exact_function *g = assay_exact_function_find(base, f->name, f->object);

		out[n] = (struct change){ f->name, g ? g->counts.v[event] : 0, f->counts.v[event] };
		n += out[n].base != out[n].head;
	}
	for (size_t i = 0; i < base->n_functions; i++) {
		const struct assay_exact_function *g = &base->functions[i];

		if (assay_exact_function_find(head, g->name, g->object))
			continue;
		out[n] = (struct change){ g->name, g->counts.v[event], 0 };
		n += out[n].base != 0;
	}
	qsort(out, n, sizeof(*out), larger_first);
	return n;
}

/* Behind what stands in @reason. */
static void explain(struct judging *j, const struct assay_exact_case *base, const struct assay_exact_case *head,
		    enum assay_exact_event event, char *reason, size_t size)
{
	struct change *v = calloc(base->n_functions + head->n_functions + 1, sizeof(*v));
	size_t n, at = strlen(reason);

	if (!v) {
		j->failed = true;
		return;
	}
	n = changes_of(base, head, event, v);
	for (size_t i = 0; i < n && i < FUNCTIONS_NAMED && at < size; i++) {
		char text[ASSAY_EXACT_FUNCTION_MAX + 128];

		change_text(&v[i], assay_exact_event_name(event), text, sizeof(text));
		at += (size_t)snprintf(reason + at, size - at, "%s%s", i ? "; " : "", text);
	}
	if (n > FUNCTIONS_NAMED && at < size)
		snprintf(reason + at, size - at, "; and %zu more function%s", n - FUNCTIONS_NAMED,
			 n - FUNCTIONS_NAMED == 1 ? "" : "s");
	free(v);
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

static bool judge_event(struct judging *j, const struct assay_exact_case *base, const struct assay_exact_case *head,
			enum assay_exact_event event)
{
	uint64_t b = base->total.v[event], h = head->total.v[event];
	double allowed = assay_policy_exact_allowed(j->in->policy, head->key, event, b);
	double by = fabs((double)h - (double)b);
	struct assay_gate_case *c;
	char metric[ASSAY_METRIC_TAG_MAX];

	if (by <= allowed)
		return true;
	snprintf(metric, sizeof(metric), "exact_%s", assay_exact_event_name(event));
	c = add_row(j, head->key, metric,
		    h > b           ? ASSAY_REGRESSED
		    : j->in->record ? ASSAY_INCOMPARABLE
				    : ASSAY_IMPROVED);
	if (!c)
		return true;
	c->value = (double)h;
	c->limit = (double)b + (h > b ? allowed : -allowed);
	if (c->verdict == ASSAY_INCOMPARABLE)
		snprintf(c->reason, sizeof(c->reason),
			 "fewer than in %.200s, which is out of date: '%.160s' records these; ", j->in->base_name,
			 j->in->record);
	if (b) {
		c->ratio = (double)h / (double)b;
		c->margin_frac = allowed / (double)b;
	}
	explain(j, base, head, event, c->reason, sizeof(c->reason));
	return false;
}

static void judge_counts(struct judging *j, const struct assay_exact_case *base, const struct assay_exact_case *head)
{
	bool equal = true;

	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		equal &= judge_event(j, base, head, (enum assay_exact_event)e);
	if (equal)
		add_finding(j, head->key, ASSAY_PASS, "counts are those of %s, within the tolerance", j->in->base_name);
}

static void judge_case(struct judging *j, const struct assay_exact_case *head)
{
	const struct assay_exact_case *base = j->in->base ? assay_exact_case_find(j->in->base, head->key) : NULL;

	if (head->status == ASSAY_STATUS_WRONG)
		add_finding(j, head->key, ASSAY_WRONG_RESULT, "%s", head->reason);
	else if (head->status == ASSAY_STATUS_SKIPPED &&
		 (base ? base->status == ASSAY_STATUS_SKIPPED : !j->in->nothing_counted))
		add_finding(j, head->key, ASSAY_PASS, "skipped: %s", head->reason);
	else if (head->status != ASSAY_STATUS_OK)
		add_finding(j, head->key, ASSAY_NOT_MEASURED, "%s: %s", assay_status_name(head->status), head->reason);
	else if (!j->in->base)
		add_finding(j, head->key, ASSAY_INCOMPARABLE, "%s", j->in->no_base_reason);
	else if (!base)
		add_finding(j, head->key, ASSAY_PASS, "counted, not in %s", j->in->base_name);
	else if (base->status != ASSAY_STATUS_OK)
		add_finding(j, head->key, ASSAY_INCOMPARABLE, "base %s: %s", assay_status_name(base->status),
			    base->reason);
	else if (base->digest[0] && head->digest[0] && strcmp(base->digest, head->digest))
		add_finding(j, head->key, ASSAY_WRONG_RESULT, "outputs of base and head differ: digests %.8s and %.8s",
			    base->digest, head->digest);
	else
		judge_counts(j, base, head);
}

static void judge_missing(struct judging *j)
{
	const struct assay_exact_run *base = j->in->base;

	for (size_t i = 0; base && i < base->n_cases; i++) {
		struct assay_gate_case *c;

		if (assay_exact_case_find(j->in->head, base->cases[i].key))
			continue;
		c = add_row(j, base->cases[i].key, "exact", ASSAY_NOT_MEASURED);
		if (c)
			snprintf(c->reason, sizeof(c->reason), "in %s, but not counted", j->in->base_name);
	}
}

/* ---- floors and ceilings ---------------------------------------------------------------------------------------- */

static void judge_limit(struct judging *j, const struct assay_exact_case *head, const struct assay_limit *l)
{
	const struct assay_exact_case *base = j->in->base ? assay_exact_case_find(j->in->base, head->key) : NULL;
	bool counted = head->status == ASSAY_STATUS_OK;
	struct assay_limit_facts f = { .value = counted ? assay_exact_metric(&head->total, l->metric) : NAN,
				       .base = NAN,
				       .unit = "1",
				       .source = ASSAY_SOURCE_EXACT,
				       .why_no_value = counted ? "it does not exist in this case" : head->reason };
	struct assay_gate_case *c;

	if (!assay_exact_is_metric(l->metric) || !assay_glob_match(l->cases, head->key))
		return;
	if (base && base->status == ASSAY_STATUS_OK)
		f.base = assay_exact_metric(&base->total, l->metric);
	if (!assay_limit_applies(l, &f))
		return;
	c = add_row(j, head->key, l->metric, ASSAY_PASS);
	if (!c)
		return;
	assay_limit_judge(l, &f, c);
	count_verdict(j, c->verdict);
}

int assay_exact_judge(const struct assay_exact_judge_input *in, struct assay_gate_report *report, struct assay_err *err)
{
	struct judging j = { .in = in, .r = report };

	for (size_t i = 0; i < in->head->n_cases; i++) {
		const struct assay_exact_case *c = &in->head->cases[i];
		/* between two builds, cases of the same code are skipped */
		bool demand = c->status == ASSAY_STATUS_OK || (in->record && c->status == ASSAY_STATUS_SKIPPED);

		judge_case(&j, c);
		for (size_t k = 0; in->limits && demand && k < in->policy->n_limits; k++)
			judge_limit(&j, c, &in->policy->limits[k]);
	}
	judge_missing(&j);
	return j.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory judging exact counts") : 0;
}
