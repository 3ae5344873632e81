/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generate ops as the harness sees them, on the tiny model: the same bits whatever the threads, the matmul variant
 * and the batch; an oracle that finds sabotage.
 */
#include "generate_fixture.h"

#include <math.h>

#include "assay/op_matmul.h"
#include "bench/generate/generate_model.h"
#include "bench/generate_ops.h"

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

TEST(test_seed_counts)
{
	struct mini_case *a = open_case("generate.decode", "model=tiny,tg=16", 1, 1);
	struct mini_case *b = open_case("generate.decode", "model=tiny,tg=16", 1, 2);
	struct mini_case *k = open_case("generate.decode", "model=tiny,tg=16,sampler=topk", 1, 1);

	mini_run(a);
	mini_run(b);
	mini_run(k);
	assert_memory_not_equal(tokens_of(a), tokens_of(b), 17 * sizeof(int32_t));
	assert_memory_not_equal(tokens_of(a), tokens_of(k), 17 * sizeof(int32_t));
	mini_free(a);
	mini_free(b);
	mini_free(k);
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

/* What goes wrong outside the matrices: each change of one output or of the cache after a right run. */
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
	assert_true(mini_try_describe("generate.chat", "model=tiny,kv_blocks=11", &p, &why) < 0);
	assert_string_equal(why.text, "kv_blocks=11 cannot hold a sequence of 192 tokens; take 12 or more");
}

UNIT_GROUP(NULL, NULL)
