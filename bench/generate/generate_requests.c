/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The requests of a chat, planned before any of them runs, for variants that do the whole op on a device. The prefix
 * cache is the driver's own. A reply follows from what stands before it, so two sequences are equal as far as the
 * prompt's tokens in them are, and any mark may stand for a token of a reply.
 */
#include "generate_prefix.h"

#include <string.h>

#include "generate_stats.h"

#define REPLY (-1)

/* The system prompt, then messages and replies up to the end of the reply of @turn. */
static void compose(const struct gen_plan *p, const int32_t *prompt, int64_t user, int64_t turn, int32_t *to)
{
	memcpy(to, prompt, (size_t)p->system * sizeof(*to));
	to += p->system;
	for (int64_t t = 0; t <= turn; t++) {
		const int64_t at = p->system + (user * p->turns + t) * p->message;

		memcpy(to, prompt + at, (size_t)p->message * sizeof(*to));
		to += p->message;
		for (int64_t i = 0; i < p->reply; i++)
			*to++ = REPLY;
	}
}

static int plan_request(struct gen_prefix *cache, struct gen_sequence *seq, const struct gen_plan *p,
			struct assay_generate_request *request, int32_t *table)
{
	const int64_t len = assay_generate_chat_len(p, request->turn);
	int64_t blocks;

	request->prompt = len;
	assay_generate_prefix_begin(cache, seq, len);
	request->known = seq->len;
	if (assay_generate_prefix_reserve(cache, seq, len + p->reply))
		return -1;
	blocks = seq->n_blocks;
	memcpy(table, seq->table, (size_t)blocks * sizeof(*table));
	/* of the last token of a reply nobody asks for keys and values */
	assay_generate_prefix_advance(cache, seq, len + p->reply - 1);
	assay_generate_prefix_end(cache, seq);
	return 0;
}

int assay_generate_plan_requests(const struct assay_job *job, const int32_t *prompt, struct assay_generate_request *out,
				 int32_t *tables, uint64_t counters[3])
{
	struct gen_stats *s = job->op_state;
	const struct gen_plan *p = &s->plan;
	const int64_t table_len = s->state.table_len;
	const uint64_t prefix_bytes = (assay_generate_prefix_bytes(p->n_blocks) + 63) & ~(uint64_t)63;
	uint8_t *memory = job->host->alloc(job, prefix_bytes + (uint64_t)(p->max_pos + table_len) * sizeof(int32_t));
	struct gen_sequence seq = { .len = 0 };
	struct gen_prefix cache;
	int rc = 0;

	if (!memory)
		return job->host->fail(job, "cannot plan the requests: out of memory");
	seq.tokens = (int32_t *)(void *)(memory + prefix_bytes);
	seq.table = seq.tokens + p->max_pos;
	assay_generate_prefix_init(&cache, p->n_blocks, memory);
	for (int64_t i = 0; i < p->turns * p->users && !rc; i++) {
		out[i].turn = i / p->users;
		out[i].user = i % p->users;
		compose(p, prompt, out[i].user, out[i].turn, seq.tokens);
		rc = plan_request(&cache, &seq, p, &out[i], tables + i * table_len);
		if (rc)
			rc = job->host->fail(job, "no block of the KV cache is free for %lld tokens",
					     (long long)(out[i].prompt + p->reply));
	}
	s->lookups = counters[0] = cache.lookups;
	s->hits = counters[1] = cache.hits;
	s->evictions = counters[2] = cache.evictions;
	job->host->release(job, memory);
	return rc;
}
