/* SPDX-License-Identifier: Apache-2.0 */
/* The corpora of the compress and tokenizer ops, made by code from a seed. */
#ifndef COMPRESS_CORPORA_H
#define COMPRESS_CORPORA_H

#include <stdint.h>

/* NULL-terminated: the values of the axis `corpus`. */
extern const char *const assay_corpus_names[];

/* Pages of this many bytes are independent of each other, so that threads can share the work. */
#define ASSAY_CORPUS_PAGE 4096

/* Write page @page of the corpus, an index into the names. */
void assay_corpus_page(uint64_t seed, int64_t corpus, uint64_t page, uint8_t out[ASSAY_CORPUS_PAGE]);

#endif
