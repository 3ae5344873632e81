/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 digests, the only place that knows xxhash. */
#include "base/hash.h"

#include <xxhash.h>

static void put_hex(char *to, uint64_t v)
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 15; i >= 0; i--, v >>= 4)
		to[i] = digits[v & 15];
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
