/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 digests, the only place that knows xxhash. */
#ifndef ASSAY_BASE_HASH_H
#define ASSAY_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ASSAY_DIGEST_LEN 32 /* hex digits */

struct assay_digest {
	char hex[ASSAY_DIGEST_LEN + 1];
};

struct assay_digest assay_hash(const void *data, size_t len);

/* For tables in memory; the value is never stored. */
uint64_t assay_hash64(const void *data, size_t len);

/* Streaming; free with finish, which also gives the digest. new returns NULL when out of memory. */
struct assay_hasher;
struct assay_hasher *assay_hasher_new(void);
void assay_hasher_add(struct assay_hasher *h, const void *data, size_t len);
struct assay_digest assay_hasher_finish(struct assay_hasher *h);

/* ---- name index ---- */

/* Names to numbers, for lists that would otherwise be searched from their beginning for every element. */

struct assay_name_slot;

/* All-zero is empty. It keeps copies of the names. */
struct assay_name_index {
	struct assay_name_slot *slots;
	size_t n, cap;
};

/*
 * Put the number of @name into *@at. A name that is there keeps its number; another gets @number. *@found (which may be
 * NULL) says whether it was there. ASSAY_ENOMEM.
 */
int assay_name_index_put(struct assay_name_index *x, const char *name, size_t number, size_t *at, bool *found,
			 struct assay_err *err);
/* False where there is no such name. */
bool assay_name_index_find(const struct assay_name_index *x, const char *name, size_t *at);
/* Give @name, which must be there, another number. */
void assay_name_index_set(struct assay_name_index *x, const char *name, size_t number);
void assay_name_index_release(struct assay_name_index *x);

#endif
