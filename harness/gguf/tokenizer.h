/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vocabulary, and the plain tokenizer for it, which takes no more than n log n. It defines the ids of the tokenizer
 * ops, and turns the prompts of models into ids and their answers into text.
 */
#ifndef ASSAY_GGUF_TOKENIZER_H
#define ASSAY_GGUF_TOKENIZER_H

#include <stdbool.h>

#include "assay/op_tokenizer.h"
#include "gguf/gguf.h"
#include "gguf/writer.h"

/* A vocabulary and the memory that it points to. */
struct tokenizer_vocab {
	struct assay_vocab v;
	uint8_t *bytes, *types;
	int64_t *starts;
	float *scores;
};

/* NULL-terminated: the names of enum assay_vocab_pre, then "spm". */
extern const char *const assay_vocab_names[];

/*
 * Read the vocabulary of a file, which may be closed after that. 0; or -1 with the reason and nothing to release. A
 * file of BPE that does not name its pre-tokenizer is refused, because its ids would be a guess.
 */
int assay_vocab_read(struct tokenizer_vocab *out, const struct assay_gguf *g, struct assay_reason *why);
void assay_vocab_release(struct tokenizer_vocab *v);
/*
 * Train a vocabulary of @n_tokens on @n bytes of text: the bytes, then what pairs that are frequent make. @name is an
 * index of assay_vocab_names. Results as of assay_vocab_read(); a text that has too few pairs is refused.
 */
int assay_vocab_train(struct tokenizer_vocab *out, int64_t name, int32_t n_tokens, const uint8_t *text, int64_t n,
		      struct assay_reason *why);
/* The same on the corpora of a seed that are text, from pages that no text of the ops has. */
int assay_vocab_train_seeded(struct tokenizer_vocab *out, int64_t name, int32_t n_tokens, uint64_t seed,
			     struct assay_reason *why);
/* Write the values of a file from which assay_vocab_read() reads the same vocabulary. */
void assay_vocab_write(struct assay_gguf_writer *w, const struct assay_vocab *v);

/* Does this token end a text or a turn, by the ids that the file names or by its own name? */
bool assay_vocab_ends(const struct assay_vocab *v, int32_t id);

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
	struct assay_patterns *patterns; /* NULL: the pieces are those of assay_tokenizer_piece() */
};

/* @v has to outlive @t. 0; or -1 with the reason, and nothing to release. */
int assay_tokenizer_init(struct assay_tokenizer *t, const struct assay_vocab *v, struct assay_reason *why);
/* All-zero: does nothing. */
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
/*
 * The same of one token that follows others, so that its space stays. CONTROL and UNKNOWN tokens have no text. A
 * character may be spread over several tokens.
 */
int64_t assay_tokenizer_next(const struct assay_tokenizer *t, int32_t id, void *text, int64_t size);

/* The token of these bytes, or -1. */
int32_t assay_tokenizer_find(const struct assay_tokenizer *t, const void *s, int64_t n);
/* Length of the first piece of @n bytes, of which there is at least one: the pre-tokenizers of enum assay_vocab_pre. */
int64_t assay_tokenizer_piece(const struct assay_tokenizer *t, const uint8_t *s, int64_t n);

#endif
