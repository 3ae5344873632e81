/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.ternary and matmul.f32: variants against each other and the oracle, oracles against wrong outputs, the format.
 */
#include "mini_host.h"

#include <dirent.h>
#include <math.h>

#include "assay/op_matmul.h"
#include "machine/cpu_features.h"

#define N_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

static bool can_run(const char *op, const char *variant)
{
	const struct assay_variant *v = mini_variant(op, variant);
	struct assay_reason why;
	char missing[64];

	return v && assay_cpu_has_all(v->needs, missing, sizeof(missing)) && !(v->supports && v->supports(NULL, &why));
}

static struct mini_case *new_case(const char *op, const char *variant, int64_t m, int64_t k, int64_t n,
				  uint32_t threads)
{
	char axes[128];

	snprintf(axes, sizeof(axes), "m=%lld,k=%lld,n=%lld", (long long)m, (long long)k, (long long)n);
	return mini_new(op, variant, axes,
			&(struct mini_options){ .n_threads = threads, .seed = (uint64_t)(m + k + n) });
}

static void *data_of(struct mini_case *c, uint32_t tensor)
{
	return c->tensors[tensor].data;
}

/* ---- matmul.ternary ---- */

enum inputs { SEEDED, ALL_PLUS, ALL_MINUS, N_INPUTS };

static void fill_with(struct mini_case *c, enum inputs how)
{
	mini_fill(c);
	if (how == SEEDED)
		return;
	memset(data_of(c, ASSAY_TERNARY_W), 0xaa, c->tensors[ASSAY_TERNARY_W].bytes);
	memset(data_of(c, ASSAY_TERNARY_X), how == ALL_PLUS ? 127 : -127, c->tensors[ASSAY_TERNARY_X].bytes);
}

static void compare_with_ref(int64_t m, int64_t k, int64_t n, uint32_t threads, enum inputs how)
{
	struct mini_case *ref = new_case("matmul.ternary", "ref", m, k, n, 1);
	struct mini_case *fast = new_case("matmul.ternary", "avx2", m, k, n, threads);
	uint64_t bytes = ref->tensors[ASSAY_TERNARY_Y].bytes;

	fill_with(ref, how);
	fill_with(fast, how);
	mini_run(ref);
	mini_run(fast);
	if (memcmp(data_of(ref, ASSAY_TERNARY_Y), data_of(fast, ASSAY_TERNARY_Y), bytes))
		fail_msg("m=%lld k=%lld n=%lld threads=%u inputs=%d differ", (long long)m, (long long)k, (long long)n,
			 threads, how);
	mini_check(ref);
	mini_check(fast);
	mini_free(ref);
	mini_free(fast);
}

static void test_ternary_avx2_is_ref(void **state)
{
	static const int64_t ms[] = { 1, 2, 3, 4, 5, 7, 15, 17, 33, 70 }, ks[] = { 128, 256, 384, 1152 };

	(void)state;
	if (!can_run("matmul.ternary", "avx2"))
		skip();
	for (size_t m = 0; m < N_ELEMENTS(ms); m++)
		for (size_t k = 0; k < N_ELEMENTS(ks); k++)
			for (int64_t n = 1; n <= 17; n++)
				compare_with_ref(ms[m], ks[k], n, (uint32_t)(1 + (m + (size_t)n) % 3), SEEDED);
}

/* Narrow sums overflow only after dozens of blocks at full scale, around the places where they are widened. */
static void test_ternary_extremes(void **state)
{
	static const int64_t ks[] = { 1920, 2048, 2176, 4096, 4224, 14336 };

	(void)state;
	if (!can_run("matmul.ternary", "avx2"))
		skip();
	for (size_t k = 0; k < N_ELEMENTS(ks); k++)
		for (int64_t n = 1; n <= 7; n++)
			for (int how = 0; how < N_INPUTS; how++)
				compare_with_ref(9, ks[k], n, (uint32_t)(1 + n % 3), (enum inputs)how);
	compare_with_ref(37, 256, 150, 2, SEEDED); /* several blocks of tokens */
}

/* Each weight on its own: where it lies in the format, and its sign. */
static void test_ternary_format(void **state)
{
	static const char *const variants[] = { "ref", "avx2" };

	(void)state;
	for (size_t v = 0; v < N_ELEMENTS(variants); v++) {
		struct mini_case *c;
		uint8_t *w;
		int8_t *x;
		float *y;

		if (!can_run("matmul.ternary", variants[v]))
			continue;
		c = new_case("matmul.ternary", variants[v], 1, 256, 1, 1);
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
				mini_run(c);
				assert_true(y[0] == (float)(code - 1) * (float)x[i] * 0.125f);
				mini_check(c);
			}
		}
		mini_free(c);
	}
}

/* A composite op prepares once and runs with other buffers and fewer tokens. */
static void test_ternary_composite(void **state)
{
	enum { M = 40, K = 384, N = 6 };
	static const char *const variants[] = { "ref", "avx2" };

	(void)state;
	for (size_t v = 0; v < N_ELEMENTS(variants); v++) {
		struct mini_case *c;
		static int8_t x[N * K];
		float x_scale[N], y[N * M + 1];

		if (!can_run("matmul.ternary", variants[v]))
			continue;
		c = new_case("matmul.ternary", variants[v], M, K, N, 2);
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

static void expect_wrong(struct mini_case *c, uint32_t tensor, int64_t index)
{
	struct assay_check got = mini_try_check(c);

	assert_int_equal(got.correct, 0);
	assert_int_equal(got.first_bad, index);
	assert_string_equal(got.tensor, c->problem.tensors[tensor].name);
	assert_non_null(strstr(got.reason.text, "want"));
}

/* Single bits of single elements, in a problem that is computed again and in one that is checked by Freivalds' test. */
static void test_ternary_flips(void **state)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = { { 33, 256, 5 }, { 2570, 1280, 90 } };
	const char *variant = can_run("matmul.ternary", "avx2") ? "avx2" : "ref";

	(void)state;
	for (size_t s = 0; s < N_ELEMENTS(shapes); s++) {
		struct mini_case *c = new_case("matmul.ternary", variant, shapes[s].m, shapes[s].k, shapes[s].n, 2);
		int64_t count = shapes[s].m * shapes[s].n;
		const int64_t where[] = { 0, 1, count / 2, count - 2, count - 1 };
		uint32_t *y = data_of(c, ASSAY_TERNARY_Y);

		mini_fill(c);
		mini_run(c);
		mini_check(c);
		for (size_t i = 0; i < N_ELEMENTS(where); i++) {
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
static void test_ternary_wrong_sums(void **state)
{
	const char *variant = can_run("matmul.ternary", "avx2") ? "avx2" : "ref";
	struct mini_case *c = new_case("matmul.ternary", variant, 2570, 1280, 90, 2);
	const int64_t m = 2570, n = 90;
	float *y = data_of(c, ASSAY_TERNARY_Y);
	const float *x_scale = data_of(c, ASSAY_TERNARY_X_SCALE);
	float w_scale;

	(void)state;
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

static void test_ternary_fill(void **state)
{
	enum { M = 65, K = 1280, N = 7 };
	struct mini_case *one = new_case("matmul.ternary", "ref", M, K, N, 1);
	struct mini_case *three = new_case("matmul.ternary", "ref", M, K, N, 3);
	uint64_t counts[4] = { 0 };
	const uint8_t *w = data_of(one, ASSAY_TERNARY_W);
	const int8_t *x = data_of(one, ASSAY_TERNARY_X);

	(void)state;
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

static void test_ternary_shapes(void **state)
{
	struct assay_problem p;
	struct assay_reason why;

	(void)state;
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

static const char *const f32_variants[] = { "ref", "blocked", "openblas" };

static void test_f32_variants(void **state)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = {
		{ 1, 1, 1 },    { 2, 3, 1 },     { 5, 7, 3 },      { 17, 255, 2 },
		{ 70, 257, 9 }, { 129, 300, 1 }, { 64, 1030, 17 },
	};

	(void)state;
	for (size_t v = 0; v < N_ELEMENTS(f32_variants); v++) {
		if (!can_run("matmul.f32", f32_variants[v]))
			continue;
		for (size_t s = 0; s < N_ELEMENTS(shapes); s++) {
			for (uint32_t threads = 1; threads <= 3; threads++) {
				struct mini_case *c = new_case("matmul.f32", f32_variants[v], shapes[s].m, shapes[s].k,
							       shapes[s].n, threads);
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

/* The oracle by hand: whole numbers, so every sum is exact. */
static void test_f32_values(void **state)
{
	(void)state;
	for (size_t v = 0; v < N_ELEMENTS(f32_variants); v++) {
		struct mini_case *c;
		float *w, *x;
		const float *y;

		if (!can_run("matmul.f32", f32_variants[v]))
			continue;
		c = new_case("matmul.f32", f32_variants[v], 2, 3, 2, 1);
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

static void test_f32_wrong(void **state)
{
	static const struct {
		int64_t m, k, n;
	} shapes[] = { { 33, 256, 5 }, { 1500, 512, 120 } }; /* all in double; rows in double and groups of tokens */

	(void)state;
	for (size_t s = 0; s < N_ELEMENTS(shapes); s++) {
		struct mini_case *c = new_case("matmul.f32", "blocked", shapes[s].m, shapes[s].k, shapes[s].n, 2);
		int64_t count = shapes[s].m * shapes[s].n;
		const int64_t where[] = { 0, count / 2 + 1, count - 1 };
		float *y = data_of(c, ASSAY_MATMUL_F32_Y);

		mini_fill(c);
		mini_run(c);
		mini_check(c);
		for (size_t i = 0; i < N_ELEMENTS(where); i++) {
			float keep = y[where[i]];
			const float wrong[] = { keep + 40, NAN, INFINITY, -1e30f };

			for (size_t j = 0; j < N_ELEMENTS(wrong); j++) {
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

static int count_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	assert_non_null(d);
	for (const struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* OpenBLAS brings no threads of its own, and leaves the environment as it was. */
static void test_openblas_threads(void **state)
{
	int before = count_threads();
	struct mini_case *c;

	(void)state;
	unsetenv("OPENBLAS_NUM_THREADS");
	if (!can_run("matmul.f32", "openblas"))
		skip();
	c = new_case("matmul.f32", "openblas", 512, 512, 64, 2);
	mini_fill(c);
	mini_run(c);
	assert_int_equal(count_threads(), before);
	assert_null(getenv("OPENBLAS_NUM_THREADS"));
	mini_check(c);
	mini_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_openblas_threads),   cmocka_unit_test(test_ternary_avx2_is_ref),
		cmocka_unit_test(test_ternary_extremes),   cmocka_unit_test(test_ternary_format),
		cmocka_unit_test(test_ternary_composite),  cmocka_unit_test(test_ternary_flips),
		cmocka_unit_test(test_ternary_wrong_sums), cmocka_unit_test(test_ternary_fill),
		cmocka_unit_test(test_ternary_shapes),     cmocka_unit_test(test_f32_variants),
		cmocka_unit_test(test_f32_values),         cmocka_unit_test(test_f32_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
