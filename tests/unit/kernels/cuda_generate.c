/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The generate ops on the emulated grid: outputs are the CPU's bit for bit, the step of a graph goes on from where the
 * device is, and the oracle agrees.
 */
#include "emulated_fixture.h"

#include "assay/op_generate.h"

static const char *const orders[] = { "first", "last" };

/* The target of job->stream; the emulator has no streams. */
static char stream[64];

static struct mini_case *open_case(const char *op, const char *variant, const char *axes, uint64_t seed)
{
	struct mini_case *c = mini_new(op, variant, axes, &(struct mini_options){ .seed = seed });

	c->job.stream = strcmp(variant, "cuda") ? NULL : stream;
	mini_fill(c);
	return c;
}

static void assert_same(const struct mini_case *a, const struct mini_case *b)
{
	for (uint32_t i = 0; i < a->problem.n_tensors; i++) {
		if (a->problem.tensors[i].role != ASSAY_OUTPUT)
			continue;
		assert_int_equal(a->tensors[i].bytes, b->tensors[i].bytes);
		if (memcmp(a->tensors[i].data, b->tensors[i].data, a->tensors[i].bytes))
			fail_msg("'%s' differs", a->problem.tensors[i].name);
	}
}

/* Two runs of each, since the second one begins where the first has left the device. */
static void check(const char *op, const char *axes, uint64_t seed)
{
	struct mini_case *cpu = open_case(op, "ref", axes, seed);

	mini_run(cpu);
	for (size_t o = 0; o < N_OF(orders); o++) {
		struct mini_case *gpu = open_case(op, "cuda", axes, seed);

		setenv("ASSAY_EMULATOR_ORDER", orders[o], 1);
		for (int run = 0; run < 2; run++) {
			mini_run(gpu);
			assert_same(cpu, gpu);
		}
		mini_check(gpu);
		mini_free(gpu);
	}
	mini_free(cpu);
}

/* Prompts of one token, of part of a tile, and in steps with a shorter one at the end. */
TEST(test_cuda_prefill)
{
	needs_emulated();
	check("generate.prefill", "model=nano,pp=1", 1);
	check("generate.prefill", "model=nano,pp=19,batch=7", 2);
	check("generate.prefill", "model=tiny,pp=5", 3);
}

/* Context that ends within a block of the cache and goes on into the next. */
TEST(test_cuda_decode)
{
	needs_emulated();
	check("generate.decode", "model=nano,pp=1,tg=1", 4);
	check("generate.decode", "model=nano,pp=15,tg=4", 5);
	check("generate.decode", "model=tiny,pp=3,tg=3", 6);
}

/* Rows of each format, as embedding and as head; a block of q6_k has more values than a row of `nano`. */
TEST(test_cuda_heads)
{
	needs_emulated();
	check("generate.decode", "model=nano,pp=3,tg=3,head=f32", 19);
	check("generate.decode", "model=nano,pp=3,tg=3,head=q8_0", 20);
	check("generate.decode", "model=nano,pp=3,tg=3,head=i8_row", 21);
	check("generate.prefill", "model=tiny,pp=3,head=q6_k", 22);
	check("generate.decode", "model=tiny,pp=2,tg=2,head=q6_k,sampler=topk", 23);
}

TEST(test_cuda_samplers)
{
	const int32_t *greedy, *drawn;
	struct mini_case *a, *b;
	int differ = 0;

	needs_emulated();
	check("generate.decode", "model=tiny,pp=4,tg=2,sampler=topk", 7);
	check("generate.decode", "model=tiny,pp=4,tg=2,sampler=topp", 8);
	/* draws are no copies of the greatest */
	a = open_case("generate.decode", "cuda", "model=nano,pp=2,tg=12", 9);
	b = open_case("generate.decode", "cuda", "model=nano,pp=2,tg=12,sampler=topp", 9);
	mini_run(a);
	mini_run(b);
	greedy = a->tensors[ASSAY_GENERATE_T_TOKENS].data;
	drawn = b->tensors[ASSAY_GENERATE_T_TOKENS].data;
	for (int i = 0; i < 13; i++)
		differ += greedy[i] != drawn[i];
	assert_true(differ > 0);
	mini_free(a);
	mini_free(b);
}

/* The counts of a chat: requests find as much in the cache, and evict as often, as on the CPU. */
static void check_chat(const char *axes, uint64_t seed, bool evicts)
{
	struct mini_case *cpu = open_case("generate.chat", "ref", axes, seed);
	struct mini_case *gpu = open_case("generate.chat", "cuda", axes, seed);

	mini_run(cpu);
	mini_run(gpu);
	for (int i = 0; i <= ASSAY_GENERATE_FALLBACKS; i++)
		assert_int_equal(cpu->counters[i], gpu->counters[i]);
	assert_true(gpu->counters[ASSAY_GENERATE_KV_HITS] > 0);
	assert_int_equal(gpu->counters[ASSAY_GENERATE_KV_EVICTIONS] > 0, evicts);
	mini_check(gpu);
	gpu->job.device_kind = ASSAY_DEVICE_CUDA;
	mini_run(gpu); /* times are told when the next run begins */
	mini_report(gpu);
	assert_true(mini_metric(gpu, "ttft_s") > 0);
	assert_true(mini_metric(gpu, "tpot_p99_s") > 0);
	assert_true(mini_metric(gpu, "tokens_per_s") > 0);
	mini_free(cpu);
	mini_free(gpu);
}

/*
 * A shared system prompt, prompts read in several steps, a cache that must evict, and messages so short that users may
 * say the same by chance; one token a reply is no decode step at all.
 */
TEST(test_cuda_chat)
{
	needs_emulated();
	check("generate.chat", "model=nano,users=2,turns=2,system=17,message=5,reply=3", 12);
	check("generate.chat", "model=nano,users=1,turns=1,system=0,message=1,reply=2", 13);
	check("generate.chat", "model=nano,users=2,turns=2,system=16,message=7,reply=1,batch=4", 14);
	check("generate.chat", "model=tiny,users=2,turns=1,system=16,message=1,reply=2", 15);
	check_chat("model=nano,users=2,turns=2,system=17,message=3,reply=3", 16, false);
	check_chat("model=nano,users=2,turns=2,system=17,message=9,reply=5,kv_blocks=3", 17, true);
	/* two of four users begin with the same word */
	check_chat("model=nano,users=4,turns=1,system=15,message=2,reply=2", 17, false);
}

/* The replayed graph must not hold a position: run after run begins again at the end of the prompt. */
TEST(test_cuda_counts_and_times)
{
	struct mini_case *c;

	needs_emulated();
	c = open_case("generate.decode", "cuda", "model=nano,pp=9,tg=3", 10);
	for (int run = 1; run <= 3; run++) {
		mini_run(c);
		assert_int_equal(c->counters[ASSAY_GENERATE_DECODE_STEPS], 3 * run);
		assert_int_equal(c->counters[ASSAY_GENERATE_TOKENS], 3 * run);
		assert_int_equal(c->counters[ASSAY_GENERATE_FALLBACKS], 0);
	}
	c->job.device_kind = ASSAY_DEVICE_CUDA;
	mini_report(c);
	assert_true(mini_metric(c, "tpot_p50_s") > 0);
	assert_true(mini_metric(c, "tokens_per_s") > 0);
	assert_true(mini_metric(c, "kv_bytes") > 0);
	for (uint32_t i = 0; i < c->n_metrics; i++)
		assert_string_not_equal(c->metrics[i].tag, "vector_bits");
	mini_free(c);

	c = open_case("generate.prefill", "cuda", "model=nano,pp=9,batch=4", 11);
	mini_run(c);
	mini_run(c);
	assert_int_equal(c->counters[ASSAY_GENERATE_PREFILL_STEPS], 6);
	assert_int_equal(c->counters[ASSAY_GENERATE_TOKENS], 18);
	mini_report(c);
	assert_true(mini_metric(c, "ttft_s") > 0);
	mini_free(c);
}

/* A model that is larger than the kernels is refused, and the reason names what of it is. */
TEST(test_cuda_too_large)
{
	struct assay_generate_state *facts;
	struct mini_case *c;

	needs_emulated();
	c = open_case("generate.decode", "cuda", "model=nano,pp=2,tg=1", 18);
	facts = c->job.op_state;
	facts->ffn = 7040;
	assert_true(mini_try_run(c) < 0);
	assert_string_equal(c->reason.text, "the model has ffn = 7040, the kernels take up to 6912");
	facts->ffn = 128;
	facts->max_pos = 4097;
	assert_true(mini_try_run(c) < 0);
	assert_string_equal(c->reason.text, "the model has tokens = 4097, the kernels take up to 4096");
	mini_free(c);
}

UNIT_GROUP(use_emulated, NULL)
