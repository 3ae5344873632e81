/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle of the generate ops. Int8 activations make a transformer chaotic: one rounding that falls the other way
 * shifts everything after it by about one percent, so a second implementation cannot follow the first one closely from
 * end to end. It can check every step from what that step was given, and the trace outputs exist for that. For each
 * traced token (all of the tiny model; of others the first, the last and six between) and every layer:
 *
 * - outputs of all seven matrices: bit for bit, from the int8 inputs and the packed weights;
 * - residual sums: bit for bit;
 * - norms, int8 inputs, attention over the cached keys and values, the row that the token itself put into the cache,
 * the final norm: in double precision, to 1e-4 (an int8 value to half a step);
 * - the token that each traced step produced, by its logits; the last step's stored logits to 1e-4 of the greatest, and
 * its token by the sampler's definition and the same draw.
 *
 * Beyond the trace: keys and values of the first layer at 64 positions from the tokens alone; for models and prompts
 * small enough (tiny and 125m) a replay of the whole sequence; for chat, the hits of the prefix cache against a search
 * of all earlier prompts.
 */
#include <string.h>

#include "../generate_ops.h"
#include "generate_checking.h"

#define REPLAY_MACS 2e10 /* multiply-adds that a replay may take, about two seconds */

/* ---- prefix cache ---- */

/* Token of a user's conversation, as the finished outputs tell it. */
static int32_t chat_token(const struct gen_checking *c, int64_t user, int64_t pos)
{
	const struct gen_plan *p = c->plan;
	const int32_t *prompt = c->job->tensors[ASSAY_GENERATE_T_PROMPT].data,
		      *replies = c->job->tensors[ASSAY_GENERATE_T_TOKENS].data;
	int64_t at = pos - p->system, turn = at / (p->message + p->reply), in = at % (p->message + p->reply);

	if (pos < p->system)
		return prompt[pos];
	if (in < p->message)
		return prompt[p->system + (user * p->turns + turn) * p->message + in];
	return replies[(user * p->turns + turn) * p->reply + in - p->message];
}

/* Whole blocks that a prompt shares with the best of the @earlier requests that came before it, in tokens. */
static int64_t shared_tokens(const struct gen_checking *c, int64_t user, int64_t len, int64_t earlier)
{
	int64_t best = 0;

	for (int64_t r = 0; r < earlier; r++) {
		int64_t known = assay_generate_chat_len(c->plan, r / c->plan->users) + c->plan->reply - 1, n = 0;

		while (n < len - 1 && n < known && chat_token(c, user, n) == chat_token(c, r % c->plan->users, n))
			n++;
		best = n > best ? n : best;
	}
	return best - best % ASSAY_GENERATE_KV_BLOCK;
}

static void check_hits(struct gen_checking *c)
{
	const struct gen_plan *p = c->plan;
	uint64_t lookups = 0, hits = 0;

	for (int64_t r = 0; r < p->turns * p->users; r++) {
		int64_t len = assay_generate_chat_len(p, r / p->users);

		lookups += (uint64_t)len;
		hits += (uint64_t)shared_tokens(c, r % p->users, len, r);
	}
	if (c->stats->lookups != lookups || c->stats->hits > hits || (!c->stats->evictions && c->stats->hits != hits))
		assay_generate_found(&c->found[0], STAGE_TOKENS, 1, "tokens", -1,
				     "the prefix cache says %llu of %llu tokens, a search says %llu of %llu",
				     (unsigned long long)c->stats->hits, (unsigned long long)c->stats->lookups,
				     (unsigned long long)hits, (unsigned long long)lookups);
}

/* ---- all together ---- */

static int tokens_valid(struct gen_checking *c)
{
	const int32_t *tokens = c->job->tensors[ASSAY_GENERATE_T_TOKENS].data;

	for (int64_t i = 0; i < c->plan->n_out; i++) {
		if (tokens[i] >= 0 && tokens[i] < c->plan->m->vocab)
			continue;
		assay_generate_found(&c->found[0], STAGE_TOKENS, 0, "tokens", i, "got %d, want 0 … %d", tokens[i],
				     c->plan->m->vocab - 1);
		return 0;
	}
	return 1;
}

static void compose_sequence(struct gen_checking *c)
{
	const struct gen_plan *p = c->plan;
	const int32_t *prompt = c->job->tensors[ASSAY_GENERATE_T_PROMPT].data,
		      *tokens = c->job->tensors[ASSAY_GENERATE_T_TOKENS].data;

	c->len = p->kind == GEN_PREFILL ? p->pp : p->kind == GEN_DECODE ? p->pp + p->tg : p->max_pos - 1;
	for (int64_t i = 0; i < p->max_pos; i++)
		c->sequence[i] = p->kind == GEN_CHAT ? chat_token(c, p->users - 1, i)
				 : i < p->pp         ? prompt[i]
						     : tokens[i - p->pp];
}

static int run_checks(struct gen_checking *c)
{
	const struct gen_model *m = c->plan->m;
	double macs;

	if (!tokens_valid(c))
		return 0;
	compose_sequence(c);
	if (c->plan->kind == GEN_CHAT)
		check_hits(c);
	assay_generate_check_steps(c);
	assay_generate_check_first_layer(c);
	macs = 4.0 * (double)assay_generate_matrix_at(m, m->layers, 0) * (double)c->len;
	return macs <= REPLAY_MACS ? assay_generate_check_replay(c) : 0;
}

int assay_generate_check(struct assay_job *job, struct assay_check *out)
{
	struct gen_checking c;
	int rc;

	rc = assay_generate_checking_init(&c, job);
	if (!rc)
		rc = run_checks(&c);
	if (!rc)
		assay_generate_conclude(&c, out);
	else
		job->host->fail(job, "cannot check the outputs: out of memory");
	assay_generate_checking_release(&c);
	return rc;
}
