/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the generate driver one by one: float kernels against libm in double, and sampling. */
#include "unit.h"

#include <float.h>
#include <math.h>

#include "assay/float_bits.h"
#include "assay/random.h"
#include "bench/generate/generate_math.c"
#include "bench/generate/generate_sampler.c"
#include "bench/generate/generate_vector.h"

static float noise(uint64_t i)
{
	return assay_normal_f32(assay_random4(1, 0, i).v[0]);
}

static void assert_near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.17g, want %.17g ± %g", got, want, tolerance);
}

/* ---- float kernels ---- */

static const struct gen_vector *widest(void)
{
	return assay_generate_vector(NULL);
}

/* The exponential of softmax, beside a maximum of 0. */
static float exp_of(float x)
{
	float both[2] = { 0, x };

	widest()->softmax(both, 2, 1);
	assert_true(both[0] == 1.0f);
	return both[1];
}

TEST(test_exp)
{
	for (int i = -86999; i <= 0; i += 7) {
		float x = (float)i * 1e-3f;
		double want = exp((double)x);

		assert_near(exp_of(x), want, want * 2 * FLT_EPSILON);
	}
	assert_true(exp_of(0) == 1.0f);
	assert_true(exp_of(-87.5f) == 0.0f);
	assert_true(exp_of(-1e30f) == 0.0f);
	assert_true(exp_of(-INFINITY) == 0.0f);
}

TEST(test_double_functions)
{
	for (int i = -40000; i <= 40000; i++) {
		double x = i * 1e-3, s, c;

		assert_near(assay_generate_exp_f64(x) / exp(x), 1, 1e-15);
		assay_generate_sincos(x * 103.7, &s, &c);
		assert_near(s, sin(x * 103.7), 3e-16);
		assert_near(c, cos(x * 103.7), 3e-16);
	}
}

TEST(test_bf16)
{
	static const struct {
		float x;
		uint16_t want;
	} cases[] = {
		{ 0.0f, 0x0000 },
		{ 1.0f, 0x3f80 },
		{ -2.0f, 0xc000 },
		{ 0x1.01p0f, 0x3f80 },
		/* half way, even below */ { 0x1.03p0f, 0x3f82 }, /* half way, even above */
		{ 0x1.0101p0f, 0x3f81 },
		{ 0x1.00ffp0f, 0x3f80 },
		{ 0x1.ffp0f, 0x4000 },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(assay_bf16_of_f32(cases[i].x), cases[i].want);
	assert_true(assay_f32_of_bf16(0x3f81) == 0x1.02p0f);
}

TEST(test_rmsnorm)
{
	float x[96], gain[96], out[96];
	double sum = 0;

	for (int i = 0; i < 96; i++) {
		x[i] = 3 * noise((uint64_t)i);
		gain[i] = 1 + 0.1f * noise(1000 + (uint64_t)i);
		sum += (double)x[i] * x[i];
	}
	widest()->rmsnorm(x, gain, 96, out);
	for (int i = 0; i < 96; i++)
		assert_near(out[i], x[i] * gain[i] / sqrt(sum / 96 + 1e-5), 2e-6);
	memset(x, 0, sizeof(x));
	widest()->rmsnorm(x, gain, 96, out);
	assert_true(out[0] == 0.0f && out[95] == 0.0f);
}

TEST(test_quantize)
{
	static const float x[16] = { 127,   0.5f,   1.5f, 2.5f, -0.5f, -1.5f, -127, 0.49f,
				     0.51f, 126.4f, 0,    -3,   64,    -64,   1,    -1 };
	static const int8_t want[16] = { 127, 0, 2, 2, 0, -2, -127, 0, 1, 126, 0, -3, 64, -64, 1, -1 };
	float zeros[16] = { 0 }, tiny[16];
	int8_t q[16];

	assert_true(widest()->quantize(x, 16, q) == 1.0f);
	assert_memory_equal(q, want, sizeof(want));
	assert_true(widest()->quantize(zeros, 16, q) == 0.0f);
	assert_memory_equal(q, (const int8_t[16]){ 0 }, sizeof(q));
	for (int i = 0; i < 16; i++)
		tiny[i] = x[i] * 0x1p-60f;
	assert_true(widest()->quantize(tiny, 16, q) == 0x1p-60f);
	assert_memory_equal(q, want, sizeof(want));
}

TEST(test_softmax)
{
	static const int lengths[] = { 1, 2, 3, 4, 5, 15, 16, 17, 64, 100, 101 };

	for (size_t l = 0; l < N_OF(lengths); l++) {
		int n = lengths[l];
		float x[101] = { 0 }, first, sum;
		double max = -INFINITY, want = 0;

		for (int i = 0; i < n; i++) {
			x[i] = 1000 + 5 * noise((uint64_t)i);
			max = fmax(max, x[i]);
		}
		first = x[0];
		for (int i = 0; i < n; i++)
			want += exp((x[i] - max) / 0.8);
		sum = widest()->softmax(x, n, 1.25f);
		assert_near(sum / want, 1, 1e-6);
		assert_near(x[0], exp((first - max) / 0.8), 1e-6);
	}
}

TEST(test_dot_and_weighted_sum)
{
	enum { ROWS = 37, DIM = 96 };
	float a[DIM], w[ROWS], whole[DIM], pieces[DIM], dots[3];
	uint16_t rows[ROWS * DIM];
	double want = 0;

	for (int i = 0; i < DIM; i++)
		a[i] = noise((uint64_t)i);
	for (int i = 0; i < ROWS * DIM; i++)
		rows[i] = assay_bf16_of_f32(noise(5000 + (uint64_t)i));
	for (int i = 0; i < ROWS; i++)
		w[i] = noise(9000 + (uint64_t)i);
	widest()->dots_bf16(a, rows, 3, DIM, dots);
	for (int r = 0; r < 3; r++) {
		want = 0;
		for (int i = 0; i < DIM; i++)
			want += (double)a[i] * assay_f32_of_bf16(rows[r * DIM + i]);
		assert_near(dots[r], want, 1e-5);
	}

	memset(whole, 0, sizeof(whole));
	memset(pieces, 0, sizeof(pieces));
	widest()->weighted_sum(w, rows, ROWS, DIM, whole);
	for (int i = 0; i < ROWS; i += 16)
		widest()->weighted_sum(w + i, rows + i * DIM, ROWS - i < 16 ? ROWS - i : 16, DIM, pieces);
	assert_memory_equal(whole, pieces, sizeof(whole));
	for (int c = 0; c < DIM; c++) {
		want = 0;
		for (int i = 0; i < ROWS; i++)
			want += (double)w[i] * assay_f32_of_bf16(rows[i * DIM + c]);
		assert_near(whole[c], want, 1e-5);
	}
}

/* Every width gives the bits of the narrowest, whatever the length. */
static void compare_tables(const struct gen_vector *t, const struct gen_vector *base, int64_t n)
{
	enum { MAX = 272, ROWS = 5 };
	float x[MAX], y[MAX], got[MAX], want[MAX];
	uint16_t rows[ROWS * MAX], h[2][MAX];
	int8_t q[2][MAX];
	int64_t dim = n - n % 16;

	for (int64_t i = 0; i < n; i++) {
		x[i] = noise(100 + (uint64_t)i) * 3;
		y[i] = noise(900 + (uint64_t)i);
	}
	for (int64_t i = 0; i < ROWS * dim; i++)
		rows[i] = assay_bf16_of_f32(noise(3000 + (uint64_t)i));
#define SAME(want_, got_, bytes) assert_memory_equal(want_, got_, bytes)
	memcpy(got, x, sizeof(got));
	memcpy(want, x, sizeof(want));
	assert_true(t->softmax(got, n, 0.7f) == base->softmax(want, n, 0.7f));
	SAME(want, got, (size_t)n * 4);
	if (!dim)
		return;
	t->rmsnorm(x, y, dim, got);
	base->rmsnorm(x, y, dim, want);
	SAME(want, got, (size_t)dim * 4);
	assert_true(t->quantize(x, dim, q[0]) == base->quantize(x, dim, q[1]));
	SAME(q[1], q[0], (size_t)dim);
	t->dots_bf16(x, rows, ROWS, dim, got);
	base->dots_bf16(x, rows, ROWS, dim, want);
	SAME(want, got, ROWS * 4);
	memcpy(got, y, sizeof(got));
	memcpy(want, y, sizeof(want));
	t->weighted_sum(x, rows, ROWS, dim, got);
	base->weighted_sum(x, rows, ROWS, dim, want);
	t->add(got, x, dim);
	base->add(want, x, dim);
	t->rope(y, dim, got);
	base->rope(y, dim, want);
	SAME(want, got, (size_t)dim * 4);
	t->relu2_gate(x, y, dim, got);
	base->relu2_gate(x, y, dim, want);
	SAME(want, got, (size_t)dim * 4);
	t->to_bf16(x, dim, h[0]);
	base->to_bf16(x, dim, h[1]);
	SAME(h[1], h[0], (size_t)dim * 2);
#undef SAME
}

TEST(test_vector_widths_agree)
{
	const struct gen_vector *best = widest();

	for (int64_t n = 1; n <= 270; n++) {
		compare_tables(best, &assay_generate_vector_base, n);
#if defined(__x86_64__)
		if (__builtin_cpu_supports("avx2"))
			compare_tables(&assay_generate_vector_avx2, &assay_generate_vector_base, n);
#endif
	}
}

/* Never wider than the host says, and as wide as that where the CPU is. */
TEST(test_vector_cap)
{
	struct assay_host_info host = { .size = sizeof(host) };
	uint32_t cpu = widest()->bits;

	assert_ptr_equal(assay_generate_vector(&host), widest());
	for (uint32_t bits = 128; bits <= 1024; bits *= 2) {
		host.vector_bits = bits;
		assert_int_equal(assay_generate_vector(&host)->bits, bits < cpu ? bits : cpu);
	}
	host.vector_bits = 128;
	host.size = offsetof(struct assay_host_info, vector_bits); /* of a harness that does not say */
	assert_ptr_equal(assay_generate_vector(&host), widest());
}

TEST(test_relu2_gate)
{
	static const float gate[16] = { -1, 0, 2, 0.5f }, up[16] = { 3, 3, -3, 4 };
	float out[16];

	widest()->relu2_gate(gate, up, 16, out);
	assert_true(out[0] == 0 && out[1] == 0 && out[2] == -12 && out[3] == 1);
}

static double rotated_dot(int64_t p, int64_t s, const float *q, const float *k)
{
	float row[64], a[64], b[64];
	double dot = 0;

	memcpy(a, q, sizeof(a));
	memcpy(b, k, sizeof(b));
	assay_generate_rope_row(log(500000.0), 64, p, row);
	widest()->rope(row, 64, a);
	assay_generate_rope_row(log(500000.0), 64, s, row);
	widest()->rope(row, 64, b);
	for (int i = 0; i < 64; i++)
		dot += (double)a[i] * b[i];
	return dot;
}

TEST(test_rope)
{
	float row[64], q[64], k[64];

	for (int64_t pos = 0; pos < 4096; pos += 45) {
		assay_generate_rope_row(log(500000.0), 64, pos, row);
		for (int i = 0; i < 32; i++) {
			double angle = (double)pos * pow(500000.0, -2.0 * i / 64);

			assert_near(row[i], cos(angle), 6e-8);
			assert_near(row[32 + i], sin(angle), 6e-8);
		}
	}
	for (int i = 0; i < 64; i++) {
		q[i] = noise((uint64_t)i);
		k[i] = noise(100 + (uint64_t)i);
	}
	/* Only the distance of two positions counts, and it does count. */
	assert_near(rotated_dot(7, 3, q, k), rotated_dot(1007, 1003, q, k), 1e-5);
	assert_true(fabs(rotated_dot(7, 3, q, k) - rotated_dot(7, 4, q, k)) > 1e-3);
}

/* ---- sampling ---- */

static int32_t draw(enum assay_generate_sampler kind, int32_t k, float p, const float *logits, int32_t vocab,
		    int64_t position)
{
	const struct gen_sampling s = {
		.kind = kind, .top_k = k, .top_p = p, .temperature = 0.5f, .seed = 11, .vector = widest()
	};
	float probs[16];
	int32_t heap[16];

	return assay_generate_sample(&s, logits, vocab, position, probs, heap);
}

TEST(test_greedy)
{
	static const float ties[5] = { 1, 4, 4, -2, 4 }, falling[3] = { 3, 2, 1 }, rising[3] = { -3, -2, -1 };

	assert_int_equal(draw(ASSAY_GENERATE_GREEDY, 0, 0, ties, 5, 0), 1);
	assert_int_equal(draw(ASSAY_GENERATE_GREEDY, 0, 0, falling, 3, 0), 0);
	assert_int_equal(draw(ASSAY_GENERATE_GREEDY, 0, 0, rising, 3, 0), 2);
	assert_int_equal(draw(ASSAY_GENERATE_TOPK, 1, 0, ties, 5, 3), 1);
	assert_int_equal(draw(ASSAY_GENERATE_TOPP, 0, 1e-6f, ties, 5, 3), 1);
}

/*
 * Logits that are half of the logarithms of 5, 1, 2, 2 give, at temperature 0.5, those odds. Frequencies over 20,000
 * positions stay within five standard deviations; what is cut off never comes.
 */
TEST(test_sampled_frequencies)
{
	static const struct {
		enum assay_generate_sampler kind;
		int32_t k;
		float p;
		double want[4];
	} cases[] = {
		{ ASSAY_GENERATE_TOPK, 4, 0, { 0.5, 0.1, 0.2, 0.2 } },
		{ ASSAY_GENERATE_TOPK, 99, 0, { 0.5, 0.1, 0.2, 0.2 } },
		{ ASSAY_GENERATE_TOPK,
		  2,
		  0,
		  { 5.0 / 7, 0, 2.0 / 7, 0 } }, /* of equal logits the lower id comes first */
		{ ASSAY_GENERATE_TOPP, 0, 0.45f, { 1, 0, 0, 0 } },
		{ ASSAY_GENERATE_TOPP, 0, 0.65f, { 5.0 / 7, 0, 2.0 / 7, 0 } },
		{ ASSAY_GENERATE_TOPP, 0, 0.85f, { 5.0 / 9, 0, 2.0 / 9, 2.0 / 9 } },
		{ ASSAY_GENERATE_TOPP, 0, 1.0f, { 0.5, 0.1, 0.2, 0.2 } },
	};
	enum { DRAWS = 20000 };
	float logits[4] = { 0.5f * logf(5), 0, 0.5f * logf(2), 0.5f * logf(2) };

	for (size_t i = 0; i < N_OF(cases); i++) {
		int count[4] = { 0 };

		for (int64_t pos = 0; pos < DRAWS; pos++)
			count[draw(cases[i].kind, cases[i].k, cases[i].p, logits, 4, pos)]++;
		for (int j = 0; j < 4; j++)
			assert_near((double)count[j] / DRAWS, cases[i].want[j],
				    5 * sqrt(cases[i].want[j] * (1 - cases[i].want[j]) / DRAWS));
	}
}

TEST(test_draws_depend_on_seed_and_position)
{
	static const float logits[4] = { 0, 0, 0, 0 };
	int32_t same = 0;

	for (int64_t pos = 0; pos < 100; pos++) {
		struct gen_sampling s = {
			.kind = ASSAY_GENERATE_TOPK, .top_k = 4, .temperature = 1, .seed = 11, .vector = widest()
		};
		float probs[4];
		int32_t heap[4], first;
		float u = assay_uniform_f32(assay_random4(11, ASSAY_GENERATE_SAMPLER_STREAM, (uint64_t)pos).v[0]);

		first = assay_generate_sample(&s, logits, 4, pos, probs, heap);
		assert_int_equal(first, (int32_t)(u * 4));
		s.seed = 12;
		same += first == assay_generate_sample(&s, logits, 4, pos, probs, heap);
	}
	assert_in_range(same, 5, 50);
}

UNIT_GROUP(NULL, NULL)
