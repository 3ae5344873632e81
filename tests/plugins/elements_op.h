/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by ops of the tests that make y of x, element by element: n elements of one type each. */
#ifndef ASSAY_TESTS_ELEMENTS_OP_H
#define ASSAY_TESTS_ELEMENTS_OP_H

#include <stdio.h>
#include <stdlib.h>

#include <assay/plugin.h>
#include <assay/random.h>

enum { X, Y };

static inline void elements_describe(const struct assay_shape *shape, uint32_t dtype, struct assay_problem *out)
{
	const int64_t n = shape->axis[0];
	const double bytes = (dtype == ASSAY_I32 ? 4.0 : 1.0) * (double)n;

	out->n_tensors = 2;
	out->tensors[X] = (struct assay_tensor_spec){
		.name = "x", .role = ASSAY_INPUT, .dtype = dtype, .rank = 1, .dims = { n }
	};
	out->tensors[Y] = (struct assay_tensor_spec){
		.name = "y", .role = ASSAY_OUTPUT, .dtype = dtype, .rank = 1, .dims = { n }
	};
	out->cost = (struct assay_cost){ .ops = (double)n,
					 .bytes_read = bytes,
					 .bytes_written = bytes,
					 .items = (double)n,
					 .item_name = "elements" };
}

static inline int64_t elements_load(const struct assay_tensor *t, int64_t i)
{
	switch (t->spec->dtype) {
	case ASSAY_I8:
		return ((const int8_t *)t->data)[i];
	case ASSAY_U8:
		return ((const uint8_t *)t->data)[i];
	default:
		return ((const int32_t *)t->data)[i];
	}
}

/* Each y is what @want says of the job and the index, or at most @off away from it. */
static inline int elements_check(const struct assay_job *job, int64_t (*want)(const struct assay_job *, int64_t),
				 int64_t off, struct assay_check *out)
{
	out->correct = 1;
	for (int64_t i = 0; i < job->shape->axis[0]; i++) {
		const int64_t got = elements_load(&job->tensors[Y], i), right = want(job, i);

		if (llabs(got - right) <= off)
			continue;
		out->correct = 0;
		out->tensor = "y";
		out->first_bad = i;
		snprintf(out->reason.text, sizeof(out->reason.text), "got %lld, want %lld", (long long)got,
			 (long long)right);
		return 0;
	}
	return 0;
}

static const struct assay_axis elements_axes[] = {
	{ .name = "n", .help = "elements", .min = 16, .max = 1 << 25, .def = INT64_MIN },
};

#define ELEMENTS_OP(n, ...)                                                                                            \
	{                                                                                                              \
		.name = n, .help = "y of x, element by element", .axes = elements_axes, .n_axes = 1,                   \
		.axis_stride = sizeof(elements_axes[0]), .flags = ASSAY_OP_EXACT, __VA_ARGS__                          \
	}

#endif
