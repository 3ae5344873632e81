/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the generate ops report: times, rates, parts of calls, and counts of the prefix cache, which changes times and
 * no tokens.
 */
#include "generate_fixture.h"

#include <math.h>

static double metric_or(const struct mini_case *c, const char *tag, double otherwise)
{
	for (uint32_t i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].tag, tag))
			return c->metrics[i].value;
	return otherwise;
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
		/* codes, scales, embedding, norms */
		assert_true(mini_metric(c, "model_bytes") ==
			    (strstr(ops[i][1], "nano") ? 24576 + 28 + 16384 + 2560 : 294912 + 56 + 262144 + 11264));
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
