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

/* FNV-1a of the first 20000 bytes of each corpus, for seed 42. */
static const struct {
	const char *name;
	uint64_t hash;
} corpora[] = {
	{ "text", 0x242368b62c5256a2 },  { "json", 0x7b4c708ad1580bdf },    { "f32", 0x7845bca1761b3590 },
	{ "bf16", 0xe5dc034cd825d417 },  { "ternary", 0x6ef915ec8952e27c }, { "kv", 0xd4be0460b08effc3 },
	{ "pages", 0x50bda453921b8988 },
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

TEST(test_corpora)
{
	for (size_t i = 0; i < N_OF(corpora); i++)
		for (uint32_t t = 1; t <= 3; t += 2) {
			struct mini_case *c;
			char shape[64];

			snprintf(shape, sizeof(shape), "corpus=%s,bytes=20000,block=4096", corpora[i].name);
			c = new_case("compress", 0, shape, t);
			mini_fill(c);
			assert_string_equal(corpora[i].name, c->op->axes[0].symbols[i]);
			if (mini_hash_inputs(c) != corpora[i].hash)
				fail_msg("%s on %u threads: 0x%016llx", corpora[i].name, t,
					 (unsigned long long)mini_hash_inputs(c));
			mini_free(c);
		}
}

static void round_trip(size_t codec, const char *corpus, int level, uint32_t n_threads)
{
	static const char *const directions[] = { "compress", "decompress" };
	double bytes[2];
	char shape[96];

	for (int d = 0; d < 2; d++) {
		struct mini_case *c;

		snprintf(shape, sizeof(shape),
			 codecs[codec].most ? "corpus=%s,bytes=30000,block=4096,level=%d"
					    : "corpus=%s,bytes=30000,block=4096",
			 corpus, level);
		c = new_case(directions[d], codec, shape, n_threads);
		mini_fill(c);
		mini_run(c);
		mini_check(c);
		mini_run(c);
		mini_check(c);
		mini_report(c);
		bytes[d] = mini_metric(c, "compressed_bytes");
		assert_true(bytes[d] > 0 && bytes[d] < 31000);
		assert_true(mini_metric(c, "compressed_frac") == bytes[d] / 30000);
		mini_free(c);
	}
	/* the op's own streams are those of the variant, where both are made by the same library */
	if (strcmp(codecs[codec].variant, "libdeflate"))
		assert_true(bytes[0] == bytes[1]);
}

TEST(test_round_trips)
{
	size_t n = 0;

	for (size_t i = 0; i < N_OF(codecs); i++)
		for (size_t k = 0; k < N_OF(corpora) && installed(i); k++, n++) {
			round_trip(i, corpora[k].name, codecs[i].least, 1);
			round_trip(i, corpora[k].name, codecs[i].most, 3);
		}
	assert_true(n); /* zlib is a package that all others need */
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

TEST(test_refused)
{
	struct assay_problem p;
	struct assay_reason why;
	struct assay_host_info host = { .size = sizeof(host), .n_cores = 1 };
	struct assay_shape shape = { .size = sizeof(shape), .n_threads = 1, .host = &host };

	assert_true(mini_try_describe("compress.zstd", "bytes=4096,block=4097", &p, &why) < 0);
	assert_string_equal(why.text, "block is 4097, expected at most the 4096 bytes of the corpus");
	mini_bind(mini_op("compress.deflate"), "level=10", &shape);
	assert_true(mini_variant("compress.deflate", "zlib")->supports(&shape, &why) < 0);
	assert_string_equal(why.text, "level is 10, libz.so.1 has levels up to 9");
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
