/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the ops know the right answer: the usual library of each format in its simplest calls, found at run time.
 * Variants have prototypes of their own.
 */
#ifndef COMPRESS_FORMATS_H
#define COMPRESS_FORMATS_H

#include <stdint.h>

#include "assay/plugin.h"

struct compress_format {
	const char *name;
	/* The libraries that compress and decompress it, and the packages that have them. */
	const char *libraries[2], *packages[2];
	/*
	 * Compress or decompress @n bytes into at most @size, with libraries that are open: bytes written, or negative.
	 */
	int64_t (*compress)(void *const dl[2], int level, const void *src, int64_t n, void *dst, int64_t size);
	int64_t (*decompress)(void *const dl[2], const void *src, int64_t n, void *dst, int64_t size);
};

extern const struct compress_format assay_format_deflate, assay_format_gzip, assay_format_lz4, assay_format_zstd,
	assay_format_snappy, assay_format_brotli;

/* Load the libraries of @f; 0, or a negative number after host->fail. */
int assay_format_open(const struct assay_job *job, const struct compress_format *f, void *dl[2]);
void assay_format_close(void *dl[2]);

#endif
