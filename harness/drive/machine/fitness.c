/* SPDX-License-Identifier: Apache-2.0 */
/* The noise of all cores that are tried stands for the machine: a case may run on any of them. */
#include "drive/machine/fitness.h"

#include <math.h>

#include "judge/fitness.h"
#include "judge/policy.h"
#include "machine/core_survey.h"

#define ALL_NS 100000000u
/* A core gets as much as three blocks of long turns take at least. */
#define LEAST_NS 26000000u
/* A pair samples for so long at least. */
#define SAMPLING_NS 30000000.0
#define TURNS       4

static double told(double squares, size_t n, double turn_ns)
{
	const struct assay_policy usual = assay_policy_default();
	const double noise = n ? sqrt(squares / (double)n) : NAN;

	return assay_fitness_told(noise, fmax(1, SAMPLING_NS / (TURNS * turn_ns)), usual.paired_margin_frac,
				  usual.alpha);
}

bool assay_fitness_of_shares(const struct assay_core_share *share, size_t n, const char *untold, char *buf, size_t size)
{
	struct assay_fitness f = { .untold = untold };
	double squares[2] = { 0, 0 };
	size_t brief = 0, lasting = 0;

	for (size_t i = 0; i < n; i++) {
		if (isfinite(share[i].short_noise))
			squares[0] += share[i].short_noise * share[i].short_noise, brief++;
		if (isfinite(share[i].long_noise))
			squares[1] += share[i].long_noise * share[i].long_noise, lasting++;
		if (assay_core_share_taken(&share[i]))
			f.shared[f.n_shared++] = share[i].cpu;
	}
	f.short_frac = told(squares[0], brief, ASSAY_SURVEY_SHORT_NS);
	f.long_frac = told(squares[1], lasting, ASSAY_SURVEY_LONG_NS);
	assay_fitness_text(&f, buf, size);
	return f.n_shared > 0;
}

bool assay_fitness_line(const struct assay_topology *t, const struct assay_clock *clock, const struct assay_request *q,
			char *buf, size_t size)
{
	struct assay_core_share share[ASSAY_SURVEY_CPUS];
	size_t cores = assay_placement_max(t, &q->placement), n = 0;
	const char *untold = "ASSAY_DETERMINISTIC=1 fixes the work, so nothing was tried";
	struct assay_err err = { 0 };
	uint64_t each;

	cores = cores > ASSAY_SURVEY_CPUS ? ASSAY_SURVEY_CPUS : cores;
	each = cores && ALL_NS / cores > LEAST_NS ? ALL_NS / cores : LEAST_NS;
	if (!q->deterministic)
		untold = assay_core_survey_take(t, &q->placement, clock, each, share, &n, &cores, &err);
	return assay_fitness_of_shares(share, n, untold, buf, size);
}
