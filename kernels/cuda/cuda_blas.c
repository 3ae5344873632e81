/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.f32 by cublasSgemm, and matmul.ternary by cublasGemmEx, on bytes or on halves. Calls and constants are those
 * of cuBLAS's documented C interface.
 */
#include "cuda_blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/op_matmul.h"

static void *open_first(const struct cuda_library *library, const char **file)
{
	void *dl = NULL;

	for (size_t i = 0; library->files[i] && !dl; i++) {
		*file = library->files[i];
		dl = dlopen(*file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	}
	return dl;
}

/* POSIX lets a function travel as a pointer to data; C does not, so its bits are copied. */
void *assay_cuda_library_open(const struct cuda_library *library, void *functions, struct assay_reason *why)
{
	const char *file = NULL;
	void *dl = open_first(library, &file);

	if (!dl) {
		snprintf(why->text, sizeof(why->text), "%s is missing, install NVIDIA's cuBLAS", library->files[0]);
		return NULL;
	}
	for (const struct cuda_symbol *s = library->symbols; s->name; s++) {
		void *symbol = dlsym(dl, s->name);

		if (!symbol) {
			snprintf(why->text, sizeof(why->text), "%s lacks %s: install a newer %s", file, s->name,
				 library->title);
			dlclose(dl);
			return NULL;
		}
		memcpy((char *)functions + s->at, &symbol, sizeof(symbol));
	}
	return dl;
}

#if ASSAY_CUDA
#include "cuda_stream.h"

enum { OP_N = 0, OP_T = 1, R_32F = 0, R_16F = 2, R_8I = 3, R_32I = 10 };
enum { COMPUTE_32F = 68, COMPUTE_32I = 72, GEMM_DEFAULT = -1 };

/* Sums of halves are sums of floats, exact below 2^24. */
#define HALF_MAX_K ((1 << 24) / 127)

struct cublas {
	void *dl, *handle;
	/* On the device. */
	void *w;    /* a byte or a half for each weight */
	void *x;    /* activations as halves */
	void *sums; /* [n][m], 32 bits each */
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*set_stream)(void *handle, cudaStream_t stream);
	int (*sgemm)(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha, const float *a, int lda,
		     const float *b, int ldb, const float *beta, float *c, int ldc);
	int (*gemm_ex)(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
		       int type_a, int lda, const void *b, int type_b, int ldb, const void *beta, void *c, int type_c,
		       int ldc, int compute, int algorithm);
};

/* The version that belongs to the runtime, then the one before. */
static const char *const files[] = { "libcublas.so.13", "libcublas.so.12", NULL };

static const struct cuda_symbol symbols[] = {
	{ "cublasCreate_v2", offsetof(struct cublas, create) },
	{ "cublasDestroy_v2", offsetof(struct cublas, destroy) },
	{ "cublasSetStream_v2", offsetof(struct cublas, set_stream) },
	{ "cublasSgemm_v2", offsetof(struct cublas, sgemm) },
	{ "cublasGemmEx", offsetof(struct cublas, gemm_ex) },
	{ NULL, 0 },
};

static const struct cuda_library library = { .title = "cuBLAS", .files = files, .symbols = symbols };

int assay_cublas_supports_f32(const struct assay_shape *shape, struct assay_reason *why)
{
	struct cublas b = { .dl = NULL };

	(void)shape;
	b.dl = assay_cuda_library_open(&library, &b, why);
	if (b.dl)
		dlclose(b.dl);
	return b.dl ? 0 : -1;
}

int assay_cublas_takes_bytes(const struct assay_shape *shape, struct assay_reason *why)
{
	if (shape->axis[ASSAY_MATMUL_M] % 4 == 0)
		return 0;
	snprintf(why->text, sizeof(why->text), "cuBLAS multiplies bytes only where m is a multiple of 4");
	return -1;
}

int assay_cublas_supports_ternary(const struct assay_shape *shape, struct assay_reason *why)
{
	return assay_cublas_takes_bytes(shape, why) ? -1 : assay_cublas_supports_f32(shape, why);
}

int assay_cublas_supports_half(const struct assay_shape *shape, struct assay_reason *why)
{
	if (shape->axis[ASSAY_MATMUL_K] <= HALF_MAX_K)
		return assay_cublas_supports_f32(shape, why);
	snprintf(why->text, sizeof(why->text), "sums of half precision are exact up to k=%d", HALF_MAX_K);
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
	cudaFree(b->x);
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
	struct assay_reason why = { "" };
	int status;

	if (!b)
		return job->host->fail(job, "out of memory");
	job->state = b;
	b->dl = assay_cuda_library_open(&library, b, &why);
	if (!b->dl) {
		assay_cublas_release(job);
		return job->host->fail(job, "%s", why.text);
	}
	status = b->create(&b->handle);
	if (!status)
		status = b->set_stream(b->handle, cuda_stream_of(job));
	return status ? failed(job, "cannot start cuBLAS", status) : 0;
}

/* Memory beside the tensors: weights and, where @x, activations of @each bytes, and the sums. */
static int open_memory(struct assay_job *job, size_t each, int x)
{
	const int64_t *axis = job->shape->axis;
	const size_t m = (size_t)axis[ASSAY_MATMUL_M], k = (size_t)axis[ASSAY_MATMUL_K];
	const size_t n = (size_t)axis[ASSAY_MATMUL_N], total = m * k * each + (x ? n * k * each : 0) + 4 * m * n;
	struct cublas *b = job->state;
	cudaError_t rc = cudaMalloc(&b->w, m * k * each);

	if (rc == cudaSuccess && x)
		rc = cudaMalloc(&b->x, n * k * each);
	if (rc == cudaSuccess)
		rc = cudaMalloc(&b->sums, 4 * m * n);
	if (rc == cudaSuccess)
		return 0;
	assay_cublas_release(job);
	return job->host->fail(job, "cannot allocate %zu bytes for the operands of cuBLAS: %s", total,
			       cudaGetErrorString(rc));
}

int assay_cublas_prepare_ternary(struct assay_job *job)
{
	int rc = assay_cublas_prepare_f32(job);

	if (!rc)
		rc = open_memory(job, 1, 0);
	if (!rc)
		rc = assay_ternary_unpack_cuda(job, ((struct cublas *)job->state)->w);
	if (rc)
		assay_cublas_release(job);
	return rc;
}

int assay_cublas_prepare_half(struct assay_job *job)
{
	int rc = assay_cublas_prepare_f32(job);

	if (!rc)
		rc = open_memory(job, 2, 1);
	if (!rc)
		rc = assay_ternary_unpack_half_cuda(job, ((struct cublas *)job->state)->w);
	if (rc)
		assay_cublas_release(job);
	return rc;
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

int assay_cublas_run_half(struct assay_job *job)
{
	const struct cublas *b = job->state;
	const int m = (int)job->shape->axis[ASSAY_MATMUL_M], n = (int)job->shape->axis[ASSAY_MATMUL_N];
	const int k = (int)job->shape->axis[ASSAY_MATMUL_K];
	const float one = 1, zero = 0;
	int status = assay_ternary_x_half_cuda(job, b->x);

	if (status)
		return status;
	status = b->gemm_ex(b->handle, OP_T, OP_N, m, n, k, &one, b->w, R_16F, k, b->x, R_16F, k, &zero, b->sums, R_32F,
			    m, COMPUTE_32F, GEMM_DEFAULT);
	return status ? job->host->fail(job, "cublasGemmEx: status %d", status)
		      : assay_ternary_scale_half_cuda(job, b->sums);
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

int assay_cublas_supports_half(const struct assay_shape *shape, struct assay_reason *why)
{
	return assay_cublas_supports_f32(shape, why);
}
#endif
