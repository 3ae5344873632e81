/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of the quantize ops: blocks worked out by hand, rounding, NaN and infinity, refused shapes. */
#include "mini_host.h"

#include <math.h>

#include "assay/op_quantize.h"

static uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* ---- blocks worked out by hand ---- */

struct put {
	int at;
	float x;
};

#define N_PUTS 12

/* Floats that are 0 but for `put`, the bytes they become (`fill` but for `want`), and their scale. */
static const struct {
	struct {
		const char *op, *axes;
		int n, n_bytes;
		uint8_t fill;
		float scale; /* NaN: the format has no tensor for it */
	} of;
	struct put put[N_PUTS];
	struct {
		int at;
		uint8_t byte;
	} want[N_PUTS];
} known[] = {
	/* d = 1; ties go away from zero, and the float below one half goes to zero */
	{ { "q8_0", "n=32", 32, 34, 0x00, NAN },
	  { { 0, 127 },
	    { 1, 0.5f },
	    { 2, -0.5f },
	    { 3, 2.5f },
	    { 4, -2.5f },
	    { 5, 0x1.fffffep-2f },
	    { 6, -127 },
	    { 7, 126.25f },
	    { 31, -1 } },
	  { { 1, 0x3c },
	    { 2, 0x7f },
	    { 3, 0x01 },
	    { 4, 0xff },
	    { 5, 0x03 },
	    { 6, 0xfd },
	    { 8, 0x81 },
	    { 9, 0x7e },
	    { 33, 0xff } } },
	/* d = 2^-7, half of which is a tie */
	{ { "q8_0", "n=32", 32, 34, 0x00, NAN },
	  { { 3, 0.9921875f }, { 4, -0.00390625f } },
	  { { 0, 0x00 }, { 1, 0x20 }, { 5, 0x7f }, { 6, 0xff } } },
	/* d = 2; one half of it is a tie and goes away from zero */
	{ { "tq2_0", "n=256", 256, 66, 0x55, NAN },
	  { { 0, 2 }, { 32, -2 }, { 64, 1 }, { 1, 0.999f }, { 33, -1 }, { 159, -1 }, { 255, 2 } },
	  { { 0, 0x62 }, { 1, 0x51 }, { 63, 0x94 }, { 64, 0x00 }, { 65, 0x40 } } },
	/* gamma = 1; ties go to zero */
	{ { "i2_s", "n=128", 128, 32, 0x55, 1 },
	  { { 0, 62 }, { 32, -62 }, { 1, 0.5f }, { 33, -0.5f }, { 2, 0.75f }, { 34, -0.75f }, { 66, 1.5f } },
	  { { 0, 0x85 }, { 2, 0x89 } } },
	/* mean |x| = 2^-20, below the limit: gamma = 1e-5 */
	{ { "i2_s", "n=128", 128, 32, 0x55, 1e-5f }, { { 127, 0x1p-13f } }, { { 31, 0x56 } } },
	/* ties go to even */
	{ { "i8_token", "tokens=1,dim=5", 5, 5, 0x00, 1 },
	  { { 0, 127 }, { 1, 0.5f }, { 2, 1.5f }, { 3, -2.5f }, { 4, -127 } },
	  { { 0, 127 }, { 2, 2 }, { 3, 0xfe }, { 4, 0x81 } } },
	/* absmax 1e-6, below the limit: the multiplier is 127 / 1e-5 */
	{ { "i8_token", "tokens=1,dim=3", 3, 3, 0x00, 1e-5f / 127 },
	  { { 1, 1e-6f }, { 2, -3e-7f } },
	  { { 1, 13 }, { 2, 0xfc } } },
};

#define N_KNOWN N_OF(known)

static void known_floats(size_t k, float *x)
{
	memset(x, 0, sizeof(*x) * (size_t)known[k].of.n);
	for (int p = 0; p < N_PUTS; p++)
		if (known[k].put[p].x != 0)
			x[known[k].put[p].at] = known[k].put[p].x;
}

static void known_bytes(size_t k, uint8_t *q)
{
	memset(q, known[k].of.fill, (size_t)known[k].of.n_bytes);
	if (!strcmp(known[k].of.op, "q8_0"))
		q[0] = q[1] = 0;
	for (int p = 0; p < N_PUTS; p++)
		if (known[k].want[p].byte || known[k].want[p].at)
			q[known[k].want[p].at] = known[k].want[p].byte;
	if (!strcmp(known[k].of.op, "tq2_0"))
		q[64] = 0;
}

TEST(test_known_blocks)
{
	for (size_t k = 0; k < N_KNOWN; k++) {
		char op[64];
		uint8_t want[128];

		snprintf(op, sizeof(op), "quantize.%s", known[k].of.op);
		known_bytes(k, want);
		for (size_t v = 0; v < mini_variant_names()->n; v++) {
			struct mini_case *c;

			if (!mini_can_run(op, mini_variant_names()->v[v]))
				continue;
			c = mini_new(op, mini_variant_names()->v[v], known[k].of.axes, NULL);
			known_floats(k, c->tensors[ASSAY_QUANTIZE_X].data);
			mini_run(c);
			assert_int_equal(c->tensors[ASSAY_QUANTIZE_Q].bytes, known[k].of.n_bytes);
			assert_memory_equal(c->tensors[ASSAY_QUANTIZE_Q].data, want, (size_t)known[k].of.n_bytes);
			if (!isnan(known[k].of.scale))
				assert_int_equal(bits_of(*(float *)c->tensors[ASSAY_QUANTIZE_SCALE].data),
						 bits_of(known[k].of.scale));
			mini_check(c);
			mini_free(c);
		}
	}
}

/* Bytes with every code of the ternary formats, 3 among them, and what they decode to with a scale of 3. */
TEST(test_known_floats)
{
	static const float tq2_0[4] = { -3, 0, 3, 6 }, i2_s[4] = { -3, 0, 3, 0 };
	static const char *const ops[] = { "dequantize.tq2_0", "dequantize.i2_s" };

	for (size_t v = 0; v < 2 * mini_variant_names()->n; v++) {
		bool tq = v < mini_variant_names()->n;
		const char *op = ops[!tq], *variant = mini_variant_names()->v[v % mini_variant_names()->n];
		struct mini_case *c;
		uint8_t *q;
		float *x;

		if (!mini_can_run(op, variant))
			continue;
		c = mini_new(op, variant, "n=256", NULL);
		q = c->tensors[ASSAY_DEQUANTIZE_Q].data;
		x = c->tensors[tq ? ASSAY_DEQUANTIZE_BLOCK_X : ASSAY_DEQUANTIZE_X].data;
		for (int i = 0; i < 64; i++)
			q[i] = 0x1b; /* 0, 1, 2, 3 from the top bits down */
		if (tq) {
			q[64] = 0x00;
			q[65] = 0x42;
		} else {
			*(float *)c->tensors[ASSAY_DEQUANTIZE_SCALE].data = 3;
		}
		mini_run(c);
		for (int i = 0; i < 256; i++) {
			float want = tq ? tq2_0[3 - i % 128 / 32] : i2_s[i % 128 / 32];

			assert_int_equal(bits_of(x[i]), bits_of(want));
		}
		mini_check(c);
		mini_free(c);
	}
}

/*
 * The order of the i2_s sum decides: 2^24 + 1, in lane 0 of the first block, lies halfway between two floats. Two
 * crumbs that meet before they reach it carry it over; each alone is lost to rounding.
 */
TEST(test_sum_order)
{
	static const struct {
		int crumb[2]; /* where x is 0.75 * 2^-29 */
		bool meet;
	} orders[] = {
		{ { 32, 48 }, false },         /* lane 0, twice */
		{ { 33, 49 }, true },          /* lane 1, twice */
		{ { 32 + 4, 32 + 12 }, true }, /* lanes 4 and 12 */
		{ { 32 + 8, 32 + 12 }, false }, { { 32 + 8, 32 + 4 }, false }, { { 32 + 2, 32 + 6 }, true },
		{ { 32 + 10, 32 + 14 }, true }, { { 32 + 4, 32 + 2 }, false }, { { 32 + 1, 32 + 3 }, true },
		{ { 32 + 15, 32 + 9 }, true },  { { 32 + 1, 32 + 2 }, false }, { { 4096, 4097 }, true }, /* one block */
		{ { 4096, 8192 }, false }, /* the next block, and the one after */
		{ { 4096, 12288 }, true }, /* blocks of lanes 1 and 3 */
	};

	for (size_t k = 0; k < N_OF(orders) * mini_variant_names()->n; k++) {
		const char *variant = mini_variant_names()->v[k % mini_variant_names()->n];
		struct mini_options o = { .n_threads = 1 + k % 4 };
		struct mini_case *c;
		float *x;

		if (!mini_can_run("quantize.i2_s", variant))
			continue;
		c = mini_new("quantize.i2_s", variant, "n=16384", &o);
		x = c->tensors[ASSAY_QUANTIZE_X].data;
		memset(x, 0, 16384 * sizeof(*x));
		x[0] = 0x1p24f;
		x[16] = 1;
		x[orders[k / mini_variant_names()->n].crumb[0]] = 0x1.8p-30f;
		x[orders[k / mini_variant_names()->n].crumb[1]] = 0x1.8p-30f;
		mini_run(c);
		assert_int_equal(
			bits_of(*(float *)c->tensors[ASSAY_QUANTIZE_SCALE].data),
			bits_of(orders[k / mini_variant_names()->n].meet ? (0x1p24f + 2) / 16384 : 0x1p24f / 16384));
		mini_check(c);
		mini_free(c);
	}
}

/* ---- rounding of codes ---- */

/*
 * Blocks of tq2_0 whose largest value is so small that its reciprocal, alone or times 2 or 4, is infinite, and their
 * neighbours: values of 0, near one half of the largest, and the largest.
 */
TEST(test_tiny_ternary_blocks)
{
	/*
	 * bits of the largest magnitude, in units of 2^-149: 1/amax overflows up to 0x200000, 2/amax up to 0x400000,
	 * 4/amax up to 0x800000
	 */
	static const uint32_t amax[] = { 0x1ffffe, 0x200000, 0x200002, 0x300000, 0x3ffffe, 0x400000, 0x400001, 0x400002,
					 0x7ffffe, 0x7fffff, 0x800000, 0x800001, 0x800002, 0x800003, 0xffffff };
	const int n_blocks = N_OF(amax);
	char axes[32];

	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		struct mini_case *c;
		uint32_t *x;
		const uint8_t *q;

		if (!mini_can_run("quantize.tq2_0", mini_variant_names()->v[v]))
			continue;
		snprintf(axes, sizeof(axes), "n=%d", 256 * n_blocks);
		c = mini_new("quantize.tq2_0", mini_variant_names()->v[v], axes, NULL);
		x = c->tensors[ASSAY_QUANTIZE_X].data;
		q = c->tensors[ASSAY_QUANTIZE_Q].data;
		for (int b = 0; b < n_blocks; b++)
			for (uint32_t i = 0; i < 256; i++) {
				uint32_t near = i % 3 == 1 ? i % 5 * 64 - 128 : 0; /* to half of amax */
				uint32_t mag = i % 3 == 2 ? amax[b] : (amax[b] + 1) / 2 * (i % 3) + near;

				x[b * 256 + (int)i] = mag | (i % 2 ? 0x80000000u : 0);
			}
		mini_run(c);
		mini_check(c);
		for (int b = 0; b < n_blocks; b++)
			for (int i = 0; i < 256; i++) {
				bool one = amax[b] > 0x200000 && (i % 3 == 2 || (i % 3 == 1 && i % 5 >= 2));
				int want = 1 + (one ? i % 2 ? -1 : 1 : 0);

				assert_int_equal(q[66 * b + i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3, want);
			}
		mini_free(c);
	}
}

/* ---- NaN and infinity ---- */

static const uint32_t not_finite[] = { 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f812345, 0xffffffff };

TEST(test_not_finite_input)
{
	static const struct {
		const char *op, *axes;
		int64_t block, block_bytes, half_at;
		uint8_t zero;
	} formats[] = {
		{ "quantize.q8_0", "n=96", 32, 34, 0, 0x00 },
		{ "quantize.tq2_0", "n=768", 256, 66, 64, 0x55 },
		{ "quantize.i2_s", "n=384", 384, 96, -1, 0x55 },
		{ "quantize.i8_token", "tokens=3,dim=45", 45, 45, -1, 0x00 },
	};

	for (size_t f = 0; f < 4 * mini_variant_names()->n * 6; f++) {
		size_t k = f / (mini_variant_names()->n * 6);
		const char *variant = mini_variant_names()->v[f / 6 % mini_variant_names()->n];
		uint32_t bad = not_finite[f % 6];
		int64_t where = k == 2 ? 0 : 1;
		const uint8_t *q;
		struct mini_case *c;

		if (!mini_can_run(formats[k].op, variant))
			continue;
		for (int64_t at = 0; at < formats[k].block; at += 11) {
			c = mini_new(formats[k].op, variant, formats[k].axes, NULL);
			mini_fill(c);
			((uint32_t *)c->tensors[ASSAY_QUANTIZE_X].data)[where * formats[k].block + at] = bad;
			mini_run(c);
			mini_check(c);
			q = (const uint8_t *)c->tensors[ASSAY_QUANTIZE_Q].data + where * formats[k].block_bytes;
			for (int64_t i = 0; i < formats[k].block_bytes; i++) {
				uint8_t want = i == formats[k].half_at ? 0x00
					       : i == formats[k].half_at + 1 && formats[k].half_at >= 0
						       ? 0x7e
						       : formats[k].zero;

				assert_int_equal(q[i], want);
			}
			if (formats[k].half_at < 0)
				assert_int_equal(((uint32_t *)c->tensors[ASSAY_QUANTIZE_SCALE].data)[where],
						 0x7fc00000);
			mini_free(c);
		}
	}
}

/*
 * A scale that is not finite makes NaN everywhere, or signed infinities with NaN at zero, always with the same NaN
 * bits. The values are −6 … 6 for i8_token, −1, 0, 1 for i2_s.
 */
static void check_not_finite_scale(const char *op, const char *variant, const char *axes, int n, uint32_t scale)
{
	bool token = n == 13, infinite = isinf(float_of(scale));
	struct mini_case *c = mini_new(op, variant, axes, NULL);
	uint8_t *q = c->tensors[ASSAY_DEQUANTIZE_Q].data;
	uint32_t *x = c->tensors[ASSAY_DEQUANTIZE_X].data;

	for (uint64_t i = 0; i < c->tensors[ASSAY_DEQUANTIZE_Q].bytes; i++)
		q[i] = (uint8_t)(token ? (int)i - 6 : 0x1a); /* 0x1a: codes 0, 1, 2, 2 from the top bits down */
	*(uint32_t *)c->tensors[ASSAY_DEQUANTIZE_SCALE].data = scale;
	mini_run(c);
	mini_check(c);
	for (int i = 0; i < n; i++) {
		int value = token ? i - 6 : i / 32 - 1;
		uint32_t want = value < 0 ? scale ^ 0x80000000u : scale;

		assert_int_equal(x[i], infinite && value ? want : 0x7fc00000u);
	}
	mini_free(c);
}

TEST(test_not_finite_scale)
{
	for (size_t f = 0; f < mini_variant_names()->n * 6; f++) {
		if (mini_can_run("dequantize.i8_token", mini_variant_names()->v[f / 6]))
			check_not_finite_scale("dequantize.i8_token", mini_variant_names()->v[f / 6], "tokens=1,dim=13",
					       13, not_finite[f % 6]);
		if (mini_can_run("dequantize.i2_s", mini_variant_names()->v[f / 6]))
			check_not_finite_scale("dequantize.i2_s", mini_variant_names()->v[f / 6], "n=128", 128,
					       not_finite[f % 6]);
	}
}

/* ---- shapes ---- */

TEST(test_refused_shapes)
{
	static const struct {
		const char *op, *axes, *why;
	} refused[] = {
		{ "quantize.i2_s", "n=1000", "n is 1000, expected a multiple of 128" },
		{ "quantize.i2_s", "n=1073741952", "n is 1073741952, expected at most 1073741824" },
		{ "dequantize.i2_s", "n=64", "n is 64, expected a multiple of 128" },
		{ "quantize.tq2_0", "n=128", "n is 128, expected a multiple of 256" },
		{ "dequantize.tq2_0", "n=257", "n is 257, expected a multiple of 256" },
		{ "quantize.q8_0", "n=33", "n is 33, expected a multiple of 32" },
		{ "dequantize.q8_0", "n=1", "n is 1, expected a multiple of 32" },
	};
	struct assay_problem problem;
	struct assay_reason why;

	for (size_t i = 0; i < N_OF(refused); i++) {
		assert_true(mini_try_describe(refused[i].op, refused[i].axes, &problem, &why) < 0);
		assert_string_equal(why.text, refused[i].why);
	}
}

TEST(test_costs)
{
	static const struct {
		const char *op, *axes;
		double elements, read, written;
	} want[] = {
		{ "quantize.i2_s", "n=4096", 4096, 16384, 1028 },
		{ "quantize.tq2_0", "n=4096", 4096, 16384, 1056 },
		{ "quantize.q8_0", "n=4096", 4096, 16384, 4352 },
		{ "quantize.i8_token", "tokens=3,dim=7", 21, 84, 33 },
		{ "dequantize.i2_s", "n=4096", 4096, 1028, 16384 },
		{ "dequantize.tq2_0", "n=4096", 4096, 1056, 16384 },
		{ "dequantize.q8_0", "n=4096", 4096, 4352, 16384 },
		{ "dequantize.i8_token", "tokens=3,dim=7", 21, 33, 84 },
	};
	struct assay_problem problem;
	struct assay_reason why;

	for (size_t i = 0; i < N_OF(want); i++) {
		assert_int_equal(mini_try_describe(want[i].op, want[i].axes, &problem, &why), 0);
		assert_true(problem.cost.ops == want[i].elements && problem.cost.items == want[i].elements);
		assert_true(problem.cost.bytes_read == want[i].read);
		assert_true(problem.cost.bytes_written == want[i].written);
		assert_int_equal(problem.cost.arith, ASSAY_ARITH_NONE);
		assert_string_equal(problem.cost.item_name, "elements");
	}
}

UNIT_GROUP(NULL, NULL)
