/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the samples that count: in runs those that the median is of, in comparisons those of undisturbed blocks. */
#include "drive/show/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/build.h"
#include "model/result.h"

/* Is @c called @only, so that others of which that is a part do not matter? */
static bool is_named(const struct assay_case *c, const char *only)
{
	char portable[ASSAY_KEY_MAX];

	assay_case_portable_key(c, portable);
	return !strcmp(c->key, only) || !strcmp(portable, only);
}

static int several(const char *only, size_t n, const char *first, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUSAGE, "%zu cases match '%.200s', the first is '%.200s': name one", n, only,
			     first);
}

/* ---- of a run ---- */

static void take_round(const struct assay_sample *s, size_t n, struct assay_sample_set *out)
{
	struct assay_sample_choice choice = { 0 };

	for (size_t i = 0; i < n; i++)
		assay_sample_choice_count(&choice, &s[i], 1);
	for (size_t i = 0; i < n; i++) {
		if (!assay_sample_choice_keeps(&choice, &s[i], 1))
			out->n_dropped++;
		else if (s[i].iterations)
			out->ns[out->n++] = (double)s[i].ns / (double)s[i].iterations;
	}
}

/* More quantiles would not be seen. */
#define MOST_QUANTILES 2000

static int take_histogram(const struct assay_run *run, const struct assay_result *r, const char *metric,
			  struct assay_sample_sets *to, struct assay_err *err)
{
	struct assay_sample_set *out = &to->sides[to->n - 1];
	const struct assay_histogram *h = NULL;

	for (size_t i = 0; i < r->n_histograms && !h; i++)
		if (!strcmp(r->histograms[i].tag, metric))
			h = &r->histograms[i];
	if (!h)
		return assay_err_set(err, ASSAY_EUSAGE, "'%.200s' has no histogram '%.40s' in run %" PRId64 "%s%s",
				     r->c.key, metric, run->id, r->n_histograms ? ", but " : "",
				     r->n_histograms ? r->histograms[0].tag : "");
	out->n_values = h->n;
	out->n = h->n < MOST_QUANTILES ? (size_t)h->n : MOST_QUANTILES;
	out->ns = calloc(out->n, sizeof(*out->ns));
	if (!out->ns)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu values", out->n);
	for (size_t i = 0; i < out->n; i++)
		out->ns[i] = 1e9 * assay_histogram_quantile(h, ((double)i + 0.5) / (double)out->n);
	out->median_ns = 1e9 * assay_histogram_quantile(h, 0.5);
	memcpy(to->unit, h->unit, sizeof(to->unit));
	return 0;
}

static int take_result(const struct assay_run *run, const struct assay_result *r, const char *metric,
		       struct assay_sample_sets *to, struct assay_err *err)
{
	struct assay_sample_set *out = &to->sides[to->n++];
	const struct assay_commit revision = assay_build_revision(&run->build);
	const char *commit = revision.hash;

	snprintf(out->name, sizeof(out->name), "run %" PRId64 "%s%.8s%s", run->id, commit[0] ? " (" : "", commit,
		 commit[0] ? ")" : "");
	if (metric)
		return take_histogram(run, r, metric, to, err);
	if (!r->n_samples)
		return assay_err_set(err, ASSAY_EUSAGE, "'%.200s' has no samples in run %" PRId64 "%s%.200s", r->c.key,
				     run->id, r->reason[0] ? ": " : "", r->reason);
	out->median_ns = r->median_ns;
	out->ns = calloc(r->n_samples, sizeof(*out->ns));
	if (!out->ns)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", r->n_samples);
	for (size_t i = 0, n; i < r->n_samples; i += n) {
		n = assay_samples_of_round(r->samples + i, r->n_samples - i);
		take_round(r->samples + i, n, out);
	}
	return 0;
}

static int take_run(const struct assay_sample_request *q, int64_t id, const char *only, struct assay_sample_sets *out,
		    struct assay_err *err)
{
	const struct assay_result *found = NULL;
	struct assay_run run;
	int rc = assay_stored_run(q->db, id, only, &run, err);

	for (size_t i = 0; i < run.n_results && !rc; i++)
		if (!found || is_named(&run.results[i].c, only))
			found = &run.results[i];
	if (!rc && run.n_results > 1 && !is_named(&found->c, only))
		rc = several(only, run.n_results, found->c.key, err);
	if (!rc) {
		snprintf(out->key, sizeof(out->key), "%s", found->c.key);
		snprintf(out->machine, sizeof(out->machine), "%s", run.machine.label);
		rc = take_result(&run, found, q->metric, out, err);
	}
	assay_run_release(&run);
	return rc;
}

/* ---- of a comparison ---- */

/* Whole calls of a side, each from its parts where the op marks some. */
static void take_pair_side(const struct assay_pair *p, enum assay_side side, struct assay_sample_set *out)
{
	const struct assay_result *s = &p->side[side];
	const uint64_t iterations = p->iterations + p->extra_iterations[side];
	uint64_t ns = 0;
	bool disturbed = false;

	for (size_t i = 0; i < 2 * p->n_blocks && iterations; i++) {
		ns += s->samples[i].ns;
		disturbed |= assay_samples_disturbed(&s->samples[i], 1) != 0;
		if (s->samples[i].flags & ASSAY_SAMPLE_CONTINUES)
			continue;
		if (disturbed)
			out->n_dropped++;
		else
			out->ns[out->n++] = (double)ns / (double)iterations;
		ns = 0;
		disturbed = false;
	}
}

static int take_sides(const struct assay_comparison *cmp, const struct assay_comparison_case *c,
		      struct assay_sample_sets *out, struct assay_err *err)
{
	static const char *const names[2] = { "base", "head" };
	size_t most = 0;

	for (size_t i = 0; i < c->n_pairs; i++)
		most += 2 * c->pairs[i].n_blocks;
	for (int side = 0; side < 2; side++) {
		struct assay_sample_set *s = &out->sides[out->n++];

		snprintf(s->name, sizeof(s->name), "%s %.80s", names[side], side ? cmp->head : cmp->base);
		s->median_ns = NAN;
		s->ns = calloc(most + 1, sizeof(*s->ns));
		if (!s->ns)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", most);
		for (size_t i = 0; i < c->n_pairs; i++)
			take_pair_side(&c->pairs[i], (enum assay_side)side, s);
		if (!s->n)
			return assay_err_set(err, ASSAY_EUSAGE,
					     "'%.200s' has no undisturbed samples of the %s in comparison %" PRId64
					     "%s%.200s",
					     c->c.key, names[side], cmp->id, c->reason[0] ? ": " : "", c->reason);
	}
	return 0;
}

static int take_comparison(const struct assay_sample_request *q, struct assay_sample_sets *out, struct assay_err *err)
{
	const struct assay_comparison_case *found = NULL;
	struct assay_stored_comparison c;
	size_t n = 0;
	int rc = assay_stored_comparison(q->db, q->ids[0], q->only, &c, err);

	for (size_t i = 0; i < c.cmp.n_cases && !rc; i++) {
		const struct assay_comparison_case *x = &c.cmp.cases[i];

		if (x->control != ASSAY_CONTROL_NONE)
			continue;
		if (!n++ || is_named(&x->c, q->only))
			found = x;
	}
	if (!rc && !n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "comparison %" PRId64 " has no samples of '%.200s'", c.cmp.id,
				   q->only);
	else if (!rc && n > 1 && !is_named(&found->c, q->only))
		rc = several(q->only, n, found->c.key, err);
	if (!rc) {
		snprintf(out->key, sizeof(out->key), "%s", found->c.key);
		snprintf(out->machine, sizeof(out->machine), "%s", c.cmp.machine.label);
		rc = take_sides(&c.cmp, found, out, err);
	}
	assay_stored_comparison_release(&c);
	return rc;
}

int assay_sample_sets(const struct assay_sample_request *q, struct assay_sample_sets *out, struct assay_err *err)
{
	int rc = 0;

	*out = (struct assay_sample_sets){ 0 };
	if (q->comparison && q->metric)
		return assay_err_set(err, ASSAY_EUSAGE, "a comparison keeps no histograms: name one or two runs");
	if (q->comparison)
		return take_comparison(q, out, err);
	/* the second run is asked for the very case that the first one has */
	for (size_t i = 0; i < (q->n_ids ? q->n_ids : 1) && !rc; i++)
		rc = take_run(q, q->ids[i], i ? out->key : q->only, out, err);
	return rc;
}

void assay_sample_sets_release(struct assay_sample_sets *s)
{
	for (size_t i = 0; i < ASSAY_SAMPLE_SETS; i++)
		free(s->sides[i].ns);
	*s = (struct assay_sample_sets){ 0 };
}
