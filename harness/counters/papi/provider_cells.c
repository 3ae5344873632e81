/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters that ops publish: through PAPI as software-defined events (libsde), or, where PAPI cannot read them,
 * from their cells.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/papi/papi.h"
#include "counters/provider.h"

/* The number of the cell called @event; n_cells where there is none. */
static uint32_t find_cell(const struct assay_counter_context *ctx, const char *event)
{
	uint32_t i = 0;

	while (i < ctx->n_cells && strcmp(ctx->cell_names[i], event))
		i++;
	return i;
}

/* ---- through PAPI ----------------------------------------------------------------------------------------------- */

static void sde_probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
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

static int sde_open(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	if (ctx->cells_from_memory)
		snprintf(ctx->sde_reason, sizeof(ctx->sde_reason), "a process pair does not wait for PAPI to start");
	else
		assay_counter_papi(ctx);
	if (ctx->sde_reason[0])
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "%s", ctx->sde_reason);
	return assay_papi_set_open(ctx, -1, set, err);
}

static int sde_add(void *set, const char *event, struct assay_err *err)
{
	const struct assay_counter_context *ctx = assay_papi_set_context(set);
	char name[32 + ASSAY_NAME_MAX];

	if (find_cell(ctx, event) == ctx->n_cells)
		return assay_err_set(err, ASSAY_ENOTFOUND, "the op publishes no counter '%s'", event);
	snprintf(name, sizeof(name), "sde:::assay::%.*s", ASSAY_NAME_MAX, event);
	return assay_papi_set_add(set, name, err);
}

static void sde_how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	snprintf(buf, size, "PAPI %s, libsde", ctx->papi.version);
}

const struct assay_counter_provider assay_provider_sde = {
	.name = "sde",
	.source = ASSAY_SOURCE_SDE,
	.shared = true,
	.probe = sde_probe,
	.open = sde_open,
	.add = sde_add,
	.start = assay_papi_set_start,
	.read = assay_papi_set_read,
	.stop = assay_papi_set_stop,
	.close = assay_papi_set_close,
	.how = sde_how,
};

/* ---- from memory ------------------------------------------------------------------------------------------------ */

struct op_set {
	const struct assay_counter_context *ctx;
	size_t n;
	uint32_t cell[];
};

static void op_probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	(void)ctx;
	*out = (struct assay_counter_probe){ .works = true, .value = "counters of ops are read from memory" };
}

static int op_open(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct op_set *s = calloc(1, sizeof(*s) + ctx->n_cells * sizeof(s->cell[0]));

	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	s->ctx = ctx;
	*set = s;
	return 0;
}

static int op_add(void *set, const char *event, struct assay_err *err)
{
	struct op_set *s = set;
	uint32_t cell = find_cell(s->ctx, event);

	if (cell < s->ctx->n_cells) {
		if (s->n == s->ctx->n_cells)
			return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
		s->cell[s->n++] = cell;
		return 0;
	}
	/* names of other kinds are PAPI's */
	return assay_err_set(err,
			     strncmp(event, "PAPI_", 5) && !strpbrk(event, ":-") ? ASSAY_EUNAVAILABLE : ASSAY_ENOTFOUND,
			     "this op publishes no counter '%s'", event);
}

static int op_read(void *set, uint64_t *values)
{
	const struct op_set *s = set;

	for (size_t i = 0; i < s->n; i++)
		values[i] = __atomic_load_n(&s->ctx->cells[s->cell[i]], __ATOMIC_RELAXED);
	return 0;
}

static void op_how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	snprintf(buf, size, "read from memory: %.120s", ctx->sde_reason);
}

const struct assay_counter_provider assay_provider_op = {
	.name = "op",
	.source = ASSAY_SOURCE_OP,
	.shared = true,
	.probe = op_probe,
	.open = op_open,
	.add = op_add,
	.read = op_read,
	.close = free,
	.how = op_how,
};
