/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts of exact counts. No statistics: a count is equal within its tolerance, or it is not. */
#include "judge/exact_judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/rows.h"
#include "model/exact.h"

#define FUNCTIONS_NAMED 3

struct judging {
	const struct assay_exact_judge_input *in;
	struct assay_gate_report *r;
	struct assay_err *err;
};

static struct assay_row_name named(const char *key, const char *metric)
{
	return (struct assay_row_name){ key, metric, ASSAY_EVIDENCE_EXACT };
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
static int explain(struct judging *j, const struct assay_exact_case *base, const struct assay_exact_case *head,
		   enum assay_exact_event event, char *reason, size_t size)
{
	struct change *v = calloc(base->n_functions + head->n_functions + 1, sizeof(*v));
	size_t n, at = strlen(reason);

	if (!v)
		return assay_err_set(j->err, ASSAY_ENOMEM, "out of memory judging '%s'", head->key);
	n = changes_of(base, head, event, v);
	for (size_t i = 0; i < n && i < FUNCTIONS_NAMED && at < size; i++) {
		char text[ASSAY_EXACT_FUNCTION_MAX + 128];
		struct assay_exact_line line;

		change_text(&v[i], assay_exact_event_name(event), text, sizeof(text));
		at += (size_t)snprintf(reason + at, size - at, "%s%s", i ? "; " : "", text);
		if (at < size && assay_exact_changed_line(base, head, v[i].name, event, &line))
			at += (size_t)snprintf(reason + at, size - at, " at %s:%u", line.file, line.line);
	}
	if (n > FUNCTIONS_NAMED && at < size)
		snprintf(reason + at, size - at, "; and %zu more function%s", n - FUNCTIONS_NAMED,
			 n - FUNCTIONS_NAMED == 1 ? "" : "s");
	free(v);
	return 0;
}

/* ---- cases ------------------------------------------------------------------------------------------------------ */

/* A row, where the counts differ by more than is allowed. */
static int judge_event(struct judging *j, const struct assay_exact_case *base, const struct assay_exact_case *head,
		       enum assay_exact_event event, bool *equal)
{
	uint64_t b = base->total.v[event], h = head->total.v[event];
	const struct assay_case policy_case = assay_exact_case_named(head);
	double allowed = assay_policy_exact_allowed(j->in->policy, &policy_case, event, b);
	double by = fabs((double)h - (double)b);
	struct assay_gate_case *c;
	char metric[ASSAY_METRIC_TAG_MAX];

	if (by <= allowed)
		return 0;
	*equal = false;
	snprintf(metric, sizeof(metric), "exact_%s", assay_exact_event_name(event));
	c = assay_row_add(j->r, named(head->key, metric), j->err);
	if (!c)
		return ASSAY_ENOMEM;
	c->verdict = h > b ? ASSAY_REGRESSED : j->in->record ? ASSAY_INCOMPARABLE : ASSAY_IMPROVED;
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
	return explain(j, base, head, event, c->reason, sizeof(c->reason));
}

static int judge_counts(struct judging *j, const struct assay_exact_case *base, const struct assay_exact_case *head)
{
	bool equal = true;
	int rc = 0;

	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS && !rc; e++)
		rc = judge_event(j, base, head, (enum assay_exact_event)e, &equal);
	if (rc || !equal)
		return rc;
	return assay_row_say(j->r, named(head->key, "exact"), ASSAY_PASS, j->err,
			     "counts are those of %s, within the tolerance", j->in->base_name);
}

static int add_new(struct judging *j, struct assay_row_name name)
{
	int rc = assay_row_say(j->r, name, ASSAY_PASS, j->err, "counted, not in %s", j->in->base_name);

	if (!rc)
		j->r->cases[j->r->n_cases - 1].is_new = true;
	return rc;
}

static const char *how_text(enum assay_exact_how how)
{
	return how == ASSAY_EXACT_STEPPED ? "stepping" : assay_exact_how_name(how);
}

static int pass_skipped(struct judging *j, struct assay_row_name name, const struct assay_exact_case *head)
{
	int rc = assay_row_say(j->r, name, ASSAY_PASS, j->err, "skipped: %s", head->reason);

	if (!rc)
		j->r->cases[j->r->n_cases - 1].skipped = true;
	return rc;
}

static int judge_case(struct judging *j, const struct assay_exact_case *head)
{
	const struct assay_exact_case *base = j->in->base ? assay_exact_case_find(j->in->base, head->key) : NULL;
	const struct assay_row_name name = named(head->key, "exact");

	if (!base && assay_exact_is_unnamed(head))
		return 0;
	if (head->status == ASSAY_STATUS_WRONG)
		return assay_row_say(j->r, name, ASSAY_WRONG_RESULT, j->err, "%s", head->reason);
	if (head->status == ASSAY_STATUS_SKIPPED &&
	    (head->skip == ASSAY_EXACT_SKIP_UNABLE && j->in->record ? !j->in->nothing_counted
	     : base                                                 ? base->status == ASSAY_STATUS_SKIPPED
								    : !j->in->nothing_counted))
		return pass_skipped(j, name, head);
	if (head->status != ASSAY_STATUS_OK)
		return assay_row_say(j->r, name, ASSAY_NOT_MEASURED, j->err, "%s: %s", assay_status_name(head->status),
				     head->reason);
	if (!j->in->base)
		return assay_row_say(j->r, name, ASSAY_INCOMPARABLE, j->err, "%s", j->in->no_base_reason);
	if (!base && !j->in->record)
		return add_new(j, name);
	if (!base)
		return assay_row_say(j->r, name, ASSAY_PASS, j->err, "counted, not in %s", j->in->base_name);
	if (base->status != ASSAY_STATUS_OK)
		return assay_row_say(j->r, name, ASSAY_INCOMPARABLE, j->err, "base %s: %s",
				     assay_status_name(base->status), base->reason);
	if (base->how != head->how)
		return assay_row_say(j->r, name, ASSAY_INCOMPARABLE, j->err,
				     "counted by %s, in %s by %s: counts of one are not those of the other",
				     how_text(head->how), j->in->base_name, how_text(base->how));
	if (base->digest[0] && head->digest[0] && strcmp(base->digest, head->digest))
		return assay_row_say(j->r, name, ASSAY_WRONG_RESULT, j->err,
				     "outputs of base and head differ: digests %.8s and %.8s", base->digest,
				     head->digest);
	return judge_counts(j, base, head);
}

static int judge_missing(struct judging *j)
{
	const struct assay_exact_run *base = j->in->base;
	int rc = 0;

	for (size_t i = 0; base && i < base->n_cases && !rc; i++)
		if (!assay_exact_case_find(j->in->head, base->cases[i].key))
			rc = assay_row_say(j->r, named(base->cases[i].key, "exact"), ASSAY_NOT_MEASURED, j->err,
					   "in %s, but not counted", j->in->base_name);
	return rc;
}

/* ---- floors and ceilings ---------------------------------------------------------------------------------------- */

void assay_exact_limit_facts(const struct assay_exact_run *head, const struct assay_exact_run *base, const char *key,
			     const char *metric, struct assay_limit_facts *out)
{
	const struct assay_exact_case *h = assay_exact_case_find(head, key),
				      *b = base ? assay_exact_case_find(base, key) : NULL;

	*out = (struct assay_limit_facts){ .value = NAN, .base = NAN, .unit = "1", .source = ASSAY_SOURCE_EXACT };
	if (!h)
		out->why_no_value = ASSAY_EXACT_UNNAMED;
	else if (h->status != ASSAY_STATUS_OK)
		out->why_no_value = h->reason;
	else
		out->value = assay_exact_case_metric(h, metric);
	if (!out->why_no_value && isnan(out->value))
		out->why_no_value = "it does not exist in this case";
	if (b && b->status == ASSAY_STATUS_OK && (!h || h->how == b->how))
		out->base = assay_exact_case_metric(b, metric);
}

struct counted {
	const struct assay_exact_judge_input *in;
	const char *key;
};

static int look_up(const void *arg, const struct assay_limit *l, struct assay_limit_facts *out, struct assay_err *err)
{
	const struct counted *c = arg;

	(void)err;
	assay_exact_limit_facts(c->in->head, c->in->base, c->key, l->metric, out);
	if (!assay_exact_is_metric(l->metric)) {
		assay_limit_value(NULL, 0, &(struct assay_counters){ 0 }, l->metric, out);
		out->why_no_value = "with --evidence exact only exact counts are judged";
	}
	return 0;
}

/* A case that is wrong, crashed or hangs says so itself. */
static int judge_limits(struct judging *j, const struct assay_exact_case *head)
{
	const struct counted counted = { j->in, head->key };
	const struct assay_case c = assay_exact_case_named(head);

	if (head->status != ASSAY_STATUS_OK && head->status != ASSAY_STATUS_SKIPPED)
		return 0;
	return assay_limits_judge(j->in->policy,
				  &(struct assay_limit_case){ .c = &c, .look_up = look_up, .arg = &counted }, j->r,
				  j->err);
}

static bool is_counted(const struct assay_exact_run *run, const struct assay_manifest_entry *e)
{
	for (size_t i = 0; i < run->n_cases; i++) {
		const struct assay_case c = assay_exact_case_named(&run->cases[i]);

		if (assay_manifest_matches(e, &c))
			return true;
	}
	return false;
}

static int judge_uncounted(struct judging *j, const struct assay_case *c)
{
	const struct counted counted = { j->in, c->key };

	return assay_limits_judge(
		j->in->policy, &(struct assay_limit_case){ .c = c, .look_up = look_up, .arg = &counted }, j->r, j->err);
}

/* Cases of the suite that were not counted. What the manifest calls optional may not even be there. */
static int judge_rest_of_suite(struct judging *j)
{
	const struct assay_manifest *suite = j->in->suite;
	int rc = 0;

	for (size_t i = 0; suite && i < suite->n_entries && !rc; i++) {
		const struct assay_manifest_entry *e = &suite->entries[i];
		struct assay_case c = { .threads = 1 };

		if (e->demand == ASSAY_MANIFEST_OPTIONAL || is_counted(j->in->head, e))
			continue;
		memcpy(c.key, e->key, sizeof(c.key));
		rc = judge_uncounted(j, &c);
	}
	for (size_t i = 0; !suite && j->in->run && i < j->in->run->n_results && !rc; i++) {
		const struct assay_case *c = &j->in->run->results[i].c;

		if (!assay_exact_case_find(j->in->head, c->key))
			rc = judge_uncounted(j, c);
	}
	return rc;
}

int assay_exact_judge(const struct assay_exact_judge_input *in, struct assay_gate_report *report, struct assay_err *err)
{
	struct judging j = { .in = in, .r = report, .err = err };
	size_t first = report->n_cases;
	int rc = 0;

	for (size_t i = 0; i < in->head->n_cases && !rc; i++) {
		rc = judge_case(&j, &in->head->cases[i]);
		if (!rc && in->limits)
			rc = judge_limits(&j, &in->head->cases[i]);
	}
	if (!rc)
		rc = judge_missing(&j);
	if (!rc && in->limits)
		rc = judge_rest_of_suite(&j);
	if (!rc)
		assay_rows_sum(report, first, in->strict);
	return rc;
}
