/* SPDX-License-Identifier: Apache-2.0 */
/* Where vocabularies come from: a GGUF file, or training on corpora. */
#ifndef TOKENIZER_VOCAB_H
#define TOKENIZER_VOCAB_H

#include "assay/op_tokenizer.h"
#include "gguf/gguf.h"

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

/*
 * Train a vocabulary of @n_tokens on @n bytes of text: the bytes, then what pairs that are frequent make. @names is an
 * index of assay_vocab_names. Results as above; a text that has too few pairs is refused.
 */
int assay_vocab_train(struct tokenizer_vocab *out, int64_t name, int32_t n_tokens, const uint8_t *text, int64_t n,
		      struct assay_reason *why);
void assay_vocab_release(struct tokenizer_vocab *v);

#endif
