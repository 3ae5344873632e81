/* SPDX-License-Identifier: Apache-2.0 */
/* Processes differ by layout, so the interval is that over pairs, whose turns are sampled or not, in turn. */
#include "drive/profile/profile.h"

#include <math.h>
#include <stdio.h>

#include "drive/profile/kinds.h"
#include "measure/profile.h"
#include "model/verdict.h"
#include "stats/stats.h"

#define MOST_PAIRS  20
#define LEAST_PAIRS 5
#define PAIR_NS     200000000u /* a pair takes longer than this to start, so that shorter ones are no more of them */
#define DEFAULT_NS  40000000000u

struct costing {
	const struct assay_profile_request *q;
	const struct assay_session *s;
	const struct assay_measure_options *o;
	unsigned n_pairs; /* of each rate */
	uint64_t pair_ns;
};

/* The ratio of one pair; NaN where it took no turn. */
static int take_pair(const struct costing *k, unsigned rate_hz, unsigned number, double *ratio, struct assay_err *err)
{
	const struct assay_cpu_sampling how = { .rate_hz = rate_hz, .own_case = true };
	struct assay_profile_pair pair = { .cost_ratio = NAN };
	struct assay_profile_end end = { .status = ASSAY_STATUS_OK };
	const struct assay_profile_pair_options po = {
		.plugins = { &k->s->plugins, &k->s->plugins },
		.sampling = { how, how },
		.costs = true,
		.for_ns = k->pair_ns,
		.layout_seed = k->q->what->settings.seed + number + 1,
	};
	int rc;

	rc = assay_measure_profile_pair(&k->s->plan.cases[0], &k->s->facts[0], k->o, &po, &pair, &end, err);
	*ratio = pair.cost_ratio;
	for (unsigned i = 0; i < 2; i++)
		assay_profile_release(&pair.side[i]);
	if (!rc)
		rc = assay_profile_failed(&end, k->s, err);
	if (!rc && !(*ratio > 0))
		rc = assay_err_set(err, ASSAY_EWORKER, "cannot profile '%s': no call was timed",
				   k->s->plan.cases[0].key);
	return rc;
}

static int take_all(const struct costing *k, const struct assay_watch *w, struct assay_profile_cost out[2],
		    struct assay_err *err)
{
	double ratios[2][MOST_PAIRS], logs;
	int rc = 0;

	for (unsigned n = 0; n < k->n_pairs && !rc; n++)
		for (unsigned i = 0; i < 2 && !rc; i++) {
			rc = assay_watch_check(w, err);
			if (!rc)
				rc = take_pair(k, out[i].rate_hz, n, &ratios[i][n], err);
			assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
								   .done_frac = (2 * n + i + 1) / (2.0 * k->n_pairs),
								   .text = "pairs" });
		}
	for (unsigned i = 0; i < 2 && !rc; i++) {
		logs = 0;
		for (unsigned n = 0; n < k->n_pairs; n++)
			logs += log(ratios[i][n]) / k->n_pairs;
		out[i].pairs = k->n_pairs;
		out[i].ratio = exp(logs);
		out[i].ci = assay_stats_groups_ci(ratios[i], k->n_pairs, ASSAY_COST_LEVEL);
	}
	return rc;
}

int assay_profile_cost(const struct assay_profile_request *q, const struct assay_watch *w,
		       struct assay_profile_cost out[2], struct assay_err *err)
{
	const uint64_t for_ns = q->for_ns ? q->for_ns : DEFAULT_NS;
	const uint64_t fit = for_ns / (2 * PAIR_NS);
	const unsigned n_pairs = fit < LEAST_PAIRS ? LEAST_PAIRS : fit > MOST_PAIRS ? MOST_PAIRS : (unsigned)fit;
	struct assay_session s = { 0 };
	struct assay_clock clock;
	int rc = assay_profile_session(q, w, &s, err);

	out[0] = (struct assay_profile_cost){ .rate_hz = q->rate_hz ? q->rate_hz : ASSAY_PROFILE_RATE_HZ };
	out[1] = (struct assay_profile_cost){ .rate_hz = ASSAY_COST_CONTROL_HZ };
	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc) {
		const struct assay_measure_options o = assay_session_measure(&s, q->what, &clock, w);
		const struct costing k = {
			.q = q, .s = &s, .o = &o, .n_pairs = n_pairs, .pair_ns = for_ns / (2 * n_pairs)
		};

		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)for_ns });
		rc = take_all(&k, w, out, err);
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	}
	assay_session_close(&s);
	return rc;
}
