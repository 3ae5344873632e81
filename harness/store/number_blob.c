/* SPDX-License-Identifier: Apache-2.0 */
#include "store/number_blob.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOB_VERSION 1
#define REAL_LEN     8
#define NUMBER_MIN   2
#define NUMBER_MAX   (2 * ASSAY_VARINT_MAX + REAL_LEN)
#define WHOLE_BELOW  9007199254740992.0 /* 2^53 */

enum { IS_REAL = 1, HAS_SHARE = 2, N_FLAGS = 4 };

static unsigned char *put_real(unsigned char *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	for (unsigned i = 0; i < REAL_LEN; i++)
		*p++ = (unsigned char)(bits >> (8 * i));
	return p;
}

static double get_real(struct assay_blob_reader *r)
{
	uint64_t bits = 0;
	double v;

	for (unsigned i = 0; i < REAL_LEN; i++)
		bits |= (uint64_t)assay_blob_get_byte(r) << (8 * i);
	memcpy(&v, &bits, sizeof(v));
	r->bad |= !isfinite(v);
	return v;
}

/* -0 keeps its sign as a real. */
static bool is_whole(double v)
{
	return fabs(v) < WHOLE_BELOW && v == (double)(int64_t)v && !(v == 0 && signbit(v));
}

static unsigned char *put_number(unsigned char *p, const struct assay_stored_number *v)
{
	const bool whole = is_whole(v->value), share = v->running_frac != 1;

	p = assay_blob_put_varint(p, (uint64_t)v->name * N_FLAGS + (whole ? 0 : IS_REAL) + (share ? HAS_SHARE : 0));
	p = whole ? assay_blob_put_varint(p, assay_blob_zigzag((uint64_t)(int64_t)v->value)) : put_real(p, v->value);
	return share ? put_real(p, v->running_frac) : p;
}

int assay_number_blob_encode(const struct assay_stored_number *v, size_t n, unsigned char **out, size_t *len,
			     struct assay_err *err)
{
	unsigned char *p = malloc(1 + ASSAY_VARINT_MAX + n * NUMBER_MAX);

	if (!p)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu numbers", n);
	*out = p;
	*p++ = BLOB_VERSION;
	p = assay_blob_put_varint(p, n);
	for (size_t i = 0; i < n; i++)
		p = put_number(p, &v[i]);
	*len = (size_t)(p - *out);
	return 0;
}

static void get_number(struct assay_blob_reader *r, struct assay_stored_number *v)
{
	const uint64_t head = assay_blob_get_varint(r, (uint64_t)INT64_MAX);

	v->name = (int64_t)(head / N_FLAGS);
	v->value = head & IS_REAL ? get_real(r)
				  : (double)(int64_t)assay_blob_unzigzag(assay_blob_get_varint(r, UINT64_MAX));
	v->running_frac = head & HAS_SHARE ? get_real(r) : 1;
	r->bad |= !v->name || !(v->running_frac > 0 && v->running_frac <= 1);
}

int assay_number_blob_decode(const void *blob, size_t len, struct assay_stored_number **out, size_t *n,
			     struct assay_err *err)
{
	const unsigned char *bytes = blob;
	struct assay_blob_reader r = { .p = bytes + 1, .end = bytes + len };
	struct assay_stored_number *v = NULL;
	uint64_t count;

	if (len < 2)
		return assay_err_set(err, ASSAY_ESTORE, "numbers are cut off (%zu bytes)", len);
	if (bytes[0] != BLOB_VERSION)
		return assay_err_set(err, ASSAY_ESTORE, "numbers have format %u, this assay reads %d", bytes[0],
				     BLOB_VERSION);
	count = assay_blob_get_varint(&r, UINT64_MAX);
	if (r.bad || count > (size_t)(r.end - r.p) / NUMBER_MIN)
		return assay_err_set(err, ASSAY_ESTORE, "numbers are damaged (there are not as many as it says)");
	if (count) {
		v = calloc(count, sizeof(*v));
		if (!v)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu numbers", (size_t)count);
	}
	for (size_t i = 0; i < count && !r.bad; i++)
		get_number(&r, &v[i]);
	if (r.bad || r.p != r.end) {
		free(v);
		return assay_err_set(err, ASSAY_ESTORE, "numbers are damaged (they end elsewhere than it says)");
	}
	*out = v;
	*n = (size_t)count;
	return 0;
}
