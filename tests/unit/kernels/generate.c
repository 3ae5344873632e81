/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generate ops as the harness sees them, on the tiny model: the same bits whatever the threads, the matmul variant
 * and the batch; an oracle that finds sabotage.
 */
#include <math.h>

#include "assay/float_bits.h"
#include "assay/op_matmul.h"
#include "assay/random.h"
#include "bench/generate/generate_head.c"
#include "bench/generate/generate_math.c"
#include "bench/generate/generate_model.h"
#include "bench/generate/generate_prefix.c"
#include "bench/generate/generate_sampler.c"
#include "bench/generate/generate_vector.h"
#include "bench/generate_ops.h"
#include "generate_fixture.h"
#include "unit.h"

/* ---- a matmul variant of the test's own ---- */

static int n_prepared, n_released; /* by the variant below */

static int32_t plain_dot(const uint8_t *w, const int8_t *x, int64_t k)
{
	int32_t sum = 0;

	for (int64_t block = 0; block < k / ASSAY_I2S_BLOCK; block++, w += ASSAY_I2S_BLOCK_BYTES, x += ASSAY_I2S_BLOCK)
		for (int j = 0; j < 32; j++)
			sum += ((w[j] >> 6) - 1) * x[j] + ((w[j] >> 4 & 3) - 1) * x[j + 32] +
			       ((w[j] >> 2 & 3) - 1) * x[j + 64] + ((w[j] & 3) - 1) * x[j + 96];
	return sum;
}

static int plain_prepare(struct assay_job *job)
{
	job->state = job->host->alloc(job, 64);
	n_prepared++;
	return job->state ? 0 : -1;
}

static void plain_release(struct assay_job *job)
{
	job->host->release(job, job->state);
	n_released++;
}

static int plain_run(struct assay_job *job)
{
	int64_t m = job->shape->axis[ASSAY_MATMUL_M], k = job->shape->axis[ASSAY_MATMUL_K];
	int64_t n = job->shape->axis[ASSAY_MATMUL_N];
	const uint8_t *w = job->tensors[ASSAY_TERNARY_W].data;
	const int8_t *x = job->tensors[ASSAY_TERNARY_X].data;
	const float *w_scale = job->tensors[ASSAY_TERNARY_W_SCALE].data,
		    *x_scale = job->tensors[ASSAY_TERNARY_X_SCALE].data;
	float *y = job->tensors[ASSAY_TERNARY_Y].data;

	assert_non_null(job->state);
	assert_int_equal(job->n_tensors, ASSAY_TERNARY_N_TENSORS);
	assert_int_equal(job->tensors[ASSAY_TERNARY_W].bytes, m * k / 4);
	assert_int_equal(job->tensors[ASSAY_TERNARY_Y].bytes, n * m * 4);
	assert_int_equal(job->tensors[ASSAY_TERNARY_X].spec->dims[0], n);
	assay_counter(job, ASSAY_WORK_CPU_OPS, 1000); /* counters of matmul.ternary are not those of generate */
	assay_counter(job, ASSAY_WORK_FALLBACKS, 1);  /* but for this one */
	for (int64_t t = 0; t < n; t++)
		for (int64_t r = 0; r < m; r++)
			y[t * m + r] = (float)plain_dot(w + r * (k / 4), x + t * k, k) * (w_scale[0] * x_scale[t]);
	return 0;
}

static const struct assay_variant plain = {
	.op = "matmul.ternary",
	.name = "plain",
	.prepare = plain_prepare,
	.run = plain_run,
	.release = plain_release,
};

static void assert_same_outputs(const struct mini_case *a, const struct mini_case *b)
{
	for (uint32_t i = 0; i < a->problem.n_tensors; i++) {
		if (a->problem.tensors[i].role != ASSAY_OUTPUT)
			continue;
		assert_int_equal(a->tensors[i].bytes, b->tensors[i].bytes);
		if (memcmp(a->tensors[i].data, b->tensors[i].data, a->tensors[i].bytes))
			fail_msg("'%s' differs", a->problem.tensors[i].name);
	}
}

/* ---- correctness ---- */

TEST(test_oracle_agrees)
{
	for (size_t i = 0; i < N_OPS; i++) {
		for (uint64_t seed = 0; seed < 3; seed++) {
			struct mini_case *c = open_case(ops[i][0], ops[i][1], 1 + (uint32_t)seed, seed);
			struct assay_check k;

			mini_run(c);
			mini_check(c);
			mini_run(c);
			k = mini_try_check(c);
			assert_true(k.correct);
			assert_in_range((int64_t)(k.max_rel_err * 1e9), 1, 10000);
			mini_free(c);
		}
	}
}

TEST(test_same_bits)
{
	for (size_t i = 0; i < N_OPS; i++) {
		struct mini_case *a = open_case(ops[i][0], ops[i][1], 1, 5);

		mini_run(a);
		for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
			struct mini_options o = { .n_threads = n_threads,
						  .seed = 5,
						  .offset_bytes = 4 * (n_threads - 1) };
			struct mini_case *b = mini_new(ops[i][0], n_threads == 3 ? fast() : "ref", ops[i][1], &o);

			mini_fill(b);
			if (n_threads == 2)
				b->job.kernel = &plain;
			mini_run(b);
			assert_same_outputs(a, b);
			mini_free(b);
		}
		mini_free(a);
	}
}

/* Logits of one prompt, read in steps of any size or partly generated, are the same bits. */
TEST(test_batch_does_not_matter)
{
	static const char *const batches[] = { "model=tiny,pp=30,batch=512", "model=tiny,pp=30,batch=7",
					       "model=tiny,pp=30,batch=1" };
	struct mini_case *d = open_case("generate.decode", "model=tiny,pp=20,tg=10", 2, 9);

	mini_run(d);
	for (size_t i = 0; i < 3; i++) {
		struct mini_case *p = open_case("generate.prefill", batches[i], 1 + (uint32_t)i, 9);
		int32_t *prompt = p->tensors[ASSAY_GENERATE_T_PROMPT].data;

		assert_memory_equal(prompt, d->tensors[ASSAY_GENERATE_T_PROMPT].data, 20 * sizeof(*prompt));
		memcpy(prompt + 20, tokens_of(d), 10 * sizeof(*prompt));
		mini_run(p);
		mini_check(p);
		assert_int_equal(tokens_of(p)[0], tokens_of(d)[10]);
		assert_memory_equal(p->tensors[ASSAY_GENERATE_T_LOGITS].data, d->tensors[ASSAY_GENERATE_T_LOGITS].data,
				    p->tensors[ASSAY_GENERATE_T_LOGITS].bytes);
		mini_free(p);
	}
	mini_free(d);
}

/* ---- sabotage ---- */

enum sabotage { ZEROS, ONE_ELEMENT, ONE_UNIT, LAST_TOKEN, WRONG_SCALE, SWAPPED_ROWS, HALF_K };

static enum sabotage sabotage;
static int64_t sabotaged_m; /* output rows of the matrices it happens in */

static int sabotaged_run(struct assay_job *job)
{
	int64_t m = job->shape->axis[ASSAY_MATMUL_M], n = job->shape->axis[ASSAY_MATMUL_N], last = (n - 1) * m;
	float *y = job->tensors[ASSAY_TERNARY_Y].data, t;
	int rc = plain_run(job);

	if (m != sabotaged_m)
		return rc;
	switch (sabotage) {
	case ZEROS:
		memset(y, 0, (size_t)(n * m) * sizeof(*y));
		break;
	case ONE_ELEMENT:
		y[m / 2] += 1.0f;
		break;
	case ONE_UNIT: /* one in the last place of one output */
		y[last + 3] = nextafterf(y[last + 3], 100.0f);
		break;
	case LAST_TOKEN:
		memset(y + last, 0, (size_t)m * sizeof(*y));
		break;
	case WRONG_SCALE:
		for (int64_t i = 0; i < n * m; i++)
			y[i] *= 1.0001f;
		break;
	case SWAPPED_ROWS:
		t = y[last];
		y[last] = y[last + 1];
		y[last + 1] = t;
		break;
	case HALF_K:
		for (int64_t i = 0; i < n * m; i++)
			y[i] *= 0.5f;
		break;
	}
	return rc;
}

TEST(test_sabotage_is_found)
{
	static const int64_t rows[] = { 128, 256, 512 }; /* k and v; q, o and down; gate and up */
	static const size_t of_each_kind[] = { 0, 1,
					       4 }; /* of ops[]: what samples and caches differently is checked alike */
	struct assay_variant broken = plain;

	broken.run = sabotaged_run;
	for (size_t i = 0; i < N_OF(of_each_kind); i++) {
		const char *const *op = ops[of_each_kind[i]];
		struct mini_case *c = open_case(op[0], op[1], 2, 3);

		c->job.kernel = &broken;
		for (sabotage = ZEROS; sabotage <= HALF_K; sabotage++) {
			struct assay_check k;

			sabotaged_m = rows[sabotage % 3];
			assert_int_equal(mini_try_run(c), 0);
			k = mini_try_check(c);
			if (k.correct)
				fail_msg("sabotage %d of %s was not found", (int)sabotage, op[0]);
			assert_string_equal(k.tensor, "trace_f32");
			assert_true(k.first_bad >= 0 && k.reason.text[0]);
		}
		mini_free(c);
	}
}

/* Errors outside the matrices: each change of one output or of the cache after a right run. */
TEST(test_corruption_is_found)
{
	static const struct {
		int tensor;
		int64_t byte;
		uint8_t flip;
	} cases[] = {
		{ ASSAY_GENERATE_T_TOKENS, 4, 1 },      /* another token, the sequence changes */
		{ ASSAY_GENERATE_T_TOKENS, 12 * 4, 1 }, /* the last one, which nothing follows */
		{ ASSAY_GENERATE_T_TOKENS, 7, 0x80 },   /* out of range */
		{ ASSAY_GENERATE_T_LOGITS, 403, 0x40 },
		{ ASSAY_GENERATE_T_TRACE_I8, 1000, 2 },
		{ ASSAY_GENERATE_T_TRACE_F32, 4001, 1 },
		{ ASSAY_GENERATE_T_TRACE_LAST, 800, 1 },
		{ ASSAY_GENERATE_T_TRACE_LAST, 256 * 4 + 803, 1 },
		{ ASSAY_GENERATE_T_KV, 64 * 2 * 3 + 1, 0x40 },                   /* a key of the prompt, first layer */
		{ ASSAY_GENERATE_T_KV, 64 * 2 * 32 * 4 + 64 * 2 * 5 + 1, 0x40 }, /* of the second layer */
	};

	struct mini_case *c = open_case("generate.decode", "model=tiny,pp=20,tg=12", 1, 3);

	mini_run(c);
	mini_check(c);
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint8_t *at = (uint8_t *)c->tensors[cases[i].tensor].data + cases[i].byte;

		assert_true((uint64_t)cases[i].byte < c->tensors[cases[i].tensor].bytes);
		*at ^= cases[i].flip;
		if (mini_try_check(c).correct)
			fail_msg("corruption %zu was not found", i);
		*at ^= cases[i].flip;
		mini_check(c);
	}
	mini_free(c);
}

static int failing_run(struct assay_job *job)
{
	return (job->host->fail)(job, "no luck");
}

static int failing_prepare(struct assay_job *job)
{
	return n_prepared == 5 ? (job->host->fail)(job, "no memory left") : plain_prepare(job);
}

static int refuse(const struct assay_shape *shape, struct assay_reason *why)
{
	snprintf(why->text, sizeof(why->text), "k=%lld is odd", (long long)shape->axis[ASSAY_MATMUL_K]);
	return -1;
}

TEST(test_kernel_failures)
{
	struct assay_variant v = plain;
	struct mini_case *c;

	v.run = failing_run;
	c = open_case("generate.prefill", "model=tiny", 1, 0);
	c->job.kernel = &v;
	assert_true(mini_try_run(c) < 0);
	assert_string_equal(c->reason.text, "no luck");
	mini_free(c);

	c = open_case("generate.decode", "model=tiny", 1, 0);
	c->job.kernel = &v;
	assert_true(mini_try_run(c) < 0);
	mini_free(c);

	n_prepared = n_released = 0;
	v.prepare = failing_prepare;
	c = open_case("generate.prefill", "model=tiny", 1, 0);
	c->job.kernel = &v;
	assert_true(mini_try_run(c) < 0);
	assert_int_equal(n_released, 5);
	mini_free(c);

	v.supports = refuse;
	c = open_case("generate.prefill", "model=tiny", 1, 0);
	c->job.kernel = &v;
	assert_true(mini_try_run(c) < 0);
	assert_non_null(strstr(c->reason.text, "k=256 is odd"));
	mini_free(c);
}

/* ---- memory ---- */

static uint64_t allocated_bytes;
static int n_allocations;

static void *counting_alloc(const struct assay_job *job, uint64_t bytes)
{
	allocated_bytes += bytes;
	n_allocations++;
	return mini_alloc(job, bytes);
}

TEST(test_memory_is_declared)
{
	for (size_t i = 0; i < N_OPS; i++) {
		struct mini_case *c = mini_new(ops[i][0], "ref", ops[i][1], NULL); /* itself it allocates nothing */
		int before;

		allocated_bytes = 0;
		c->host.alloc = counting_alloc;
		mini_fill(c);
		mini_run(c);
		assert_in_range(c->problem.extra_bytes - allocated_bytes, 0, 3 * 64);
		before = n_allocations;
		assert_int_equal(c->variant->run(&c->job), 0);
		assert_int_equal(n_allocations, before);
		mini_free(c);
	}
}

TEST(test_each_matrix_is_prepared_once)
{
	struct mini_case *c = open_case("generate.decode", "model=tiny", 1, 0);

	n_prepared = n_released = 0;
	c->job.kernel = &plain;
	mini_run(c);
	mini_run(c);
	assert_int_equal(n_prepared, 14);
	/* 64 tokens in each run; the prompt is read before */
	assert_int_equal(c->counters[ASSAY_GENERATE_FALLBACKS], 2 * 64 * 14);
	assert_int_equal(c->counters[ASSAY_GENERATE_KV_LOOKUPS], 0);
	mini_free(c);
	assert_int_equal(n_released, 14);
}

/* ---- shapes ---- */

TEST(test_describe)
{
	static const struct {
		const char *op, *axes;
		int64_t weight_bytes, embedding_elements;
	} cases[] = {
		{ "generate.prefill", "model=tiny", 294912, 512 * 256 },
		{ "generate.decode", "model=125m", 21233664, 32000 * 768 },
		{ "generate.decode", "model=700m", 169869312, 2 * 32002 * 1536 },
		{ "generate.prefill", "model=2b,pp=512", 521011200, (int64_t)128256 * 2560 },
	};
	struct assay_problem p;
	struct assay_reason why;

	for (size_t i = 0; i < N_OF(cases); i++) {
		const int64_t *e = p.tensors[ASSAY_GENERATE_T_EMBEDDING].dims;

		assert_int_equal(mini_try_describe(cases[i].op, cases[i].axes, &p, &why), 0);
		assert_int_equal(p.tensors[ASSAY_GENERATE_T_WEIGHTS].dims[0], cases[i].weight_bytes);
		assert_int_equal(e[0] * e[1] * e[2], cases[i].embedding_elements);
	}
	/* Two operations for each of 2.084e9 ternary weights and 512 tokens; attention and one row of the head come on
	 * top. */
	assert_true(p.cost.items == 512 && p.cost.ops > 2.0 * 2084044800 * 512 && p.cost.ops < 2.2 * 2084044800 * 512);

	assert_true(mini_try_describe("generate.prefill", "model=tiny,pp=1025", &p, &why) < 0);
	assert_string_equal(why.text, "1025 tokens are more than the context of model tiny, 1024");
	assert_true(mini_try_describe("generate.decode", "model=tiny,pp=1000,tg=25", &p, &why) < 0);
	assert_int_equal(mini_try_describe("generate.decode", "model=tiny,pp=1000,tg=24", &p, &why), 0);
	assert_true(mini_try_describe("generate.prefill", "model=nano,pp=1,head=q6_k", &p, &why) < 0);
	assert_string_equal(why.text,
			    "model nano cannot have the head q6_k: a row has 128 values, not a multiple of 256");
	assert_true(mini_try_describe("generate.chat", "model=tiny,kv_blocks=11", &p, &why) < 0);
	assert_string_equal(why.text, "kv_blocks=11 cannot hold a sequence of 192 tokens; take 12 or more");
}

/* ---- generate parts ---- */

/* The parts of the generate driver one by one: float kernels against libm in double, and sampling. */

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

/* Heads that attend together have the bits of one alone: whole fours of rows and one more. */
static void compare_heads_together(const struct gen_vector *t, int n, int64_t dim)
{
	enum { MAX = 272, ROWS = 5, HEADS = 4 };
	static float q[HEADS * MAX], scores[2][HEADS * ROWS], out[2][HEADS * MAX];
	static uint16_t rows[ROWS * MAX];

	for (int64_t i = 0; i < HEADS * dim; i++)
		q[i] = out[0][i] = out[1][i] = noise(5000 + (uint64_t)i);
	for (int64_t i = 0; i < ROWS * dim; i++)
		rows[i] = assay_bf16_of_f32(noise(7000 + (uint64_t)i));
	for (int j = 0; j < HEADS; j += n) {
		const struct gen_heads h = { n, dim, ROWS, q + j * dim, scores[0] + j * ROWS, out[0] + j * dim };

		t->attend_keys(&h, 0, rows, ROWS);
		t->attend_values(&h, 0, rows, ROWS);
	}
	for (int j = 0; j < HEADS; j++) {
		const struct gen_heads h = { 1, dim, ROWS, q + j * dim, scores[1] + j * ROWS, out[1] + j * dim };

		/* in two pieces */
		for (int64_t at = 0; at < ROWS; at += 3)
			assay_generate_vector_base.attend_keys(&h, at, rows + at * dim, at ? ROWS - at : 3);
		for (int64_t at = 0; at < ROWS; at += 3)
			assay_generate_vector_base.attend_values(&h, at, rows + at * dim, at ? ROWS - at : 3);
	}
	assert_memory_equal(scores[0], scores[1], sizeof(scores[0]));
	assert_memory_equal(out[0], out[1], (size_t)(HEADS * dim) * 4);
}

/* Every width gives the bits of the narrowest, whatever the length. */
static void compare_tables(const struct gen_vector *t, const struct gen_vector *base, int64_t n)
{
	enum { MAX = 272 };
	float x[MAX], y[MAX], got[MAX], want[MAX];
	uint16_t h[2][MAX];
	int8_t q[2][MAX];
	int64_t dim = n - n % 16;

	for (int64_t i = 0; i < n; i++) {
		x[i] = noise(100 + (uint64_t)i) * 3;
		y[i] = noise(900 + (uint64_t)i);
	}
#define SAME(want_, got_, bytes) assert_memory_equal(want_, got_, bytes)
	memcpy(got, x, sizeof(got));
	memcpy(want, x, sizeof(want));
	assert_true(t->softmax(got, n, 0.7f) == base->softmax(want, n, 0.7f));
	SAME(want, got, (size_t)n * 4);
	if (!dim)
		return;
	for (int heads = 1; heads <= 4; heads *= 2)
		compare_heads_together(t, heads, dim);
	t->rmsnorm(x, y, dim, got);
	base->rmsnorm(x, y, dim, want);
	SAME(want, got, (size_t)dim * 4);
	assert_true(t->quantize(x, dim, q[0]) == base->quantize(x, dim, q[1]));
	SAME(q[1], q[0], (size_t)dim);
	memcpy(got, y, sizeof(got));
	memcpy(want, y, sizeof(want));
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

/* An odd number of rows, of which products take two or four at a time. */
static void compare_heads(const struct gen_vector *t)
{
	enum { DIM = 768, ROWS = 11 };
	float x[DIM], got[ROWS], want[ROWS], room[2][DIM];
	uint8_t rows[ROWS * DIM * sizeof(float)];

	for (int head = 0; head < ASSAY_GENERATE_N_HEADS; head++) {
		const int64_t bytes = assay_generate_head_row_bytes((enum assay_generate_head)head, DIM);

		for (int64_t r = 0; r < ROWS; r++) {
			for (uint64_t i = 0; i < DIM; i++)
				x[i] = noise((uint64_t)r * DIM + i);
			assay_generate_head_encode((enum assay_generate_head)head, x, DIM, rows + r * bytes);
		}
		t->head_rows((enum assay_generate_head)head,
			     t->head_input((enum assay_generate_head)head, x, DIM, room[0]), rows, ROWS, DIM, got);
		assay_generate_vector_base.head_rows(
			(enum assay_generate_head)head,
			assay_generate_vector_base.head_input((enum assay_generate_head)head, x, DIM, room[1]), rows,
			ROWS, DIM, want);
		assert_memory_equal(got, want, sizeof(got));
		/* the last row is the input */
		assert_true(got[ROWS - 1] > 100 && fabsf(got[0]) < 100);
	}
}

TEST(test_vector_widths_agree)
{
	const struct gen_vector *best = widest();

	compare_heads(best);
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		compare_heads(&assay_generate_vector_avx2);
	if (best->bits == 512)
		compare_heads(&assay_generate_vector_avx512);
#endif

	for (int64_t n = 1; n <= 270; n++) {
		compare_tables(best, &assay_generate_vector_base, n);
#if defined(__x86_64__)
		if (__builtin_cpu_supports("avx2"))
			compare_tables(&assay_generate_vector_avx2, &assay_generate_vector_base, n);
#endif
	}
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

/* ---- generate prefix ---- */

/* The prefix cache of the generate driver: what is found, kept, evicted and shared. */

struct cache {
	struct gen_prefix c;
	struct gen_sequence seq;
	void *memory;
	int32_t tokens[256], table[16];
};

static void cache_open(struct cache *k, int64_t n_blocks)
{
	memset(k, 0, sizeof(*k));
	k->memory = malloc(assay_generate_prefix_bytes(n_blocks));
	assert_non_null(k->memory);
	assay_generate_prefix_init(&k->c, n_blocks, k->memory);
	k->seq.tokens = k->tokens;
	k->seq.table = k->table;
}

/* One request of @n tokens: block i of it is filled with the i-th letter of @text; returns the tokens found. */
static int64_t play(struct cache *k, const char *text, int64_t n)
{
	int64_t found;

	for (int64_t i = 0; i < n; i++)
		k->tokens[i] = text[i / ASSAY_GENERATE_KV_BLOCK] * 100 + (int32_t)(i % ASSAY_GENERATE_KV_BLOCK);
	assay_generate_prefix_begin(&k->c, &k->seq, n);
	found = k->seq.len;
	if (assay_generate_prefix_reserve(&k->c, &k->seq, n))
		found = -1;
	else
		assay_generate_prefix_advance(&k->c, &k->seq, n);
	assay_generate_prefix_end(&k->c, &k->seq);
	return found;
}

TEST(test_prefix_hits)
{
	static const struct {
		const char *text;
		int64_t n, want;
	} script[] = {
		{ "ABC", 48, 0 },   { "ABC", 48, 32 },                    /* the last token is always computed */
		{ "ABCD", 49, 48 }, { "ABX", 48, 32 },  { "AB", 20, 16 }, /* part of a block is no hit */
		{ "BA", 32, 0 }, /* the same block after another prefix is another block */
		{ "ABXY", 64, 48 }, { "ABCD", 64, 48 }, { "A", 10, 0 },   { "ABCD", 1, 0 },
	};
	struct cache k;
	uint64_t lookups = 0, hits = 0;

	cache_open(&k, 16);
	for (size_t i = 0; i < N_OF(script); i++) {
		assert_int_equal(play(&k, script[i].text, script[i].n), script[i].want);
		lookups += (uint64_t)script[i].n;
		hits += (uint64_t)script[i].want;
	}
	assert_int_equal(k.c.lookups, lookups);
	assert_int_equal(k.c.hits, hits);
	assert_int_equal(k.c.evictions, 0);
	assay_generate_prefix_reset(&k.c);
	assert_int_equal(play(&k, "ABC", 48), 0);
	free(k.memory);
}

TEST(test_prefix_eviction)
{
	struct cache k;

	cache_open(&k, 5);
	assert_int_equal(play(&k, "AB", 32), 0);
	assert_int_equal(play(&k, "CD", 32), 0);
	assert_int_equal(play(&k, "ABx", 33), 32); /* A and B are newer than C and D now; the fifth block was free */
	assert_int_equal(k.c.evictions, 0);
	assert_int_equal(play(&k, "EF", 32), 0); /* the free one and D, the oldest leaf */
	assert_int_equal(k.c.evictions, 1);
	assert_int_equal(play(&k, "CDx", 33), 16); /* C is still there; D and x cost B or F: the two oldest leaves */
	assert_int_equal(k.c.evictions, 3);
	assert_int_equal(play(&k, "CDx", 33), 32);
	assert_int_equal(play(&k, "abcdef", 96), -1); /* more than there are */
	assert_int_equal(play(&k, "abcde", 80), 0);   /* takes all of them */
	assert_int_equal(play(&k, "abcde", 80), 64);
	free(k.memory);
}

/* Fifteen beginnings in 32 buckets: some share one, and only their tokens tell them apart. */
TEST(test_prefix_collisions)
{
	struct cache k;

	cache_open(&k, 32);
	for (int known = 0; known < 2; known++)
		for (char c = 'A'; c < 'P'; c++)
			assert_int_equal(play(&k, (const char[3]){ c, c, 0 }, 17), known * 16);
	assert_int_equal(k.c.evictions, 0);
	free(k.memory);
}

/* Two sequences that fill the same blocks at the same time end up with one copy. */
TEST(test_prefix_twins)
{
	struct cache k;
	struct gen_sequence other;
	int32_t other_table[16];

	cache_open(&k, 4);
	for (int32_t i = 0; i < 17; i++)
		k.tokens[i] = i;
	other = (struct gen_sequence){ .tokens = k.tokens, .table = other_table };
	assay_generate_prefix_begin(&k.c, &k.seq, 17);
	assay_generate_prefix_begin(&k.c, &other, 17);
	assert_int_equal(assay_generate_prefix_reserve(&k.c, &k.seq, 17), 0);
	assert_int_equal(assay_generate_prefix_reserve(&k.c, &other, 17), 0);
	assert_int_not_equal(k.table[0], other_table[0]);
	assay_generate_prefix_advance(&k.c, &k.seq, 17);
	assay_generate_prefix_advance(&k.c, &other, 17);
	assert_int_equal(k.table[0], other_table[0]);
	assert_int_equal(k.c.blocks[k.table[0]].n_holders, 2);
	assay_generate_prefix_end(&k.c, &other);
	assay_generate_prefix_end(&k.c, &k.seq);
	for (int32_t b = 0; b < 4; b++)
		assert_int_equal(k.c.blocks[b].n_holders, 0);
	free(k.memory);
}

/* ---- generate metrics ---- */

/*
 * Reports of the generate ops: times, rates, parts of calls, and counts of the prefix cache, which changes times and
 * no tokens.
 */

static double metric_or(const struct mini_case *c, const char *tag, double otherwise)
{
	for (uint32_t i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].tag, tag))
			return c->metrics[i].value;
	return otherwise;
}

static uint64_t n_observed(const struct mini_case *c, const char *tag)
{
	for (uint32_t i = 0; i < c->op->n_metrics; i++)
		if (!strcmp(c->op->metrics[i].tag, tag))
			return c->n_observed[i];
	return 0;
}

TEST(test_metrics)
{
	for (size_t i = 0; i < N_OPS; i++) {
		struct mini_case *c = open_case(ops[i][0], ops[i][1], 1, 0);
		double parts;

		for (int run = 0; run < 3; run++)
			mini_run(c);
		mini_report(c);
		for (uint32_t j = 0; j < c->n_metrics; j++) {
			uint32_t d = 0;

			while (d < c->op->n_metrics && strcmp(c->op->metrics[d].tag, c->metrics[j].tag))
				d++;
			assert_true(d < c->op->n_metrics);
			assert_true(c->metrics[j].value >= c->op->metrics[d].lo);
			assert_true(c->metrics[j].value <= c->op->metrics[d].hi);
		}
		parts = mini_metric(c, "time_embedding_frac") + mini_metric(c, "time_attention_frac") +
			mini_metric(c, "time_ffn_frac") + mini_metric(c, "time_head_frac") +
			mini_metric(c, "time_sampling_frac");
		assert_true(fabs(parts - 1) < 1e-9);
		assert_true(mini_metric(c, "tokens_per_s") > 0);
		assert_true(mini_metric(c, "forward_s") > 0 && mini_metric(c, "sampling_s") > 0);
		/* codes, scales, embedding, norms */
		assert_true(mini_metric(c, "model_bytes") ==
			    (strstr(ops[i][1], "nano") ? 24576 + 28 + 2560 : 294912 + 56 + 11264) +
				    (double)c->tensors[ASSAY_GENERATE_T_EMBEDDING].bytes);
		assert_true((n_observed(c, "first_token_s") > 0) == (strcmp(ops[i][0], "generate.decode") != 0));
		assert_int_equal(n_observed(c, "next_token_s"), c->counters[ASSAY_GENERATE_DECODE_STEPS]);
		assert_true((metric_or(c, "ttft_s", -1) > 0) == (strcmp(ops[i][0], "generate.decode") != 0));
		assert_true((metric_or(c, "tpot_p50_s", -1) > 0) == (strcmp(ops[i][0], "generate.prefill") != 0));
		assert_true(metric_or(c, "tpot_p50_s", 0) <= metric_or(c, "tpot_p95_s", 0));
		assert_true(metric_or(c, "tpot_p95_s", 0) <= metric_or(c, "tpot_p99_s", 0));
		mini_free(c);
	}
}

TEST(test_counters)
{
	static const struct {
		const char *op, *axes;
		uint64_t want[ASSAY_GENERATE_N_COUNTERS];
	} cases[] = {
		{ "generate.prefill", "model=tiny,pp=37,batch=16", { 0, 0, 0, 0, 37, 3, 0 } },
		{ "generate.decode", "model=tiny,pp=21,tg=12", { 0, 0, 0, 0, 12, 0, 12 } },
		/*
		 * Prompts of 88, 88, 120 and 120 tokens. The second user shares the 64 of the system prompt; in the
		 * second turn 95 tokens of each are known, 80 of them in whole blocks. Seven of eight tokens of a reply
		 * are fed back.
		 */
		{ "generate.chat", "model=tiny,users=2,turns=2", { 416, 224, 192, 0, 192 + 28, 4, 28 } },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct mini_case *c = open_case(cases[i].op, cases[i].axes, 2, 0);

		mini_run(c);
		assert_memory_equal(c->counters, cases[i].want, sizeof(cases[i].want));
		mini_free(c);
	}
}

/* A prompt is cut at each of its batches' two layers, and what is generated at each token. */
TEST(test_parts)
{
	static const struct {
		const char *op, *axes;
		uint32_t parts;
	} cases[] = {
		{ "generate.prefill", "model=tiny,pp=37,batch=16", 3 * 2 },
		{ "generate.decode", "model=tiny,pp=21,tg=12", 12 },
		{ "generate.chat", "model=tiny,users=2,turns=2", 4 * 2 + 28 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct mini_case *c = open_case(cases[i].op, cases[i].axes, 1, 0);

		mini_run(c); /* what it prepares marks parts that nobody times */
		c->n_parts = 0;
		mini_run(c);
		assert_int_equal(c->n_parts, cases[i].parts);
		mini_free(c);
	}
}

/* A cache that is too small to keep both conversations costs hits and changes no token. */
TEST(test_small_cache)
{
	struct mini_case *large = open_case("generate.chat", "model=tiny,users=3,turns=3", 1, 4);
	struct mini_case *small = open_case("generate.chat", "model=tiny,users=3,turns=3,kv_blocks=10", 1, 4);

	mini_run(large);
	mini_run(small);
	mini_check(small);
	assert_int_equal(large->counters[ASSAY_GENERATE_KV_EVICTIONS], 0);
	assert_true(small->counters[ASSAY_GENERATE_KV_EVICTIONS] > 0);
	assert_true(small->counters[ASSAY_GENERATE_KV_HITS] < large->counters[ASSAY_GENERATE_KV_HITS]);
	assert_memory_equal(tokens_of(large), tokens_of(small), large->tensors[ASSAY_GENERATE_T_TOKENS].bytes);
	assert_memory_equal(large->tensors[ASSAY_GENERATE_T_LOGITS].data, small->tensors[ASSAY_GENERATE_T_LOGITS].data,
			    large->tensors[ASSAY_GENERATE_T_LOGITS].bytes);
	mini_free(large);
	mini_free(small);
}

UNIT_GROUP(NULL, NULL)
