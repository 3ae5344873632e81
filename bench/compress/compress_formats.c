/* SPDX-License-Identifier: Apache-2.0 */
/* The prototypes are those of zlib.h, lz4.h, lz4hc.h, zstd.h, snappy-c.h, brotli/encode.h and brotli/decode.h. */
#include "compress_formats.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "assay/op_compress.h"

int assay_format_open(const struct assay_job *job, const struct compress_format *f, void *dl[2])
{
	dl[0] = dl[1] = NULL;
	for (int i = 0; i < 2; i++) {
		dl[i] = dlopen(f->libraries[i], RTLD_NOW | RTLD_LOCAL);
		if (!dl[i]) {
			assay_format_close(dl);
			return job->host->fail(job, "%s is missing, install %s", f->libraries[i], f->packages[i]);
		}
	}
	return 0;
}

void assay_format_close(void *dl[2])
{
	for (int i = 0; i < 2; i++)
		if (dl[i])
			dlclose(dl[i]);
}

/* POSIX lets a function travel as a pointer to data; C does not, so the bits are copied. */
static int find(void *dl, const char *name, void *function)
{
	void *symbol = dlsym(dl, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol ? 0 : -1;
}

/* ---- zlib ---- */

#define WINDOW_RAW  (-15)
#define WINDOW_GZIP 31

struct z_stream {
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

enum { Z_OK = 0, Z_STREAM_END = 1, Z_FINISH = 4, Z_DEFLATED = 8, Z_MEMORY_LEVEL = 8 };

typedef int (*z_end_fn)(struct z_stream *s);
typedef int (*z_code_fn)(struct z_stream *s, int flush);

static int64_t z_code(void *dl, struct z_stream *s, const char *code_name, const char *end_name)
{
	z_code_fn code;
	z_end_fn end;
	int rc;

	if (find(dl, code_name, &code) || find(dl, end_name, &end))
		return -1;
	rc = code(s, Z_FINISH);
	end(s);
	return rc == Z_STREAM_END && !s->avail_in ? (int64_t)s->total_out : -1;
}

static struct z_stream z_stream_of(const void *src, int64_t n, void *dst, int64_t size)
{
	return (struct z_stream){
		.next_in = src, .avail_in = (unsigned)n, .next_out = dst, .avail_out = (unsigned)size
	};
}

static int64_t z_compress(void *dl, int window, int level, struct z_stream *s)
{
	int (*init)(struct z_stream * s, int level, int method, int window, int memory, int strategy,
		    const char *version, int size);

	if (find(dl, "deflateInit2_", &init) ||
	    init(s, level, Z_DEFLATED, window, Z_MEMORY_LEVEL, 0, "1", sizeof(*s)) != Z_OK)
		return -1;
	return z_code(dl, s, "deflate", "deflateEnd");
}

static int64_t z_decompress(void *dl, int window, struct z_stream *s)
{
	int (*init)(struct z_stream * s, int window, const char *version, int size);

	if (find(dl, "inflateInit2_", &init) || init(s, window, "1", sizeof(*s)) != Z_OK)
		return -1;
	return z_code(dl, s, "inflate", "inflateEnd");
}

static int64_t deflate_compress(void *const dl[2], int level, const void *src, int64_t n, void *dst, int64_t size)
{
	struct z_stream s = z_stream_of(src, n, dst, size);

	return z_compress(dl[0], WINDOW_RAW, level, &s);
}

static int64_t deflate_decompress(void *const dl[2], const void *src, int64_t n, void *dst, int64_t size)
{
	struct z_stream s = z_stream_of(src, n, dst, size);

	return z_decompress(dl[1], WINDOW_RAW, &s);
}

static int64_t gzip_compress(void *const dl[2], int level, const void *src, int64_t n, void *dst, int64_t size)
{
	struct z_stream s = z_stream_of(src, n, dst, size);

	return z_compress(dl[0], WINDOW_GZIP, level, &s);
}

static int64_t gzip_decompress(void *const dl[2], const void *src, int64_t n, void *dst, int64_t size)
{
	struct z_stream s = z_stream_of(src, n, dst, size);

	return z_decompress(dl[1], WINDOW_GZIP, &s);
}

const struct compress_format assay_format_deflate = {
	.name = "DEFLATE",
	.libraries = { "libz.so.1", "libz.so.1" },
	.packages = { "zlib1g", "zlib1g" },
	.compress = deflate_compress,
	.decompress = deflate_decompress,
};
const struct compress_format assay_format_gzip = {
	.name = "gzip",
	.libraries = { "libz.so.1", "libz.so.1" },
	.packages = { "zlib1g", "zlib1g" },
	.compress = gzip_compress,
	.decompress = gzip_decompress,
};

/* ---- LZ4 ---- */

static int64_t lz4_compress(void *const dl[2], int level, const void *src, int64_t n, void *dst, int64_t size)
{
	int (*code)(const char *src, char *dst, int n, int size, int level);
	const int hc = level >= ASSAY_LZ4_FIRST_HC;
	int written;

	if (find(dl[0], hc ? "LZ4_compress_HC" : "LZ4_compress_fast", &code))
		return -1;
	written = code(src, dst, (int)n, (int)size, hc ? level : level < 0 ? -level : 1);
	return written > 0 ? written : -1;
}

static int64_t lz4_decompress(void *const dl[2], const void *src, int64_t n, void *dst, int64_t size)
{
	int (*code)(const char *src, char *dst, int n, int size);

	return find(dl[1], "LZ4_decompress_safe", &code) ? -1 : code(src, dst, (int)n, (int)size);
}

const struct compress_format assay_format_lz4 = {
	.name = "LZ4",
	.libraries = { "liblz4.so.1", "liblz4.so.1" },
	.packages = { "liblz4-1", "liblz4-1" },
	.compress = lz4_compress,
	.decompress = lz4_decompress,
};

/* ---- Zstandard ---- */

static int64_t zstd_result(void *dl, size_t written)
{
	unsigned (*is_error)(size_t code);

	return find(dl, "ZSTD_isError", &is_error) || is_error(written) ? -1 : (int64_t)written;
}

static int64_t zstd_compress(void *const dl[2], int level, const void *src, int64_t n, void *dst, int64_t size)
{
	size_t (*code)(void *dst, size_t size, const void *src, size_t n, int level);

	return find(dl[0], "ZSTD_compress", &code) ? -1
						   : zstd_result(dl[0], code(dst, (size_t)size, src, (size_t)n, level));
}

static int64_t zstd_decompress(void *const dl[2], const void *src, int64_t n, void *dst, int64_t size)
{
	size_t (*code)(void *dst, size_t size, const void *src, size_t n);

	return find(dl[1], "ZSTD_decompress", &code) ? -1 : zstd_result(dl[1], code(dst, (size_t)size, src, (size_t)n));
}

const struct compress_format assay_format_zstd = {
	.name = "Zstandard",
	.libraries = { "libzstd.so.1", "libzstd.so.1" },
	.packages = { "libzstd1", "libzstd1" },
	.compress = zstd_compress,
	.decompress = zstd_decompress,
};

/* ---- Snappy ---- */

static int64_t snappy_code(void *dl, const char *name, const void *src, int64_t n, void *dst, int64_t size)
{
	int (*code)(const char *src, size_t n, char *dst, size_t *size);
	size_t written = (size_t)size;

	return find(dl, name, &code) || code(src, (size_t)n, dst, &written) ? -1 : (int64_t)written;
}

static int64_t snappy_compress(void *const dl[2], int level, const void *src, int64_t n, void *dst, int64_t size)
{
	(void)level;
	return snappy_code(dl[0], "snappy_compress", src, n, dst, size);
}

static int64_t snappy_decompress(void *const dl[2], const void *src, int64_t n, void *dst, int64_t size)
{
	return snappy_code(dl[1], "snappy_uncompress", src, n, dst, size);
}

const struct compress_format assay_format_snappy = {
	.name = "Snappy",
	.libraries = { "libsnappy.so.1", "libsnappy.so.1" },
	.packages = { "libsnappy1v5", "libsnappy1v5" },
	.compress = snappy_compress,
	.decompress = snappy_decompress,
};

/* ---- Brotli ---- */

enum { BROTLI_WINDOW = 22, BROTLI_GENERIC = 0 };

static int64_t brotli_compress(void *const dl[2], int level, const void *src, int64_t n, void *dst, int64_t size)
{
	int (*code)(int quality, int window, int mode, size_t n, const uint8_t *src, size_t *size, uint8_t *dst);
	size_t written = (size_t)size;

	return find(dl[0], "BrotliEncoderCompress", &code) ||
			       !code(level, BROTLI_WINDOW, BROTLI_GENERIC, (size_t)n, src, &written, dst)
		       ? -1
		       : (int64_t)written;
}

static int64_t brotli_decompress(void *const dl[2], const void *src, int64_t n, void *dst, int64_t size)
{
	int (*code)(size_t n, const uint8_t *src, size_t *size, uint8_t *dst);
	size_t written = (size_t)size;

	return find(dl[1], "BrotliDecoderDecompress", &code) || code((size_t)n, src, &written, dst) != 1
		       ? -1
		       : (int64_t)written;
}

const struct compress_format assay_format_brotli = {
	.name = "Brotli",
	.libraries = { "libbrotlienc.so.1", "libbrotlidec.so.1" },
	.packages = { "libbrotli1", "libbrotli1" },
	.compress = brotli_compress,
	.decompress = brotli_decompress,
};
