/* SPDX-License-Identifier: Apache-2.0 */
/* overhead.*: what threads cost before they do any work. The right answers are plain counts. */
#include <stdio.h>

#include "assay/op_overhead.h"

#include "overhead_ops.h"

static const char *const lines[] = { "own", "shared", NULL };

const struct assay_axis assay_overhead_axes[2] = {
	{ .name = "lines",
	  .help = "cache lines of the counters: one each, or as few as they fit in",
	  .symbols = lines,
	  .min = ASSAY_LINES_OWN,
	  .max = ASSAY_LINES_SHARED,
	  .def = ASSAY_LINES_OWN },
	{ .name = "adds", .help = "additions of each thread; 0: 65536", .min = 0, .max = 1 << 30 },
};

static void describe(const struct assay_shape *shape, struct assay_problem *out, double items, const char *item_name)
{
	out->n_tensors = 1;
	out->tensors[ASSAY_OVERHEAD_COUNT] = (struct assay_tensor_spec){
		.name = "count",
		.role = ASSAY_OUTPUT,
		.dtype = ASSAY_I64,
		.rank = 2,
		.dims = { shape->n_threads, ASSAY_OVERHEAD_WORDS },
	};
	out->cost.items = items;
	out->cost.item_name = item_name;
}

int assay_overhead_dispatch_describe(const struct assay_shape *shape, struct assay_problem *out,
				     struct assay_reason *why)
{
	(void)why;
	describe(shape, out, ASSAY_OVERHEAD_ROUNDS, "regions");
	return 0;
}

int assay_overhead_barrier_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why)
{
	(void)why;
	describe(shape, out, ASSAY_OVERHEAD_ROUNDS, "barriers");
	return 0;
}

int assay_overhead_sharing_describe(const struct assay_shape *shape, struct assay_problem *out,
				    struct assay_reason *why)
{
	(void)why;
	describe(shape, out, (double)assay_overhead_adds(shape) * shape->n_threads, "additions");
	return 0;
}

/* There is no input. */
int assay_overhead_fill(struct assay_job *job)
{
	(void)job;
	return 0;
}

/* Word t·stride of every thread t is @want, all others are 0. */
static int check_counts(const struct assay_job *job, struct assay_check *out, uint64_t stride, int64_t want)
{
	const int64_t *count = job->tensors[ASSAY_OVERHEAD_COUNT].data;

	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	for (uint64_t i = 0; i < (uint64_t)job->n_threads * ASSAY_OVERHEAD_WORDS; i++) {
		int64_t right = i % stride == 0 && i / stride < job->n_threads ? want : 0;

		if (count[i] == right)
			continue;
		out->correct = 0;
		out->first_bad = (int64_t)i;
		out->tensor = "count";
		snprintf(out->reason.text, sizeof(out->reason.text), "got %lld, want %lld", (long long)count[i],
			 (long long)right);
		break;
	}
	return 0;
}

int assay_overhead_rounds_check(struct assay_job *job, struct assay_check *out)
{
	return check_counts(job, out, ASSAY_OVERHEAD_WORDS, ASSAY_OVERHEAD_ROUNDS);
}

int assay_overhead_sharing_check(struct assay_job *job, struct assay_check *out)
{
	int shared = job->shape->axis[ASSAY_OVERHEAD_LINES] == ASSAY_LINES_SHARED;

	return check_counts(job, out, shared ? 1 : ASSAY_OVERHEAD_WORDS, assay_overhead_adds(job->shape));
}
