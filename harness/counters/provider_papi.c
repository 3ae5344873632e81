/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters through PAPI: presets (PAPI_L1_DCM) and native events, each believed only after a test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/papi_set.h"
#include "counters/pmu_selftest.h"
#include "counters/provider.h"

static const char *why_not(struct assay_counter_context *ctx)
{
	const struct assay_papi *papi = assay_counter_papi(ctx);

	return papi->reason[0] ? papi->reason : papi->pmu_reason;
}

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	*out = (struct assay_counter_probe){ .works = !why_not(ctx)[0] };
	if (out->works)
		snprintf(out->value, sizeof(out->value), "PAPI %s, %d hardware counters at once", ctx->papi.version,
			 ctx->papi.hardware_counters);
	else
		snprintf(out->value, sizeof(out->value), "%s", why_not(ctx));
	if (ctx->papi.reason[0])
		snprintf(out->advice, sizeof(out->advice), "%s", ctx->papi.advice);
	else if (!out->works)
		snprintf(out->advice, sizeof(out->advice),
			 "a host that passes its PMU through, and kernel.perf_event_paranoid of 2 or lower, bring "
			 "hardware counters");
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	if (why_not(ctx)[0])
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "%s", why_not(ctx));
	return assay_papi_set_open(ctx, ctx->papi.pmu_component, set, err);
}

static int add(void *set, const char *event, struct assay_err *err)
{
	const struct assay_counter_context *ctx = assay_papi_set_context(set);
	char why[256];

	if (ctx->papi.call.query_named_event(event))
		return assay_err_set(err, ASSAY_ENOTFOUND, "PAPI does not have '%s' on this machine", event);
	if (!assay_pmu_selftest(ctx, event, why, sizeof(why)))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' is not to be believed: %s", event, why);
	return assay_papi_set_add(set, event, err);
}

/*
 * Nominal: events get the counters in turn, equally long. The kernel's enabled and running times are used by PAPI's
 * component perf_event for scaling and not handed out; no call of PAPI returns them.
 */
static double running_frac(const struct assay_counter_context *ctx, size_t n)
{
	int counters = ctx->papi.hardware_counters;

	return ctx->multiplex && counters > 0 && n > (size_t)counters ? (double)counters / (double)n : 1;
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	snprintf(buf, size, "PAPI %s%s", ctx->papi.version,
		 ctx->multiplex ? ", multiplexed, share of the time nominal" : "");
}

const struct assay_counter_provider assay_provider_papi = {
	.name = "papi",
	.source = ASSAY_SOURCE_PMU,
	.probe = probe,
	.open = open_set,
	.add = add,
	.start = assay_papi_set_start,
	.read = assay_papi_set_read,
	.stop = assay_papi_set_stop,
	.close = assay_papi_set_close,
	.leave_thread = assay_papi_leave_thread,
	.running_frac = running_frac,
	.how = how,
};
