/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/fitness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "judge/paired.h"
#include "judge/stopping.h"

/* So many pairs a budget holds at least. */
#define PAIRS 16
/* Standard error of a median over that of a mean. */
#define MEDIAN_OVER_MEAN 1.2533
/* Beyond this no change that matters can be detected. */
#define USELESS_FRAC 0.5

double assay_fitness_told(double noise, double blocks, double margin_frac, double alpha)
{
	const struct assay_sequential_rule rule = { alpha, alpha, ASSAY_STOPPING_MAX_PAIRS, ASSAY_PAIRED_SD_FLOOR };
	const double sd = MEDIAN_OVER_MEAN * noise / sqrt(blocks);
	double x[PAIRS];

	if (!isfinite(noise))
		return NAN;
	/* values of this standard deviation, which is all that the calculation takes of them */
	for (size_t i = 0; i < PAIRS; i++)
		x[i] = (i & 1 ? 1 : -1) * sd * sqrt((PAIRS - 1.0) / PAIRS);
	return expm1(assay_sequential_detectable(x, PAIRS, &rule, log1p(margin_frac), ASSAY_PAIRED_POWER));
}

/* 0.0061 → 0.7 %, 0.012 → 2 %: what is promised is never less than what was found. */
static void percent_up(double frac, char *buf, size_t size)
{
	const double percent = 100 * frac, digit = pow(10, floor(log10(percent)));
	const double up = ceil(percent / digit - 1e-9) * digit;

	snprintf(buf, size, up < 10 ? "%.1g %%" : "%.0f %%", up);
}

void assay_fitness_text(const struct assay_fitness *f, char *buf, size_t size)
{
	char brief[32] = "", lasting[32] = "";
	size_t n;

	if (isfinite(f->short_frac))
		percent_up(f->short_frac, brief, sizeof(brief));
	if (isfinite(f->long_frac))
		percent_up(f->long_frac, lasting, sizeof(lasting));
	if (f->untold || !brief[0])
		snprintf(buf, size, "the smallest change that comparisons can detect is unknown: %s",
			 f->untold ? f->untold : "the cores could not be tried for long enough");
	else if (f->short_frac > USELESS_FRAC)
		snprintf(buf, size, "too noisy to detect even a 50 %% change");
	else if (!lasting[0])
		snprintf(buf, size,
			 "comparisons can detect %s on calls under 1 ms; above 1 ms is unknown: the cores could not be "
			 "tried for long enough",
			 brief);
	else if (f->long_frac > USELESS_FRAC)
		snprintf(buf, size,
			 "comparisons can detect %s on calls under 1 ms; too noisy to detect even a 50 %% change on "
			 "longer ones",
			 brief);
	else if (!strcmp(brief, lasting))
		snprintf(buf, size, "comparisons can detect %s", brief);
	else
		snprintf(buf, size, "comparisons can detect %s on calls under 1 ms, %s above", brief, lasting);
	n = strlen(buf);
	for (size_t i = 0; i < f->n_shared && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%d",
				      !i                     ? f->n_shared > 1 ? "; other work runs on cores "
									       : "; other work runs on core "
				      : i + 1 == f->n_shared ? " and "
							     : ", ",
				      f->shared[i]);
}
