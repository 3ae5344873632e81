/* SPDX-License-Identifier: Apache-2.0 */
/* Cases of the generate ops on the tiny model. */
#ifndef ASSAY_TESTS_GENERATE_FIXTURE_H
#define ASSAY_TESTS_GENERATE_FIXTURE_H

#include "mini_host.h"

#include "bench/generate/generate_model.h"
#include "bench/generate_ops.h"

/* The fastest variant that this CPU runs, to keep the test short. */
static inline const char *fast(void)
{
	return mini_can_run("matmul.ternary", "avx2") ? "avx2" : "ref";
}

static inline struct mini_case *open_case(const char *op, const char *axes, uint32_t n_threads, uint64_t seed)
{
	struct mini_options o = { .n_threads = n_threads, .seed = seed };
	struct mini_case *c = mini_new(op, fast(), axes, &o);

	mini_fill(c);
	return c;
}

static inline const int32_t *tokens_of(const struct mini_case *c)
{
	return c->tensors[ASSAY_GENERATE_T_TOKENS].data;
}

static const char *const ops[][2] = {
	{ "generate.prefill", "model=tiny,pp=37,batch=16" },
	{ "generate.decode", "model=tiny,pp=21,tg=12" },
	{ "generate.decode", "model=tiny,pp=5,tg=9,sampler=topk" },
	{ "generate.decode", "model=tiny,pp=5,tg=9,sampler=topp" },
	{ "generate.chat", "model=tiny,users=2,turns=2" },
	{ "generate.chat", "model=tiny,users=3,turns=3,kv_blocks=11" },
	{ "generate.decode", "model=nano,pp=3,tg=5" },
	{ "generate.decode", "model=tiny,pp=5,tg=9,head=f32" },
	{ "generate.decode", "model=tiny,pp=5,tg=9,head=q8_0,sampler=topp" },
	{ "generate.prefill", "model=tiny,pp=19,head=q6_k" },
	{ "generate.decode", "model=tiny,pp=1,tg=9,head=i8_row" },
	{ "generate.decode", "model=nano,pp=1,tg=3,head=q8_0" },
};
#define N_OPS N_OF(ops)

#endif
