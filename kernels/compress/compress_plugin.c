/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of compress-libraries.so. */
#include "compress_library.h"

#define EACH_VARIANT(X)                                                                                                \
	X("compress.deflate", "zlib", compress_zlib_deflate, "zlib, one stream that is reset")                         \
	X("compress.deflate", "libdeflate", compress_libdeflate_deflate, "libdeflate, a block at once")                \
	X("compress.gzip", "zlib", compress_zlib_gzip, "zlib, one stream that is reset")                               \
	X("compress.gzip", "libdeflate", compress_libdeflate_gzip, "libdeflate, a block at once")                      \
	X("compress.lz4", "lz4", compress_lz4_pack, "liblz4, high compression from level 3 on")                        \
	X("compress.zstd", "zstd", compress_zstd_pack, "libzstd, one context a thread")                                \
	X("compress.snappy", "snappy", compress_snappy_pack, "libsnappy's C interface")                                \
	X("compress.brotli", "brotli", compress_brotli_pack, "libbrotlienc, window of 4 MiB")                          \
	X("decompress.deflate", "zlib", compress_zlib_inflate, "zlib, one stream that is reset")                       \
	X("decompress.deflate", "libdeflate", compress_libdeflate_inflate, "libdeflate, a block at once")              \
	X("decompress.gzip", "zlib", compress_zlib_gunzip, "zlib, one stream that is reset")                           \
	X("decompress.gzip", "libdeflate", compress_libdeflate_gunzip, "libdeflate, a block at once")                  \
	X("decompress.lz4", "lz4", compress_lz4_unpack, "liblz4's decoder that checks bounds")                         \
	X("decompress.zstd", "zstd", compress_zstd_unpack, "libzstd, one context a thread")                            \
	X("decompress.snappy", "snappy", compress_snappy_unpack, "libsnappy's C interface")                            \
	X("decompress.brotli", "brotli", compress_brotli_unpack, "libbrotlidec")

#define DEFINE(op_, name_, codec, help_)                                                                               \
	static int supports_##codec(const struct assay_shape *shape, struct assay_reason *why)                         \
	{                                                                                                              \
		return compress_supports(&codec, shape, why);                                                          \
	}                                                                                                              \
	static int prepare_##codec(struct assay_job *job)                                                              \
	{                                                                                                              \
		return compress_prepare(&codec, job);                                                                  \
	}
EACH_VARIANT(DEFINE)

#define ENTRY(op_, name_, codec, help_)                                                                                \
	{ .op = op_,                                                                                                   \
	  .name = name_,                                                                                               \
	  .help = help_,                                                                                               \
	  .supports = supports_##codec,                                                                                \
	  .prepare = prepare_##codec,                                                                                  \
	  .run = compress_run,                                                                                         \
	  .release = compress_release },

static const struct assay_variant variants[] = { EACH_VARIANT(ENTRY) };

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "compress",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
