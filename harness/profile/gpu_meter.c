/* SPDX-License-Identifier: Apache-2.0 */
/* Means are over looks, which are evenly spaced; energy is the driver's own sum, or else mean power times time. */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/monotonic.h"
#include "machine/nvml.h"

#define LOOK_NS 20000000u

struct mean {
	double sum;
	uint64_t n;
};

struct gpu {
	char name[96];
	struct mean busy, memory_busy, watts;
	double most_watts, most_celsius, first_joules, last_joules;
	uint64_t memory_bytes, most_memory_bytes, samples;
};

struct assay_gpu_meter {
	struct assay_nvml *nvml;
	uint64_t began_ns, looked_ns;
	assay_gpu_meter_heard *heard; /* NULL: nobody follows */
	void *arg;
	unsigned n;
	struct gpu gpus[];
};

int assay_gpu_meter_open(struct assay_gpu_meter **out, struct assay_err *err)
{
	struct assay_nvml *nvml = NULL;
	struct assay_gpu_meter *m;
	unsigned n;
	int rc = assay_nvml_open(&nvml, err);

	*out = NULL;
	if (rc)
		return rc == ASSAY_ENOTFOUND ? ASSAY_EUNAVAILABLE : rc;
	n = assay_nvml_count(nvml);
	m = n ? calloc(1, sizeof(*m) + n * sizeof(m->gpus[0])) : NULL;
	if (!m) {
		assay_nvml_close(nvml);
		return n ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
			 : assay_err_set(err, ASSAY_EUNAVAILABLE, "this machine has no GPU");
	}
	m->nvml = nvml;
	m->n = n;
	m->began_ns = assay_monotonic_ns();
	for (unsigned i = 0; i < n; i++) {
		struct assay_device_info info;

		m->gpus[i] = (struct gpu){ .most_watts = NAN, .most_celsius = NAN, .first_joules = NAN };
		if (!assay_nvml_info(nvml, i, &info, NULL))
			snprintf(m->gpus[i].name, sizeof(m->gpus[i].name), "%.95s", info.name);
	}
	*out = m;
	assay_gpu_meter_look(m);
	return 0;
}

static void add(struct mean *m, double v)
{
	if (!isfinite(v))
		return;
	m->sum += v;
	m->n++;
}

static double mean_of(const struct mean *m)
{
	return m->n ? m->sum / (double)m->n : NAN;
}

static void look_at(const struct assay_gpu_meter *m, unsigned index, struct gpu *g)
{
	struct assay_nvml_use u;

	if (assay_nvml_use(m->nvml, index, &u, NULL))
		return;
	add(&g->busy, u.busy_frac);
	add(&g->memory_busy, u.memory_busy_frac);
	add(&g->watts, u.watts);
	g->most_watts = fmax(g->most_watts, u.watts);
	g->most_celsius = fmax(g->most_celsius, u.celsius);
	if (!g->samples++)
		g->first_joules = u.joules;
	g->last_joules = u.joules;
	g->memory_bytes = u.memory_bytes;
	if (u.used_bytes > g->most_memory_bytes)
		g->most_memory_bytes = u.used_bytes;
	if (m->heard && u.memory_bytes)
		m->heard(m->arg, index, g->name, m->looked_ns, u.used_bytes);
}

void assay_gpu_meter_follow(struct assay_gpu_meter *m, assay_gpu_meter_heard *heard, void *arg)
{
	m->heard = heard;
	m->arg = arg;
}

static void look(struct assay_gpu_meter *m)
{
	m->looked_ns = assay_monotonic_ns();
	for (unsigned i = 0; i < m->n; i++)
		look_at(m, i, &m->gpus[i]);
}

void assay_gpu_meter_look(void *meter)
{
	struct assay_gpu_meter *m = meter;

	if (!m->looked_ns || assay_monotonic_ns() - m->looked_ns >= LOOK_NS)
		look(m);
}

int assay_gpu_meter_end(struct assay_gpu_meter *m, struct assay_profile *out, struct assay_err *err)
{
	double seconds;

	look(m);
	seconds = (double)(m->looked_ns - m->began_ns) * 1e-9;
	out->gpu.devices = calloc(m->n, sizeof(*out->gpu.devices));
	if (!out->gpu.devices)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (unsigned i = 0; i < m->n; i++) {
		const struct gpu *g = &m->gpus[i];
		struct assay_profile_gpu_device *d = &out->gpu.devices[out->gpu.n_devices++];
		const double joules = g->last_joules - g->first_joules;

		*d = (struct assay_profile_gpu_device){ .index = i,
							.busy_frac = mean_of(&g->busy),
							.memory_busy_frac = mean_of(&g->memory_busy),
							.mean_watts = mean_of(&g->watts),
							.most_watts = g->most_watts,
							.joules = isfinite(joules) ? joules
										   : mean_of(&g->watts) * seconds,
							.memory_bytes = g->memory_bytes,
							.most_memory_bytes = g->most_memory_bytes,
							.most_celsius = g->most_celsius,
							.samples = g->samples };
		snprintf(d->name, sizeof(d->name), "%s", g->name);
	}
	return 0;
}

void assay_gpu_meter_close(struct assay_gpu_meter *m)
{
	if (!m)
		return;
	assay_nvml_close(m->nvml);
	free(m);
}
