/* SPDX-License-Identifier: Apache-2.0 */
/* How the store packs raw samples and named numbers into blobs. Pure functions that know nothing of the database. */
#ifndef ASSAY_STORE_BLOBS_H
#define ASSAY_STORE_BLOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/result.h"

/* ---- blob parts ---- */

/* Numbers of varying length, as the blobs of the store hold them: unsigned LEB128, zigzag for signed ones. */

#define ASSAY_VARINT_MAX 10 /* bytes of 64 bits */

/* Write @v at @p, which has room for ASSAY_VARINT_MAX; the place behind it. */
unsigned char *assay_blob_put_varint(unsigned char *p, uint64_t v);

/* Reads any bytes and never past them; what makes no sense sets @bad and is 0. */
struct assay_blob_reader {
	const unsigned char *p, *end;
	bool bad;
};
/* A number above @max makes no sense. */
uint64_t assay_blob_get_varint(struct assay_blob_reader *r, uint64_t max);

/* ---- number blob ---- */

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

/* ---- sample blob ---- */

/*
 * Raw samples as a compact blob and back; pure functions that know nothing of the database.
 *
 * Format, version 2. Numbers are unsigned LEB128 varints; Δ is the difference from the sample before (0 before the
 * first) modulo 2^64, as a zigzag varint.
 *
 *     byte      2, the version
 *     varint    number of samples
 *     a sample: byte    which of these follow: bit 0 iterations, 1 flags, 2 switches, 3 faults, 4 steal ticks,
 *                       5 waited ns, 6 stolen ns; bit 7: ASSAY_SAMPLE_WAIT_TOLD, which is not among the flags
 *               Δ       ns
 *               Δ       iterations, if they are not those of the sample before
 *               varint  flags, switches, faults, steal ticks, waited and stolen ns, each only if it is not 0
 *     8 bytes   check sum, little-endian: the first 64 bits of the XXH3-128 digest's text form over all that precedes
 *
 * An undisturbed sample takes two to seven bytes.
 */

/* @out is malloc'ed, also for n 0. ASSAY_ENOMEM. */
int assay_sample_blob_encode(const struct assay_sample *v, size_t n, unsigned char **out, size_t *len,
			     struct assay_err *err);

/*
 * @out is malloc'ed, NULL for none. ASSAY_ESTORE with "sample data …" when @blob is of another version, cut off, or was
 * changed; @out and @n are untouched then.
 */
int assay_sample_blob_decode(const void *blob, size_t len, struct assay_sample **out, size_t *n, struct assay_err *err);

#endif
