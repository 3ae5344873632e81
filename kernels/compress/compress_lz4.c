/* SPDX-License-Identifier: Apache-2.0 */
/* LZ4 blocks, in high compression from the level on at which its tool takes that. Prototypes: lz4.h, lz4hc.h. */
#include "compress_library.h"

struct lz4 {
	void *state;
	int level; /* of high compression, or the acceleration */
	int (*pack)(void *state, const char *src, char *dst, int n, int size, int level);
	int (*unpack)(const char *src, char *dst, int n, int size);
};

static void close(void *context)
{
	struct lz4 *z = context;

	free(z->state);
	free(z);
}

static void *open_packer(void *dl, int level)
{
	const bool hc = level >= ASSAY_LZ4_FIRST_HC;
	struct lz4 *z = calloc(1, sizeof(*z));
	int (*state_bytes)(void);

	if (!z || !kernel_library_find(dl, hc ? "LZ4_sizeofStateHC" : "LZ4_sizeofState", &state_bytes) ||
	    !kernel_library_find(dl, hc ? "LZ4_compress_HC_extStateHC" : "LZ4_compress_fast_extState", &z->pack)) {
		free(z);
		return NULL;
	}
	z->level = hc ? level : level < 0 ? -level : 1;
	z->state = malloc((size_t)state_bytes());
	if (z->state)
		return z;
	free(z);
	return NULL;
}

static void *open_unpacker(void *dl, int level)
{
	struct lz4 *z = calloc(1, sizeof(*z));

	(void)level;
	if (z && kernel_library_find(dl, "LZ4_decompress_safe", &z->unpack))
		return z;
	free(z);
	return NULL;
}

static int64_t pack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	const struct lz4 *z = context;

	return z->pack(z->state, src, dst, (int)n, (int)size, z->level);
}

static int64_t unpack(void *context, const void *src, int64_t n, void *dst, int64_t size)
{
	const struct lz4 *z = context;

	return z->unpack(src, dst, (int)n, (int)size);
}

const struct compress_codec compress_lz4_pack = {
	.library = "liblz4.so.1", .package = "liblz4-1", .open = open_packer, .close = close, .code = pack
};
const struct compress_codec compress_lz4_unpack = { .library = "liblz4.so.1",
						    .package = "liblz4-1",
						    .decompresses = true,
						    .open = open_unpacker,
						    .close = close,
						    .code = unpack };
