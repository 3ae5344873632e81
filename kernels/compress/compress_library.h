/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the variants of the compress and decompress ops share: a table says how one thread does one block with a library
 * that is found at run time. A variant whose library is missing is skipped, and names the package.
 */
#ifndef COMPRESS_LIBRARY_H
#define COMPRESS_LIBRARY_H

#include <stdlib.h>

#include "../kernel_library.h"
#include "assay/op_compress.h"

/* One direction of one library. Every thread has a context of its own for the whole case. */
struct compress_codec {
	const char *library, *package;
	bool decompresses;
	int most_level; /* the highest that the library has; 0: it has all that the op has */
	/* A context with the functions of @dl that it needs; NULL: one is missing, or memory is short. */
	void *(*open)(void *dl, int level);
	void (*close)(void *context);
	/* Bytes written to @dst, which has room for @size; negative: the library fails. */
	int64_t (*code)(void *context, const void *src, int64_t n, void *dst, int64_t size);
};

extern const struct compress_codec compress_zlib_deflate, compress_zlib_inflate, compress_zlib_gzip,
	compress_zlib_gunzip, compress_libdeflate_deflate, compress_libdeflate_inflate, compress_libdeflate_gzip,
	compress_libdeflate_gunzip, compress_lz4_pack, compress_lz4_unpack, compress_zstd_pack, compress_zstd_unpack,
	compress_snappy_pack, compress_snappy_unpack, compress_brotli_pack, compress_brotli_unpack;

int compress_supports(const struct compress_codec *c, const struct assay_shape *shape, struct assay_reason *why);
int compress_prepare(const struct compress_codec *c, struct assay_job *job);
int compress_run(struct assay_job *job);
void compress_release(struct assay_job *job);

#endif
