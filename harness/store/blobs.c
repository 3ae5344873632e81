/* SPDX-License-Identifier: Apache-2.0 */
#include "store/blobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- blob parts ---- */

unsigned char *assay_blob_put_varint(unsigned char *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*p++ = (unsigned char)v;
	return p;
}

/* Small numbers of either sign become small ones without. */
static uint64_t blob_zigzag(uint64_t v)
{
	return (v << 1) ^ (v >> 63 ? UINT64_MAX : 0);
}

static uint64_t blob_unzigzag(uint64_t v)
{
	return (v >> 1) ^ (v & 1 ? UINT64_MAX : 0);
}

static unsigned char blob_get_byte(struct assay_blob_reader *r)
{
	if (r->p == r->end) {
		r->bad = true;
		return 0;
	}
	return *r->p++;
}

uint64_t assay_blob_get_varint(struct assay_blob_reader *r, uint64_t max)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned char b = blob_get_byte(r);

		if (shift == 63 && b > 1)
			break;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			if (v > max)
				break;
			return v;
		}
	}
	r->bad = true;
	return 0;
}

/* ---- number blob ---- */

#define NUMBERS_VERSION 1
#define REAL_LEN        8
#define NUMBER_MIN      2
#define NUMBER_MAX      (2 * ASSAY_VARINT_MAX + REAL_LEN)
#define WHOLE_BELOW     9007199254740992.0 /* 2^53 */

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
		bits |= (uint64_t)blob_get_byte(r) << (8 * i);
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
	p = whole ? assay_blob_put_varint(p, blob_zigzag((uint64_t)(int64_t)v->value)) : put_real(p, v->value);
	return share ? put_real(p, v->running_frac) : p;
}

int assay_number_blob_encode(const struct assay_stored_number *v, size_t n, unsigned char **out, size_t *len,
			     struct assay_err *err)
{
	unsigned char *p = malloc(1 + ASSAY_VARINT_MAX + n * NUMBER_MAX);

	if (!p)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu numbers", n);
	*out = p;
	*p++ = NUMBERS_VERSION;
	p = assay_blob_put_varint(p, n);
	for (size_t i = 0; i < n; i++)
		p = put_number(p, &v[i]);
	*len = (size_t)(p - *out);
	return 0;
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
	if (bytes[0] != NUMBERS_VERSION)
		return assay_err_set(err, ASSAY_ESTORE, "numbers have format %u, this assay reads %d", bytes[0],
				     NUMBERS_VERSION);
	count = assay_blob_get_varint(&r, UINT64_MAX);
	if (r.bad || count > (size_t)(r.end - r.p) / NUMBER_MIN)
		return assay_err_set(err, ASSAY_ESTORE, "numbers are damaged (there are not as many as it says)");
	if (count) {
		v = calloc(count, sizeof(*v));
		if (!v)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu numbers", (size_t)count);
	}
	for (size_t i = 0; i < count && !r.bad; i++) {
		const uint64_t head = assay_blob_get_varint(&r, (uint64_t)INT64_MAX);

		v[i].name = (int64_t)(head / N_FLAGS);
		v[i].value = head & IS_REAL ? get_real(&r)
					    : (double)(int64_t)blob_unzigzag(assay_blob_get_varint(&r, UINT64_MAX));
		v[i].running_frac = head & HAS_SHARE ? get_real(&r) : 1;
		r.bad |= !v[i].name || !(v[i].running_frac > 0 && v[i].running_frac <= 1);
	}
	if (r.bad || r.p != r.end) {
		free(v);
		return assay_err_set(err, ASSAY_ESTORE, "numbers are damaged (they end elsewhere than it says)");
	}
	*out = v;
	*n = (size_t)count;
	return 0;
}

/* ---- sample blob ---- */

/* The decoder takes any bytes: it never reads past them and never allocates more than they justify. */

#define SAMPLES_VERSION 2
#define CHECKSUM_LEN    8
#define HEADER_MAX      (1 + ASSAY_VARINT_MAX)
#define SAMPLE_MIN      2
#define SAMPLE_MAX      (1 + 4 * ASSAY_VARINT_MAX + 4 * 5)

enum {
	HAS_ITERATIONS = 1 << 0,
	HAS_FLAGS = 1 << 1,
	HAS_SWITCHES = 1 << 2,
	HAS_FAULTS = 1 << 3,
	HAS_STEAL = 1 << 4,
	HAS_WAITED = 1 << 5,
	HAS_STOLEN = 1 << 6,
	WAIT_TOLD = 1 << 7,
};

static void checksum(const unsigned char *p, size_t len, unsigned char out[CHECKSUM_LEN])
{
	struct assay_digest d = assay_hash(p, len);
	char high[17];
	uint64_t v;

	memcpy(high, d.hex, 16);
	high[16] = '\0';
	v = strtoull(high, NULL, 16);
	for (unsigned i = 0; i < CHECKSUM_LEN; i++)
		out[i] = (unsigned char)(v >> (8 * i));
}

/* Add a number that is left out where it is 0, which its bit in *has says. */
static unsigned char *put_unless_0(unsigned char *p, uint64_t v, unsigned char bit, unsigned char *has)
{
	if (!v)
		return p;
	*has |= bit;
	return assay_blob_put_varint(p, v);
}

static unsigned char *put_sample(unsigned char *p, const struct assay_sample *s, const struct assay_sample *prev)
{
	unsigned char *has = p++;

	*has = s->flags & ASSAY_SAMPLE_WAIT_TOLD ? WAIT_TOLD : 0;
	p = assay_blob_put_varint(p, blob_zigzag(s->ns - prev->ns));
	p = put_unless_0(p, blob_zigzag(s->iterations - prev->iterations), HAS_ITERATIONS, has);
	p = put_unless_0(p, s->flags & ~ASSAY_SAMPLE_WAIT_TOLD, HAS_FLAGS, has);
	p = put_unless_0(p, s->switches, HAS_SWITCHES, has);
	p = put_unless_0(p, s->faults, HAS_FAULTS, has);
	p = put_unless_0(p, s->steal_ticks, HAS_STEAL, has);
	p = put_unless_0(p, s->waited_ns, HAS_WAITED, has);
	return put_unless_0(p, s->stolen_ns, HAS_STOLEN, has);
}

int assay_sample_blob_encode(const struct assay_sample *v, size_t n, unsigned char **out, size_t *len,
			     struct assay_err *err)
{
	struct assay_sample prev = { 0 };
	unsigned char *buf, *p, *fit;

	buf = n <= (SIZE_MAX - HEADER_MAX - CHECKSUM_LEN) / SAMPLE_MAX
		      ? malloc(HEADER_MAX + n * SAMPLE_MAX + CHECKSUM_LEN)
		      : NULL;
	if (!buf)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", n);

	p = buf;
	*p++ = SAMPLES_VERSION;
	p = assay_blob_put_varint(p, n);
	for (size_t i = 0; i < n; i++) {
		p = put_sample(p, &v[i], &prev);
		prev = v[i];
	}
	checksum(buf, (size_t)(p - buf), p);
	p += CHECKSUM_LEN;

	*len = (size_t)(p - buf);
	fit = realloc(buf, *len);
	*out = fit ? fit : buf;
	return 0;
}

static void get_sample(struct assay_blob_reader *r, struct assay_sample *s, const struct assay_sample *prev)
{
	unsigned char has = blob_get_byte(r);

	s->ns = prev->ns + blob_unzigzag(assay_blob_get_varint(r, UINT64_MAX));
	s->iterations = prev->iterations;
	if (has & HAS_ITERATIONS)
		s->iterations += blob_unzigzag(assay_blob_get_varint(r, UINT64_MAX));
	s->flags = has & HAS_FLAGS ? (uint32_t)assay_blob_get_varint(r, UINT32_MAX) : 0;
	s->flags |= has & WAIT_TOLD ? ASSAY_SAMPLE_WAIT_TOLD : 0;
	s->switches = has & HAS_SWITCHES ? (uint32_t)assay_blob_get_varint(r, UINT32_MAX) : 0;
	s->faults = has & HAS_FAULTS ? (uint32_t)assay_blob_get_varint(r, UINT32_MAX) : 0;
	s->steal_ticks = has & HAS_STEAL ? (uint32_t)assay_blob_get_varint(r, UINT32_MAX) : 0;
	s->waited_ns = has & HAS_WAITED ? assay_blob_get_varint(r, UINT64_MAX) : 0;
	s->stolen_ns = has & HAS_STOLEN ? assay_blob_get_varint(r, UINT64_MAX) : 0;
}

int assay_sample_blob_decode(const void *blob, size_t len, struct assay_sample **out, size_t *n, struct assay_err *err)
{
	const unsigned char *bytes = blob;
	struct assay_sample prev = { 0 }, *v = NULL;
	unsigned char sum[CHECKSUM_LEN];
	struct assay_blob_reader r;
	uint64_t count;

	if (len < 2 + CHECKSUM_LEN)
		return assay_err_set(err, ASSAY_ESTORE, "sample data are cut off (%zu bytes)", len);
	if (bytes[0] != SAMPLES_VERSION)
		return assay_err_set(err, ASSAY_ESTORE, "sample data have format %u, this assay reads %d", bytes[0],
				     SAMPLES_VERSION);
	checksum(bytes, len - CHECKSUM_LEN, sum);
	if (memcmp(sum, bytes + len - CHECKSUM_LEN, CHECKSUM_LEN) != 0)
		return assay_err_set(err, ASSAY_ESTORE, "sample data are damaged (check sum differs)");

	r = (struct assay_blob_reader){ .p = bytes + 1, .end = bytes + len - CHECKSUM_LEN };
	count = assay_blob_get_varint(&r, UINT64_MAX);
	if (r.bad || count > (size_t)(r.end - r.p) / SAMPLE_MIN)
		return assay_err_set(err, ASSAY_ESTORE, "sample data are damaged (wrong number of samples)");
	if (count) {
		v = calloc(count, sizeof(*v));
		if (!v)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", (size_t)count);
	}
	for (size_t i = 0; i < count && !r.bad; i++) {
		get_sample(&r, &v[i], &prev);
		prev = v[i];
	}
	if (r.bad || r.p != r.end) {
		free(v);
		return assay_err_set(err, ASSAY_ESTORE,
				     "sample data are damaged (length differs from the number of samples)");
	}
	*out = v;
	*n = (size_t)count;
	return 0;
}
