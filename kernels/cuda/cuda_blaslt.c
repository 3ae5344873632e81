/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.ternary by cublasLtMatmul on bytes: the baseline of the tensor-core kernel. For matrices in column order the
 * library has int8 kernels where A is transposed and B is not, and m, k and leading dimensions are multiples of 4. It
 * is fastest where matrices begin at multiples of 16 bytes (documentation of cublasLtMatmul). Constants are those of
 * its C interface. The kernel is the library's first choice for the shape, found in prepare().
 */
#include "cuda_blas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "assay/op_matmul.h"

#if ASSAY_CUDA
#include "cuda_stream.h"

enum { R_8I = 3, R_32I = 10, COMPUTE_32I = 72, OP_T = 1 };
enum { DESC_TRANSA = 3, PREF_WORKSPACE_BYTES = 1, PREF_ALIGNMENT_A = 5, PREF_ALIGNMENT_D = 8 };

#define WORKSPACE_BYTES ((uint64_t)32 << 20) /* what NVIDIA advises for Hopper; for others it advises less */
#define OLDEST          11000                /* compute types came with 11.0 */
#define ALIGNMENT       256                  /* of the tensors of a device, and of cudaMalloc */

struct algorithm {
	uint64_t data[8];
};

/* As cublasLtMatmulAlgoGetHeuristic() fills it. */
struct heuristic {
	struct algorithm algorithm;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

struct cublaslt {
	void *dl, *handle, *desc, *layout_w, *layout_x, *layout_y;
	struct heuristic chosen;
	/* On the device. */
	int8_t *w;
	int32_t *sums; /* [n][m] */
	void *workspace;

	size_t (*version)(void);
	int (*create)(void **handle);
	int (*destroy)(void *handle);
	int (*desc_create)(void **desc, int compute, int scale);
	int (*desc_destroy)(void *desc);
	int (*desc_set)(void *desc, int attribute, const void *value, size_t size);
	int (*layout_create)(void **layout, int type, uint64_t rows, uint64_t columns, int64_t leading);
	int (*layout_destroy)(void *layout);
	int (*preference_create)(void **preference);
	int (*preference_destroy)(void *preference);
	int (*preference_set)(void *preference, int attribute, const void *value, size_t size);
	int (*choose)(void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference, int wanted,
		      struct heuristic *found, int *n);
	int (*matmul)(void *handle, void *desc, const void *alpha, const void *a, void *layout_a, const void *b,
		      void *layout_b, const void *beta, const void *c, void *layout_c, void *d, void *layout_d,
		      const struct algorithm *algorithm, void *workspace, size_t workspace_bytes, cudaStream_t stream);
};

static const char *const files[] = { "libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so.10",
				     NULL };

#define SYMBOL(name, member)                                                                                           \
	{                                                                                                              \
		name, offsetof(struct cublaslt, member)                                                                \
	}

static const struct cuda_symbol symbols[] = {
	SYMBOL("cublasLtGetVersion", version),
	SYMBOL("cublasLtCreate", create),
	SYMBOL("cublasLtDestroy", destroy),
	SYMBOL("cublasLtMatmulDescCreate", desc_create),
	SYMBOL("cublasLtMatmulDescDestroy", desc_destroy),
	SYMBOL("cublasLtMatmulDescSetAttribute", desc_set),
	SYMBOL("cublasLtMatrixLayoutCreate", layout_create),
	SYMBOL("cublasLtMatrixLayoutDestroy", layout_destroy),
	SYMBOL("cublasLtMatmulPreferenceCreate", preference_create),
	SYMBOL("cublasLtMatmulPreferenceDestroy", preference_destroy),
	SYMBOL("cublasLtMatmulPreferenceSetAttribute", preference_set),
	SYMBOL("cublasLtMatmulAlgoGetHeuristic", choose),
	SYMBOL("cublasLtMatmul", matmul),
	{ NULL, 0 },
};

static const struct cuda_library library = { .title = "cuBLASLt", .files = files, .symbols = symbols };

static int open_library(struct cublaslt *b, struct assay_reason *why)
{
	size_t version;

	b->dl = assay_cuda_library_open(&library, b, why);
	if (!b->dl)
		return -1;
	version = b->version();
	if (version >= OLDEST)
		return 0;
	snprintf(why->text, sizeof(why->text), "cuBLASLt is too old: it is %zu.%zu, 11.0 or later is needed",
		 version / 1000, version % 1000 / 100);
	dlclose(b->dl);
	b->dl = NULL;
	return -1;
}

int assay_cublaslt_supports(const struct assay_shape *shape, struct assay_reason *why)
{
	struct cublaslt b = { .dl = NULL };

	if (assay_cublas_takes_bytes(shape, why) || open_library(&b, why))
		return -1;
	dlclose(b.dl);
	return 0;
}

void assay_cublaslt_release(struct assay_job *job)
{
	struct cublaslt *b = job->state;

	if (!b)
		return;
	if (b->layout_y)
		b->layout_destroy(b->layout_y);
	if (b->layout_x)
		b->layout_destroy(b->layout_x);
	if (b->layout_w)
		b->layout_destroy(b->layout_w);
	if (b->desc)
		b->desc_destroy(b->desc);
	if (b->handle)
		b->destroy(b->handle);
	cudaFree(b->w);
	cudaFree(b->sums);
	cudaFree(b->workspace);
	if (b->dl)
		dlclose(b->dl);
	free(b);
	job->state = NULL;
}

/* Matrices of BLAS are by columns: w by rows is k × m, transposed; x is k × n, y m × n. */
static int describe(struct cublaslt *b, const int64_t *axis)
{
	const int64_t m = axis[ASSAY_MATMUL_M], n = axis[ASSAY_MATMUL_N], k = axis[ASSAY_MATMUL_K];
	const int32_t transposed = OP_T;
	int status = b->create(&b->handle);

	if (!status)
		status = b->desc_create(&b->desc, COMPUTE_32I, R_32I);
	if (!status)
		status = b->desc_set(b->desc, DESC_TRANSA, &transposed, sizeof(transposed));
	if (!status)
		status = b->layout_create(&b->layout_w, R_8I, (uint64_t)k, (uint64_t)m, k);
	if (!status)
		status = b->layout_create(&b->layout_x, R_8I, (uint64_t)k, (uint64_t)n, k);
	if (!status)
		status = b->layout_create(&b->layout_y, R_32I, (uint64_t)m, (uint64_t)n, m);
	return status;
}

/* The kernel that the library advises; *n: how many it has. */
static int choose(struct cublaslt *b, int *n)
{
	const uint64_t workspace = WORKSPACE_BYTES;
	const uint32_t alignment = ALIGNMENT;
	void *preference = NULL;
	int status = b->preference_create(&preference);

	if (!status)
		status = b->preference_set(preference, PREF_WORKSPACE_BYTES, &workspace, sizeof(workspace));
	for (int i = PREF_ALIGNMENT_A; i <= PREF_ALIGNMENT_D && !status; i++)
		status = b->preference_set(preference, i, &alignment, sizeof(alignment));
	if (!status)
		status = b->choose(b->handle, b->desc, b->layout_w, b->layout_x, b->layout_y, b->layout_y, preference,
				   1, &b->chosen, n);
	if (!status && *n)
		status = b->chosen.state;
	if (preference)
		b->preference_destroy(preference);
	return status;
}

static int open_memory(struct assay_job *job)
{
	const int64_t *axis = job->shape->axis;
	const size_t w = (size_t)(axis[ASSAY_MATMUL_M] * axis[ASSAY_MATMUL_K]);
	const size_t sums = 4 * (size_t)(axis[ASSAY_MATMUL_M] * axis[ASSAY_MATMUL_N]);
	struct cublaslt *b = job->state;
	const size_t workspace = b->chosen.workspace_bytes;
	cudaError_t rc = cudaMalloc((void **)&b->w, w);

	if (rc == cudaSuccess)
		rc = cudaMalloc((void **)&b->sums, sums);
	if (rc == cudaSuccess && workspace)
		rc = cudaMalloc(&b->workspace, workspace);
	if (rc == cudaSuccess)
		return 0;
	assay_cublaslt_release(job);
	return job->host->fail(job, "cannot allocate %zu bytes for the operands of cuBLASLt: %s", w + sums + workspace,
			       cudaGetErrorString(rc));
}

int assay_cublaslt_prepare(struct assay_job *job)
{
	struct cublaslt *b = calloc(1, sizeof(*b));
	struct assay_reason why = { "" };
	int status, n = 0;

	if (!b)
		return job->host->fail(job, "out of memory");
	job->state = b;
	if (open_library(b, &why)) {
		assay_cublaslt_release(job);
		return job->host->fail(job, "%s", why.text);
	}
	status = describe(b, job->shape->axis);
	if (!status)
		status = choose(b, &n);
	if (status || !n) {
		assay_cublaslt_release(job);
		return status ? job->host->fail(job, "cannot start cuBLASLt: status %d", status)
			      : job->host->fail(job, "cuBLASLt has no int8 kernel for this shape on this device");
	}
	if (open_memory(job))
		return -1;
	status = assay_ternary_unpack_cuda(job, b->w);
	if (status)
		assay_cublaslt_release(job);
	return status;
}

int assay_cublaslt_run(struct assay_job *job)
{
	const struct cublaslt *b = job->state;
	const int32_t one = 1, zero = 0;
	int status = b->matmul(b->handle, b->desc, &one, b->w, b->layout_w, job->tensors[ASSAY_TERNARY_X].data,
			       b->layout_x, &zero, b->sums, b->layout_y, b->sums, b->layout_y, &b->chosen.algorithm,
			       b->workspace, b->chosen.workspace_bytes, cuda_stream_of(job));

	return status ? job->host->fail(job, "cublasLtMatmul: status %d", status)
		      : assay_ternary_scale_cuda(job, b->sums);
}

#else

int assay_cublaslt_supports(const struct assay_shape *shape, struct assay_reason *why)
{
	return assay_cublas_supports_f32(shape, why);
}
#endif
