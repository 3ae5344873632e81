/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.ternary: each variant against ref and the oracle, over sizes, extremes, alignments and numbers of threads. */
#include "matmul_fixture.h"

enum inputs { SEEDED, ALL_PLUS, ALL_MINUS, LOWEST, N_INPUTS };

static void fill_with(struct mini_case *c, enum inputs how)
{
	mini_fill(c);
	if (how == SEEDED)
		return;
	memset(data_of(c, ASSAY_TERNARY_W), 0xaa, c->tensors[ASSAY_TERNARY_W].bytes);
	memset(data_of(c, ASSAY_TERNARY_X),
	       how == ALL_PLUS    ? 127
	       : how == ALL_MINUS ? -127
				  : -128,
	       c->tensors[ASSAY_TERNARY_X].bytes);
}

static void compare_with_ref(const char *variant, int64_t m, int64_t k, int64_t n, uint32_t threads, enum inputs how)
{
	struct mini_case *ref = new_case("matmul.ternary", "ref", m, k, n, 1);
	struct mini_case *fast = new_case("matmul.ternary", variant, m, k, n, threads);
	uint64_t bytes = ref->tensors[ASSAY_TERNARY_Y].bytes;

	fill_with(ref, how);
	fill_with(fast, how);
	mini_run(ref);
	mini_run(fast);
	if (memcmp(data_of(ref, ASSAY_TERNARY_Y), data_of(fast, ASSAY_TERNARY_Y), bytes))
		fail_msg("%s m=%lld k=%lld n=%lld threads=%u inputs=%d differ", variant, (long long)m, (long long)k,
			 (long long)n, threads, how);
	mini_check(ref);
	mini_check(fast);
	mini_free(ref);
	mini_free(fast);
}

static void variant_is_ref(void **state)
{
	const char *variant = *state;
	static const int64_t ms[] = { 1, 2, 5, 16, 17, 31, 33, 70, 197 }, ks[] = { 128, 384, 1152 };

	if (!mini_can_run("matmul.ternary", variant))
		skip();
	for (size_t m = 0; m < N_OF(ms); m++)
		for (size_t k = 0; k < N_OF(ks); k++)
			for (int64_t n = 1; n <= 17; n++)
				compare_with_ref(variant, ms[m], ks[k], n, (uint32_t)(1 + (m + (size_t)n) % 3), SEEDED);
	compare_with_ref(variant, 37, 256, 150, 2, SEEDED);
	/* the most tokens that a panel may have, and more */
	compare_with_ref(variant, 9, 128, 385, 1, SEEDED);
	compare_with_ref(variant, 9, 128, 800, 3, SEEDED);
	compare_with_ref(variant, 9, 16384, 53, 3, SEEDED);  /* several panels */
	compare_with_ref(variant, 9, 16384, 203, 2, SEEDED); /* several of each thread, which has tokens of its own */
}

/* Narrow sums overflow only after many lines at full scale, around the places where they are widened. */
static void variant_at_extremes(void **state)
{
	const char *variant = *state;
	static const int64_t ks[] = { 128, 256, 384, 2048, 4224, 14336 };

	if (!mini_can_run("matmul.ternary", variant))
		skip();
	for (size_t k = 0; k < N_OF(ks); k++)
		for (int how = 0; how < N_INPUTS; how++) {
			for (int64_t n = 1; n <= 7; n++)
				compare_with_ref(variant, 9, ks[k], n, (uint32_t)(1 + n % 3), (enum inputs)how);
			/* two tiles of any variant and more, which share their codes */
			compare_with_ref(variant, 9, ks[k], 25, 1, (enum inputs)how);
		}
	/*
	 * beyond what 32 bits hold of codes that count 64 times, in rows 3/4 down a group, and 16 times, half down one
	 */
	for (int how = ALL_PLUS; how < N_INPUTS; how++) {
		compare_with_ref(variant, 49, 1 << 18, 1, 1, (enum inputs)how);
		compare_with_ref(variant, 9, 1 << 20, 1, 1, (enum inputs)how);
		compare_with_ref(variant, 130, 1 << 18, 1, 1, (enum inputs)how); /* two groups at a time */
	}
}

/* Buffers that begin anywhere: floats on any multiple of their size, bytes at any address. */
static void variant_unaligned(void **state)
{
	const char *variant = *state;
	static const int64_t ns[] = { 1, 14, 25 };

	if (!mini_can_run("matmul.ternary", variant))
		skip();
	for (size_t s = 0; s < N_OF(ns); s++) {
		for (uint32_t i = 0; i < 12; i++) {
			struct mini_options o = { .n_threads = 2,
						  .offset_bytes = 4 + i / 4 * 20,
						  .byte_offset = i % 4 };
			char axes[64];
			struct mini_case *c;

			snprintf(axes, sizeof(axes), "m=41,k=256,n=%lld", (long long)ns[s]);
			c = mini_new("matmul.ternary", variant, axes, &o);
			mini_fill(c);
			mini_run(c);
			mini_check(c);
			mini_free(c);
		}
	}
}

/* After the weights have changed. */
static void prepare_again(struct mini_case *c)
{
	if (c->prepared && c->variant->release)
		c->variant->release(&c->job);
	c->prepared = false;
}

/* Each weight on its own: where it lies in the format, and its sign. */
TEST(test_ternary_format)
{
	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		struct mini_case *c;
		uint8_t *w;
		int8_t *x;
		float *y;

		if (!mini_can_run("matmul.ternary", mini_variant_names()->v[v]))
			continue;
		c = new_case("matmul.ternary", mini_variant_names()->v[v], 1, 256, 1, 1);
		w = data_of(c, ASSAY_TERNARY_W);
		x = data_of(c, ASSAY_TERNARY_X);
		y = data_of(c, ASSAY_TERNARY_Y);
		*(float *)data_of(c, ASSAY_TERNARY_W_SCALE) = 0.5f;
		*(float *)data_of(c, ASSAY_TERNARY_X_SCALE) = 0.25f;
		for (int i = 0; i < 256; i++)
			x[i] = (int8_t)(i % 127 + 1);
		for (int i = 0; i < 256; i++) {
			int byte = i / 128 * 32 + i % 32, shift = 6 - 2 * (i % 128 / 32);

			for (int code = 0; code <= 2; code += 2) {
				memset(w, 0x55, 64); /* all zero weights */
				w[byte] = (uint8_t)((w[byte] & ~(3 << shift)) | code << shift);
				prepare_again(c);
				mini_run(c);
				assert_true(y[0] == (float)(code - 1) * (float)x[i] * 0.125f);
				mini_check(c);
			}
		}
		mini_free(c);
	}
}

/* A composite op prepares once and runs with other buffers and fewer tokens. */
TEST(test_ternary_composite)
{
	enum { M = 40, K = 384, N = 6 };

	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		struct mini_case *c;
		static int8_t x[N * K];
		float x_scale[N], y[N * M + 1];

		if (!mini_can_run("matmul.ternary", mini_variant_names()->v[v]))
			continue;
		c = new_case("matmul.ternary", mini_variant_names()->v[v], M, K, N, 2);
		mini_fill(c);
		mini_run(c);
		memcpy(x, data_of(c, ASSAY_TERNARY_X), sizeof(x));
		for (int i = 0; i < N; i++)
			x_scale[i] = 1.0f / (float)(i + 3);
		for (int64_t n = 1; n <= N; n++) {
			struct assay_tensor keep[ASSAY_TERNARY_N_TENSORS];

			memcpy(keep, c->tensors, sizeof(keep));
			for (size_t i = 0; i < sizeof(x); i++)
				x[i] = (int8_t)-x[i];
			y[n * M] = 1234.0f;
			c->tensors[ASSAY_TERNARY_X].data = x;
			c->tensors[ASSAY_TERNARY_X].bytes = (uint64_t)(n * K);
			c->tensors[ASSAY_TERNARY_X_SCALE].data = x_scale;
			c->tensors[ASSAY_TERNARY_X_SCALE].bytes = (uint64_t)n * 4;
			c->tensors[ASSAY_TERNARY_Y].data = y;
			c->tensors[ASSAY_TERNARY_Y].bytes = (uint64_t)(n * M) * 4;
			c->shape.axis[ASSAY_MATMUL_N] = n;
			mini_run(c);
			mini_check(c);
			assert_true(y[n * M] == 1234.0f);
			c->shape.axis[ASSAY_MATMUL_N] = N;
			memcpy(c->tensors, keep, sizeof(keep));
		}
		mini_free(c);
	}
}

/* A test of this name for each variant but ref; it is skipped where the CPU cannot run that. */
static void add_tests(const char *name, void (*test)(void **state))
{
	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		const char *variant = mini_variant_names()->v[v];
		char *full;

		if (!strcmp(variant, "ref") || !mini_variant("matmul.ternary", variant))
			continue;
		if (asprintf(&full, "test_%s_%s", variant, name) < 0)
			abort();
		unit_add((struct CMUnitTest){ .name = full, .test_func = test, .initial_state = (void *)variant });
	}
}

static int run(char **argv)
{
	add_tests("is_ref", variant_is_ref);
	add_tests("extremes", variant_at_extremes);
	add_tests("unaligned", variant_unaligned);
	return UNIT_RUN(NULL, NULL);
}

UNIT_GROUP_WITH(NULL, NULL, run, NULL)
