/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of cuBLASLt, on an emulated device: it has int8 kernels under the conditions that NVIDIA documents, and
 * refuses all else. CUBLASLT_STANDIN=old: version 10.2; none: no kernel for any shape; big: a workspace of 4 KiB.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cublas_products.h"

enum { R_8I = 3, R_32I = 10, COMPUTE_32I = 72, OP_N = 0, OP_T = 1 };
enum { DESC_TRANSA = 3, DESC_TRANSB = 4, PREF_WORKSPACE = 1, PREF_ALIGNMENT_A = 5, PREF_ALIGNMENT_D = 8 };

#define MAGIC UINT64_C(0x6c74616c676f)
#define BIG   4096

struct desc {
	int compute, scale, trans[2];
};

struct layout {
	int type;
	uint64_t rows, columns;
	int64_t leading;
};

struct preference {
	uint64_t workspace;
	uint32_t alignment[4];
};

struct result {
	uint64_t algorithm[8];
	size_t workspace;
	int state;
	float waves;
	int reserved[4];
};

static int open_objects; /* that were created and not destroyed */

#define CREATED(type, ...)                                                                                             \
	do {                                                                                                           \
		*out = calloc(1, sizeof(type));                                                                        \
		if (!*out)                                                                                             \
			return STANDIN_INVALID;                                                                        \
		*(type *)*out = (type){ __VA_ARGS__ };                                                                 \
		open_objects++;                                                                                        \
		return STANDIN_OK;                                                                                     \
	} while (0)

static int destroyed(void *object)
{
	free(object);
	open_objects--;
	return STANDIN_OK;
}

STANDIN_EXPORT size_t cublasLtGetVersion(void);
STANDIN_EXPORT int cublasLtCreate(void **out);
STANDIN_EXPORT int cublasLtDestroy(void *handle);
STANDIN_EXPORT int cublasLtMatmulDescCreate(void **out, int compute, int scale);
STANDIN_EXPORT int cublasLtMatmulDescDestroy(void *desc);
STANDIN_EXPORT int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t size);
STANDIN_EXPORT int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns, int64_t leading);
STANDIN_EXPORT int cublasLtMatrixLayoutDestroy(void *layout);
STANDIN_EXPORT int cublasLtMatmulPreferenceCreate(void **out);
STANDIN_EXPORT int cublasLtMatmulPreferenceDestroy(void *preference);
STANDIN_EXPORT int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value,
							size_t size);
STANDIN_EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct desc *desc, const struct layout *a,
						  const struct layout *b, const struct layout *c,
						  const struct layout *d, const struct preference *p, int wanted,
						  struct result *found, int *n);
STANDIN_EXPORT int cublasLtMatmul(void *handle, const struct desc *desc, const void *alpha, const void *a,
				  const struct layout *la, const void *b, const struct layout *lb, const void *beta,
				  const void *c, const struct layout *lc, void *d, const struct layout *ld,
				  const uint64_t *algorithm, void *workspace, size_t workspace_bytes, void *stream);
STANDIN_EXPORT int cublaslt_standin_open(void);

static int is(const char *what)
{
	const char *text = getenv("CUBLASLT_STANDIN");

	return text && !strcmp(text, what);
}

int cublaslt_standin_open(void)
{
	return open_objects;
}

size_t cublasLtGetVersion(void)
{
	return is("old") ? 10201 : 130100;
}

int cublasLtCreate(void **out)
{
	CREATED(int, 1);
}

int cublasLtDestroy(void *handle)
{
	return destroyed(handle);
}

int cublasLtMatmulDescCreate(void **out, int compute, int scale)
{
	CREATED(struct desc, .compute = compute, .scale = scale);
}

int cublasLtMatmulDescDestroy(void *desc)
{
	return destroyed(desc);
}

int cublasLtMatmulDescSetAttribute(void *desc, int attribute, const void *value, size_t size)
{
	if ((attribute != DESC_TRANSA && attribute != DESC_TRANSB) || size != sizeof(int32_t))
		return STANDIN_INVALID;
	((struct desc *)desc)->trans[attribute - DESC_TRANSA] = *(const int32_t *)value;
	return STANDIN_OK;
}

int cublasLtMatrixLayoutCreate(void **out, int type, uint64_t rows, uint64_t columns, int64_t leading)
{
	CREATED(struct layout, .type = type, .rows = rows, .columns = columns, .leading = leading);
}

int cublasLtMatrixLayoutDestroy(void *layout)
{
	return destroyed(layout);
}

int cublasLtMatmulPreferenceCreate(void **out)
{
	CREATED(struct preference, .alignment = { 256, 256, 256, 256 });
}

int cublasLtMatmulPreferenceDestroy(void *preference)
{
	return destroyed(preference);
}

int cublasLtMatmulPreferenceSetAttribute(void *preference, int attribute, const void *value, size_t size)
{
	struct preference *p = preference;

	if (attribute == PREF_WORKSPACE && size == sizeof(p->workspace)) {
		memcpy(&p->workspace, value, size);
		return STANDIN_OK;
	}
	if (attribute < PREF_ALIGNMENT_A || attribute > PREF_ALIGNMENT_D || size != sizeof(p->alignment[0]))
		return STANDIN_INVALID;
	memcpy(&p->alignment[attribute - PREF_ALIGNMENT_A], value, size);
	return STANDIN_OK;
}

/* The TN format, whose dimensions and rows are multiples of four: w is k × m, x k × n, y m × n. */
static int has_kernel(const struct desc *desc, const struct layout *a, const struct layout *b, const struct layout *d)
{
	return desc->compute == COMPUTE_32I && desc->scale == R_32I && desc->trans[0] == OP_T &&
	       desc->trans[1] == OP_N && a->type == R_8I && b->type == R_8I && d->type == R_32I && a->rows == b->rows &&
	       a->columns == d->rows && b->columns == d->columns && a->rows % 4 == 0 && d->rows % 4 == 0 &&
	       a->leading % 4 == 0 && b->leading % 4 == 0 && d->leading % 4 == 0 && a->leading >= (int64_t)a->rows &&
	       b->leading >= (int64_t)b->rows && d->leading >= (int64_t)d->rows;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct desc *desc, const struct layout *a,
				   const struct layout *b, const struct layout *c, const struct layout *d,
				   const struct preference *p, int wanted, struct result *found, int *n)
{
	const size_t workspace = is("big") ? BIG : 0;

	if (!handle || wanted < 1 || c->type != d->type)
		return STANDIN_INVALID;
	*n = !is("none") && has_kernel(desc, a, b, d) && workspace <= p->workspace;
	if (*n)
		*found = (struct result){ .algorithm = { MAGIC, p->alignment[0] }, .workspace = workspace };
	return STANDIN_OK;
}

int cublasLtMatmul(void *handle, const struct desc *desc, const void *alpha, const void *a, const struct layout *la,
		   const void *b, const struct layout *lb, const void *beta, const void *c, const struct layout *lc,
		   void *d, const struct layout *ld, const uint64_t *algorithm, void *workspace, size_t workspace_bytes,
		   void *stream)
{
	if (!handle || !stream || algorithm[0] != MAGIC || c != d || lc != ld || !has_kernel(desc, la, lb, ld))
		return STANDIN_NOT_SUPPORTED;
	if (*(const int32_t *)alpha != 1 || *(const int32_t *)beta != 0 ||
	    workspace_bytes < (size_t)(is("big") ? BIG : 0) || (workspace_bytes && !workspace))
		return STANDIN_INVALID;
	if (!standin_aligned(a, algorithm[1]) || !standin_aligned(b, algorithm[1]) || !standin_aligned(d, algorithm[1]))
		return STANDIN_NOT_SUPPORTED;
	if (workspace_bytes)
		memset(workspace, 0x5a, workspace_bytes); /* the library may write all of it */
	STANDIN_PRODUCT((int64_t)ld->rows, (int64_t)ld->columns, (int64_t)la->rows, (const int8_t *)a, la->leading,
			(const int8_t *)b, lb->leading, (int32_t *)d, ld->leading, int32_t, (int32_t), (int32_t));
	return STANDIN_OK;
}
