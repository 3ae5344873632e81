/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the embedding and the head in each of their formats. */
#ifndef ASSAY_GENERATE_HEAD_H
#define ASSAY_GENERATE_HEAD_H

#include "assay/op_generate.h"

extern const char *const assay_generate_head_names[ASSAY_GENERATE_N_HEADS + 1];

/* A row has a multiple of that many values. */
int64_t assay_generate_head_block(enum assay_generate_head head);
/* Bytes of a row of @n values. */
int64_t assay_generate_head_row_bytes(enum assay_generate_head head, int64_t n);
void assay_generate_head_encode(enum assay_generate_head head, const float *x, int64_t n, uint8_t *row);
void assay_generate_head_decode(enum assay_generate_head head, const uint8_t *row, int64_t n, float *x);

#endif
