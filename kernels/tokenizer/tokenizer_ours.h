/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a vocabulary as the fast tokenizer needs them, and its parts. */
#ifndef TOKENIZER_OURS_H
#define TOKENIZER_OURS_H

#include <stdbool.h>
#include <string.h>

#include "assay/op_tokenizer.h"
#include "assay/unicode_classes.h"

#define TOKENIZER_NO_RANK   UINT32_MAX
#define TOKENIZER_KEY_BYTES 31 /* of the longest word that the cache takes */
#define TOKENIZER_WORD_IDS  7  /* of the most tokens that such a word has */

/* The merge of two tokens; rank TOKENIZER_NO_RANK: there is none. */
struct tokenizer_merge {
	uint32_t rank;
	int32_t id;
};

struct tokenizer_pair {
	uint64_t key; /* both ids; UINT64_MAX: free */
	struct tokenizer_merge merge;
};

/* A word, zeros after it, and its length in the last byte. */
struct tokenizer_key {
	uint64_t w[4];
};

struct tokenizer_word {
	struct tokenizer_key key; /* all zero: free */
	int32_t n, ids[TOKENIZER_WORD_IDS];
};

/* Long pieces: a list of symbols, and of each rank a list of the places where its merge can be done. */
struct tokenizer_list;

struct tokenizer_tables {
	const struct assay_vocab *v;
	uint8_t classes[ASSAY_UNICODE_LIMIT + 1]; /* what is not UTF-8 is OTHER */
	uint8_t ascii[256];                       /* the class of a byte, or TOKENIZER_WIDE */
	int32_t byte_ids[256];
	struct tokenizer_merge of_bytes[256][256]; /* of the tokens of two bytes */
	struct tokenizer_pair *pairs;
	int32_t *tokens; /* hashed by their bytes; -1: free */
	uint64_t pair_mask, token_mask;
	/* of SPM */
	uint32_t *ranks;        /* of tokens: the highest score has 0, and equal scores share a rank */
	int64_t longest;        /* token, in bytes */
	bool spaces_begin_only; /* no token has a space after another character */
	struct tokenizer_list *list;
	uint64_t lookups, merges;
};

enum { TOKENIZER_WIDE = ASSAY_CHAR_SPACE + 1 };

/* SPM's space in a vocabulary. */
#define TOKENIZER_MARK "\xe2\x96\x81"

/* The bytes of SPM's space at @p, in a text, which may have it as either character; 0: there is none. */
static inline int64_t tokenizer_space(const uint8_t *p, const uint8_t *end)
{
	if (*p == ' ')
		return 1;
	return *p == (uint8_t)TOKENIZER_MARK[0] && end - p >= 3 && !memcmp(p, TOKENIZER_MARK, 3) ? 3 : 0;
}

/* The merge of two tokens. */
static inline struct tokenizer_merge tokenizer_find_merge(const struct tokenizer_tables *t, int32_t left, int32_t right)
{
	const uint64_t key = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
	uint64_t i = key * 0x9e3779b97f4a7c15u;

	for (i = (i ^ i >> 32) & t->pair_mask; t->pairs[i].key != key; i = (i + 1) & t->pair_mask)
		if (t->pairs[i].key == UINT64_MAX)
			break;
	return t->pairs[i].merge;
}

/* The cell of the token with these bytes, or the free one where it belongs. */
int32_t *tokenizer_find_token(const struct tokenizer_tables *t, const uint8_t *s, int64_t n);
/* The end of the first piece from @p on, which is before @end. */
const uint8_t *tokenizer_piece_end(const struct tokenizer_tables *t, const uint8_t *p, const uint8_t *end);
/*
 * The ids of a piece, from its bytes or, in SPM, from its characters, where spaces are marks: their number, or -1 where
 * memory is short.
 */
int64_t tokenizer_merge_piece(struct tokenizer_tables *t, const uint8_t *s, int64_t n, int32_t *ids);
void tokenizer_list_free(struct tokenizer_list *list);

#endif
