/* SPDX-License-Identifier: Apache-2.0 */
/* The table of providers, and what they share. */
#include <stdio.h>

#include "counters/provider.h"

const struct assay_counter_provider *const assay_counter_providers[] = {
#define ROW(name) &assay_provider_##name,
	ASSAY_COUNTER_PROVIDERS(ROW)
#undef ROW
};
const size_t assay_n_counter_providers = sizeof(assay_counter_providers) / sizeof(assay_counter_providers[0]);

void assay_counter_context_init(struct assay_counter_context *ctx, const char *const *names, uint64_t *cells,
				uint32_t n)
{
	*ctx = (struct assay_counter_context){ .cell_names = names, .cells = cells, .n_cells = n };
}

const struct assay_papi *assay_counter_papi(struct assay_counter_context *ctx)
{
	struct assay_err err = { 0 };

	if (ctx->papi_loaded)
		return &ctx->papi;
	assay_papi_load(&ctx->papi);
	if (assay_papi_publish(&ctx->papi, ctx->cell_names, ctx->cells, ctx->n_cells, &err))
		snprintf(ctx->sde_reason, sizeof(ctx->sde_reason), "%.255s", err.text);
	ctx->papi_loaded = true;
	return &ctx->papi;
}
