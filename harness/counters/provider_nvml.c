/* SPDX-License-Identifier: Apache-2.0 */
/* Energy of the GPU that a case runs on, by the driver's own counter: of the whole GPU, whoever uses it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "counters/provider.h"
#include "machine/nvml.h"

static const char *const events[] = { "gpu_energy_mj", NULL };

struct energy {
	struct assay_nvml *nvml;
	unsigned index;
};

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_err why = { 0 };
	struct assay_nvml *n;
	unsigned able = 0;

	(void)ctx;
	*out = (struct assay_counter_probe){ .works = !assay_nvml_open(&n, &why) };
	if (!out->works) {
		snprintf(out->value, sizeof(out->value), "%.250s", why.text);
		snprintf(out->advice, sizeof(out->advice), "NVIDIA's driver brings the energy of GPUs");
		return;
	}
	for (unsigned i = 0; i < assay_nvml_count(n); i++) {
		struct assay_nvml_use u;

		able += !assay_nvml_use(n, i, &u, NULL) && isfinite(u.joules);
	}
	out->works = able;
	snprintf(out->value, sizeof(out->value), "%u of %u GPUs tell their energy", able, assay_nvml_count(n));
	snprintf(out->advice, sizeof(out->advice), "%s", able ? "" : "GPUs from Volta on count their energy");
	assay_nvml_close(n);
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct assay_nvml_use u;
	struct energy *e;
	int rc;

	if (!ctx->device_pci || !ctx->device_pci[0])
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "the case runs on no GPU");
	e = calloc(1, sizeof(*e));
	if (!e)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_nvml_open(&e->nvml, err);
	if (!rc && !assay_nvml_find(e->nvml, ctx->device_pci, &e->index))
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "NVML knows no GPU at %s", ctx->device_pci);
	if (!rc && (assay_nvml_use(e->nvml, e->index, &u, NULL) || !isfinite(u.joules)))
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "the GPU does not count its energy");
	if (!rc) {
		*set = e;
		return 0;
	}
	assay_nvml_close(e->nvml);
	free(e);
	return rc;
}

static int read_set(void *set, uint64_t *values)
{
	const struct energy *e = set;
	struct assay_nvml_use u;
	int rc = assay_nvml_use(e->nvml, e->index, &u, NULL);

	*values = rc ? 0 : (uint64_t)llround(u.joules * 1e3);
	return rc;
}

static void close_set(void *set)
{
	struct energy *e = set;

	assay_nvml_close(e->nvml);
	free(e);
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)ctx;
	(void)event;
	snprintf(buf, size, "NVML, of the whole GPU");
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
	.how = how,
};
