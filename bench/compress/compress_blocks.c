/* SPDX-License-Identifier: Apache-2.0 */
/* Axes, tensors, inputs and checks of the compress and decompress ops. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../compress_ops.h"
#include "compress_formats.h"
#include "gguf/corpora.h"

#define MIB (INT64_C(1) << 20)

/* The usual levels of each format's tool; a library may have fewer. */
#define AXES(direction, format, least, most, usual)                                                                    \
	const struct assay_axis assay_##direction##_axes_##format[ASSAY_COMPRESS_N_AXES] = {                           \
		[ASSAY_COMPRESS_CORPUS] = { .name = "corpus",                                                          \
					    .help = "kind of data",                                                    \
					    .symbols = assay_corpus_names,                                             \
					    .min = 0,                                                                  \
					    .max = 10,                                                                 \
					    .def = 0 },                                                                \
		[ASSAY_COMPRESS_BYTES] = { .name = "bytes",                                                            \
					   .help = "bytes of the corpus",                                              \
					   .min = 1,                                                                   \
					   .max = 1024 * MIB,                                                          \
					   .def = MIB },                                                               \
		[ASSAY_COMPRESS_BLOCK] = { .name = "block",                                                            \
					   .help = "bytes that are compressed at once",                                \
					   .min = 1024,                                                                \
					   .max = 1024 * MIB,                                                          \
					   .def = 65536 },                                                             \
		[ASSAY_COMPRESS_LEVEL] = { .name = "level",                                                            \
					   .help = "effort of the compressor",                                         \
					   .min = least,                                                               \
					   .max = most,                                                                \
					   .def = usual },                                                             \
	}
AXES(compress, deflate, 1, 12, 6);
AXES(decompress, deflate, 1, 9, 6);
AXES(compress, gzip, 1, 12, 6);
AXES(decompress, gzip, 1, 9, 6);
AXES(compress, lz4, -64, 12, 1);
AXES(decompress, lz4, -64, 12, 1);
AXES(compress, zstd, -64, 22, 3);
AXES(decompress, zstd, -64, 22, 3);
AXES(compress, snappy, 0, 0, 0);
AXES(decompress, snappy, 0, 0, 0);
AXES(compress, brotli, 0, 11, 9);
AXES(decompress, brotli, 0, 11, 9);

const struct assay_metric_def assay_compress_metrics[ASSAY_COMPRESS_N_METRICS] = {
	{ .tag = "compressed_bytes",
	  .unit = "B",
	  .help = "bytes of all compressed blocks",
	  .better = -1,
	  .lo = 1,
	  .hi = 0x1p40 },
	{ .tag = "compressed_frac",
	  .unit = "1",
	  .help = "compressed bytes over those of the corpus",
	  .better = -1,
	  .lo = 0,
	  .hi = 2048 },
};

/* The data that a call of the ops works on. */
struct blocks {
	int64_t corpus, bytes, block, n, slot;
	int level;
	uint8_t *x, *packed;
	int64_t *sizes;
};

static struct blocks blocks_of(const struct assay_job *job)
{
	const int64_t *axis = job->shape->axis;

	return (struct blocks){ .corpus = axis[ASSAY_COMPRESS_CORPUS],
				.bytes = axis[ASSAY_COMPRESS_BYTES],
				.block = axis[ASSAY_COMPRESS_BLOCK],
				.n = assay_compress_blocks(axis[ASSAY_COMPRESS_BYTES], axis[ASSAY_COMPRESS_BLOCK]),
				.slot = assay_compress_slot(axis[ASSAY_COMPRESS_BLOCK]),
				.level = (int)axis[ASSAY_COMPRESS_LEVEL],
				.x = job->tensors[ASSAY_COMPRESS_X].data,
				.packed = job->tensors[ASSAY_COMPRESS_PACKED].data,
				.sizes = job->tensors[ASSAY_COMPRESS_SIZES].data };
}

/* Bytes of block @i: the last one may be shorter. */
static int64_t block_bytes(const struct blocks *b, int64_t i)
{
	return i + 1 < b->n ? b->block : b->bytes - i * b->block;
}

/* ---- sizes ---- */

static int describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why,
		    enum assay_role x, enum assay_role packed, enum assay_role sizes)
{
	const int64_t bytes = shape->axis[ASSAY_COMPRESS_BYTES], block = shape->axis[ASSAY_COMPRESS_BLOCK];
	const int64_t n = assay_compress_blocks(bytes, block);

	if (block > bytes) {
		snprintf(why->text, sizeof(why->text),
			 "block is %" PRId64 ", expected at most the %" PRId64 " bytes of the corpus", block, bytes);
		return -1;
	}
	out->n_tensors = 3;
	out->tensors[ASSAY_COMPRESS_X] =
		(struct assay_tensor_spec){ .name = "x", .role = x, .dtype = ASSAY_U8, .rank = 1, .dims = { bytes } };
	out->tensors[ASSAY_COMPRESS_PACKED] = (struct assay_tensor_spec){ .name = "packed",
									  .role = packed,
									  .dtype = ASSAY_U8,
									  .rank = 2,
									  .dims = { n, assay_compress_slot(block) } };
	out->tensors[ASSAY_COMPRESS_SIZES] = (struct assay_tensor_spec){
		.name = "sizes", .role = sizes, .dtype = ASSAY_I64, .rank = 1, .dims = { n }
	};
	return 0;
}

/*
 * Only the bytes of the corpus are sure to be read or written: rates of both directions are in these. Streams are
 * scratch memory, because the harness demands that a call writes every byte of an output, and clearing the rest of each
 * slot would take a fast codec some percent of its time.
 */
int assay_compress_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->cost.bytes_read = (double)shape->axis[ASSAY_COMPRESS_BYTES];
	return describe(shape, out, why, ASSAY_INPUT, ASSAY_SCRATCH, ASSAY_OUTPUT);
}

int assay_decompress_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	out->cost.bytes_written = (double)shape->axis[ASSAY_COMPRESS_BYTES];
	return describe(shape, out, why, ASSAY_OUTPUT, ASSAY_INPUT, ASSAY_INPUT);
}

/* ---- inputs ---- */

struct fill_args {
	uint64_t seed;
	int64_t corpus, bytes;
	uint8_t *x;
};

static void fill_pages(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct fill_args *f = arg;
	int64_t n = (f->bytes + ASSAY_CORPUS_PAGE - 1) / ASSAY_CORPUS_PAGE;

	for (int64_t i = n * tid / n_threads; i < n * (tid + 1) / n_threads; i++) {
		int64_t left = f->bytes - i * ASSAY_CORPUS_PAGE;
		uint8_t page[ASSAY_CORPUS_PAGE];

		assay_corpus_page(f->seed, f->corpus, (uint64_t)i, page);
		memcpy(f->x + i * ASSAY_CORPUS_PAGE, page,
		       (size_t)(left < ASSAY_CORPUS_PAGE ? left : ASSAY_CORPUS_PAGE));
	}
}

static void make_corpus(const struct assay_job *job, const struct blocks *b, uint8_t *x)
{
	struct fill_args f = { job->seed, b->corpus, b->bytes, x };

	job->host->parallel(job, fill_pages, &f);
}

int assay_compress_fill(struct assay_job *job)
{
	struct blocks b = blocks_of(job);

	make_corpus(job, &b, b.x);
	return 0;
}

static int fill_packed(struct assay_job *job, const struct compress_format *f)
{
	struct blocks b = blocks_of(job);
	uint8_t *x = malloc((size_t)b.bytes);
	void *dl[2];
	int rc = -1;

	if (!x)
		return job->host->fail(job, "not enough memory");
	make_corpus(job, &b, x);
	memset(b.packed, 0, (size_t)(b.n * b.slot));
	if (assay_format_open(job, f, dl))
		goto out;
	rc = 0;
	for (int64_t i = 0; i < b.n && !rc; i++) {
		b.sizes[i] =
			f->compress(dl, b.level, x + i * b.block, block_bytes(&b, i), b.packed + i * b.slot, b.slot);
		if (b.sizes[i] < 1)
			rc = job->host->fail(job, "%s does not compress block %" PRId64 " at level %d", f->libraries[0],
					     i, b.level);
	}
	assay_format_close(dl);
out:
	free(x);
	return rc;
}

/* ---- oracles ---- */

static void wrong(struct assay_check *out, const char *tensor, int64_t index)
{
	out->correct = 0;
	out->tensor = tensor;
	out->first_bad = index;
}

/* Are the @n bytes of block @i, which begins at @want, these? */
static void compare(struct assay_check *out, const uint8_t *got, const uint8_t *want, int64_t first, int64_t n)
{
	if (!memcmp(got, want, (size_t)n))
		return;
	for (int64_t k = 0; k < n; k++)
		if (got[k] != want[k]) {
			wrong(out, "x", first + k);
			snprintf(out->reason.text, sizeof(out->reason.text), "got byte %u, want %u", got[k], want[k]);
			return;
		}
}

static void check_block(const struct blocks *b, const struct compress_format *f, void *const dl[2], int64_t i,
			uint8_t *room, struct assay_check *out)
{
	int64_t n = block_bytes(b, i), size = b->sizes[i], got;

	if (size < 1 || size > b->slot) {
		wrong(out, "sizes", i);
		snprintf(out->reason.text, sizeof(out->reason.text), "got %" PRId64 " bytes, expected 1 to %" PRId64,
			 size, b->slot);
		return;
	}
	got = f->decompress(dl, b->packed + i * b->slot, size, room, n);
	if (got == n) {
		compare(out, room, b->x + i * b->block, i * b->block, n);
		return;
	}
	wrong(out, "packed", i * b->slot);
	if (got < 0)
		snprintf(out->reason.text, sizeof(out->reason.text),
			 "block %" PRId64 " is not a %s stream of its bytes", i, f->name);
	else
		snprintf(out->reason.text, sizeof(out->reason.text),
			 "block %" PRId64 " holds %" PRId64 " bytes, want %" PRId64, i, got, n);
}

/* Every stream must give its block back, by the usual library of the format. */
static int check_packed(struct assay_job *job, struct assay_check *out, const struct compress_format *f)
{
	struct blocks b = blocks_of(job);
	uint8_t *room;
	void *dl[2];

	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	if (assay_format_open(job, f, dl))
		return -1;
	room = malloc((size_t)b.block);
	for (int64_t i = 0; i < b.n && room && out->correct; i++)
		check_block(&b, f, dl, i, room, out);
	assay_format_close(dl);
	if (!room)
		return job->host->fail(job, "not enough memory");
	free(room);
	return 0;
}

int assay_decompress_check(struct assay_job *job, struct assay_check *out)
{
	struct blocks b = blocks_of(job);
	uint8_t *want = malloc((size_t)b.bytes);

	if (!want)
		return job->host->fail(job, "not enough memory");
	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	make_corpus(job, &b, want);
	compare(out, b.x, want, 0, b.bytes);
	free(want);
	return 0;
}

#define FORMAT(format)                                                                                                 \
	int assay_decompress_fill_##format(struct assay_job *job)                                                      \
	{                                                                                                              \
		return fill_packed(job, &assay_format_##format);                                                       \
	}                                                                                                              \
	int assay_compress_check_##format(struct assay_job *job, struct assay_check *out)                              \
	{                                                                                                              \
		return check_packed(job, out, &assay_format_##format);                                                 \
	}
FORMAT(deflate)
FORMAT(gzip)
FORMAT(lz4)
FORMAT(zstd)
FORMAT(snappy)
FORMAT(brotli)

int assay_compress_report(struct assay_job *job)
{
	struct blocks b = blocks_of(job);
	int64_t total = 0;

	for (int64_t i = 0; i < b.n; i++)
		total += b.sizes[i];
	job->host->metric(job, "compressed_bytes", (double)total);
	job->host->metric(job, "compressed_frac", (double)total / (double)b.bytes);
	return 0;
}
