/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware counters through PAPI: presets (PAPI_L1_DCM) and native events, each believed only after a test. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "counters/papi/papi.h"
#include "counters/provider.h"

/* Those of PAPI's manual; whether a machine has one is asked there, and native events have no list. */
static const char *const presets[] = {
	"PAPI_L1_DCM",  "PAPI_L1_ICM",  "PAPI_L2_DCM",  "PAPI_L2_ICM",  "PAPI_L3_DCM",  "PAPI_L3_ICM",  "PAPI_L1_TCM",
	"PAPI_L2_TCM",  "PAPI_L3_TCM",  "PAPI_CA_SNP",  "PAPI_CA_SHR",  "PAPI_CA_CLN",  "PAPI_CA_INV",  "PAPI_CA_ITV",
	"PAPI_L3_LDM",  "PAPI_L3_STM",  "PAPI_BRU_IDL", "PAPI_FXU_IDL", "PAPI_FPU_IDL", "PAPI_LSU_IDL", "PAPI_TLB_DM",
	"PAPI_TLB_IM",  "PAPI_TLB_TL",  "PAPI_L1_LDM",  "PAPI_L1_STM",  "PAPI_L2_LDM",  "PAPI_L2_STM",  "PAPI_BTAC_M",
	"PAPI_PRF_DM",  "PAPI_L3_DCH",  "PAPI_TLB_SD",  "PAPI_CSR_FAL", "PAPI_CSR_SUC", "PAPI_CSR_TOT", "PAPI_MEM_SCY",
	"PAPI_MEM_RCY", "PAPI_MEM_WCY", "PAPI_STL_ICY", "PAPI_FUL_ICY", "PAPI_STL_CCY", "PAPI_FUL_CCY", "PAPI_HW_INT",
	"PAPI_BR_UCN",  "PAPI_BR_CN",   "PAPI_BR_TKN",  "PAPI_BR_NTK",  "PAPI_BR_MSP",  "PAPI_BR_PRC",  "PAPI_FMA_INS",
	"PAPI_TOT_IIS", "PAPI_TOT_INS", "PAPI_INT_INS", "PAPI_FP_INS",  "PAPI_LD_INS",  "PAPI_SR_INS",  "PAPI_BR_INS",
	"PAPI_VEC_INS", "PAPI_RES_STL", "PAPI_FP_STAL", "PAPI_TOT_CYC", "PAPI_LST_INS", "PAPI_SYC_INS", "PAPI_L1_DCH",
	"PAPI_L2_DCH",  "PAPI_L1_DCA",  "PAPI_L2_DCA",  "PAPI_L3_DCA",  "PAPI_L1_DCR",  "PAPI_L2_DCR",  "PAPI_L3_DCR",
	"PAPI_L1_DCW",  "PAPI_L2_DCW",  "PAPI_L3_DCW",  "PAPI_L1_ICH",  "PAPI_L2_ICH",  "PAPI_L3_ICH",  "PAPI_L1_ICA",
	"PAPI_L2_ICA",  "PAPI_L3_ICA",  "PAPI_L1_ICR",  "PAPI_L2_ICR",  "PAPI_L3_ICR",  "PAPI_L1_TCH",  "PAPI_L2_TCH",
	"PAPI_L3_TCH",  "PAPI_L1_TCA",  "PAPI_L2_TCA",  "PAPI_L3_TCA",  "PAPI_L1_TCR",  "PAPI_L2_TCR",  "PAPI_L3_TCR",
	"PAPI_L1_TCW",  "PAPI_L2_TCW",  "PAPI_L3_TCW",  "PAPI_FML_INS", "PAPI_FAD_INS", "PAPI_FDV_INS", "PAPI_FSQ_INS",
	"PAPI_FNV_INS", "PAPI_FP_OPS",  "PAPI_SP_OPS",  "PAPI_DP_OPS",  "PAPI_VEC_SP",  "PAPI_VEC_DP",  "PAPI_REF_CYC",
	NULL,
};

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
		snprintf(out->advice, sizeof(out->advice), "%s", ctx->papi.pmu_advice);
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	if (why_not(ctx)[0])
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "%s", why_not(ctx));
	return assay_papi_set_open(ctx, ctx->papi.pmu_component, set, err);
}

/*
 * Does @event ask for another mode than the user's, by "k", "h" or "hv", or by "u=0"? Separators and spelling are those
 * of libpfm4.
 */
static bool asks_for_mode(const char *event)
{
	for (const char *at = strpbrk(event, ":."); at; at = strpbrk(at + 1, ":.")) {
		const char *mode = at + 1;
		size_t n = strcspn(mode, ":.=");
		bool off = mode[n] == '=' && mode[n + 1] && strchr("0nf", tolower((unsigned char)mode[n + 1]));
		bool is_user = n == 1 && strchr("uU", *mode);
		bool is_other = (n == 1 && strchr("kKhH", *mode)) || (n == 2 && !strncasecmp(mode, "hv", n));

		if ((is_user && off) || (is_other && !off))
			return true;
	}
	return false;
}

static int add(void *set, const char *event, struct assay_err *err)
{
	const struct assay_counter_context *ctx = assay_papi_set_context(set);
	char why[256];

	if (ctx->papi.call.query_named_event(event))
		return assay_err_set(err, ASSAY_ENOTFOUND, "PAPI does not have '%s' on this machine", event);
	/* PAPI takes each mode from the name only where it is written so, and otherwise counts user code */
	if (asks_for_mode(event) && !(strstr(event, ":u=") && strstr(event, ":k=")))
		return assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"PAPI would count user code for '%s': write both modes, such as ':u=0:k=1' for the "
			"kernel's",
			event);
	if (!ctx->tested && !assay_pmu_selftest(ctx, event, why, sizeof(why)))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' cannot be trusted: %s", event, why);
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
	snprintf(buf, size, "PAPI %s%s%s", ctx->papi.version,
		 ctx->children ? ", of the process, its start and what it started" : "",
		 ctx->multiplex ? ", multiplexed, share of the time nominal" : "");
}

const struct assay_counter_provider assay_provider_papi = {
	.name = "papi",
	.source = ASSAY_SOURCE_PMU,
	.events = presets,
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
