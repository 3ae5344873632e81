/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of cuBLAS, on an emulated device: the calls of the plugin, refused where the library would refuse them.
 * Memory of a device is the host's there.
 */
#include <stddef.h>
#include <stdint.h>

#include "cublas_products.h"

enum { OP_N = 0, OP_T = 1, R_32F = 0, R_16F = 2, R_8I = 3, R_32I = 10, COMPUTE_32F = 68, COMPUTE_32I = 72 };

static struct handle {
	void *stream;
	int open;
} the_handle;

STANDIN_EXPORT int cublasCreate_v2(void **handle);
STANDIN_EXPORT int cublasDestroy_v2(void *handle);
STANDIN_EXPORT int cublasSetStream_v2(void *handle, void *stream);
STANDIN_EXPORT int cublasSgemm_v2(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha,
				  const float *a, int lda, const float *b, int ldb, const float *beta, float *c,
				  int ldc);
STANDIN_EXPORT int cublasGemmEx(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a,
				int type_a, int lda, const void *b, int type_b, int ldb, const void *beta, void *c,
				int type_c, int ldc, int compute, int algorithm);

int cublasCreate_v2(void **handle)
{
	the_handle = (struct handle){ .open = 1 };
	*handle = &the_handle;
	return STANDIN_OK;
}

int cublasDestroy_v2(void *handle)
{
	((struct handle *)handle)->open = 0;
	return STANDIN_OK;
}

int cublasSetStream_v2(void *handle, void *stream)
{
	((struct handle *)handle)->stream = stream;
	return STANDIN_OK;
}

static int usable(const struct handle *h, int op_a, int op_b)
{
	return h == &the_handle && h->open && h->stream && op_a == OP_T && op_b == OP_N;
}

int cublasSgemm_v2(void *handle, int op_a, int op_b, int m, int n, int k, const float *alpha, const float *a, int lda,
		   const float *b, int ldb, const float *beta, float *c, int ldc)
{
	if (!usable(handle, op_a, op_b) || *alpha != 1 || *beta != 0 || lda < k || ldb < k || ldc < m)
		return STANDIN_INVALID;
	STANDIN_PRODUCT(m, n, k, a, lda, b, ldb, c, ldc, float, (float), (float));
	return STANDIN_OK;
}

int cublasGemmEx(void *handle, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a, int type_a,
		 int lda, const void *b, int type_b, int ldb, const void *beta, void *c, int type_c, int ldc,
		 int compute, int algorithm)
{
	if (!usable(handle, op_a, op_b) || lda < k || ldb < k || ldc < m || algorithm != -1 || type_a != type_b)
		return STANDIN_INVALID;
	if (type_a == R_16F && type_c == R_32F && compute == COMPUTE_32F) {
		if (*(const float *)alpha != 1 || *(const float *)beta != 0)
			return STANDIN_INVALID;
		STANDIN_PRODUCT(m, n, k, (const uint16_t *)a, lda, (const uint16_t *)b, ldb, (float *)c, ldc, float,
				standin_half, standin_half);
		return STANDIN_OK;
	}
	if (type_a != R_8I || type_c != R_32I || compute != COMPUTE_32I || m % 4 || k % 4 || lda % 4 || ldb % 4 ||
	    ldc % 4 || !standin_aligned(a, 4) || !standin_aligned(b, 4) || !standin_aligned(c, 4))
		return STANDIN_NOT_SUPPORTED;
	if (*(const int32_t *)alpha != 1 || *(const int32_t *)beta != 0)
		return STANDIN_INVALID;
	STANDIN_PRODUCT(m, n, k, (const int8_t *)a, lda, (const int8_t *)b, ldb, (int32_t *)c, ldc, int32_t, (int32_t),
			(int32_t));
	return STANDIN_OK;
}
