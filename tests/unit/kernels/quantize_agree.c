/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreement: every variant of the quantize ops writes what the oracle wants and what `ref` writes, for any size, number
 * of threads and alignment; inputs depend on the seed alone; an oracle notices any wrong bit.
 */
#include "mini_host.h"

#include <float.h>
#include <math.h>

#include "assay/op_quantize.h"
#include "assay/random.h"

static const struct {
	const char *op;
	int64_t multiple;    /* 0: the op has tokens and dim */
	uint32_t out, scale; /* output tensors; equal where there is but one */
} ops[] = {
	{ "quantize.i2_s", 128, ASSAY_QUANTIZE_Q, ASSAY_QUANTIZE_SCALE },
	{ "quantize.tq2_0", 256, ASSAY_QUANTIZE_Q, ASSAY_QUANTIZE_Q },
	{ "quantize.q8_0", 32, ASSAY_QUANTIZE_Q, ASSAY_QUANTIZE_Q },
	{ "quantize.i8_token", 0, ASSAY_QUANTIZE_Q, ASSAY_QUANTIZE_SCALE },
	{ "dequantize.i2_s", 128, ASSAY_DEQUANTIZE_X, ASSAY_DEQUANTIZE_X },
	{ "dequantize.tq2_0", 256, ASSAY_DEQUANTIZE_BLOCK_X, ASSAY_DEQUANTIZE_BLOCK_X },
	{ "dequantize.q8_0", 32, ASSAY_DEQUANTIZE_BLOCK_X, ASSAY_DEQUANTIZE_BLOCK_X },
	{ "dequantize.i8_token", 0, ASSAY_DEQUANTIZE_X, ASSAY_DEQUANTIZE_X },
};

#define N_OPS N_OF(ops)

#if defined(TEST_EMULATED)
#define N_DRAWS    3
#define TAIL_STEPS 11
#else
#define N_DRAWS    12
#define TAIL_STEPS 1
#endif

static const uint32_t thread_counts[] = { 1, 2, 3, 5 };

/* A size drawn from (op, draw): the smallest first, then any up to some tens of thousands. */
static void draw_axes(size_t op, uint32_t draw, char *axes, size_t size)
{
	struct assay_philox r = assay_random4(11, (uint32_t)op, draw);
	int64_t multiple = ops[op].multiple;

	if (multiple)
		snprintf(axes, size, "n=%lld", (long long)(multiple * (draw ? 1 + r.v[0] % (65536 / multiple) : 1)));
	else
		snprintf(axes, size, "tokens=%u,dim=%u", draw ? 1 + r.v[0] % 40 : 1, draw ? 1 + r.v[1] % 700 : 1);
}

static void assert_same_output(const struct mini_case *a, const struct mini_case *b, size_t op)
{
	const struct assay_tensor *x = &a->tensors[ops[op].out], *y = &b->tensors[ops[op].out];

	assert_int_equal(x->bytes, y->bytes);
	assert_memory_equal(x->data, y->data, x->bytes);
	x = &a->tensors[ops[op].scale];
	y = &b->tensors[ops[op].scale];
	assert_int_equal(x->bytes, y->bytes);
	assert_memory_equal(x->data, y->data, x->bytes);
}

static void compare_with(const struct mini_case *ref, size_t op, const char *variant, const char *axes,
			 const struct mini_options *o, uint64_t llc_bytes)
{
	struct mini_case *c = mini_new(ops[op].op, variant, axes, o);

	c->info.llc_bytes = llc_bytes;
	mini_fill(c);
	assert_true(mini_hash_inputs(c) == mini_hash_inputs(ref));
	mini_run(c);
	mini_check(c);
	assert_same_output(c, ref, op);
	mini_free(c);
}

/*
 * Floats lie on multiples of 8 bytes, packed bytes at odd addresses too. With a last-level cache of one byte, outputs
 * are written around the caches where they are aligned.
 */
static void run_and_compare(size_t op, const char *variant, const char *axes, uint64_t seed)
{
	struct mini_case *ref = mini_new(ops[op].op, "ref", axes, &(struct mini_options){ .seed = seed });

	mini_fill(ref);
	mini_run(ref);
	mini_check(ref);
	for (uint32_t t = 0; t < N_OF(thread_counts); t++) {
		struct mini_options o = {
			.n_threads = thread_counts[t], .seed = seed, .offset_bytes = t * 8, .byte_offset = t
		};

		compare_with(ref, op, variant, axes, &o, 0);
		o.offset_bytes = t == 1 ? 8 : 0;
		o.byte_offset = t == 2 ? 3 : 0;
		compare_with(ref, op, variant, axes, &o, 1);
	}
	mini_free(ref);
}

TEST(test_variants_agree)
{
	for (size_t op = 0; op < N_OPS; op++) {
		for (size_t v = 0; v < mini_variant_names()->n; v++) {
			if (!mini_can_run(ops[op].op, mini_variant_names()->v[v]))
				continue;
			for (uint32_t draw = 0; draw < N_DRAWS; draw++) {
				char axes[64];

				draw_axes(op, draw, axes, sizeof(axes));
				run_and_compare(op, mini_variant_names()->v[v], axes,
						draw % 4 ? draw : UINT64_MAX - draw);
			}
		}
	}
}

/* Tails of every length of i8_token, the one format that has them: its ops have tokens. */
TEST(test_token_tails)
{
	char axes[64];

	for (size_t op = 0; op < N_OPS; op++) {
		if (ops[op].multiple)
			continue;
		for (size_t i = 1; i < mini_variant_names()->n; i++) {
			if (!mini_can_run(ops[op].op, mini_variant_names()->v[i]))
				continue;
			for (int dim = 1; dim <= 140; dim += dim < 70 ? TAIL_STEPS : 7 * TAIL_STEPS) {
				snprintf(axes, sizeof(axes), "tokens=20,dim=%d", dim);
				run_and_compare(op, mini_variant_names()->v[i], axes, (uint64_t)dim);
			}
		}
	}
}

/*
 * Blocks whose largest magnitude has each exponent once, from subnormal to the largest, and any mantissa; their other
 * values are the seven floats about each product (k + 1/2) · d, of either sign: where a code changes.
 */
static void fill_around_ties(float *x, int64_t n, int64_t block, int levels)
{
	const int64_t per_exponent = (levels * 7 + block - 2) / (block - 1);

	for (int64_t b = 0; b < n / block; b++, x += block) {
		uint32_t exponent = (uint32_t)(b / per_exponent);
		uint32_t amax = exponent << 23 | (assay_random4(7, 1, exponent).v[0] & 0x7fffffu);

		memcpy(x, &amax, sizeof(amax));
		for (int64_t i = 1, j = b % per_exponent * (block - 1); i < block; i++, j++) {
			float tie = ((float)(j / 7 % levels) + 0.5f) * (x[0] / (float)levels);
			int32_t bits;

			memcpy(&bits, &tie, sizeof(bits));
			bits += (int32_t)(j % 7) - 3;
			bits = (bits < 0 ? 0 : bits) | (j % 2 ? INT32_MIN : 0);
			memcpy(x + i, &bits, sizeof(bits));
		}
	}
}

TEST(test_codes_around_ties)
{
	static const struct {
		size_t op;
		const char *axes;
		int64_t block;
		int levels;
	} rows[] = { { 1, "n=65280", 256, 1 }, { 2, "n=236640", 32, 127 } };

	for (size_t k = 0; k < 2; k++) {
		struct mini_case *ref = mini_new(ops[rows[k].op].op, "ref", rows[k].axes, NULL);
		const struct assay_tensor *x = &ref->tensors[ASSAY_QUANTIZE_X];

		fill_around_ties(x->data, (int64_t)x->bytes / 4, rows[k].block, rows[k].levels);
		mini_run(ref);
		mini_check(ref);
		for (size_t i = 1; i < mini_variant_names()->n; i++) {
			struct mini_case *c;

			if (!mini_can_run(ops[rows[k].op].op, mini_variant_names()->v[i]))
				continue;
			c = mini_new(ops[rows[k].op].op, mini_variant_names()->v[i], rows[k].axes, NULL);
			memcpy(c->tensors[ASSAY_QUANTIZE_X].data, x->data, x->bytes);
			mini_run(c);
			assert_same_output(c, ref, rows[k].op);
			mini_free(c);
		}
		mini_free(ref);
	}
}

/* Floats of any bits with exponents between two, of either sign, in whole sum blocks and a shorter one. */
static void fill_with_bits(float *x, int64_t n, uint32_t lo, uint32_t hi, uint32_t draw)
{
	for (int64_t i = 0; i < n; i++) {
		struct assay_philox r = assay_random4(17, draw, (uint64_t)i);
		uint32_t bits = r.v[0] & 0x807fffffu, exponent = lo + r.v[1] % (hi - lo + 1);

		bits |= exponent << 23;
		memcpy(x + i, &bits, sizeof(bits));
	}
}

static bool same_sum(double a, double b)
{
	return isnan(a) ? isnan(b) : !memcmp(&a, &b, sizeof(a));
}

/* Sums are the definition's own to the bit, whatever the exponents: vectors move bits instead of converting floats. */
TEST(test_sums_of_any_floats)
{
	static const struct {
		uint32_t lo, hi; /* exponents as they are stored */
		float one;       /* put among them; 0: none */
	} rows[] = {
		{ 0, 0, 0 },
		{ 0, 1, 0 },
		{ 0, 30, 0 },
		{ 0, 254, 0 },
		{ 100, 140, 0 },
		{ 240, 246, 0 },
		{ 254, 254, 0 },
		{ 100, 140, INFINITY },
		{ 100, 140, -INFINITY },
		{ 100, 140, NAN },
		{ 0, 0, INFINITY },
		{ 0, 0, FLT_MAX },
		{ 0, 255, 0 },
	};
	const int64_t n = 2 * ASSAY_I2_S_SUM_BLOCK + 3 * 128;

	for (size_t k = 0; k < N_OF(rows); k++) {
		struct mini_case *ref = mini_new("quantize.i2_s", "ref", "n=8576", NULL);
		float *x = ref->tensors[ASSAY_QUANTIZE_X].data;

		fill_with_bits(x, n, rows[k].lo, rows[k].hi, (uint32_t)k);
		if (rows[k].one != 0)
			x[4096 + 77] = rows[k].one;
		mini_run(ref);
		for (size_t i = 1; i < mini_variant_names()->n; i++) {
			const double *want = ref->tensors[ASSAY_QUANTIZE_SUMS].data, *got;
			struct mini_case *c;

			if (!mini_can_run("quantize.i2_s", mini_variant_names()->v[i]))
				continue;
			c = mini_new("quantize.i2_s", mini_variant_names()->v[i], "n=8576", NULL);
			memcpy(c->tensors[ASSAY_QUANTIZE_X].data, x, (size_t)n * sizeof(*x));
			mini_run(c);
			got = c->tensors[ASSAY_QUANTIZE_SUMS].data;
			for (int b = 0; b < 3; b++)
				if (!same_sum(want[b], got[b]))
					fail_msg("row %zu, %s, block %d: %a, not %a", k, mini_variant_names()->v[i], b,
						 got[b], want[b]);
			assert_same_output(c, ref, 0);
			mini_free(c);
		}
		mini_free(ref);
	}
}

/* The inputs of i2_s have a mean magnitude of exactly 2^-7, so that planted values are exact ties. */
TEST(test_i2_s_inputs_have_ties)
{
	struct mini_case *c = mini_new("quantize.i2_s", "ref", "n=65536", &(struct mini_options){ .seed = 3 });
	const float *x = c->tensors[ASSAY_QUANTIZE_X].data;
	int ties = 0, counts[3] = { 0 };

	mini_fill(c);
	mini_run(c);
	assert_true(*(float *)c->tensors[ASSAY_QUANTIZE_SCALE].data == 0x1p-7f);
	for (int i = 0; i < 65536; i++) {
		ties += x[i] == 0x1p-8f || x[i] == -0x1p-8f;
		counts[x[i] > 0x1p-8f ? 2 : x[i] < -0x1p-8f ? 0 : 1]++;
	}
	assert_true(ties >= 512);
	for (int i = 0; i < 3; i++)
		assert_true(counts[i] > 65536 / 5);
	mini_free(c);
}

/* Values that break quantizers are in the inputs of every run that is large enough. */
TEST(test_inputs_are_hard)
{
	static const size_t with_all[] = { 1, 2, 3 };

	for (size_t k = 0; k < 3; k++) {
		size_t op = with_all[k];
		struct mini_case *c =
			mini_new(ops[op].op, "ref", ops[op].multiple ? "n=4096" : "tokens=20,dim=256", NULL);
		const float *x = c->tensors[ASSAY_QUANTIZE_X].data;
		int zeros[2] = { 0 }, subnormal = 0, nan = 0, infinite = 0, huge = 0, ties = 0;

		mini_fill(c);
		for (uint64_t i = 0; i < c->tensors[ASSAY_QUANTIZE_X].bytes / 4; i++) {
			zeros[!!signbit(x[i])] += x[i] == 0;
			subnormal += fpclassify(x[i]) == FP_SUBNORMAL;
			nan += !!isnan(x[i]);
			infinite += !!isinf(x[i]);
			huge += fabsf(x[i]) == FLT_MAX;
			ties += fabsf(x[i]) < 127 && fabsf(x[i]) - floorf(fabsf(x[i])) == 0.5f;
		}
		assert_true(zeros[0] > 50 && zeros[1] > 50);
		assert_true(subnormal > 400);
		assert_int_equal(nan, 1);
		assert_int_equal(infinite, 1);
		assert_int_equal(huge, 256);
		assert_true(ties > 240);
		mini_free(c);
	}
}

/* Each wrong bit, anywhere in an output, is found and located. */
TEST(test_oracles_notice)
{
	for (size_t op = 0; op < N_OPS; op++) {
		struct mini_case *c = mini_new(ops[op].op, "ref", ops[op].multiple ? "n=4096" : "tokens=16,dim=256",
					       &(struct mini_options){ .seed = 5 });
		uint32_t wrong = 0;

		mini_fill(c);
		mini_run(c);
		for (uint32_t i = 0; i < 25 * N_DRAWS; i++) {
			struct assay_philox r = assay_random4(5, 99, i);
			uint32_t index = i % 3 ? ops[op].out : ops[op].scale;
			const struct assay_tensor *t = &c->tensors[index];
			uint64_t at = r.v[0] % t->bytes;
			uint64_t width = mini_dtype_bytes(t->spec->dtype);
			uint8_t *byte = (uint8_t *)t->data + at;
			struct assay_check out;

			*byte ^= (uint8_t)(1u << r.v[1] % 8);
			out = mini_try_check(c);
			if (out.correct) { /* one of the hard inputs */
				char where[64];

				snprintf(where, sizeof(where), "element %d of '%s': ", (int)(at / width),
					 t->spec->name);
				assert_true(out.deviates);
				assert_memory_equal(out.deviation.text, where, strlen(where));
			} else {
				wrong++;
				assert_int_equal(out.first_bad, at / width);
				assert_string_equal(out.tensor, t->spec->name);
				assert_true(out.reason.text[0]);
			}
			*byte ^= (uint8_t)(1u << r.v[1] % 8);
		}
		mini_check(c);
		assert_true(wrong > 5 * N_DRAWS);
		mini_free(c);
	}
}

UNIT_GROUP(NULL, NULL)
