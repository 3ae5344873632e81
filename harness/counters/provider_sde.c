/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that ops publish, read through PAPI as software-defined events (libsde). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/papi_set.h"
#include "counters/provider.h"

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	const struct assay_papi *papi = assay_counter_papi(ctx);
	const char *why = papi->reason[0] ? papi->reason : papi->sde_reason;
	const char *advice = papi->reason[0] ? papi->advice : papi->sde_advice;

	*out = (struct assay_counter_probe){ .works = !why[0] };
	if (why[0]) {
		snprintf(out->value, sizeof(out->value), "%s", why);
		snprintf(out->advice, sizeof(out->advice), "%s%suntil then what ops publish is read from memory",
			 advice, advice[0] ? "; " : "");
	} else {
		snprintf(out->value, sizeof(out->value), "PAPI %s, %d software-defined events at once", papi->version,
			 papi->sde_counters);
	}
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	assay_counter_papi(ctx);
	if (ctx->sde_reason[0])
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "%s", ctx->sde_reason);
	return assay_papi_set_open(ctx, -1, set, err);
}

static int add(void *set, const char *event, struct assay_err *err)
{
	const struct assay_counter_context *ctx = assay_papi_set_context(set);
	char name[32 + ASSAY_NAME_MAX];

	for (uint32_t i = 0; i < ctx->n_cells; i++) {
		if (strcmp(ctx->cell_names[i], event))
			continue;
		snprintf(name, sizeof(name), "sde:::assay::%.*s", ASSAY_NAME_MAX, event);
		return assay_papi_set_add(set, name, err);
	}
	return assay_err_set(err, ASSAY_ENOTFOUND, "the op publishes no counter '%s'", event);
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	snprintf(buf, size, "PAPI %s, libsde", ctx->papi.version);
}

const struct assay_counter_provider assay_provider_sde = {
	.name = "sde",
	.source = ASSAY_SOURCE_SDE,
	.shared = true,
	.probe = probe,
	.open = open_set,
	.add = add,
	.start = assay_papi_set_start,
	.read = assay_papi_set_read,
	.stop = assay_papi_set_stop,
	.close = assay_papi_set_close,
	.how = how,
};
