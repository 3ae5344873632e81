/* SPDX-License-Identifier: Apache-2.0 */
/* The pre-tokenizers that GGUF files name, as patterns for PCRE2, which is loaded from its shared library. */
#ifndef ASSAY_GGUF_PATTERNS_H
#define ASSAY_GGUF_PATTERNS_H

#include "gguf/gguf.h"

/* A value of `tokenizer.ggml.pre`, and what it says. */
struct assay_pre_tokenizer {
	uint32_t pre;     /* of struct assay_vocab */
	bool whole_words; /* a piece that is a token is that token */
	bool add_bos;     /* unless the file says otherwise */
};

/* NULL: no pre-tokenizer has this name. @known is the same name, as memory that stays. */
const struct assay_pre_tokenizer *assay_pre_tokenizer_named(struct assay_gguf_string name, const char **known);

struct assay_patterns;

/* Those of a value of assay_vocab.pre, compiled; NULL: PCRE2 is missing or memory is short, with the reason. */
struct assay_patterns *assay_patterns_new(uint32_t pre, struct assay_reason *why);
void assay_patterns_free(struct assay_patterns *p); /* NULL: does nothing */

/* Called for each piece. Anything but 0 ends the splitting. */
typedef int (*assay_piece_fn)(void *arg, const uint8_t *s, int64_t n);
/*
 * Split @n bytes of text into pieces. Bytes that are not UTF-8 are pieces of their own. Returns 0, what @piece returned
 * to end it, or -1 where PCRE2 gave up because memory is short.
 */
int assay_patterns_split(struct assay_patterns *p, const uint8_t *s, int64_t n, assay_piece_fn piece, void *arg);

#endif
