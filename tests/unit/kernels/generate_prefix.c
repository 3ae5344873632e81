/* SPDX-License-Identifier: Apache-2.0 */
/* The prefix cache of the generate driver: what is found, kept, evicted and shared. */
#include "unit.h"

#include "bench/generate/generate_prefix.c"

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

UNIT_GROUP(NULL, NULL)
