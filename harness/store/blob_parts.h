/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of varying length, as the blobs of the store hold them: unsigned LEB128, zigzag for signed ones. */
#ifndef ASSAY_STORE_BLOB_PARTS_H
#define ASSAY_STORE_BLOB_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ASSAY_VARINT_MAX 10 /* bytes of 64 bits */

/* Write @v at @p, which has room for ASSAY_VARINT_MAX; the place behind it. */
unsigned char *assay_blob_put_varint(unsigned char *p, uint64_t v);
/* Small numbers of either sign become small ones without. */
uint64_t assay_blob_zigzag(uint64_t v);
uint64_t assay_blob_unzigzag(uint64_t v);

/* Reads any bytes and never past them; what makes no sense sets @bad and is 0. */
struct assay_blob_reader {
	const unsigned char *p, *end;
	bool bad;
};
unsigned char assay_blob_get_byte(struct assay_blob_reader *r);
/* A number above @max makes no sense. */
uint64_t assay_blob_get_varint(struct assay_blob_reader *r, uint64_t max);

#endif
