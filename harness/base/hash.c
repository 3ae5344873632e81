/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 digests, the only place that knows xxhash. */
#include "base/hash.h"

#include <string.h>
#include <xxhash.h>

/* Eight digits at once, since a stored result has a hundred digests: each byte of @spread is a half byte of @v. */
static void put_hex32(char *to, uint32_t v)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t spread = v, letters;

	spread = (spread | spread << 16) & 0x0000ffff0000ffff;
	spread = (spread | spread << 8) & 0x00ff00ff00ff00ff;
	spread = (spread | spread << 4) & 0x0f0f0f0f0f0f0f0f;
	letters = ((spread + 6 * ones) >> 4) & ones;
	spread += '0' * ones + letters * ('a' - '0' - 10);
	/* the highest digit comes first */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	spread = __builtin_bswap64(spread);
#endif
	memcpy(to, &spread, sizeof(spread));
}

static void put_hex(char *to, uint64_t v)
{
	put_hex32(to, (uint32_t)(v >> 32));
	put_hex32(to + 8, (uint32_t)v);
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
