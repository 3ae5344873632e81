/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a GGUF file of version 3: first all values, then all tensors by name and shape, then their data in the same
 * order. The counts in front are filled in at the end, so the stream has to be one that can seek. Errors of the stream
 * stay with it (ferror()).
 */
#ifndef ASSAY_GGUF_WRITER_H
#define ASSAY_GGUF_WRITER_H

#include <stdio.h>

#include "gguf/gguf.h"

struct assay_gguf_writer {
	FILE *f;
	uint64_t n_values, n_tensors;
	uint64_t offset; /* of the next tensor's data */
	uint64_t at;     /* bytes written */
};

void assay_gguf_write_begin(struct assay_gguf_writer *w, FILE *f);
void assay_gguf_write_u32(struct assay_gguf_writer *w, const char *key, uint32_t v);
void assay_gguf_write_bool(struct assay_gguf_writer *w, const char *key, bool v);
void assay_gguf_write_f32(struct assay_gguf_writer *w, const char *key, float v);
void assay_gguf_write_text(struct assay_gguf_writer *w, const char *key, const char *v);
/* The head of an array, whose @n elements follow by assay_gguf_write_data() or assay_gguf_write_string(). */
void assay_gguf_write_array(struct assay_gguf_writer *w, const char *key, enum assay_gguf_kind kind, uint64_t n);
void assay_gguf_write_string(struct assay_gguf_writer *w, const char *s);
/* A value of another file. */
void assay_gguf_write_value(struct assay_gguf_writer *w, const struct assay_gguf_value *v);
/* Announce a matrix of @rows times @cols; rows 0: a vector. */
void assay_gguf_write_tensor(struct assay_gguf_writer *w, const char *name, const struct assay_gguf_type *type,
			     uint64_t rows, uint64_t cols);
/* A part of the data of the next tensor; the last part of each is followed by assay_gguf_write_pad(). */
void assay_gguf_write_data(struct assay_gguf_writer *w, const void *data, size_t n);
/* To where data may begin: before the first tensor's and after each. */
void assay_gguf_write_pad(struct assay_gguf_writer *w);
/* 0, or -1 with errno: not all was written. The stream stays open. */
int assay_gguf_write_end(struct assay_gguf_writer *w);

#endif
