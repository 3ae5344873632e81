/* SPDX-License-Identifier: Apache-2.0 */
/* Median, interval and spread of the samples that count, first within each round and then over the rounds. */
#include "model/summary.h"

#include <math.h>
#include <stdlib.h>

#include "model/result.h"
#include "stats/stats.h"

struct tally {
	size_t kept, clean, disturbed_kept, slow, slow_kept;
	double min_ns;
};

/* The samples of one round that count, sorted into @x; returns how many. */
static size_t take_round(const struct assay_sample *s, size_t n, double *x, struct tally *t)
{
	struct assay_sample_choice choice = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		assay_sample_choice_count(&choice, &s[i], 1);
	for (size_t i = 0; i < n; i++)
		if (assay_sample_choice_keeps(&choice, &s[i], 1)) {
			x[kept++] = (double)s[i].ns / (double)s[i].iterations;
			t->disturbed_kept += assay_samples_disturbed(&s[i], 1) != 0;
			t->slow_kept += assay_samples_slow(&s[i], 1);
		}
	assay_stats_sort(x, kept);
	t->min_ns = t->kept ? fmin(t->min_ns, x[0]) : x[0];
	t->kept += kept;
	t->clean += choice.clean;
	t->slow += choice.slow;
	return kept;
}

bool assay_summary_has_interval(const struct assay_result *r)
{
	return r->rounds > 1 && assay_summary_half_width_frac(r) <= 1;
}

/*
 * Over the medians of the rounds; the median of them all, and its interval around that: by order statistics where there
 * are enough rounds, since those of programs are often skewed, else by Student's t.
 */
static void over_rounds(struct assay_result *r, double *medians)
{
	struct assay_interval ci;
	bool reached;

	assay_stats_sort(medians, r->rounds);
	r->median_ns = assay_stats_median(medians, r->rounds);
	ci = assay_stats_median_ci(medians, r->rounds, 0.95, &reached);
	if (!reached)
		ci = assay_stats_groups_ci(medians, r->rounds, 0.95);
	r->ci95_lo_ns = fmin(ci.lo, r->median_ns);
	r->ci95_hi_ns = fmax(ci.hi, r->median_ns);
	r->ci95_reached = assay_summary_has_interval(r);
}

int assay_summary_fill(struct assay_result *r, struct assay_err *err)
{
	struct tally t = { 0 };
	double *x, *tmp, *medians;
	size_t n;

	r->iterations = r->rounds = 0;
	r->median_ns = r->ci95_lo_ns = r->ci95_hi_ns = r->min_ns = r->mad_ns = 0;
	r->dropped_frac = r->disturbed_frac = r->slow_core_frac = 0;
	r->ci95_reached = r->disturbed = r->slow_core = false;
	if (!r->n_samples)
		return 0;
	x = malloc(3 * r->n_samples * sizeof(*x));
	if (!x)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", r->n_samples);
	tmp = x + r->n_samples;
	medians = tmp + r->n_samples;
	for (size_t at = 0; at < r->n_samples; at += n) {
		double *of_round = x + t.kept;
		size_t kept;

		n = assay_samples_of_round(r->samples + at, r->n_samples - at);
		kept = take_round(r->samples + at, n, of_round, &t);
		medians[r->rounds++] = assay_stats_median(of_round, kept);
	}
	if (r->rounds > 1) {
		over_rounds(r, medians);
		assay_stats_sort(x, t.kept);
	} else {
		struct assay_interval ci = assay_stats_median_ci(x, t.kept, 0.95, NULL);

		r->median_ns = medians[0];
		r->ci95_lo_ns = ci.lo;
		r->ci95_hi_ns = ci.hi;
	}
	r->iterations = r->samples[0].iterations;
	r->min_ns = t.min_ns;
	r->mad_ns = assay_stats_mad(x, t.kept, tmp);
	r->disturbed_frac = 1.0 - (double)t.clean / (double)r->n_samples;
	r->dropped_frac = 1.0 - (double)t.kept / (double)r->n_samples;
	r->slow_core_frac = (double)t.slow / (double)r->n_samples;
	r->disturbed = t.disturbed_kept * 2 > t.kept;
	r->slow_core = t.slow_kept * 2 > t.kept;
	free(x);
	return 0;
}

void assay_result_drop_numbers(struct assay_result *r)
{
	free(r->samples);
	free(r->metrics);
	free(r->raw_metrics);
	assay_histograms_release(&r->histograms, &r->n_histograms);
	r->samples = NULL;
	r->metrics = NULL;
	r->raw_metrics = NULL;
	r->n_samples = r->n_metrics = 0;
	assay_counters_release(&r->counters);
	r->roof = (struct assay_result_roof){ 0 };
	r->steady = r->converged = false;
	assay_summary_fill(r, NULL);
}

struct assay_interval assay_summary_interval_ns(const struct assay_result *r)
{
	return r->ci95_reached ? (struct assay_interval){ r->ci95_lo_ns, r->ci95_hi_ns }
			       : (struct assay_interval){ NAN, NAN };
}

double assay_summary_half_width_frac(const struct assay_result *r)
{
	return r->median_ns > 0 ? (r->ci95_hi_ns - r->ci95_lo_ns) / 2 / r->median_ns : 1;
}

static bool usable(const struct assay_result *r)
{
	return r->ci95_reached && !r->disturbed && r->median_ns > 0 && r->ci95_lo_ns > 0 && isfinite(r->ci95_lo_ns) &&
	       isfinite(r->ci95_hi_ns);
}

bool assay_summary_ratio(const struct assay_result *of, const struct assay_result *over, struct assay_time_ratio *out)
{
	double down, up;

	*out = (struct assay_time_ratio){ NAN, { NAN, NAN } };
	if (!usable(of) || !usable(over))
		return false;
	down = hypot(log(of->median_ns / of->ci95_lo_ns), log(over->ci95_hi_ns / over->median_ns));
	up = hypot(log(of->ci95_hi_ns / of->median_ns), log(over->median_ns / over->ci95_lo_ns));
	out->times = of->median_ns / over->median_ns;
	out->ci = (struct assay_interval){ out->times * exp(-down), out->times * exp(up) };
	return true;
}
