/* SPDX-License-Identifier: Apache-2.0 */
/* The variants that call cuBLAS and cuBLASLt, NVIDIA's own libraries, for others to be held against. */
#ifndef CUDA_BLAS_H
#define CUDA_BLAS_H

#include <stddef.h>

#include "assay/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

int assay_cublas_supports_f32(const struct assay_shape *shape, struct assay_reason *why);
int assay_cublas_prepare_f32(struct assay_job *job);
int assay_cublas_run_f32(struct assay_job *job);

/* matmul.ternary by bytes. */
int assay_cublas_supports_ternary(const struct assay_shape *shape, struct assay_reason *why);
int assay_cublas_prepare_ternary(struct assay_job *job);
int assay_cublas_run_ternary(struct assay_job *job);

/* matmul.ternary by half precision. */
int assay_cublas_supports_half(const struct assay_shape *shape, struct assay_reason *why);
int assay_cublas_prepare_half(struct assay_job *job);
int assay_cublas_run_half(struct assay_job *job);
void assay_cublas_release(struct assay_job *job);

/* matmul.ternary by bytes, the kernel chosen by cuBLASLt. */
int assay_cublaslt_supports(const struct assay_shape *shape, struct assay_reason *why);
int assay_cublaslt_prepare(struct assay_job *job);
int assay_cublaslt_run(struct assay_job *job);
void assay_cublaslt_release(struct assay_job *job);

/* 0, or negative with the reason: int8 kernels want m and k as multiples of 4, and k always is one. */
int assay_cublas_takes_bytes(const struct assay_shape *shape, struct assay_reason *why);

/* Enqueue: each weight as a signed byte or a half, activations as halves, and y from exact sums [n][m]. */
int assay_ternary_unpack_cuda(const struct assay_job *job, int8_t *to);
int assay_ternary_unpack_half_cuda(const struct assay_job *job, uint16_t *to);
int assay_ternary_x_half_cuda(const struct assay_job *job, uint16_t *to);
int assay_ternary_scale_cuda(const struct assay_job *job, const int32_t *sums);
int assay_ternary_scale_half_cuda(const struct assay_job *job, const float *sums);

/* ---- NVIDIA's libraries, opened when a case first needs them, so that the plugin needs none ---- */

/* A function of a library, and where its address goes in the caller's struct. */
struct cuda_symbol {
	const char *name;
	size_t at;
};

struct cuda_library {
	const char *title;                 /* "cuBLAS" */
	const char *const *files;          /* the newest first, NULL ends it */
	const struct cuda_symbol *symbols; /* a name of NULL ends it */
};

/*
 * Open the first file that is there and find the symbols in it. The handle for dlclose(); NULL with the reason. What
 * was opened stays loaded, so that the many shapes of a suite pay for loading once.
 */
void *assay_cuda_library_open(const struct cuda_library *library, void *functions, struct assay_reason *why);

#ifdef __cplusplus
}
#endif
#endif
