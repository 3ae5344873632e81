/* SPDX-License-Identifier: Apache-2.0 */
/* The variants that call cuBLAS, NVIDIA's own library, for others to be held against. */
#ifndef CUDA_BLAS_H
#define CUDA_BLAS_H

#include "assay/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

int assay_cublas_supports_f32(const struct assay_shape *shape, struct assay_reason *why);
int assay_cublas_supports_ternary(const struct assay_shape *shape, struct assay_reason *why);
int assay_cublas_prepare_f32(struct assay_job *job);
int assay_cublas_prepare_ternary(struct assay_job *job);
int assay_cublas_run_f32(struct assay_job *job);
int assay_cublas_run_ternary(struct assay_job *job);
void assay_cublas_release(struct assay_job *job);

/* Enqueue: one signed byte for each weight, and y from exact sums [n][m]. */
int assay_ternary_unpack_cuda(const struct assay_job *job, int8_t *to);
int assay_ternary_scale_cuda(const struct assay_job *job, const int32_t *sums);

#ifdef __cplusplus
}
#endif
#endif
