/* SPDX-License-Identifier: Apache-2.0 */
/* The check sum of a sample blob, for bytes that were made or changed by hand. */
#ifndef ASSAY_TESTS_BLOB_SEAL_H
#define ASSAY_TESTS_BLOB_SEAL_H

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define BLOB_SUM 8

/* Write the check sum of the first @body bytes behind them. */
static inline void blob_seal(unsigned char *blob, size_t body)
{
	struct assay_digest d = assay_hash(blob, body);
	char high[17] = { 0 };
	uint64_t v;

	memcpy(high, d.hex, 16);
	v = strtoull(high, NULL, 16);
	for (unsigned i = 0; i < BLOB_SUM; i++)
		blob[body + i] = (unsigned char)(v >> (8 * i));
}

#endif
