/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.read, stream.copy and stream.triad: memory bandwidth at each level of the hierarchy. The words of a page
 * follow from one Philox block by an arithmetic progression, so that gigabytes fill quickly and the sums have a closed
 * form.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "assay/op_stream.h"
#include "assay/random.h"

#include "input_fill.h"
#include "stream_ops.h"

#define KIB(n)     ((uint64_t)(n) << 10)
#define MIB(n)     ((uint64_t)(n) << 20)
#define PAGE_WORDS (ASSAY_STREAM_PAGE / 8)

static const char *const levels[] = { "l1", "l2", "l3", "dram", "2xllc", NULL };

const struct assay_axis assay_stream_axes[2] = {
	{ .name = "level",
	  .help = "memory level that the arrays fit in",
	  .symbols = levels,
	  .min = 0,
	  .max = ASSAY_LEVEL_2XLLC,
	  .def = ASSAY_LEVEL_DRAM },
	{ .name = "passes", .help = "passes over the arrays; 0: what fills 16 MiB", .min = 0, .max = 1 << 20 },
};

/* ---- sizes ---- */

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Bytes a thread works on, all arrays together. Half of a cache leaves room for what else lives there. Of a last-level
 * cache that is shared with others only a part may be had, and a virtual machine is told the size of the whole one, so
 * l3 is eight times the l2 of a core, for all threads together, where that is less than half. There, a slice must not
 * fit in the thread's own l2: twice that, or one and a half where twice would exceed the last-level cache.
 */
static uint64_t footprint(const struct assay_shape *shape)
{
	const struct assay_host_info *h = shape->host;
	uint64_t n = shape->n_threads;
	uint64_t l1 = h->l1d_bytes ? h->l1d_bytes : KIB(32);
	uint64_t l2 = h->l2_bytes ? h->l2_bytes : KIB(512);
	uint64_t llc = max_u64(h->llc_bytes ? h->llc_bytes : MIB(8), l2);

	switch (shape->axis[ASSAY_STREAM_LEVEL]) {
	case ASSAY_LEVEL_L1:
		return l1 / 2;
	case ASSAY_LEVEL_L2:
		return l2 / 2;
	case ASSAY_LEVEL_L3:
		return max_u64(min_u64(llc / 2, 8 * l2) / n, 2 * l2 * n <= llc ? 2 * l2 : l2 + l2 / 2);
	case ASSAY_LEVEL_2XLLC:
		return 2 * llc / n;
	default:
		return max_u64(min_u64(8 * llc, MIB(512)), 2 * llc) / n;
	}
}

/* Bytes of one array in each thread's slice; 0 with the reason when memory is too small to leave the caches. */
static uint64_t slice_bytes(const struct assay_shape *shape, unsigned n_arrays, struct assay_reason *why)
{
	const struct assay_host_info *h = shape->host;
	uint64_t bytes = footprint(shape);

	if (shape->axis[ASSAY_STREAM_LEVEL] >= ASSAY_LEVEL_DRAM && h->memory_bytes) {
		uint64_t most = h->memory_bytes / 4 / shape->n_threads;

		if (most * shape->n_threads < 2 * h->llc_bytes) {
			snprintf(why->text, sizeof(why->text),
				 "a quarter of %llu MiB of memory is less than twice the last-level cache",
				 (unsigned long long)(h->memory_bytes >> 20));
			return 0;
		}
		bytes = min_u64(bytes, most);
	}
	return max_u64(bytes / n_arrays / ASSAY_STREAM_PAGE, 1) * ASSAY_STREAM_PAGE;
}

/* The spec of an array of floats. */
static void add_array(struct assay_problem *out, uint32_t index, const char *name, enum assay_role role, uint64_t bytes)
{
	out->tensors[index] =
		(struct assay_tensor_spec){ .name = name,
					    .role = role,
					    .dtype = ASSAY_F32,
					    .rank = 1,
					    .dims = { (int64_t)(bytes / 4) },
					    .filled = role == ASSAY_INPUT ? ASSAY_FILLED_PAGES_F32 : ASSAY_FILLED_BY_OP,
					    .filled_stream = index };
}

int assay_stream_read_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	uint64_t slice = slice_bytes(shape, 1, why);
	uint64_t bytes = slice * shape->n_threads;

	if (!slice)
		return -1;
	out->n_tensors = 2;
	out->tensors[ASSAY_STREAM_READ_A] = (struct assay_tensor_spec){
		.name = "a", .role = ASSAY_INPUT, .dtype = ASSAY_I64, .rank = 1, .dims = { (int64_t)(bytes / 8) }
	};
	out->tensors[ASSAY_STREAM_READ_SUM] =
		(struct assay_tensor_spec){ .name = "sum",
					    .role = ASSAY_OUTPUT,
					    .dtype = ASSAY_I64,
					    .rank = 2,
					    .dims = { shape->n_threads, ASSAY_STREAM_SUM_LANES } };
	out->cost.bytes_read = (double)bytes * (double)assay_stream_passes(shape, slice, 1);
	out->cost.bytes_written = (double)shape->n_threads * 8 * ASSAY_STREAM_SUM_LANES;
	return 0;
}

int assay_stream_copy_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	uint64_t slice = slice_bytes(shape, 2, why);
	uint64_t bytes = slice * shape->n_threads;

	if (!slice)
		return -1;
	out->n_tensors = 2;
	add_array(out, ASSAY_STREAM_COPY_A, "a", ASSAY_INPUT, bytes);
	add_array(out, ASSAY_STREAM_COPY_B, "b", ASSAY_OUTPUT, bytes);
	out->cost.bytes_read = (double)bytes * (double)assay_stream_passes(shape, slice, 2);
	out->cost.bytes_written = out->cost.bytes_read;
	return 0;
}

int assay_stream_triad_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	uint64_t slice = slice_bytes(shape, 3, why);
	uint64_t bytes = slice * shape->n_threads;

	if (!slice)
		return -1;
	out->n_tensors = 3;
	add_array(out, ASSAY_STREAM_TRIAD_B, "b", ASSAY_INPUT, bytes);
	add_array(out, ASSAY_STREAM_TRIAD_C, "c", ASSAY_INPUT, bytes);
	add_array(out, ASSAY_STREAM_TRIAD_A, "a", ASSAY_OUTPUT, bytes);
	out->cost.bytes_written = (double)bytes * (double)assay_stream_passes(shape, slice, 3);
	out->cost.bytes_read = 2 * out->cost.bytes_written;
	out->cost.ops = out->cost.bytes_written / 4 * 2;
	return 0;
}

/* ---- inputs ---- */

struct progression {
	uint64_t first, step;
};

static struct progression page_progression(uint64_t seed, uint32_t tensor, uint64_t page)
{
	struct assay_philox r = assay_random4(seed, tensor, page);

	return (struct progression){ (uint64_t)r.v[0] << 32 | r.v[1], ((uint64_t)r.v[2] << 32 | r.v[3]) | 1 };
}

struct fill_args {
	uint64_t seed;
	uint32_t tensor;
	void *data;
	uint64_t n_pages;
};

static void fill_words(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct fill_args *f = arg;

	for (uint64_t page = f->n_pages * tid / n_threads; page < f->n_pages * (tid + 1) / n_threads; page++) {
		struct progression p = page_progression(f->seed, f->tensor, page);
		uint64_t *words = (uint64_t *)f->data + page * PAGE_WORDS;

		for (uint64_t i = 0; i < PAGE_WORDS; i++)
			words[i] = p.first + i * p.step;
	}
}

int assay_stream_read_fill(struct assay_job *job)
{
	struct assay_tensor *a = &job->tensors[ASSAY_STREAM_READ_A];
	struct fill_args f = { job->seed, ASSAY_STREAM_READ_A, a->data, a->bytes / ASSAY_STREAM_PAGE };

	job->host->parallel(job, fill_words, &f);
	return 0;
}

int assay_stream_floats_fill(struct assay_job *job)
{
	assay_input_fill(job);
	return 0;
}

/* ---- oracles ---- */

/* The sums follow from the progressions, without a look at the array that the variant read. */
int assay_stream_read_check(struct assay_job *job, struct assay_check *out)
{
	const uint64_t *sum = job->tensors[ASSAY_STREAM_READ_SUM].data;
	uint64_t slice = job->tensors[ASSAY_STREAM_READ_A].bytes / job->n_threads;
	uint64_t n_pages = slice / ASSAY_STREAM_PAGE, passes = assay_stream_passes(job->shape, slice, 1);
	const uint64_t terms = PAGE_WORDS / ASSAY_STREAM_SUM_LANES;

	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	for (uint64_t t = 0; t < job->n_threads; t++) {
		uint64_t first = 0, step = 0;

		for (uint64_t page = t * n_pages; page < (t + 1) * n_pages; page++) {
			struct progression p = page_progression(job->seed, ASSAY_STREAM_READ_A, page);

			first += p.first;
			step += p.step;
		}
		for (uint64_t lane = 0; lane < ASSAY_STREAM_SUM_LANES; lane++) {
			uint64_t steps = terms * lane + ASSAY_STREAM_SUM_LANES * (terms * (terms - 1) / 2);
			uint64_t want = passes * (terms * first + steps * step);
			uint64_t i = t * ASSAY_STREAM_SUM_LANES + lane;

			if (sum[i] == want)
				continue;
			out->correct = 0;
			out->first_bad = (int64_t)i;
			out->tensor = "sum";
			snprintf(out->reason.text, sizeof(out->reason.text), "got %llu, want %llu",
				 (unsigned long long)sum[i], (unsigned long long)want);
			return 0;
		}
	}
	return 0;
}

static void wrong_float(struct assay_check *out, const char *tensor, uint64_t index, float got, float want)
{
	out->correct = 0;
	out->first_bad = (int64_t)index;
	out->tensor = tensor;
	snprintf(out->reason.text, sizeof(out->reason.text), "got %.9g, want %.9g", (double)got, (double)want);
}

int assay_stream_copy_check(struct assay_job *job, struct assay_check *out)
{
	const struct assay_tensor *ta = &job->tensors[ASSAY_STREAM_COPY_A];
	const float *a = ta->data, *b = job->tensors[ASSAY_STREAM_COPY_B].data;

	*out = (struct assay_check){ .size = out->size, .correct = 1, .first_bad = -1 };
	if (!memcmp(b, a, ta->bytes))
		return 0;
	for (uint64_t i = 0; i < ta->bytes / 4; i++) {
		if (memcmp(&a[i], &b[i], sizeof(a[i]))) {
			wrong_float(out, "b", i, b[i], a[i]);
			break;
		}
	}
	return 0;
}

int assay_stream_triad_check(struct assay_job *job, struct assay_check *out)
{
	const struct assay_tensor *ta = &job->tensors[ASSAY_STREAM_TRIAD_A];
	const float *a = ta->data;
	const float *b = job->tensors[ASSAY_STREAM_TRIAD_B].data, *c = job->tensors[ASSAY_STREAM_TRIAD_C].data;

	*out = (struct assay_check){ .size = out->size, .correct = 1, .first_bad = -1 };
	for (uint64_t i = 0; i < ta->bytes / 4; i++) {
		/* 3·c of a 24-bit fraction is exact in double; rounding it to float is the product of the definition */
		float product = (float)((double)ASSAY_STREAM_SCALE * (double)c[i]);
		float want = (float)((double)b[i] + (double)product);

		if (memcmp(&a[i], &want, sizeof(want))) {
			wrong_float(out, "a", i, a[i], want);
			break;
		}
	}
	return 0;
}

/* ---- stream.p2p, whose inputs and oracle are those of stream.copy ---- */

const struct assay_axis assay_p2p_axes[2] = {
	[ASSAY_P2P_HOP] = { .name = "hop",
			    .help = "device to read from, counted from the case's own and wrapping around",
			    .min = 1,
			    .max = 63,
			    .def = 1 },
	[ASSAY_P2P_BYTES] = { .name = "bytes",
			      .help = "bytes of the array, a multiple of 4096",
			      .min = ASSAY_STREAM_PAGE,
			      .max = INT64_C(1) << 36,
			      .def = INT64_C(256) << 20 },
};

const char *const assay_p2p_counters[ASSAY_P2P_N_COUNTERS] = {
	[ASSAY_P2P_DIRECT] = "p2p_direct",
	[ASSAY_P2P_STAGED] = "p2p_staged",
};

int assay_stream_p2p_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	const int64_t bytes = shape->axis[ASSAY_P2P_BYTES];

	if (bytes % ASSAY_STREAM_PAGE) {
		snprintf(why->text, sizeof(why->text), "bytes is %" PRId64 ", expected a multiple of %d", bytes,
			 ASSAY_STREAM_PAGE);
		return -1;
	}
	out->n_tensors = 2;
	add_array(out, ASSAY_STREAM_COPY_A, "a", ASSAY_INPUT, (uint64_t)bytes);
	add_array(out, ASSAY_STREAM_COPY_B, "b", ASSAY_OUTPUT, (uint64_t)bytes);
	out->cost.bytes_read = (double)bytes;
	return 0;
}
