/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML's figures for the GPU that a case runs on, whichever process uses it: energy by the driver's own counter,
 * and the state that the worker saw between samples.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/provider.h"

enum { ENERGY, BUSY, MEMORY_BUSY, WATTS, CELSIUS, CLOCK, USED, THROTTLED };

static const char *const events[] = {
	[ENERGY] = "gpu_energy_mj",     [BUSY] = "gpu_busy_frac",           [MEMORY_BUSY] = "gpu_memory_busy_frac",
	[WATTS] = "gpu_mean_watts",     [CELSIUS] = "gpu_most_celsius",     [CLOCK] = "gpu_least_core_hz",
	[USED] = "gpu_most_used_bytes", [THROTTLED] = "gpu_throttled_frac", NULL,
};

void assay_gpu_levels_add(struct assay_gpu_levels *l, const struct assay_device_state *s,
			  const struct assay_nvml_use *u)
{
	const struct {
		struct assay_gpu_mean *mean;
		double value;
	} means[] = { { &l->busy, u->busy_frac }, { &l->memory_busy, u->memory_busy_frac }, { &l->watts, u->watts } };

	l->looks++;
	l->throttled += s->throttle != 0;
	l->reasons |= s->throttle;
	for (size_t i = 0; i < sizeof(means) / sizeof(means[0]); i++)
		if (isfinite(means[i].value)) {
			means[i].mean->sum += means[i].value;
			means[i].mean->n++;
		}
	if (s->core_hz && (l->least_core_hz == 0 || (double)s->core_hz < l->least_core_hz))
		l->least_core_hz = (double)s->core_hz;
	l->most_celsius = fmax(l->most_celsius, isfinite(u->celsius) ? u->celsius : 0);
	if (u->used_bytes > l->most_used_bytes)
		l->most_used_bytes = u->used_bytes;
}

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_err why = { 0 };
	struct assay_nvml *n;
	unsigned able = 0;

	(void)ctx;
	*out = (struct assay_counter_probe){ .works = !assay_nvml_open(&n, &why) };
	if (!out->works) {
		snprintf(out->value, sizeof(out->value), "%.250s", why.text);
		snprintf(out->advice, sizeof(out->advice), "NVIDIA's driver reports energy and use of GPUs");
		return;
	}
	for (unsigned i = 0; i < assay_nvml_count(n); i++) {
		struct assay_nvml_use u;

		able += !assay_nvml_use(n, i, &u, NULL) && isfinite(u.joules);
	}
	out->works = able;
	snprintf(out->value, sizeof(out->value), "%u of %u GPUs report their energy", able, assay_nvml_count(n));
	snprintf(out->advice, sizeof(out->advice), "%s", able ? "" : "GPUs from Volta on count their energy");
	assay_nvml_close(n);
}

struct gpu {
	struct assay_nvml *nvml;
	unsigned index;
};

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct gpu *g;
	int rc;

	if (!ctx->device_pci || !ctx->device_pci[0])
		return assay_err_set(err, ASSAY_EUNAVAILABLE, ASSAY_REASON_NO_GPU);
	g = calloc(1, sizeof(*g));
	if (!g)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_nvml_open(&g->nvml, err);
	if (rc == ASSAY_ENOTFOUND) {
		rc = ASSAY_EUNAVAILABLE;
		if (err)
			err->code = rc;
	}
	if (!rc && !assay_nvml_find(g->nvml, ctx->device_pci, &g->index))
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "NVML knows no GPU at %s", ctx->device_pci);
	if (!rc) {
		*set = g;
		return 0;
	}
	assay_nvml_close(g->nvml);
	free(g);
	return rc;
}

/* Only the energy is read around samples; all else is told by total(), as is that the energy is not known. */
static int read_set(void *set, uint64_t *values)
{
	const struct gpu *g = set;
	struct assay_nvml_use u;
	int rc = assay_nvml_use(g->nvml, g->index, &u, NULL);

	for (size_t i = 0; events[i]; i++)
		values[i] = 0;
	if (!rc && isfinite(u.joules))
		values[ENERGY] = (uint64_t)llround(u.joules * 1e3);
	return rc;
}

static void close_set(void *set)
{
	struct gpu *g = set;

	assay_nvml_close(g->nvml);
	free(g);
}

/* Does the GPU count its energy? */
static bool counts_energy(const struct assay_counter_context *ctx)
{
	struct assay_nvml_use u = { .joules = NAN };
	struct assay_nvml *n;
	unsigned index;

	if (assay_nvml_open(&n, NULL))
		return false;
	if (assay_nvml_find(n, ctx->device_pci, &index))
		assay_nvml_use(n, index, &u, NULL);
	assay_nvml_close(n);
	return isfinite(u.joules);
}

static double mean_of(const struct assay_gpu_mean *m)
{
	return m->n ? m->sum / (double)m->n : NAN;
}

static int total(const struct assay_counter_context *ctx, size_t event, double *value, bool *per_iteration,
		 struct assay_err *why)
{
	const struct assay_gpu_levels *l = ctx->levels;

	if (event == ENERGY)
		return counts_energy(ctx) ? 0
					  : assay_err_set(why, ASSAY_EUNAVAILABLE, "the GPU does not count its energy");
	if (!l || !l->looks)
		return assay_err_set(why, ASSAY_EUNAVAILABLE, "the GPU was not read between samples");

	const double values[] = {
		[BUSY] = mean_of(&l->busy),
		[MEMORY_BUSY] = mean_of(&l->memory_busy),
		[WATTS] = mean_of(&l->watts),
		[CELSIUS] = l->most_celsius > 0 ? l->most_celsius : NAN,
		[CLOCK] = l->least_core_hz > 0 ? l->least_core_hz : NAN,
		[USED] = l->most_used_bytes ? (double)l->most_used_bytes : NAN,
		[THROTTLED] = (double)l->throttled / (double)l->looks,
	};

	*per_iteration = false;
	*value = values[event];
	return isfinite(*value) ? 0 : assay_err_set(why, ASSAY_EUNAVAILABLE, "the GPU's driver does not report it");
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} reasons[] = { { ASSAY_THROTTLE_POWER, "power" },
			{ ASSAY_THROTTLE_THERMAL, "heat" },
			{ ASSAY_THROTTLE_BRAKE, "brake" },
			{ ASSAY_THROTTLE_OTHER, "other" } };
	const struct assay_gpu_levels *l = ctx->levels;
	size_t at = (size_t)snprintf(buf, size, "NVML, of the whole GPU");

	if (!l || !strcmp(event, events[ENERGY]))
		return;
	at += (size_t)snprintf(buf + at, size - at, ", at %llu looks between samples", (unsigned long long)l->looks);
	for (size_t i = 0; i < 4 && !strcmp(event, events[THROTTLED]); i++)
		if (l->reasons & reasons[i].bit)
			at += (size_t)snprintf(buf + at, size - at, ", %s", reasons[i].name);
}

const struct assay_counter_provider assay_provider_nvml = {
	.name = "nvml",
	.source = ASSAY_SOURCE_OS,
	.shared = true,
	.events = events,
	.probe = probe,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.total = total,
	.how = how,
};
