/* SPDX-License-Identifier: Apache-2.0 */
/* The corpora that the compress and tokenizer ops work on and vocabularies are trained on, made by code from a seed. */
#ifndef ASSAY_GGUF_CORPORA_H
#define ASSAY_GGUF_CORPORA_H

#include <stdint.h>

/* NULL-terminated: all corpora, and those of them that are text. */
extern const char *const assay_corpus_names[];
extern const char *const assay_text_corpora[];

/* Pages of this many bytes are independent of each other, so that threads can share the work. */
#define ASSAY_CORPUS_PAGE 4096

/* Write page @page of the corpus, an index into the names. */
void assay_corpus_page(uint64_t seed, int64_t corpus, uint64_t page, uint8_t out[ASSAY_CORPUS_PAGE]);
/* Write @n bytes of a corpus, an index into the names, from page @page on. */
void assay_corpus_bytes(uint64_t seed, int64_t corpus, uint64_t page, uint8_t *out, int64_t n);
/* The index of a name that is in the list. */
int64_t assay_corpus_named(const char *name);

#endif
