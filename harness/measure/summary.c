/* SPDX-License-Identifier: Apache-2.0 */
/* Median, distribution-free interval and spread of the samples that count. */
#include "measure/summary.h"

#include <stdlib.h>

#include "stats/stats.h"

int assay_summary_fill(struct assay_result *r, struct assay_err *err)
{
	size_t n = 0, clean = 0;
	double *x, *tmp;
	bool drop;
	struct assay_interval ci;

	r->iterations = 0;
	r->median_ns = r->ci95_lo_ns = r->ci95_hi_ns = r->min_ns = r->mad_ns = 0;
	r->dropped_frac = r->disturbed_frac = 0;
	r->ci95_reached = false;
	if (!r->n_samples)
		return 0;
	x = malloc(2 * r->n_samples * sizeof(*x));
	if (!x)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", r->n_samples);
	tmp = x + r->n_samples;
	for (size_t i = 0; i < r->n_samples; i++)
		clean += !assay_samples_disturbed(&r->samples[i], 1);
	drop = clean * 2 >= r->n_samples;
	for (size_t i = 0; i < r->n_samples; i++)
		if (!drop || !assay_samples_disturbed(&r->samples[i], 1))
			x[n++] = (double)r->samples[i].ns / (double)r->samples[i].iterations;
	assay_stats_sort(x, n);
	ci = assay_stats_median_ci(x, n, 0.95, &r->ci95_reached);
	r->iterations = r->samples[0].iterations;
	r->median_ns = assay_stats_median(x, n);
	r->ci95_lo_ns = ci.lo;
	r->ci95_hi_ns = ci.hi;
	r->min_ns = x[0];
	r->mad_ns = assay_stats_mad(x, n, tmp);
	r->disturbed_frac = 1.0 - (double)clean / (double)r->n_samples;
	r->dropped_frac = 1.0 - (double)n / (double)r->n_samples;
	free(x);
	return 0;
}

double assay_summary_half_width_frac(const struct assay_result *r)
{
	return r->median_ns > 0 ? (r->ci95_hi_ns - r->ci95_lo_ns) / 2 / r->median_ns : 1;
}
