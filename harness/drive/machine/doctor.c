/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/machine/doctor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "counters/provider.h"
#include "judge/fitness.h"
#include "judge/policy.h"
#include "machine/core_pace.h"
#include "machine/environment.h"
#include "measure/samples.h"
#include "profile/code_places.h"

static const struct assay_finding *find(const struct assay_findings *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			return &l->v[i];
	return NULL;
}

static bool works(const struct assay_findings *l, const char *name)
{
	const struct assay_finding *f = find(l, name);

	return f && f->health == ASSAY_HEALTH_GOOD;
}

/* Try the cores, and say from that what comparisons can detect. */
static void add_cores(struct assay_health_check *c, const struct assay_topology *t, const struct assay_clock *clock)
{
	const struct assay_placement_options one_a_core = { 0 };
	struct assay_core_share share[ASSAY_SURVEY_CPUS];
	struct assay_err err = { 0 };
	size_t n, n_cores;
	const char *untold = assay_core_survey_take(t, &one_a_core, clock, share, &n, &n_cores, &err);

	c->findings.failed |= err.code == ASSAY_ENOMEM;
	if (untold)
		assay_findings_add(&c->findings, "core_pace", ASSAY_HEALTH_MISSING, untold, "");
	else
		assay_core_share_add(&c->findings, share, n, n_cores);
	assay_fitness_of_shares(share, n, untold, c->abilities[0], ASSAY_ABILITY_MAX);
}

/* Without a GPU and a driver, what looks for them has nothing to add to that. */
static void leave_out_gpu_counters(struct assay_findings *l)
{
	size_t n = 0;

	if (works(l, "gpu") || find(l, "nvml"))
		return;
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].name, "counters_nvml") && strcmp(l->v[i].name, "counters_cupti"))
			l->v[n++] = l->v[i];
	l->n = n;
}

/* Say what can be measured here. The findings list what is missing. */
static void say_abilities(struct assay_health_check *c)
{
	const struct assay_findings *l = &c->findings;
	const bool callgrind = works(l, "valgrind"), steps = works(l, "stepping") && !find(l, "code_places");

	if (find(l, "proc") || find(l, "dev"))
		snprintf(c->abilities[0], ASSAY_ABILITY_MAX, "nothing can be measured: %s",
			 find(l, "proc") ? "/proc is not mounted" : "there is no /dev/null");
	if (callgrind || steps)
		snprintf(c->abilities[1], ASSAY_ABILITY_MAX, "instructions and cache misses can be counted exactly, %s",
			 !steps       ? "by callgrind"
			 : !callgrind ? "by stepping"
				      : "by callgrind and by stepping");
	if (works(l, "pmu"))
		snprintf(c->abilities[2], ASSAY_ABILITY_MAX, "hardware counters can be read: %s",
			 find(l, "pmu")->value);
	if (works(l, "gpu"))
		snprintf(c->abilities[3], ASSAY_ABILITY_MAX, "GPU kernels can run: %s", find(l, "gpu")->value);
}

/* The other requirements of stepping. */
static void add_code_places(struct assay_findings *l)
{
	struct assay_err why = { 0 };

	if (assay_code_places_probe(&why))
		assay_findings_add(l, "code_places", ASSAY_HEALTH_MISSING, why.text,
				   "without it stepping is unavailable");
}

int assay_health_check(struct assay_health_check *out, struct assay_err *err)
{
	struct assay_topology *topology = NULL;
	struct assay_findings *all = &out->findings;
	struct assay_clock clock;
	int rc = assay_topology_open(&topology, NULL, err);

	*out = (struct assay_health_check){ 0 };
	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc)
		rc = assay_doctor(topology, &clock, all, err);
	if (!rc) {
		out->clock = assay_clock_source_name(clock.source);
		memcpy(out->clock_why, clock.why, sizeof(out->clock_why));
		out->clock_resolution_ns = clock.resolution_ns;
		out->clock_overhead_ns = clock.overhead_ns;
		assay_topology_summary(topology, out->topology, sizeof(out->topology));
		add_cores(out, topology, &clock);
		out->sample_overhead_ns = assay_sample_overhead_ns(&clock);
		assay_sample_overhead_add(all, out->sample_overhead_ns);
		assay_counter_health_add(all);
		add_code_places(all);
		leave_out_gpu_counters(all);
		say_abilities(out);
		if (all->failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for what was found");
	}
	assay_topology_close(topology);
	return rc;
}

void assay_health_check_release(struct assay_health_check *c)
{
	assay_findings_release(&c->findings);
}

/* ---- fitness ---- */

/* The noise of all cores that are tried stands for the machine: a case may run on any of them. */

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
	size_t n_cores, n = 0;
	const char *untold = "ASSAY_DETERMINISTIC=1 fixes the work, so nothing was tried";
	struct assay_err err = { 0 };

	if (!q->deterministic)
		untold = assay_core_survey_take(t, &q->placement, clock, share, &n, &n_cores, &err);
	return assay_fitness_of_shares(share, n, untold, buf, size);
}
