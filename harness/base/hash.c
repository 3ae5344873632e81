/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 digests, the only place that knows xxhash. */
#include "base/hash.h"

#include <string.h>

/* A digest over eighty bytes costs no more than the call of a library. */
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef uint8_t bytes16 __attribute__((vector_size(16)));

/*
 * The sixteen digits of @v as one vector, since a stored result has a hundred digests. What reads them next finds one
 * store of sixteen bytes, and need not wait for several to meet in the cache.
 */
static void put_hex(char *to, uint64_t v)
{
	bytes16 bytes = { 0 }, digits;

	/* the highest digit comes first */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(&bytes, &v, sizeof(v));
	digits =
		__builtin_shufflevector(bytes >> 4, bytes & 15, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	digits += '0' + ((bytes16)(digits > 9) & ('a' - '0' - 10));
	memcpy(to, &digits, sizeof(digits));
}

/* Hex of the canonical (big-endian) form, as xxh128sum prints it. */
static struct assay_digest to_hex(XXH128_hash_t h)
{
	struct assay_digest d;

	put_hex(d.hex, h.high64);
	put_hex(d.hex + 16, h.low64);
	d.hex[ASSAY_DIGEST_LEN] = '\0';
	return d;
}

struct assay_digest assay_hash(const void *data, size_t len)
{
	return to_hex(XXH3_128bits(data, len));
}

uint64_t assay_hash64(const void *data, size_t len)
{
	return XXH3_64bits(data, len);
}

/* An assay_hasher is the library's own state under another name: it must stay aligned, which only its own allocator
 * knows. */
struct assay_hasher *assay_hasher_new(void)
{
	XXH3_state_t *state = XXH3_createState();

	if (state && XXH3_128bits_reset(state) != XXH_OK) {
		XXH3_freeState(state);
		state = NULL;
	}
	return (struct assay_hasher *)state;
}

void assay_hasher_add(struct assay_hasher *h, const void *data, size_t len)
{
	if (len)
		XXH3_128bits_update((XXH3_state_t *)h, data, len);
}

struct assay_digest assay_hasher_finish(struct assay_hasher *h)
{
	XXH3_state_t *state = (XXH3_state_t *)h;
	struct assay_digest d = to_hex(XXH3_128bits_digest(state));

	XXH3_freeState(state);
	return d;
}
