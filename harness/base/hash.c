/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 digests, the only place that knows xxhash. */
#include "base/hash.h"

#include <stdint.h>
#include <stdlib.h>
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

/* ---- name index ---- */

/* A hash table with open addressing, at most half full. */

struct assay_name_slot {
	char *name; /* NULL: free */
	uint64_t hash;
	size_t number;
};

/* The slot of @name, or the free one where it belongs. There is one, since the table is never full. */
static struct assay_name_slot *slot_of(const struct assay_name_index *x, const char *name, uint64_t hash)
{
	size_t i = hash & (x->cap - 1);

	while (x->slots[i].name && (x->slots[i].hash != hash || strcmp(x->slots[i].name, name)))
		i = (i + 1) & (x->cap - 1);
	return &x->slots[i];
}

static int grow(struct assay_name_index *x)
{
	struct assay_name_index bigger = { .n = x->n, .cap = x->cap ? 2 * x->cap : 64 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return ASSAY_ENOMEM;
	for (size_t i = 0; i < x->cap; i++)
		if (x->slots[i].name)
			*slot_of(&bigger, x->slots[i].name, x->slots[i].hash) = x->slots[i];
	free(x->slots);
	*x = bigger;
	return 0;
}

int assay_name_index_put(struct assay_name_index *x, const char *name, size_t number, size_t *at, bool *found,
			 struct assay_err *err)
{
	uint64_t hash = assay_hash64(name, strlen(name));
	struct assay_name_slot *s;

	if (2 * (x->n + 1) > x->cap && grow(x))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu names", x->n + 1);
	s = slot_of(x, name, hash);
	if (found)
		*found = s->name != NULL;
	if (!s->name) {
		s->name = strdup(name);
		if (!s->name)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu names", x->n + 1);
		s->hash = hash;
		s->number = number;
		x->n++;
	}
	*at = s->number;
	return 0;
}

bool assay_name_index_find(const struct assay_name_index *x, const char *name, size_t *at)
{
	const struct assay_name_slot *s = x->cap ? slot_of(x, name, assay_hash64(name, strlen(name))) : NULL;

	if (!s || !s->name)
		return false;
	*at = s->number;
	return true;
}

void assay_name_index_set(struct assay_name_index *x, const char *name, size_t number)
{
	struct assay_name_slot *s = slot_of(x, name, assay_hash64(name, strlen(name)));

	s->number = number;
}

void assay_name_index_release(struct assay_name_index *x)
{
	for (size_t i = 0; i < x->cap; i++)
		free(x->slots[i].name);
	free(x->slots);
	*x = (struct assay_name_index){ 0 };
}
