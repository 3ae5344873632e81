/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 digests, the only place that knows xxhash. */
#ifndef ASSAY_BASE_HASH_H
#define ASSAY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

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

#endif
