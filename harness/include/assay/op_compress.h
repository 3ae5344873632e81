/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ops compress.FORMAT and decompress.FORMAT: a corpus, cut into blocks of `block` bytes, each of which becomes a
 * stream of its own. Formats: deflate (RFC 1951), gzip (RFC 1952), lz4 (its block format), zstd (RFC 8878), snappy
 * (raw), brotli (RFC 7932).
 *
 * compress    x, U8 [bytes]            the corpus
 *             packed, U8 [blocks][slot] stream i begins at i · slot; what follows it in its slot is not read
 *             sizes, I64 [blocks]      bytes of each stream
 * decompress  packed and sizes         inputs, as the usual library of the format compresses at this level
 *             x                        the corpus again
 */
#ifndef ASSAY_OP_COMPRESS_H
#define ASSAY_OP_COMPRESS_H

#include "plugin.h"

/* Indices into assay_job.tensors, of both directions. */
enum { ASSAY_COMPRESS_X = 0, ASSAY_COMPRESS_PACKED, ASSAY_COMPRESS_SIZES };

/* Indices into assay_shape.axis. Snappy has no levels. */
enum { ASSAY_COMPRESS_CORPUS = 0, ASSAY_COMPRESS_BYTES, ASSAY_COMPRESS_BLOCK, ASSAY_COMPRESS_LEVEL };

/* From this level on, lz4 is its high-compression mode; below 0, the level is the negative acceleration. */
#define ASSAY_LZ4_FIRST_HC 3

/* Bytes of a slot: at least what any of the libraries asks for where nothing can be saved. */
static inline int64_t assay_compress_slot(int64_t block)
{
	return (block + block / 6 + 128 + 63) / 64 * 64;
}

static inline int64_t assay_compress_blocks(int64_t bytes, int64_t block)
{
	return (bytes + block - 1) / block;
}

#endif
