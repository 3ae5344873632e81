/* SPDX-License-Identifier: Apache-2.0 */
/* What variants publish of their work: the operations of the op's cost, and calls that fell back. */
#include "matmul_fixture.h"

#define RUNS 3

static const char *const matmul_ops[] = { "matmul.f32", "matmul.ternary" };
static const char *const quantize_ops[] = { "quantize.i2_s",     "quantize.tq2_0",     "quantize.q8_0",
					    "quantize.i8_token", "dequantize.i2_s",    "dequantize.tq2_0",
					    "dequantize.q8_0",   "dequantize.i8_token" };

/* Of @axes with a last-level cache of @llc_bytes: 0 is unknown, 1 makes any output exceed it. */
static void expect(const char *op, const char *variant, const char *axes, uint64_t llc_bytes, uint32_t offset_bytes,
		   uint64_t fallbacks)
{
	for (uint32_t threads = 1; threads <= 3; threads += 2) {
		struct mini_case *c =
			mini_new(op, variant, axes,
				 &(struct mini_options){ .n_threads = threads, .offset_bytes = offset_bytes });

		c->info.llc_bytes = llc_bytes;
		mini_fill(c);
		for (int i = 0; i < RUNS; i++)
			mini_run(c);
		if (c->counters[ASSAY_WORK_CPU_OPS] != RUNS * (uint64_t)c->problem.cost.ops ||
		    c->counters[ASSAY_WORK_FALLBACKS] != RUNS * fallbacks)
			fail_msg("%s/%s/%s, %u threads: %llu operations, %llu fallbacks in %d runs", op, variant, axes,
				 threads, (unsigned long long)c->counters[ASSAY_WORK_CPU_OPS],
				 (unsigned long long)c->counters[ASSAY_WORK_FALLBACKS], RUNS);
		mini_free(c);
	}
}

/* One token suits all variants; more are not for weights of 1.6 bits. */
TEST(test_matmul)
{
	for (size_t op = 0; op < N_OF(matmul_ops); op++)
		for (size_t v = 0; v < mini_variant_names()->n; v++) {
			const char *variant = mini_variant_names()->v[v];

			if (!mini_can_run(matmul_ops[op], variant))
				continue;
			expect(matmul_ops[op], variant, "m=70,k=384,n=1", 0, 0, 0);
			expect(matmul_ops[op], variant, "m=70,k=384,n=5", 0, 0, !strcmp(variant, "avx512vnni_trits"));
		}
}

TEST(test_quantize)
{
	for (size_t op = 0; op < N_OF(quantize_ops); op++) {
		bool tokens = strstr(quantize_ops[op], "i8_token") != NULL;
		const char *axes = tokens ? "tokens=9,dim=256" : "n=9216";

		for (size_t v = 0; v < mini_variant_names()->n; v++) {
			const char *variant = mini_variant_names()->v[v];
			bool vectors = strcmp(variant, "ref") != 0;

			if (!mini_can_run(quantize_ops[op], variant))
				continue;
			expect(quantize_ops[op], variant, axes, 0, 0, 0);
			expect(quantize_ops[op], variant, axes, 0, 8, 0); /* plain stores need no alignment */
			expect(quantize_ops[op], variant, axes, 1, 0, 0);
			expect(quantize_ops[op], variant, axes, 1, 8, vectors);
			if (!tokens)
				continue;
			expect(quantize_ops[op], variant, "tokens=9,dim=3", 0, 0, vectors);
			expect(quantize_ops[op], variant, "tokens=9,dim=67", 0, 0, 0); /* what is left over */
			expect(quantize_ops[op], variant, "tokens=9,dim=67", 1, 0, vectors);
		}
	}
}

UNIT_GROUP(NULL, NULL)
