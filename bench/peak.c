/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak.f32_fma, peak.i8_dot and peak.ternary_dot: what the arithmetic units do when nothing waits for memory. The
 * oracle uses the closed form of the repeated step, in 64-bit integers.
 */
#include <stdio.h>

#include "assay/op_stream.h"
#include "assay/random.h"

#include "stream_ops.h"

const struct assay_axis assay_peak_axes[1] = {
	{ .name = "steps",
	  .help = "steps of every lane, a multiple of 64; 0: 16384",
	  .min = 0,
	  .max = ASSAY_PEAK_STEPS },
};

static int check_steps(const struct assay_shape *shape, struct assay_reason *why)
{
	if (assay_peak_steps(shape) % ASSAY_PEAK_STRIDE == 0)
		return 0;
	snprintf(why->text, sizeof(why->text), "steps=%u is not a multiple of %d", assay_peak_steps(shape),
		 ASSAY_PEAK_STRIDE);
	return -1;
}

static void lanes_spec(struct assay_tensor_spec *spec, const char *name, enum assay_role role, enum assay_dtype dtype,
		       uint32_t n_threads)
{
	*spec = (struct assay_tensor_spec){
		.name = name, .role = role, .dtype = dtype, .rank = 2, .dims = { n_threads, ASSAY_PEAK_LANES }
	};
}

static void cost_of(const struct assay_shape *shape, double ops_per_step, enum assay_arith arith,
		    struct assay_cost *cost)
{
	double lanes = (double)shape->n_threads * ASSAY_PEAK_LANES;

	cost->ops = lanes * assay_peak_steps(shape) * ops_per_step;
	cost->bytes_read = lanes * 4 + 2 * 4 * ASSAY_PEAK_PATTERN;
	cost->bytes_written = lanes * 4;
	cost->arith = arith;
}

/* One random word for lane `i` of tensor `tensor`. */
static uint32_t random_word(uint64_t seed, uint32_t tensor, uint64_t i)
{
	return assay_random4(seed, tensor, i / 4).v[i % 4];
}

static int wrong_lane(struct assay_check *out, uint64_t index, double got, double want)
{
	out->correct = 0;
	out->first_bad = (int64_t)index;
	out->tensor = "y";
	snprintf(out->reason.text, sizeof(out->reason.text), "got %.9g, want %.9g", got, want);
	return 0;
}

/* ---- peak.f32_fma ---- */

int assay_peak_fma_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	if (check_steps(shape, why))
		return -1;
	out->n_tensors = 4;
	lanes_spec(&out->tensors[ASSAY_PEAK_FMA_X], "x", ASSAY_INPUT, ASSAY_F32, shape->n_threads);
	out->tensors[ASSAY_PEAK_FMA_A] = (struct assay_tensor_spec){
		.name = "a", .role = ASSAY_INPUT, .dtype = ASSAY_F32, .rank = 1, .dims = { ASSAY_PEAK_PATTERN }
	};
	out->tensors[ASSAY_PEAK_FMA_B] = (struct assay_tensor_spec){
		.name = "b", .role = ASSAY_INPUT, .dtype = ASSAY_F32, .rank = 1, .dims = { ASSAY_PEAK_PATTERN }
	};
	lanes_spec(&out->tensors[ASSAY_PEAK_FMA_Y], "y", ASSAY_OUTPUT, ASSAY_F32, shape->n_threads);
	cost_of(shape, 2, ASSAY_ARITH_F32, &out->cost);
	return 0;
}

/* x within ±2^20 and b within 1 … 511 of either sign: with 2^14 steps every value stays below 2^24. */
int assay_peak_fma_fill(struct assay_job *job)
{
	float *x = job->tensors[ASSAY_PEAK_FMA_X].data;
	float *a = job->tensors[ASSAY_PEAK_FMA_A].data, *b = job->tensors[ASSAY_PEAK_FMA_B].data;

	for (uint64_t i = 0; i < (uint64_t)job->n_threads * ASSAY_PEAK_LANES; i++)
		x[i] = (float)((int32_t)(random_word(job->seed, ASSAY_PEAK_FMA_X, i) >> 11) - (1 << 20));
	for (uint64_t i = 0; i < ASSAY_PEAK_PATTERN; i++) {
		int32_t step = (int32_t)(random_word(job->seed, ASSAY_PEAK_FMA_B, i) % 511) + 1;

		a[i] = 1.0f;
		b[i] = (float)(i % 2 ? -step : step);
	}
	return 0;
}

int assay_peak_fma_check(struct assay_job *job, struct assay_check *out)
{
	const float *x = job->tensors[ASSAY_PEAK_FMA_X].data, *y = job->tensors[ASSAY_PEAK_FMA_Y].data;
	const float *b = job->tensors[ASSAY_PEAK_FMA_B].data;
	const int64_t steps = assay_peak_steps(job->shape);

	*out = (struct assay_check){ .size = out->size, .correct = 1, .first_bad = -1 };
	for (uint64_t i = 0; i < (uint64_t)job->n_threads * ASSAY_PEAK_LANES; i++) {
		int64_t want = (int64_t)x[i] + (int64_t)b[i % ASSAY_PEAK_PATTERN] * steps;

		if (!(y[i] == (float)want))
			return wrong_lane(out, i, (double)y[i], (double)want);
	}
	return 0;
}

/* ---- peak.i8_dot, peak.ternary_dot ---- */

static int describe_dot(const struct assay_shape *shape, enum assay_arith arith, struct assay_problem *out,
			struct assay_reason *why)
{
	if (check_steps(shape, why))
		return -1;
	out->n_tensors = 4;
	lanes_spec(&out->tensors[ASSAY_PEAK_DOT_X], "x", ASSAY_INPUT, ASSAY_I32, shape->n_threads);
	out->tensors[ASSAY_PEAK_DOT_A] = (struct assay_tensor_spec){
		.name = "a", .role = ASSAY_INPUT, .dtype = ASSAY_U8, .rank = 2, .dims = { ASSAY_PEAK_PATTERN, 4 }
	};
	out->tensors[ASSAY_PEAK_DOT_W] = (struct assay_tensor_spec){
		.name = "w", .role = ASSAY_INPUT, .dtype = ASSAY_I8, .rank = 2, .dims = { ASSAY_PEAK_PATTERN, 4 }
	};
	lanes_spec(&out->tensors[ASSAY_PEAK_DOT_Y], "y", ASSAY_OUTPUT, ASSAY_I32, shape->n_threads);
	cost_of(shape, 8, arith, &out->cost);
	return 0;
}

int assay_peak_dot_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe_dot(shape, ASSAY_ARITH_I8, out, why);
}

int assay_peak_ternary_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	return describe_dot(shape, ASSAY_ARITH_TERNARY, out, why);
}

/* 4 · 127 · 127 · 2^14 steps and x within ±2^29 stay inside 32 bits. */
static int fill_dot(struct assay_job *job, uint32_t codes)
{
	int32_t *x = job->tensors[ASSAY_PEAK_DOT_X].data;
	uint8_t *a = job->tensors[ASSAY_PEAK_DOT_A].data;
	int8_t *w = job->tensors[ASSAY_PEAK_DOT_W].data;

	for (uint64_t i = 0; i < (uint64_t)job->n_threads * ASSAY_PEAK_LANES; i++)
		x[i] = (int32_t)(random_word(job->seed, ASSAY_PEAK_DOT_X, i) >> 2) - (1 << 29);
	for (uint64_t i = 0; i < 4 * ASSAY_PEAK_PATTERN; i++) {
		a[i] = (uint8_t)((random_word(job->seed, ASSAY_PEAK_DOT_A, i) >> 16) * codes >> 16);
		w[i] = (int8_t)((int32_t)(random_word(job->seed, ASSAY_PEAK_DOT_W, i) % 255) - 127);
	}
	return 0;
}

int assay_peak_dot_fill(struct assay_job *job)
{
	return fill_dot(job, 128);
}

int assay_peak_ternary_fill(struct assay_job *job)
{
	return fill_dot(job, 3);
}

int assay_peak_dot_check(struct assay_job *job, struct assay_check *out)
{
	const int32_t *x = job->tensors[ASSAY_PEAK_DOT_X].data, *y = job->tensors[ASSAY_PEAK_DOT_Y].data;
	const uint8_t *a = job->tensors[ASSAY_PEAK_DOT_A].data;
	const int8_t *w = job->tensors[ASSAY_PEAK_DOT_W].data;
	const int64_t steps = assay_peak_steps(job->shape);

	*out = (struct assay_check){ .size = out->size, .correct = 1, .max_rel_err = -1, .first_bad = -1 };
	for (uint64_t i = 0; i < (uint64_t)job->n_threads * ASSAY_PEAK_LANES; i++) {
		int64_t dot = 0;

		for (uint64_t j = 4 * (i % ASSAY_PEAK_PATTERN); j < 4 * (i % ASSAY_PEAK_PATTERN) + 4; j++)
			dot += a[j] * w[j];
		if (y[i] != x[i] + dot * steps)
			return wrong_lane(out, i, (double)y[i], (double)(x[i] + dot * steps));
	}
	return 0;
}
