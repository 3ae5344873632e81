/* SPDX-License-Identifier: Apache-2.0 */
/* The tree is a hash table of (parent, tokens); equal hashes are settled by comparing the token ids. */
#include "generate_prefix.h"

#include <string.h>

static int32_t buckets_for(int64_t n_blocks)
{
	int32_t n = 16;

	while (n < n_blocks)
		n *= 2;
	return n;
}

uint64_t assay_generate_prefix_bytes(int64_t n_blocks)
{
	return (uint64_t)n_blocks * sizeof(struct gen_block) + (uint64_t)buckets_for(n_blocks) * sizeof(int32_t);
}

void assay_generate_prefix_init(struct gen_prefix *c, int64_t n_blocks, void *memory)
{
	c->blocks = memory;
	c->n_blocks = (int32_t)n_blocks;
	c->n_buckets = buckets_for(n_blocks);
	c->buckets = (int32_t *)(c->blocks + n_blocks);
	assay_generate_prefix_reset(c);
}

void assay_generate_prefix_reset(struct gen_prefix *c)
{
	memset(c->blocks, 0, (size_t)c->n_blocks * sizeof(*c->blocks));
	for (int32_t i = 0; i < c->n_buckets; i++)
		c->buckets[i] = -1;
	c->clock = c->lookups = c->hits = c->evictions = 0;
}

static int32_t *bucket_of(const struct gen_prefix *c, int32_t parent, const int32_t *tokens)
{
	uint64_t h = (uint64_t)parent * 0x9E3779B97F4A7C15u + 0x2545F4914F6CDD1Du;

	for (int i = 0; i < ASSAY_GENERATE_KV_BLOCK; i++)
		h = ((h ^ (uint32_t)tokens[i]) * 0xD6E8FEB86659FD93u) ^ (h >> 29);
	return &c->buckets[(h >> 32) & (uint64_t)(c->n_buckets - 1)];
}

static int32_t find(const struct gen_prefix *c, int32_t parent, const int32_t *tokens)
{
	int32_t b = *bucket_of(c, parent, tokens);

	while (b >= 0 &&
	       (c->blocks[b].parent != parent || memcmp(c->blocks[b].tokens, tokens, sizeof(c->blocks[b].tokens))))
		b = c->blocks[b].next;
	return b;
}

static void insert(struct gen_prefix *c, int32_t b, int32_t parent, const int32_t *tokens)
{
	struct gen_block *blk = &c->blocks[b];
	int32_t *bucket = bucket_of(c, parent, tokens);

	memcpy(blk->tokens, tokens, sizeof(blk->tokens));
	blk->parent = parent;
	blk->cached = 1;
	blk->next = *bucket;
	*bucket = b;
	if (parent >= 0)
		c->blocks[parent].n_children++;
}

static void take_out(struct gen_prefix *c, int32_t b)
{
	struct gen_block *blk = &c->blocks[b];
	int32_t *link = bucket_of(c, blk->parent, blk->tokens);

	while (*link != b)
		link = &c->blocks[*link].next;
	*link = blk->next;
	blk->cached = 0;
	if (blk->parent >= 0)
		c->blocks[blk->parent].n_children--;
}

static void hold(struct gen_prefix *c, int32_t b)
{
	c->blocks[b].n_holders++;
	c->blocks[b].last_use = ++c->clock;
}

/* A block for new contents: a free one, else the least recently used leaf without holders; -1: none. */
static int32_t obtain(struct gen_prefix *c)
{
	int32_t victim = -1;

	for (int32_t b = 0; b < c->n_blocks; b++) {
		const struct gen_block *blk = &c->blocks[b];

		if (blk->n_holders || blk->n_children)
			continue;
		if (!blk->cached)
			return b;
		if (victim < 0 || blk->last_use < c->blocks[victim].last_use)
			victim = b;
	}
	if (victim >= 0) {
		take_out(c, victim);
		c->evictions++;
	}
	return victim;
}

void assay_generate_prefix_begin(struct gen_prefix *c, struct gen_sequence *seq, int64_t n_tokens)
{
	int32_t parent = -1;

	seq->len = 0;
	seq->n_blocks = 0;
	while (seq->len + ASSAY_GENERATE_KV_BLOCK < n_tokens) {
		int32_t b = find(c, parent, seq->tokens + seq->len);

		if (b < 0)
			break;
		hold(c, b);
		seq->table[seq->n_blocks++] = b;
		seq->len += ASSAY_GENERATE_KV_BLOCK;
		parent = b;
	}
	c->lookups += (uint64_t)n_tokens;
	c->hits += (uint64_t)seq->len;
}

int assay_generate_prefix_reserve(struct gen_prefix *c, struct gen_sequence *seq, int64_t n_tokens)
{
	while (seq->n_blocks * ASSAY_GENERATE_KV_BLOCK < n_tokens) {
		int32_t b = obtain(c);

		if (b < 0)
			return -1;
		hold(c, b);
		seq->table[seq->n_blocks++] = b;
	}
	return 0;
}

void assay_generate_prefix_advance(struct gen_prefix *c, struct gen_sequence *seq, int64_t len)
{
	for (int64_t i = seq->len / ASSAY_GENERATE_KV_BLOCK; i < len / ASSAY_GENERATE_KV_BLOCK; i++) {
		int32_t parent = i ? seq->table[i - 1] : -1, own = seq->table[i];
		int32_t twin = find(c, parent, seq->tokens + i * ASSAY_GENERATE_KV_BLOCK);

		if (twin < 0) {
			insert(c, own, parent, seq->tokens + i * ASSAY_GENERATE_KV_BLOCK);
		} else {
			c->blocks[own].n_holders--;
			hold(c, twin);
			seq->table[i] = twin;
		}
	}
	seq->len = len;
}

void assay_generate_prefix_end(struct gen_prefix *c, struct gen_sequence *seq)
{
	for (int64_t i = 0; i < seq->n_blocks; i++)
		c->blocks[seq->table[i]].n_holders--;
	seq->n_blocks = 0;
	seq->len = 0;
}
