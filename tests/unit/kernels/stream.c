/* SPDX-License-Identifier: Apache-2.0 */
/* stream.* and peak.*: every variant against the oracle, oracles against single flipped bits, sizes against the caches.
 */
#include "mini_host.h"

#include "assay/op_stream.h"

static const char *const stream_ops[] = { "stream.read", "stream.copy", "stream.triad" };
static const char *const peak_ops[] = { "peak.f32_fma", "peak.i8_dot", "peak.ternary_dot" };

/* Run and check @variant where it exists and the CPU can; false where not. */
static bool run_variant(const char *op, const char *variant, const char *axes, const struct mini_options *o)
{
	struct mini_case *c;

	if (!mini_can_run(op, variant))
		return false;
	c = mini_new(op, variant, axes, o);
	mini_fill(c);
	mini_run(c);
	mini_check(c);
	mini_run(c);
	mini_check(c);
	mini_free(c);
	return true;
}

TEST(test_stream_variants)
{
	static const char *const axes[] = { "level=l1", "level=l2", "level=l3" };

	for (size_t op = 0; op < N_OF(stream_ops); op++)
		for (size_t v = 0; v < mini_variant_names()->n; v++)
			for (size_t a = 0; a < N_OF(axes); a++)
				for (uint32_t t = 1; t <= 3; t++)
					run_variant(stream_ops[op], mini_variant_names()->v[v], axes[a],
						    &(struct mini_options){ .n_threads = t, .seed = 5 + t });
	assert_true(run_variant("stream.read", "ref", "level=l1", NULL));
}

/* The stores around the caches, and their fallback where the arrays are not aligned. */
TEST(test_stream_dram)
{
	run_variant("stream.triad", "avx2", "level=dram", &(struct mini_options){ .n_threads = 2, .seed = 9 });
	run_variant("stream.copy", "avx512", "level=dram", &(struct mini_options){ .n_threads = 3, .seed = 9 });
	run_variant("stream.copy", "avx2", "level=dram", &(struct mini_options){ .offset_bytes = 4 });
}

TEST(test_peak_variants)
{
	for (size_t op = 0; op < N_OF(peak_ops); op++)
		for (size_t v = 0; v < mini_variant_names()->n; v++)
			for (uint32_t t = 1; t <= 3; t += 2)
				for (uint64_t seed = 0; seed < 3; seed++)
					run_variant(peak_ops[op], mini_variant_names()->v[v], "",
						    &(struct mini_options){ .n_threads = t, .seed = seed });
	assert_true(run_variant("peak.i8_dot", "ref", "", NULL));
}

/* One bit anywhere in the output is found, and found in the right place. */
static void expect_flips_found(const char *op, const char *axes, uint32_t output, uint32_t element_bytes)
{
	struct mini_case *c = mini_new(op, "ref", axes, &(struct mini_options){ .n_threads = 2, .seed = 77 });
	uint64_t n = c->tensors[output].bytes / element_bytes;
	const uint64_t where[] = { 0, 1, n / 2, n - 1 };

	mini_fill(c);
	mini_run(c);
	for (size_t i = 0; i < N_OF(where); i++) {
		for (unsigned bit = 0; bit < 8 * element_bytes; bit += 5) {
			unsigned char *p =
				(unsigned char *)c->tensors[output].data + where[i] * element_bytes + bit / 8;
			struct assay_check got;

			*p ^= (unsigned char)(1u << bit % 8);
			got = mini_try_check(c);
			*p ^= (unsigned char)(1u << bit % 8);
			assert_int_equal(got.correct, 0);
			assert_int_equal(got.first_bad, where[i]);
			assert_string_equal(got.tensor, c->problem.tensors[output].name);
			assert_non_null(strstr(got.reason.text, "want"));
		}
	}
	mini_check(c);
	mini_free(c);
}

TEST(test_flips)
{
	expect_flips_found("stream.read", "level=l1", ASSAY_STREAM_READ_SUM, 8);
	expect_flips_found("stream.copy", "level=l1", ASSAY_STREAM_COPY_B, 4);
	expect_flips_found("stream.triad", "level=l1", ASSAY_STREAM_TRIAD_A, 4);
	expect_flips_found("peak.f32_fma", "", ASSAY_PEAK_FMA_Y, 4);
	expect_flips_found("peak.i8_dot", "", ASSAY_PEAK_DOT_Y, 4);
	expect_flips_found("peak.ternary_dot", "", ASSAY_PEAK_DOT_Y, 4);
}

TEST(test_sizes)
{
	static const struct {
		const char *op;
		int64_t level;
		uint32_t n_threads;
		uint64_t l1d, l2, llc, memory;
		uint64_t want; /* bytes of the first tensor; 0: refused */
	} cases[] = {
		/* 48 KiB, 1 MiB, 32 MiB; 8 GiB of memory */
		{ "stream.read", ASSAY_LEVEL_L1, 1, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 24 << 10 },
		{ "stream.read", ASSAY_LEVEL_L1, 4, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 96 << 10 },
		{ "stream.copy", ASSAY_LEVEL_L1, 1, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 12 << 10 },
		{ "stream.triad", ASSAY_LEVEL_L1, 2, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 16 << 10 },
		{ "stream.read", ASSAY_LEVEL_L2, 2, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 1 << 20 },
		{ "stream.read", ASSAY_LEVEL_L3, 1, 48 << 10, 1 << 20, 12 << 20, 8ull << 30, 6 << 20 },
		/* a small part of a cache that many share */
		{ "stream.read", ASSAY_LEVEL_L3, 1, 48 << 10, 2 << 20, 260 << 20, 8ull << 30, 16 << 20 },
		{ "stream.read", ASSAY_LEVEL_L3, 2, 48 << 10, 2 << 20, 260 << 20, 8ull << 30, 16 << 20 },
		{ "stream.read", ASSAY_LEVEL_L3, 16, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 32 << 20 },
		/* twice the level-2 caches would exceed the last level */
		{ "stream.read", ASSAY_LEVEL_L3, 32, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 48 << 20 },
		{ "stream.read", ASSAY_LEVEL_DRAM, 1, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 256 << 20 },
		{ "stream.read", ASSAY_LEVEL_DRAM, 2, 48 << 10, 1 << 20, 96 << 20, 8ull << 30, 512 << 20 },
		/* a quarter of a small memory, if that still leaves the caches */
		{ "stream.read", ASSAY_LEVEL_DRAM, 1, 48 << 10, 1 << 20, 32 << 20, 512 << 20, 128 << 20 },
		{ "stream.read", ASSAY_LEVEL_DRAM, 1, 48 << 10, 1 << 20, 96 << 20, 512 << 20, 0 },
		{ "stream.read", ASSAY_LEVEL_2XLLC, 2, 48 << 10, 1 << 20, 32 << 20, 8ull << 30, 64 << 20 },
		/* nothing known */
		{ "stream.read", ASSAY_LEVEL_L1, 1, 0, 0, 0, 0, 16 << 10 },
		{ "stream.read", ASSAY_LEVEL_L3, 1, 0, 0, 0, 0, 4 << 20 },
		{ "stream.triad", ASSAY_LEVEL_DRAM, 1, 0, 0, 0, 0, (64 << 20) / 3 / 4096 * 4096 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_host_info host = { .l1d_bytes = cases[i].l1d,
						      .l2_bytes = cases[i].l2,
						      .llc_bytes = cases[i].llc,
						      .memory_bytes = cases[i].memory };
		struct assay_shape shape = { .size = sizeof(shape),
					     .n_threads = cases[i].n_threads,
					     .host = &host,
					     .axis = { cases[i].level } };
		struct assay_problem p = { .size = sizeof(p) };
		struct assay_reason why = { "" };
		int rc = mini_op(cases[i].op)->describe(&shape, &p, &why);
		uint64_t bytes;

		if (!cases[i].want) {
			assert_true(rc < 0);
			assert_non_null(strstr(why.text, "last-level cache"));
			continue;
		}
		assert_int_equal(rc, 0);
		bytes = (uint64_t)p.tensors[0].dims[0] * mini_dtype_bytes(p.tensors[0].dtype);
		if (bytes != cases[i].want)
			fail_msg("case %zu: %llu bytes, want %llu", i, (unsigned long long)bytes,
				 (unsigned long long)cases[i].want);
		assert_int_equal(bytes % (4096ull * cases[i].n_threads), 0);
	}
}

/* Bytes count every pass, and only what the arithmetic needs. */
TEST(test_cost)
{
	static const double reads[] = { 1, 1, 2 }, writes[] = { 0, 1, 1 };

	for (size_t op = 0; op < N_OF(stream_ops); op++) {
		struct mini_case *c = mini_new(stream_ops[op], "ref", "level=l2", NULL);
		unsigned n_arrays = (unsigned)(reads[op] + writes[op]);
		double array = (double)c->tensors[0].bytes;
		double passes = (double)assay_stream_passes(&c->shape, c->tensors[0].bytes, n_arrays);

		assert_true(passes > 1);
		assert_true(c->problem.cost.bytes_read == reads[op] * array * passes);
		if (op)
			assert_true(c->problem.cost.bytes_written == writes[op] * array * passes);
		else
			assert_true(c->problem.cost.bytes_written == 64);
		mini_free(c);
	}
}

UNIT_GROUP(NULL, NULL)
