/* SPDX-License-Identifier: Apache-2.0 */
/* The counters that ops publish, read from their cells: what is left where PAPI cannot read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/provider.h"

struct op_set {
	const struct assay_counter_context *ctx;
	size_t n;
	uint32_t cell[];
};

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	(void)ctx;
	*out = (struct assay_counter_probe){ .works = true, .value = "counters of ops are read from memory" };
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct op_set *s = calloc(1, sizeof(*s) + ctx->n_cells * sizeof(s->cell[0]));

	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	s->ctx = ctx;
	*set = s;
	return 0;
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct op_set *s = set;

	for (uint32_t i = 0; i < s->ctx->n_cells; i++) {
		if (strcmp(s->ctx->cell_names[i], event))
			continue;
		if (s->n == s->ctx->n_cells)
			return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
		s->cell[s->n++] = i;
		return 0;
	}
	/* names of other kinds are PAPI's */
	return assay_err_set(err,
			     strncmp(event, "PAPI_", 5) && !strpbrk(event, ":-") ? ASSAY_EUNAVAILABLE : ASSAY_ENOTFOUND,
			     "this op publishes no counter '%s'", event);
}

static int read_set(void *set, uint64_t *values)
{
	const struct op_set *s = set;

	for (size_t i = 0; i < s->n; i++)
		values[i] = __atomic_load_n(&s->ctx->cells[s->cell[i]], __ATOMIC_RELAXED);
	return 0;
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	snprintf(buf, size, "read from memory: %.120s", ctx->sde_reason);
}

const struct assay_counter_provider assay_provider_op = {
	.name = "op",
	.source = ASSAY_SOURCE_OP,
	.shared = true,
	.probe = probe,
	.open = open_set,
	.add = add,
	.read = read_set,
	.close = free,
	.how = how,
};
