/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.f32 by cublasSgemm, and matmul.ternary by the int8 product of cublasGemmEx, which takes its kernels from
 * cuBLASLt. The library is opened when a case first needs it, so that the plugin needs none; the calls and constants
 * below are those of its documented C interface.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op_matmul.h"
#include "cuda_blas.h"

#if ASSAY_CUDA
#include "cuda_stream.h"

enum { OP_N = 0, OP_T = 1, R_8I = 3, R_32I = 10, COMPUTE_32I = 72, GEMM_DEFAULT = -1 };

/* The version that belongs to the runtime, then the one before. */
static const char *const libraries[] = { "libcublas.so.13", "libcublas.so.12" };

struct cublas {
	void *dl, *handle;
	int8_t *w;     /* on the device: a byte for each weight */
	int32_t *sums; /* likewise, [n][m] */
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*set_stream)(void *handle, cudaStream_t stream);
	int (*sgemm)(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha, const float *a, int lda,
		     const float *b, int ldb, const float *beta, float *c, int ldc);
	int (*gemm_ex)(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
		       int type_a, int lda, const void *b, int type_b, int ldb, const void *beta, void *c, int type_c,
		       int ldc, int compute, int algorithm);
};

/* POSIX lets a function travel as a pointer to data; C does not, so the bits are copied. */
static int find(void *dl, const char *name, void *function)
{
	void *symbol = dlsym(dl, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol ? 0 : -1;
}

/* What was found stays loaded, so that the many shapes of a suite pay for loading once. */
static int library_open(struct cublas *b)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]) && !b->dl; i++)
		b->dl = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!b->dl)
		return -1;
	return find(b->dl, "cublasCreate_v2", &b->create) || find(b->dl, "cublasDestroy_v2", &b->destroy) ||
			       find(b->dl, "cublasSetStream_v2", &b->set_stream) ||
			       find(b->dl, "cublasSgemm_v2", &b->sgemm) || find(b->dl, "cublasGemmEx", &b->gemm_ex)
		       ? -1
		       : 0;
}

int assay_cublas_supports_f32(const struct assay_shape *shape, struct assay_reason *why)
{
	struct cublas b = { .dl = NULL };
	int rc = library_open(&b);

	(void)shape;
	if (b.dl)
		dlclose(b.dl);
	if (rc)
		snprintf(why->text, sizeof(why->text), "%s is missing, install NVIDIA's cuBLAS (libcublas)",
			 libraries[0]);
	return rc;
}

int assay_cublas_supports_ternary(const struct assay_shape *shape, struct assay_reason *why)
{
	if (shape->axis[ASSAY_MATMUL_M] % 4 == 0)
		return assay_cublas_supports_f32(shape, why);
	snprintf(why->text, sizeof(why->text), "cuBLAS multiplies bytes where m is a multiple of 4");
	return -1;
}

void assay_cublas_release(struct assay_job *job)
{
	struct cublas *b = job->state;

	if (!b)
		return;
	if (b->handle)
		b->destroy(b->handle);
	cudaFree(b->w);
	cudaFree(b->sums);
	if (b->dl)
		dlclose(b->dl);
	free(b);
	job->state = NULL;
}

static int failed(struct assay_job *job, const char *what, int status)
{
	assay_cublas_release(job);
	return job->host->fail(job, "%s: status %d", what, status);
}

int assay_cublas_prepare_f32(struct assay_job *job)
{
	struct cublas *b = calloc(1, sizeof(*b));
	int status;

	if (!b)
		return job->host->fail(job, "out of memory");
	job->state = b;
	if (library_open(b))
		return failed(job, "cannot load cuBLAS", 0);
	status = b->create(&b->handle);
	if (!status)
		status = b->set_stream(b->handle, cuda_stream_of(job));
	return status ? failed(job, "cannot start cuBLAS", status) : 0;
}

int assay_cublas_prepare_ternary(struct assay_job *job)
{
	const int64_t *axis = job->shape->axis;
	const size_t weights = (size_t)(axis[ASSAY_MATMUL_M] * axis[ASSAY_MATMUL_K]);
	const size_t sums = (size_t)(axis[ASSAY_MATMUL_M] * axis[ASSAY_MATMUL_N]);
	int rc = assay_cublas_prepare_f32(job);
	struct cublas *b = job->state;
	cudaError_t status;

	if (rc)
		return rc;
	status = cudaMalloc((void **)&b->w, weights);
	if (status == cudaSuccess)
		status = cudaMalloc((void **)&b->sums, sums * sizeof(*b->sums));
	if (status != cudaSuccess)
		return failed(job, cudaGetErrorString(status), (int)status);
	return assay_ternary_unpack_cuda(job, b->w);
}

/* Matrices of BLAS are by columns: y by rows is x · w^T with its factors changed. */
int assay_cublas_run_f32(struct assay_job *job)
{
	const struct cublas *b = job->state;
	const int m = (int)job->shape->axis[ASSAY_MATMUL_M], n = (int)job->shape->axis[ASSAY_MATMUL_N];
	const int k = (int)job->shape->axis[ASSAY_MATMUL_K];
	const float one = 1, zero = 0;
	int status =
		b->sgemm(b->handle, OP_T, OP_N, m, n, k, &one, job->tensors[ASSAY_MATMUL_F32_W].data, k,
			 job->tensors[ASSAY_MATMUL_F32_X].data, k, &zero, job->tensors[ASSAY_MATMUL_F32_Y].data, m);

	return status ? job->host->fail(job, "cublasSgemm: status %d", status) : 0;
}

int assay_cublas_run_ternary(struct assay_job *job)
{
	const struct cublas *b = job->state;
	const int m = (int)job->shape->axis[ASSAY_MATMUL_M], n = (int)job->shape->axis[ASSAY_MATMUL_N];
	const int k = (int)job->shape->axis[ASSAY_MATMUL_K];
	const int32_t one = 1, zero = 0;
	int status = b->gemm_ex(b->handle, OP_T, OP_N, m, n, k, &one, b->w, R_8I, k, job->tensors[ASSAY_TERNARY_X].data,
				R_8I, k, &zero, b->sums, R_32I, m, COMPUTE_32I, GEMM_DEFAULT);

	return status ? job->host->fail(job, "cublasGemmEx: status %d", status)
		      : assay_ternary_scale_cuda(job, b->sums);
}

#else

int assay_cublas_supports_f32(const struct assay_shape *shape, struct assay_reason *why)
{
	(void)shape;
	snprintf(why->text, sizeof(why->text), "built without nvcc");
	return -1;
}

int assay_cublas_supports_ternary(const struct assay_shape *shape, struct assay_reason *why)
{
	return assay_cublas_supports_f32(shape, why);
}
#endif
