/* SPDX-License-Identifier: Apache-2.0 */
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
 * An undisturbed sample takes two to seven bytes. Version 1, which is read as well, has neither waited nor stolen ns.
 */
#ifndef ASSAY_STORE_SAMPLE_BLOB_H
#define ASSAY_STORE_SAMPLE_BLOB_H

#include "model/result.h"

/* @out is malloc'ed, also for n 0. ASSAY_ENOMEM. */
int assay_sample_blob_encode(const struct assay_sample *v, size_t n, unsigned char **out, size_t *len,
			     struct assay_err *err);

/*
 * @out is malloc'ed, NULL for none. ASSAY_ESTORE with "sample data …" when @blob is of another version, cut off, or was
 * changed; @out and @n are untouched then.
 */
int assay_sample_blob_decode(const void *blob, size_t len, struct assay_sample **out, size_t *n, struct assay_err *err);

#endif
