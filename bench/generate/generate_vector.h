/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the generate driver does with many floats, once for each vector width. A lane is an IEEE operation of its own,
 * sums have 16 lanes whatever the width (by index mod 16, then added in pairs), and nothing is fused, so that all
 * tables give the same bits. Lengths are multiples of 16 unless a function says otherwise; buffers need no alignment.
 */
#ifndef ASSAY_GENERATE_VECTOR_H
#define ASSAY_GENERATE_VECTOR_H

#include "assay/op_generate.h"

/*
 * Heads of a token that share keys and values: @n of them, 1, 2 or 4, whose queries and outputs of @dim floats lie side
 * by side, and the scores of all positions @stride apart.
 */
struct gen_heads {
	int n;
	int64_t dim, stride;
	const float *q;
	float *scores, *out;
};

struct gen_vector {
	uint32_t bits; /* of a vector */
	/* out = x · gain / sqrt(mean(x²) + eps). */
	void (*rmsnorm)(const float *x, const float *gain, int64_t n, float *out);
	/* q = round(x · 127 / max|x|), ties to even; returns max|x| / 127. All zeros give scale 0. */
	float (*quantize)(const float *x, int64_t n, int8_t *q);
	/* scores[at + r] = Σ q·k for each head, with k the row r of @n_rows in bf16. */
	void (*attend_keys)(const struct gen_heads *h, int64_t at, const uint16_t *rows, int64_t n_rows);
	/* out += scores[at + r] · v for each head, with v the row r in bf16, in order: rows may come in pieces. */
	void (*attend_values)(const struct gen_heads *h, int64_t at, const uint16_t *rows, int64_t n_rows);
	/*
	 * What head_rows() takes in place of @n floats @x: these, or what they are rounded to in @room, which has room
	 * for as many floats.
	 */
	const void *(*head_input)(enum assay_generate_head head, const float *x, int64_t n, void *room);
	/* out[r] = the row r of @n_rows times the input, by the definition in op_generate.h. */
	void (*head_rows)(enum assay_generate_head head, const void *input, const uint8_t *rows, int64_t n_rows,
			  int64_t dim, float *out);
	/* out = max(gate, 0)² · up. */
	void (*relu2_gate)(const float *gate, const float *up, int64_t n, float *out);
	void (*add)(float *acc, const float *x, int64_t n);
	/*
	 * x[i] = exp((x[i] − max) · inv_temperature) for any n; returns their sum. Not normalised. An exponential has a
	 * relative error of at most 2^-22, and is 0 below exp(−87).
	 */
	float (*softmax)(float *x, int64_t n, float inv_temperature);
	/* Rotate the pairs (x[i], x[i + dim/2]) of one head by a row of the table. */
	void (*rope)(const float *row, int64_t dim, float *x);
	/* Round to nearest, ties to even; finite values only. */
	void (*to_bf16)(const float *x, int64_t n, uint16_t *out);
};

/* The widths: one that every CPU of the architecture has, and wider ones. */
extern const struct gen_vector assay_generate_vector_base;
#if defined(__x86_64__)
extern const struct gen_vector assay_generate_vector_avx2, assay_generate_vector_avx512,
	assay_generate_vector_avx512vnni;
#elif defined(__aarch64__)
extern const struct gen_vector assay_generate_vector_dotprod;
#endif

/* The widest that this CPU has and @host allows; NULL allows all. */
const struct gen_vector *assay_generate_vector(const struct assay_host_info *host);

#endif
