/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress.* and decompress.*: corpora that are the same bits for a seed, round trips, an oracle that finds broken
 * streams, and sizes that are those of the formats' own tools. A library that is not installed is left out.
 */
#include "mini_host.h"

#include "assay/op_compress.h"

static const struct {
	const char *format, *variant;
	int least, most; /* levels; 0, 0: none */
} codecs[] = {
	{ "deflate", "zlib", 1, 9 },    { "deflate", "libdeflate", 1, 9 }, { "gzip", "zlib", 1, 9 },
	{ "gzip", "libdeflate", 1, 9 }, { "lz4", "lz4", -5, 12 },          { "zstd", "zstd", -5, 19 },
	{ "snappy", "snappy", 0, 0 },   { "brotli", "brotli", 0, 9 },
};

static struct mini_case *new_case(const char *direction, size_t codec, const char *shape, uint32_t n_threads)
{
	char op[64];

	snprintf(op, sizeof(op), "%s.%s", direction, codecs[codec].format);
	return mini_new(op, codecs[codec].variant, shape, &(struct mini_options){ .n_threads = n_threads, .seed = 42 });
}

/* Both directions: the ops check what a variant of one of them makes. */
static bool installed(size_t codec)
{
	char op[64];

	snprintf(op, sizeof(op), "compress.%s", codecs[codec].format);
	return mini_can_run(op, codecs[codec].variant);
}

/* One bit of a stream, and sizes that cannot be. */
TEST(test_oracle)
{
	for (size_t i = 0; i < N_OF(codecs); i++) {
		struct mini_case *c;
		struct assay_check out;
		uint8_t *packed;
		int64_t *sizes, was;

		if (!installed(i))
			continue;
		c = new_case("compress", i, "corpus=json,bytes=10000,block=4096", 1);
		packed = c->tensors[ASSAY_COMPRESS_PACKED].data;
		sizes = c->tensors[ASSAY_COMPRESS_SIZES].data;
		mini_fill(c);
		mini_run(c);
		packed[assay_compress_slot(4096) + sizes[1] / 2] ^= 1;
		assert_int_equal(mini_try_check(c).correct, 0);
		packed[assay_compress_slot(4096) + sizes[1] / 2] ^= 1;
		mini_check(c);
		was = sizes[2];
		for (int64_t size = -1; size < 1; size++) {
			sizes[2] = size;
			out = mini_try_check(c);
			assert_int_equal(out.correct, 0);
			assert_int_equal(out.first_bad, 2);
			assert_string_equal(out.tensor, "sizes");
		}
		sizes[2] = was / 2;
		out = mini_try_check(c);
		assert_int_equal(out.correct, 0);
		assert_string_equal(out.tensor, "packed");
		mini_free(c);
	}
}

TEST(test_decompressed_byte)
{
	struct mini_case *c = new_case("decompress", 0, "corpus=kv,bytes=10000,block=4096", 1);
	uint8_t *x = c->tensors[ASSAY_COMPRESS_X].data;
	struct assay_check out;

	mini_fill(c);
	mini_run(c);
	x[9999] ^= 4;
	out = mini_try_check(c);
	assert_int_equal(out.correct, 0);
	assert_int_equal(out.first_bad, 9999);
	mini_free(c);
}

/* A stream that is broken fails the call, and no byte beyond the corpus is written. */
TEST(test_broken_stream)
{
	for (size_t i = 0; i < N_OF(codecs); i++) {
		struct mini_case *c;

		if (!installed(i))
			continue;
		c = new_case("decompress", i, "corpus=json,bytes=10000,block=4096", 1);
		mini_fill(c);
		((int64_t *)c->tensors[ASSAY_COMPRESS_SIZES].data)[1] /= 2;
		assert_true(mini_try_run(c) < 0);
		assert_non_null(strstr(c->reason.text, "fails on block 1"));
		mini_free(c);
	}
}

/* Bytes that the tool writes for the file; 0: it is not installed. */
static double tool_bytes(const char *command, const char *file)
{
	char line[512];
	unsigned long long n = 0;
	FILE *f;

	snprintf(line, sizeof(line), command, file);
	f = popen(line, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llu", &n), 1);
	pclose(f);
	return (double)n;
}

/*
 * A frame of lz4's tool has 15 bytes about a block that is smaller than its own blocks: a header of 7, the size of the
 * block and an end mark.
 */
TEST(test_sizes_of_tools)
{
	static const struct {
		size_t codec;
		const char *level, *command;
		int more;
	} rows[] = {
		{ 5, "1", "zstd -q -c --no-check --single-thread -1 %s 2>/dev/null | wc -c", 0 },
		{ 5, "3", "zstd -q -c --no-check --single-thread -3 %s 2>/dev/null | wc -c", 0 },
		{ 5, "19", "zstd -q -c --no-check --single-thread -19 %s 2>/dev/null | wc -c", 0 },
		{ 4, "1", "lz4 -q -c --no-frame-crc -1 %s 2>/dev/null | wc -c", 15 },
		{ 4, "9", "lz4 -q -c --no-frame-crc -9 %s 2>/dev/null | wc -c", 15 },
		{ 7, "5", "brotli -c -q 5 -w 22 %s 2>/dev/null | wc -c", 0 },
		{ 7, "9", "brotli -c -q 9 -w 22 %s 2>/dev/null | wc -c", 0 },
	};
	char file[] = "/tmp/assay-corpus-XXXXXX";
	int fd = mkstemp(file);

	assert_true(fd >= 0);
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct mini_case *c;
		char shape[96];
		double want;

		if (!installed(rows[i].codec))
			continue;
		snprintf(shape, sizeof(shape), "corpus=text,bytes=200000,block=200000,level=%s", rows[i].level);
		c = new_case("compress", rows[i].codec, shape, 1);
		mini_fill(c);
		mini_run(c);
		mini_check(c);
		mini_report(c);
		assert_int_equal(pwrite(fd, c->tensors[0].data, 200000, 0), 200000);
		want = tool_bytes(rows[i].command, file);
		if (want && mini_metric(c, "compressed_bytes") + rows[i].more != want)
			fail_msg("%s at level %s: %g bytes and %d, the tool has %g", codecs[rows[i].codec].format,
				 rows[i].level, mini_metric(c, "compressed_bytes"), rows[i].more, want);
		mini_free(c);
	}
	close(fd);
	unlink(file);
}

UNIT_GROUP(NULL, NULL)
