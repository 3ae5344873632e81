/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both processes live at the same time and take turns of some milliseconds in the order ABBA BAAB, so that what changes
 * on the host falls on both.
 */
#include <math.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "measure/case_needs.h"
#include "measure/profile.h"
#include "stats/stats.h"

#define TURN_NS 20e6
/*
 * Samples that are averaged before their median is taken: each is interrupted by the profiler some whole number of
 * times, and the median alone would go up by a whole interruption where a side takes a little longer.
 */
#define GROUP 32

struct profiled_pair {
	struct assay_profiled_worker w[2];
	const struct assay_measure_options *o;
	const struct assay_profile_pair_options *p;
	bool alternate; /* turns of either side are sampled or not */
};

static int take_turns(struct profiled_pair *k)
{
	static const struct {
		unsigned char side;
		bool sampled; /* where both sides are their own control: each half of the time */
	} order[] = { { 0, true },  { 1, false }, { 1, true },  { 0, false },
		      { 1, false }, { 0, true },  { 0, false }, { 1, true } };
	const uint64_t start = assay_monotonic_ns();
	int rc = 0;

	do {
		for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !rc; i++) {
			if (k->alternate)
				assay_profiled_worker_pause(&k->w[order[i].side], !order[i].sampled);
			rc = assay_profiled_worker_sample(&k->w[order[i].side], TURN_NS);
		}
	} while (!rc && assay_monotonic_ns() - start < k->p->for_ns);
	return rc;
}

static int run(struct profiled_pair *k, const struct assay_worker_options wo[2])
{
	bool begun[2] = { false, false };
	int rc = 0;

	for (unsigned i = 0; i < 2 && !rc; i++) {
		/* what costs something while it is paused can only be compared with a worker that does not have it */
		const bool plain = !k->p->sampling[i].rate_hz || (k->p->costs && i && !k->alternate);

		rc = assay_profiled_worker_start(&k->w[i], &wo[i], plain ? NULL : &k->p->sampling[i]);
		begun[i] = !rc;
		if (!i && !rc)
			k->alternate = k->p->costs && assay_cpu_profile_pauses_free(k->w[i].cpu);
		if (!rc)
			rc = assay_profiled_worker_ready(&k->w[i], k->o->worker.clock);
	}
	if (!rc)
		rc = take_turns(k);
	for (unsigned i = 0; i < 2; i++)
		if (begun[i])
			rc = assay_profiled_worker_end(&k->w[i], rc);
	return rc;
}

static double median(double *v, size_t n)
{
	assay_stats_sort(v, n);
	return n ? assay_stats_median(v, n) : NAN;
}

/* Each process by itself where it is its own control: how its memory lies is then no part of the ratio. */
static double cost_ratio(struct profiled_pair *k)
{
	double turn_ns[2][2];

	for (unsigned i = 0; i < 2; i++)
		for (unsigned sampled = 0; sampled < 2; sampled++)
			turn_ns[i][sampled] = median(k->w[i].turns[sampled].ns, k->w[i].turns[sampled].n);
	if (!k->alternate)
		return turn_ns[0][1] / turn_ns[1][0];
	return sqrt(turn_ns[0][1] / turn_ns[0][0] * turn_ns[1][1] / turn_ns[1][0]);
}

int assay_measure_profile_pair(const struct assay_case *c, const struct assay_case_facts *facts,
			       const struct assay_measure_options *o, const struct assay_profile_pair_options *p,
			       struct assay_profile_pair *out, struct assay_profile_end *end, struct assay_err *err)
{
	const struct assay_case *cases[2] = { p->base_case ? p->base_case : c, c };
	struct profiled_pair k = { .o = o, .p = p };
	struct assay_worker_options wo[2];
	struct assay_err why = { 0 };
	bool over = false;
	int rc;

	for (unsigned i = 0; i < 2; i++)
		over |= assay_measure_profile_begin(cases[i], facts, &out->side[i], end);
	if (over)
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		k.w[i] = (struct assay_profiled_worker){ .out = &out->side[i], .end = end, .err = err };
		wo[i] = assay_measure_worker(o, cases[i], facts, ASSAY_WORKER_PROFILED);
		wo[i].setup.plugins = p->plugins[i];
		wo[i].setup.parts = p->parts[i];
		wo[i].setup.settings.layout_seed = p->layout_seed;
		wo[i].deadline_ns += c->timeout_ns + p->for_ns; /* each waits for the other */
	}
	rc = assay_measure_place(o, &wo[0], &why);
	wo[1].cpus = wo[0].cpus;
	rc = rc ? assay_err_set(err, rc, "%s", why.text) : run(&k, wo);
	out->cost_ratio = p->costs ? cost_ratio(&k) : NAN;
	for (unsigned i = 0; i < 2; i++) {
		out->iteration_ns[i] = assay_profiled_worker_call_ns(&k.w[i], k.w[i].turns[true].n_samples, GROUP);
		assay_profiled_worker_free(&k.w[i]);
	}
	free(wo[0].cpus);
	return rc < 0 ? rc : 0;
}
