/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of a result as a compact blob and back; pure functions that know nothing of the database.
 *
 * Format, version 1. Numbers are unsigned LEB128 varints.
 *
 *     byte      1, the version
 *     varint    how many numbers
 *     a number: varint  4 times the id of its name (table number_name), plus 1 where the value is real, plus 2 where a
 *                       share of the time follows
 *               the value: a zigzag varint where it is whole and below 2^53, otherwise the 8 bytes of the double,
 *                       little-endian
 *               the share of the time in which it counted, 8 bytes likewise, where it is not 1
 *
 * Metrics stand before counts, counts before those that are missing, which have the value 0. The decoder
 * takes any bytes.
 */
#ifndef ASSAY_STORE_NUMBER_BLOB_H
#define ASSAY_STORE_NUMBER_BLOB_H

#include "base/err.h"
#include "store/blob_parts.h"

struct assay_stored_number {
	int64_t name; /* id, above 0 */
	double value;
	double running_frac;
};

/* @out is malloc'ed. ASSAY_ENOMEM. */
int assay_number_blob_encode(const struct assay_stored_number *v, size_t n, unsigned char **out, size_t *len,
			     struct assay_err *err);
/* @out is malloc'ed, NULL for none. ASSAY_ESTORE with "numbers …" where @blob is of another version or damaged. */
int assay_number_blob_decode(const void *blob, size_t len, struct assay_stored_number **out, size_t *n,
			     struct assay_err *err);

#endif
