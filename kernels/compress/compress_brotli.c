/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brotli with the default window of its one-call interface, 4 MiB. The library keeps nothing from block to
 * block. Prototypes: brotli/encode.h, brotli/decode.h.
 */
#include "compress_library.h"

enum { WINDOW = 22, GENERIC = 0, DECODED = 1 };

struct brotli {
	int level;
	int (*pack)(int quality, int window, int mode, size_t n, const uint8_t *src, size_t *size, uint8_t *dst);
	int (*unpack)(size_t n, const uint8_t *src, size_t *size, uint8_t *dst);
};

static void *open_packer(void *dl, int level)
{
	struct brotli *z = calloc(1, sizeof(*z));

	if (z && kernel_library_find(dl, "BrotliEncoderCompress", &z->pack)) {
		z->level = level;
		return z;
	}
	free(z);
	return NULL;
}

static void *open_unpacker(void *dl, int level)
{
	struct brotli *z = calloc(1, sizeof(*z));

	(void)level;
	if (z && kernel_library_find(dl, "BrotliDecoderDecompress", &z->unpack))
		return z;
	free(z);
	return NULL;
}

static int64_t pack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	const struct brotli *z = context;
	size_t written = (size_t)size;

	return z->pack(z->level, WINDOW, GENERIC, (size_t)n, src, &written, dst) ? (int64_t)written : -1;
}

static int64_t unpack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	const struct brotli *z = context;
	size_t written = (size_t)size;

	return z->unpack((size_t)n, src, &written, dst) == DECODED ? (int64_t)written : -1;
}

const struct compress_codec compress_brotli_pack = {
	.library = "libbrotlienc.so.1", .package = "libbrotli1", .open = open_packer, .close = free, .code = pack
};
const struct compress_codec compress_brotli_unpack = { .library = "libbrotlidec.so.1",
						       .package = "libbrotli1",
						       .decompresses = true,
						       .open = open_unpacker,
						       .close = free,
						       .code = unpack };
