/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A prefix cache over the paged KV cache: it knows which blocks of ASSAY_GENERATE_KV_BLOCK tokens are filled with which
 * tokens after which prefix, hands them to sequences that begin the same way, and evicts the least recently used when
 * it needs room. It knows block numbers and token ids only; keys and values are the engine's.
 *
 * A block is in one of three states: free; held by a sequence; cached with no holder, to be reused or evicted. Cached
 * blocks form a tree by prefix: a block's parent is the block before it, and only blocks without children are evicted,
 * so that whatever the tree holds can be reached from its root.
 */
#ifndef ASSAY_GENERATE_PREFIX_H
#define ASSAY_GENERATE_PREFIX_H

#include "generate_model.h"

struct gen_block {
	int32_t tokens[ASSAY_GENERATE_KV_BLOCK];
	int32_t parent;     /* block before it, -1: begins a sequence */
	int32_t next;       /* in its hash bucket */
	int32_t n_holders;  /* sequences that hold it */
	int32_t n_children; /* cached blocks that follow it */
	int32_t cached;     /* 1: in the tree */
	uint64_t last_use;
};

struct gen_prefix {
	struct gen_block *blocks;
	int32_t *buckets; /* n_buckets heads, -1: empty */
	int32_t n_blocks, n_buckets;
	uint64_t clock;
	uint64_t lookups, hits, evictions; /* lookups and hits in tokens, evictions in blocks; since reset */
};

/* One running sequence. The caller owns tokens and table. */
struct gen_sequence {
	int32_t *tokens;
	int32_t *table; /* block of each ASSAY_GENERATE_KV_BLOCK positions; as far as it has blocks */
	int64_t len;    /* positions whose keys and values are there */
	int64_t n_blocks;
};

/* Bytes that assay_generate_prefix_init takes for so many blocks. */
uint64_t assay_generate_prefix_bytes(int64_t n_blocks);
/* @memory is the caller's and stays; the cache is empty. */
void assay_generate_prefix_init(struct gen_prefix *c, int64_t n_blocks, void *memory);
/* Forget everything; no sequence may be running. */
void assay_generate_prefix_reset(struct gen_prefix *c);

/*
 * Begin a sequence whose first @n_tokens in seq->tokens are known: seq->len becomes the tokens found in the cache, at
 * most n_tokens − 1, since the last one must be computed for its logits.
 */
void assay_generate_prefix_begin(struct gen_prefix *c, struct gen_sequence *seq, int64_t n_tokens);
/* Give @seq blocks for positions up to @n_tokens − 1. Negative: no block is free and none can be evicted. */
int assay_generate_prefix_reserve(struct gen_prefix *c, struct gen_sequence *seq, int64_t n_tokens);
/* Keys and values now reach @len: blocks that became full enter the tree. Where the tree has the same one, that is
 * used. */
void assay_generate_prefix_advance(struct gen_prefix *c, struct gen_sequence *seq, int64_t len);
/* Give the blocks back; the full ones stay cached. */
void assay_generate_prefix_end(struct gen_prefix *c, struct gen_sequence *seq);

/* The member `requests` of assay_generate_state. */
int assay_generate_plan_requests(const struct assay_job *job, const int32_t *prompt, struct assay_generate_request *out,
				 int32_t *tables, uint64_t counters[3]);

#endif
