/* SPDX-License-Identifier: Apache-2.0 */
/* When a case is measured once more, and what several measurements come to. */
#include "measure/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/case_metrics.h"
#include "measure/roof.h"
#include "model/summary.h"

/* A round that takes longer than this many budgets spends its time on other things than samples. */
#define WORTH_BUDGETS 12

uint64_t assay_round_budget_ns(uint64_t budget_ns, unsigned rounds)
{
	return rounds > 1 ? budget_ns / rounds : budget_ns;
}

bool assay_round_wanted(const struct assay_result *r, uint64_t took_ns)
{
	return r->status == ASSAY_STATUS_OK && r->n_samples && took_ns <= WORTH_BUDGETS * r->c.budget_ns;
}

/* The words of @from in place of those of @r. */
static void take_log(struct assay_result *r, struct assay_result *from)
{
	free(r->log);
	r->log = from->log;
	from->log = NULL;
}

/* A round that went wrong decides for the case: what fails one time in three does not work. */
static int fail(struct assay_result *r, struct assay_result *round, enum assay_status status, const char *reason)
{
	take_log(r, round);
	r->status = status;
	snprintf(r->reason, sizeof(r->reason), "round %zu: %.480s", r->rounds + 1, reason);
	if (status == ASSAY_STATUS_WRONG)
		r->correct = false;
	assay_result_drop_numbers(r);
	return 0;
}

static int add_samples(struct assay_result *r, const struct assay_result *round)
{
	struct assay_sample *grown = realloc(r->samples, (r->n_samples + round->n_samples) * sizeof(*grown));

	if (!grown)
		return ASSAY_ENOMEM;
	r->samples = grown;
	if (round->raw_metrics) {
		const size_t len = r->raw_metrics ? strlen(r->raw_metrics) : 0;
		char *text = realloc(r->raw_metrics, len + strlen(round->raw_metrics) + 1);

		if (!text)
			return ASSAY_ENOMEM;
		strcpy(text + len, round->raw_metrics);
		r->raw_metrics = text;
	}
	memcpy(grown + r->n_samples, round->samples, round->n_samples * sizeof(*grown));
	grown[r->n_samples].flags |= ASSAY_SAMPLE_NEW_ROUND;
	r->n_samples += round->n_samples;
	return 0;
}

/* @mean is of 1 + *more rounds: not every round knows every value. */
static void add_to_mean(double *mean, unsigned *more, double value)
{
	double before = 1.0 + *more;

	*mean = (*mean * before + value) / (before + 1);
	++*more;
}

int assay_result_add_round(struct assay_result *r, struct assay_result *round, const struct assay_cost *cost,
			   struct assay_err *err)
{
	int rc;

	if (round->status != ASSAY_STATUS_OK)
		return fail(r, round, round->status, round->reason);
	if (strcmp(r->digest, round->digest))
		return fail(r, round, ASSAY_STATUS_WRONG,
			    "the output differs from that of the round before, with the same inputs");
	if (!r->log || !r->log[0])
		take_log(r, round);
	for (size_t i = 0; i < r->n_metrics; i++) {
		struct assay_metric *m = &r->metrics[i];
		const struct assay_metric *other = assay_result_metric(round, m->tag);

		if (!other)
			continue;
		if (!strcmp(m->tag, "rss_peak_bytes"))
			m->value = fmax(m->value, other->value);
		else
			add_to_mean(&m->value, &m->more_rounds, other->value);
	}
	for (size_t i = 0; i < r->counters.n; i++) {
		struct assay_count *c = &r->counters.v[i];
		const struct assay_count *other = assay_counters_find(&round->counters, c->name);

		if (!other)
			continue;
		add_to_mean(&c->value, &c->more_rounds, other->value);
		c->running_frac = fmin(c->running_frac, other->running_frac);
	}
	assay_roof_widen(r, round);
	rc = add_samples(r, round);
	/* in place of the means of quantiles */
	for (size_t i = 0; i < round->n_histograms && !rc; i++)
		rc = assay_result_add_histogram(r, &round->histograms[i]);
	if (!rc)
		rc = assay_summary_fill(r, err);
	if (rc)
		return assay_err_set(err, rc, "out of memory for the samples of '%s'", r->c.key);
	r->max_rel_err = fmax(r->max_rel_err, round->max_rel_err);
	assay_deviation_add(&r->deviation, &round->deviation);
	r->steady = r->steady && round->steady;
	r->converged = assay_summary_half_width_frac(r) <= ASSAY_GOAL_HALF_WIDTH_FRAC;
	r->warmup_ns += round->warmup_ns;
	rc = assay_time_metrics(r, cost, err);
	if (rc > 0)
		assay_result_drop_numbers(r);
	return rc ? (rc > 0 ? 0 : rc) : assay_disturbance_counts(r, err);
}
