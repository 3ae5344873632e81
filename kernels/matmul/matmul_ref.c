/* SPDX-License-Identifier: Apache-2.0 */
/* The matmul ops as they are defined, in plain C. */
#include "matmul_variants.h"

static void f32_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct matmul_f32 p = matmul_f32_of(arg);
	int64_t first, end;

	matmul_rows(p.m, MATMUL_ROW_UNIT, tid, n_threads, &first, &end);
	for (int64_t row = first; row < end; row++) {
		for (int64_t t = 0; t < p.n; t++) {
			float sum = 0;

			for (int64_t i = 0; i < p.k; i++)
				sum += p.w[row * p.k + i] * p.x[t * p.k + i];
			p.y[t * p.m + row] = sum;
		}
	}
}

/* The 128 weights of a block times 128 activations. */
static int32_t block_dot(const uint8_t *w, const int8_t *x)
{
	int32_t sum = 0;

	for (int j = 0; j < ASSAY_I2S_BLOCK_BYTES; j++) {
		sum += ((w[j] >> 6 & 3) - 1) * x[j];
		sum += ((w[j] >> 4 & 3) - 1) * x[j + 32];
		sum += ((w[j] >> 2 & 3) - 1) * x[j + 64];
		sum += ((w[j] & 3) - 1) * x[j + 96];
	}
	return sum;
}

static void ternary_rows(void *arg, uint32_t tid, uint32_t n_threads)
{
	struct matmul_ternary p = matmul_ternary_of(arg);
	int64_t first, end;

	matmul_rows(p.m, MATMUL_ROW_UNIT, tid, n_threads, &first, &end);
	for (int64_t row = first; row < end; row++) {
		for (int64_t t = 0; t < p.n; t++) {
			int32_t acc = 0;

			for (int64_t b = 0; b < p.k / ASSAY_I2S_BLOCK; b++)
				acc += block_dot(p.w + row * (p.k / 4) + b * ASSAY_I2S_BLOCK_BYTES,
						 p.x + t * p.k + b * ASSAY_I2S_BLOCK);
			p.y[t * p.m + row] = matmul_ternary_scale(&p, acc, t);
		}
	}
}

int assay_matmul_f32_ref(struct assay_job *job)
{
	return matmul_run(job, f32_rows);
}

int assay_matmul_ternary_ref(struct assay_job *job)
{
	return matmul_run(job, ternary_rows);
}
