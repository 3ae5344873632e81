/* SPDX-License-Identifier: Apache-2.0 */
/* DEFLATE and gzip by zlib, whose streams are reset and not made anew for each block. Prototypes: zlib.h. */
#include "compress_library.h"

#define WINDOW_RAW  (-15)
#define WINDOW_GZIP 31

struct stream {
	const uint8_t *next_in;
	unsigned avail_in;
	unsigned long total_in;
	uint8_t *next_out;
	unsigned avail_out;
	unsigned long total_out;
	const char *msg;
	void *state, *alloc, *release, *opaque;
	int data_type;
	unsigned long adler, reserved;
};

enum { OK = 0, STREAM_END = 1, FINISH = 4, DEFLATED = 8, MEMORY_LEVEL = 8 };

typedef int (*deflate_init_fn)(struct stream *s, int level, int method, int window, int memory, int strategy,
			       const char *version, int size);
typedef int (*inflate_init_fn)(struct stream *s, int window, const char *version, int size);

struct zlib {
	struct stream s;
	int (*reset)(struct stream *s);
	int (*code)(struct stream *s, int flush);
	int (*end)(struct stream *s);
};

static void *open_deflate(void *dl, int level, int window)
{
	struct zlib *z = calloc(1, sizeof(*z));
	deflate_init_fn init;

	if (z && kernel_library_find(dl, "deflateInit2_", &init) &&
	    kernel_library_find(dl, "deflateReset", &z->reset) && kernel_library_find(dl, "deflate", &z->code) &&
	    kernel_library_find(dl, "deflateEnd", &z->end) &&
	    init(&z->s, level, DEFLATED, window, MEMORY_LEVEL, 0, "1", sizeof(z->s)) == OK)
		return z;
	free(z);
	return NULL;
}

static void *open_inflate(void *dl, int window)
{
	struct zlib *z = calloc(1, sizeof(*z));
	inflate_init_fn init;

	if (z && kernel_library_find(dl, "inflateInit2_", &init) &&
	    kernel_library_find(dl, "inflateReset", &z->reset) && kernel_library_find(dl, "inflate", &z->code) &&
	    kernel_library_find(dl, "inflateEnd", &z->end) && init(&z->s, window, "1", sizeof(z->s)) == OK)
		return z;
	free(z);
	return NULL;
}

static void *open_raw_deflate(void *dl, int level)
{
	return open_deflate(dl, level, WINDOW_RAW);
}

static void *open_gzip(void *dl, int level)
{
	return open_deflate(dl, level, WINDOW_GZIP);
}

static void *open_raw_inflate(void *dl, int level)
{
	(void)level;
	return open_inflate(dl, WINDOW_RAW);
}

static void *open_gunzip(void *dl, int level)
{
	(void)level;
	return open_inflate(dl, WINDOW_GZIP);
}

static void close(void *context)
{
	struct zlib *z = context;

	z->end(&z->s);
	free(z);
}

static int64_t code(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	struct zlib *z = context;

	z->s.next_in = src;
	z->s.avail_in = (unsigned)n;
	z->s.next_out = dst;
	z->s.avail_out = (unsigned)size;
	if (z->reset(&z->s) != OK || z->code(&z->s, FINISH) != STREAM_END)
		return -1;
	return (int64_t)z->s.total_out;
}

#define ZLIB(name, open_, decompresses_)                                                                               \
	const struct compress_codec name = { .library = "libz.so.1",                                                   \
					     .package = "zlib1g",                                                      \
					     .decompresses = decompresses_,                                            \
					     .most_level = 9,                                                          \
					     .open = open_,                                                            \
					     .close = close,                                                           \
					     .code = code }
ZLIB(compress_zlib_deflate, open_raw_deflate, false);
ZLIB(compress_zlib_inflate, open_raw_inflate, true);
ZLIB(compress_zlib_gzip, open_gzip, false);
ZLIB(compress_zlib_gunzip, open_gunzip, true);
