/* SPDX-License-Identifier: Apache-2.0 */
/* Snappy by its C interface, which makes its tables anew for each block. Prototypes: snappy-c.h. */
#include "compress_library.h"

struct snappy {
	int (*code)(const char *src, size_t n, char *dst, size_t *size);
};

static void *open_call(void *dl, const char *function)
{
	struct snappy *z = calloc(1, sizeof(*z));

	if (z && kernel_library_find(dl, function, &z->code))
		return z;
	free(z);
	return NULL;
}

static void *open_packer(void *dl, int level)
{
	(void)level;
	return open_call(dl, "snappy_compress");
}

static void *open_unpacker(void *dl, int level)
{
	(void)level;
	return open_call(dl, "snappy_uncompress");
}

static int64_t code(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	const struct snappy *z = context;
	size_t written = (size_t)size;

	return z->code(src, (size_t)n, dst, &written) ? -1 : (int64_t)written;
}

const struct compress_codec compress_snappy_pack = {
	.library = "libsnappy.so.1", .package = "libsnappy1v5", .open = open_packer, .close = free, .code = code
};
const struct compress_codec compress_snappy_unpack = { .library = "libsnappy.so.1",
						       .package = "libsnappy1v5",
						       .decompresses = true,
						       .open = open_unpacker,
						       .close = free,
						       .code = code };
