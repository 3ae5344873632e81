/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tokenizer of any vocabulary, in the plainest way that takes no more than n log n. It defines the ids of the ops.
 */
#ifndef TOKENIZER_PLAIN_H
#define TOKENIZER_PLAIN_H

#include <stdbool.h>

#include "assay/op_tokenizer.h"

/* One that is prepared; used by one thread at a time. A text has less than 2^29 bytes. */
struct assay_tokenizer {
	const struct assay_vocab *v;
	uint8_t *classes;  /* of each character: assay/unicode_classes.h */
	int32_t *by_bytes; /* tokens, hashed by their bytes; -1: free */
	int32_t *by_pair;  /* merges, hashed by both of their ids; -1: free */
	uint64_t byte_mask, pair_mask;
	int32_t byte_ids[256]; /* the token of each byte; -1: there is none */
	int32_t *special;      /* CONTROL, UNKNOWN and USER tokens, the longest first */
	int32_t n_special;
	bool special_starts[256];
	uint64_t counts[ASSAY_TOKENIZER_N_COUNTERS]; /* added to by each call */
	struct tokenizer_work *work;
};

/* @v has to outlive @t. 0; or -1 with the reason, and nothing to release. */
int assay_tokenizer_init(struct assay_tokenizer *t, const struct assay_vocab *v, struct assay_reason *why);
void assay_tokenizer_release(struct assay_tokenizer *t);

/*
 * Write the ids of @n bytes to @ids, which has room for assay_tokenizer_most_ids(): their number, or -1 where memory is
 * short. USER tokens are found in the text; CONTROL and UNKNOWN ones only where @special is set. No token is added at
 * the beginning or the end.
 */
int64_t assay_tokenizer_encode(struct assay_tokenizer *t, const void *text, int64_t n, bool special, int32_t *ids);
/*
 * Write at most @size bytes of the text to @text: the number that it has, or -1 for an id that is no token. CONTROL and
 * UNKNOWN tokens have text only where @special is set. The space that SPM put first is taken away.
 */
int64_t assay_tokenizer_decode(const struct assay_tokenizer *t, const int32_t *ids, int64_t n, bool special, void *text,
			       int64_t size);

/* The token of these bytes, or -1. */
int32_t assay_tokenizer_find(const struct assay_tokenizer *t, const void *s, int64_t n);
/* Length of the first piece of @n bytes, of which there is at least one: BPE. */
int64_t assay_tokenizer_piece(const struct assay_tokenizer *t, const uint8_t *s, int64_t n);

#endif
