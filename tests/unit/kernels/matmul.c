/* SPDX-License-Identifier: Apache-2.0 */
/* The oracles of the matmul ops against wrong outputs, their inputs, and the variants of matmul.f32. */
#include "matmul_fixture.h"

#include <math.h>

/* ---- matmul.ternary ---- */

/* Single bits of single elements, in a problem that is computed again and in one that is checked by Freivalds' test. */
TEST(test_ternary_flips)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = { { 33, 256, 5 }, { 2570, 1280, 90 } };
	const char *variant = fastest();

	for (size_t s = 0; s < N_OF(shapes); s++) {
		struct mini_case *c = new_case("matmul.ternary", variant, shapes[s].m, shapes[s].k, shapes[s].n, 2);
		int64_t count = shapes[s].m * shapes[s].n;
		const int64_t where[] = { 0, 1, count / 2, count - 2, count - 1 };
		uint32_t *y = data_of(c, ASSAY_TERNARY_Y);

		mini_fill(c);
		mini_run(c);
		mini_check(c);
		for (size_t i = 0; i < N_OF(where); i++) {
			for (unsigned bit = 0; bit < 32; bit += s ? 15 : 1) {
				y[where[i]] ^= 1u << bit;
				expect_wrong(c, ASSAY_TERNARY_Y, where[i]);
				y[where[i]] ^= 1u << bit;
			}
		}
		mini_free(c);
	}
}

/* Wrong sums that are the image of an integer: only the sum over the row shows them. */
TEST(test_ternary_wrong_sums)
{
	const char *variant = fastest();
	struct mini_case *c = new_case("matmul.ternary", variant, 2570, 1280, 90, 2);
	const int64_t m = 2570, n = 90;
	float *y = data_of(c, ASSAY_TERNARY_Y);
	const float *x_scale = data_of(c, ASSAY_TERNARY_X_SCALE);
	float w_scale;

	mini_fill(c);
	mini_run(c);
	w_scale = *(const float *)data_of(c, ASSAY_TERNARY_W_SCALE);
	for (int64_t row = 1000; row < 1004; row++) {
		for (int64_t t = 0; t < n; t += 29) {
			float scale = w_scale * x_scale[t], keep = y[t * m + row];

			y[t * m + row] = (float)(rintf(keep / scale) + 1) * scale;
			expect_wrong(c, ASSAY_TERNARY_Y, t * m + row);
			y[t * m + row] = keep;
		}
	}
	/* two errors in one row that cancel in its plain sum */
	for (int64_t t = 5; t <= 6; t++) {
		float scale = w_scale * x_scale[t];

		y[t * m + 77] = (float)(rintf(y[t * m + 77] / scale) + (t == 5 ? 1 : -1)) * scale;
	}
	expect_wrong(c, ASSAY_TERNARY_Y, 5 * m + 77);
	mini_run(c);
	mini_check(c);
	memset(y, 0, sizeof(*y) * (size_t)(m * n)); /* nothing written, or all zero */
	assert_int_equal(mini_try_check(c).correct, 0);
	mini_free(c);
}

TEST(test_ternary_fill)
{
	enum { M = 65, K = 1280, N = 7 };
	struct mini_case *one = new_case("matmul.ternary", "ref", M, K, N, 1);
	struct mini_case *three = new_case("matmul.ternary", "ref", M, K, N, 3);
	uint64_t counts[4] = { 0 };
	const uint8_t *w = data_of(one, ASSAY_TERNARY_W);
	const int8_t *x = data_of(one, ASSAY_TERNARY_X);

	mini_fill(one);
	mini_fill(three);
	for (uint32_t i = 0; i < ASSAY_TERNARY_Y; i++)
		assert_memory_equal(data_of(one, i), data_of(three, i), one->tensors[i].bytes);
	for (int64_t row = 0; row < M; row++)
		for (int64_t i = 0; row != M - 1 && row != M / 2 && i < K / 4; i++)
			for (int bits = 0; bits < 8; bits += 2)
				counts[w[row * (K / 4) + i] >> bits & 3]++;
	assert_int_equal(counts[3], 0);
	for (int code = 0; code < 3; code++) {
		double share = (double)counts[code] / ((M - 2) * (double)K), want = code == 1 ? 0.5 : 0.25;

		assert_true(fabs(share - want) < 0.01);
	}
	for (int64_t i = 0; i < N * K; i++)
		assert_true(x[i] >= -127);
	for (int64_t i = 0; i < K; i++)
		assert_true(x[(N - 1) * K + i] == 127 && x[(N - 2) * K + i] == -127);
	mini_free(one);
	mini_free(three);
}

TEST(test_ternary_shapes)
{
	struct assay_problem p;
	struct assay_reason why;

	assert_int_equal(mini_try_describe("matmul.ternary", "m=3,k=256,n=2", &p, &why), 0);
	assert_true(p.cost.ops == 2.0 * 3 * 256 * 2);
	assert_true(p.cost.bytes_read == 3 * 64 + 2 * 256 + 4 * 3);
	assert_true(p.cost.bytes_written == 4 * 3 * 2);
	assert_true(mini_try_describe("matmul.ternary", "m=3,k=200", &p, &why) < 0);
	assert_non_null(strstr(why.text, "k=200 is not a multiple of 128"));
	assert_true(mini_try_describe("matmul.ternary", "m=1,k=16909440", &p, &why) < 0);
	assert_non_null(strstr(why.text, "overflow"));
	assert_int_equal(mini_try_describe("matmul.ternary", "m=1,k=16909312", &p, &why), 0);
}

/* ---- matmul.f32 ---- */

TEST(test_f32_variants)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = {
		{ 1, 1, 1 },    { 2, 3, 1 },     { 5, 7, 3 },      { 17, 255, 2 },
		{ 70, 257, 9 }, { 129, 300, 1 }, { 64, 1030, 17 },
	};

	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		if (!mini_can_run("matmul.f32", mini_variant_names()->v[v]))
			continue;
		for (size_t s = 0; s < N_OF(shapes); s++) {
			for (uint32_t threads = 1; threads <= 3; threads++) {
				struct mini_case *c = new_case("matmul.f32", mini_variant_names()->v[v], shapes[s].m,
							       shapes[s].k, shapes[s].n, threads);
				struct assay_check got;

				mini_fill(c);
				mini_run(c);
				mini_check(c);
				got = mini_try_check(c);
				assert_true(got.max_rel_err >= 0 && got.max_rel_err < 1e-4);
				mini_free(c);
			}
		}
	}
}

/* Long calls of blocked are made in parts, of which the last one is shorter. */
TEST(test_f32_parts)
{
	for (uint32_t threads = 1; threads <= 2; threads++) {
		struct mini_case *c = new_case("matmul.f32", "blocked", 2203, 256, 260, threads);

		mini_fill(c);
		mini_run(c);
		mini_check(c);
		mini_free(c);
	}
}

/* The oracle by hand: whole numbers, so every sum is exact. */
TEST(test_f32_values)
{
	for (size_t v = 0; v < mini_variant_names()->n; v++) {
		struct mini_case *c;
		float *w, *x;
		const float *y;

		if (!mini_can_run("matmul.f32", mini_variant_names()->v[v]))
			continue;
		c = new_case("matmul.f32", mini_variant_names()->v[v], 2, 3, 2, 1);
		w = data_of(c, ASSAY_MATMUL_F32_W);
		x = data_of(c, ASSAY_MATMUL_F32_X);
		y = data_of(c, ASSAY_MATMUL_F32_Y);
		memcpy(w, (const float[]){ 1, 2, 3, 4, 5, 6 }, 6 * sizeof(*w));
		memcpy(x, (const float[]){ 7, 8, 9, -1, 0, 1 }, 6 * sizeof(*x));
		mini_run(c);
		assert_true(y[0] == 50 && y[1] == 122 && y[2] == 2 && y[3] == 2);
		assert_true(mini_try_check(c).max_rel_err == 0);
		mini_free(c);
	}
}

TEST(test_f32_wrong)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = { { 33, 256, 5 }, { 1500, 512, 120 } }; /* all in double; rows in double and groups of tokens */

	for (size_t s = 0; s < N_OF(shapes); s++) {
		struct mini_case *c = new_case("matmul.f32", "blocked", shapes[s].m, shapes[s].k, shapes[s].n, 2);
		int64_t count = shapes[s].m * shapes[s].n;
		const int64_t where[] = { 0, count / 2 + 1, count - 1 };
		float *y = data_of(c, ASSAY_MATMUL_F32_Y);

		mini_fill(c);
		mini_run(c);
		mini_check(c);
		for (size_t i = 0; i < N_OF(where); i++) {
			float keep = y[where[i]];
			const float wrong[] = { keep + 40, NAN, INFINITY, -1e30f };

			for (size_t j = 0; j < N_OF(wrong); j++) {
				y[where[i]] = wrong[j];
				expect_wrong(c, ASSAY_MATMUL_F32_Y, where[i]);
			}
			if (!s) {
				y[where[i]] = keep + 0.1f; /* gamma · Σ|w||x| is below 0.01 here */
				expect_wrong(c, ASSAY_MATMUL_F32_Y, where[i]);
			}
			y[where[i]] = keep;
		}
		memset(y, 0, sizeof(*y) * (size_t)count);
		assert_int_equal(mini_try_check(c).correct, 0);
		mini_free(c);
	}
}

UNIT_GROUP(NULL, NULL)
