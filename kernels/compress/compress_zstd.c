/* SPDX-License-Identifier: Apache-2.0 */
/* Zstandard frames without a checksum. Prototypes: zstd.h. */
#include "compress_library.h"

struct zstd {
	void *c;
	int level;
	size_t (*pack)(void *c, void *dst, size_t size, const void *src, size_t n, int level);
	size_t (*unpack)(void *c, void *dst, size_t size, const void *src, size_t n);
	size_t (*release)(void *c);
	unsigned (*is_error)(size_t code);
};

static void *open_packer(void *dl, int level)
{
	struct zstd *z = calloc(1, sizeof(*z));
	void *(*make)(void);

	if (z && kernel_library_find(dl, "ZSTD_createCCtx", &make) &&
	    kernel_library_find(dl, "ZSTD_freeCCtx", &z->release) &&
	    kernel_library_find(dl, "ZSTD_compressCCtx", &z->pack) &&
	    kernel_library_find(dl, "ZSTD_isError", &z->is_error) && (z->c = make())) {
		z->level = level;
		return z;
	}
	free(z);
	return NULL;
}

static void *open_unpacker(void *dl, int level)
{
	struct zstd *z = calloc(1, sizeof(*z));
	void *(*make)(void);

	(void)level;
	if (z && kernel_library_find(dl, "ZSTD_createDCtx", &make) &&
	    kernel_library_find(dl, "ZSTD_freeDCtx", &z->release) &&
	    kernel_library_find(dl, "ZSTD_decompressDCtx", &z->unpack) &&
	    kernel_library_find(dl, "ZSTD_isError", &z->is_error) && (z->c = make()))
		return z;
	free(z);
	return NULL;
}

static void close(void *context)
{
	struct zstd *z = context;

	z->release(z->c);
	free(z);
}

static int64_t pack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	const struct zstd *z = context;
	size_t written = z->pack(z->c, dst, (size_t)size, src, (size_t)n, z->level);

	return z->is_error(written) ? -1 : (int64_t)written;
}

static int64_t unpack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	const struct zstd *z = context;
	size_t written = z->unpack(z->c, dst, (size_t)size, src, (size_t)n);

	return z->is_error(written) ? -1 : (int64_t)written;
}

const struct compress_codec compress_zstd_pack = {
	.library = "libzstd.so.1", .package = "libzstd1", .open = open_packer, .close = close, .code = pack
};
const struct compress_codec compress_zstd_unpack = { .library = "libzstd.so.1",
						     .package = "libzstd1",
						     .decompresses = true,
						     .open = open_unpacker,
						     .close = close,
						     .code = unpack };
