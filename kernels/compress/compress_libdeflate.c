/* SPDX-License-Identifier: Apache-2.0 */
/* DEFLATE and gzip by libdeflate. Prototypes: libdeflate.h. */
#include "compress_library.h"

struct packer {
	void *c;
	size_t (*code)(void *c, const void *src, size_t n, void *dst, size_t size);
	void (*release)(void *c);
};

struct unpacker {
	void *d;
	int (*code)(void *d, const void *src, size_t n, void *dst, size_t size, size_t *written);
	void (*release)(void *d);
};

static void *open_packer(void *dl, int level, const char *function)
{
	struct packer *p = calloc(1, sizeof(*p));
	void *(*make)(int level);

	if (p && kernel_library_find(dl, "libdeflate_alloc_compressor", &make) &&
	    kernel_library_find(dl, function, &p->code) &&
	    kernel_library_find(dl, "libdeflate_free_compressor", &p->release) && (p->c = make(level)))
		return p;
	free(p);
	return NULL;
}

static void *open_unpacker(void *dl, const char *function)
{
	struct unpacker *u = calloc(1, sizeof(*u));
	void *(*make)(void);

	if (u && kernel_library_find(dl, "libdeflate_alloc_decompressor", &make) &&
	    kernel_library_find(dl, function, &u->code) &&
	    kernel_library_find(dl, "libdeflate_free_decompressor", &u->release) && (u->d = make()))
		return u;
	free(u);
	return NULL;
}

static void *open_deflate(void *dl, int level)
{
	return open_packer(dl, level, "libdeflate_deflate_compress");
}

static void *open_gzip(void *dl, int level)
{
	return open_packer(dl, level, "libdeflate_gzip_compress");
}

static void *open_inflate(void *dl, int level)
{
	(void)level;
	return open_unpacker(dl, "libdeflate_deflate_decompress");
}

static void *open_gunzip(void *dl, int level)
{
	(void)level;
	return open_unpacker(dl, "libdeflate_gzip_decompress");
}

static void close_packer(void *context)
{
	struct packer *p = context;

	p->release(p->c);
	free(p);
}

static void close_unpacker(void *context)
{
	struct unpacker *u = context;

	u->release(u->d);
	free(u);
}

/* 0 says that it does not fit, which the caller takes for a failure. */
static int64_t pack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	struct packer *p = context;

	return (int64_t)p->code(p->c, src, (size_t)n, dst, (size_t)size);
}

static int64_t unpack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	struct unpacker *u = context;
	size_t written;

	return u->code(u->d, src, (size_t)n, dst, (size_t)size, &written) ? -1 : (int64_t)written;
}

#define LIBRARY .library = "libdeflate.so.0", .package = "libdeflate0"
#define PACKER(open_)                                                                                                  \
	{                                                                                                              \
		LIBRARY, .open = open_, .close = close_packer, .code = pack                                            \
	}
#define UNPACKER(open_)                                                                                                \
	{                                                                                                              \
		LIBRARY, .decompresses = true, .open = open_, .close = close_unpacker, .code = unpack                  \
	}
const struct compress_codec compress_libdeflate_deflate = PACKER(open_deflate);
const struct compress_codec compress_libdeflate_gzip = PACKER(open_gzip);
const struct compress_codec compress_libdeflate_inflate = UNPACKER(open_inflate);
const struct compress_codec compress_libdeflate_gunzip = UNPACKER(open_gunzip);
