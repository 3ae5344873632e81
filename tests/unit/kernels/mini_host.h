/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small host for unit tests: loads built plugins and drives one case of an op and a variant through the public ABI,
 * without the harness. Threads are real, so races show under a sanitizer; tensors are heap blocks of their exact size,
 * so overruns show too.
 *
 *	struct mini_case *c = mini_new("quantize.q8_0", "avx2", "n=4096", &(struct mini_options){ .n_threads = 3 });
 *	mini_fill(c);
 *	mini_run(c);            poisons outputs, prepares once, runs, asserts that the inputs are unchanged
 *	mini_check(c);          asserts that the op's oracle agrees
 *	mini_free(c);           asserts that nothing leaked
 *
 * Plugins are those of mini_plugins.h. Everything that must not fail asserts by itself; mini_try_* return the plugin's
 * answer instead, with its reason in c->reason.
 */
#ifndef ASSAY_TESTS_MINI_HOST_H
#define ASSAY_TESTS_MINI_HOST_H

#include "unit.h"

#include <pthread.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "assay/plugin.h"
#include "mini_plugins.h"

#define MINI_MAX_METRICS  64
#define MINI_MAX_COUNTERS 64
#define MINI_POISON       0xA5

/* All-zero is the default: one thread, seed 0, 64-byte aligned tensors. */
struct mini_options {
	uint32_t n_threads;
	uint64_t seed;
	uint32_t offset_bytes; /* moves every tensor this far off its 64-byte alignment */
	uint32_t byte_offset;  /* moves tensors of bytes this much further: they may begin anywhere */
};

struct mini_metric {
	const char *tag;
	double value;
};

struct mini_case {
	const struct assay_op *op;
	const struct assay_variant *variant; /* the op's driver where the variant is of the op that it composes */
	struct assay_host_info info;
	struct assay_shape shape;
	struct assay_problem problem;
	struct assay_job job;
	struct assay_tensor tensors[ASSAY_MAX_TENSORS];
	void *bases[ASSAY_MAX_TENSORS];
	uint64_t counters[MINI_MAX_COUNTERS];
	struct mini_metric metrics[MINI_MAX_METRICS];
	uint32_t n_metrics;
	uint32_t n_parts;                      /* of all runs */
	uint64_t n_observed[MINI_MAX_METRICS]; /* values of each histogram, of all runs */
	struct assay_reason reason;            /* why the last callback that failed did */
	struct assay_host host;
	pthread_barrier_t barrier;
	int64_t n_allocated; /* blocks of host->alloc not yet released */
	bool prepared;
};

/* ---- the host's services ---- */

struct mini_thread {
	assay_parallel_fn fn;
	void *arg;
	uint32_t tid, n_threads;
	pthread_t thread;
};

static inline void *mini_thread_main(void *arg)
{
	const struct mini_thread *t = arg;

	t->fn(t->arg, t->tid, t->n_threads);
	return NULL;
}

static inline void mini_parallel(const struct assay_job *job, assay_parallel_fn fn, void *arg)
{
	struct mini_thread threads[64];
	uint32_t n = job->n_threads;

	assert_true(n >= 1 && n <= 64);
	for (uint32_t i = 1; i < n; i++) {
		threads[i] = (struct mini_thread){ .fn = fn, .arg = arg, .tid = i, .n_threads = n };
		assert_int_equal(pthread_create(&threads[i].thread, NULL, mini_thread_main, &threads[i]), 0);
	}
	fn(arg, 0, n);
	for (uint32_t i = 1; i < n; i++)
		pthread_join(threads[i].thread, NULL);
}

static inline void mini_barrier(const struct assay_job *job)
{
	struct mini_case *c = job->host_private;

	pthread_barrier_wait(&c->barrier);
}

static inline void *mini_alloc(const struct assay_job *job, uint64_t bytes)
{
	struct mini_case *c = job->host_private;
	void *p = NULL;

	if (posix_memalign(&p, 64, bytes ? bytes : 1))
		return NULL;
	memset(p, 0, bytes);
	c->n_allocated++;
	return p;
}

static inline void mini_release(const struct assay_job *job, void *ptr)
{
	struct mini_case *c = job->host_private;

	if (!ptr)
		return;
	c->n_allocated--;
	free(ptr);
}

static inline int ASSAY_PRINTF(2, 3) mini_fail(const struct assay_job *job, const char *fmt, ...)
{
	struct mini_case *c = job->host_private;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->reason.text, sizeof(c->reason.text), fmt, ap);
	va_end(ap);
	return -1;
}

static inline void mini_record(const struct assay_job *job, const char *tag, double value)
{
	struct mini_case *c = job->host_private;

	assert_true(c->n_metrics < MINI_MAX_METRICS);
	c->metrics[c->n_metrics++] = (struct mini_metric){ tag, value };
}

static inline uint64_t mini_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void mini_part(const struct assay_job *job)
{
	struct mini_case *c = job->host_private;

	c->n_parts++;
}

static inline void mini_observe(const struct assay_job *job, uint32_t metric, double value)
{
	struct mini_case *c = job->host_private;

	assert_true(metric < c->op->n_metrics && c->op->metrics[metric].kind == ASSAY_METRIC_HISTOGRAM);
	assert_true(value >= c->op->metrics[metric].lo && value <= c->op->metrics[metric].hi);
	c->n_observed[metric]++;
}

/* ---- shapes ---- */

static inline size_t mini_dtype_bytes(uint32_t dtype)
{
	switch (dtype) {
	case ASSAY_U8:
	case ASSAY_I8:
		return 1;
	case ASSAY_F16:
	case ASSAY_BF16:
		return 2;
	case ASSAY_I32:
	case ASSAY_F32:
	case ASSAY_U32:
		return 4;
	case ASSAY_I64:
	case ASSAY_F64:
		return 8;
	}
	fail_msg("unknown dtype %u", dtype);
	return 0;
}

static inline int64_t mini_axis_value(const struct assay_axis *axis, const char *text)
{
	for (int64_t i = 0; axis->symbols && axis->symbols[i]; i++)
		if (!strcmp(axis->symbols[i], text))
			return i;
	if (axis->symbols)
		fail_msg("axis '%s' has no value '%s'", axis->name, text);
	return strtoll(text, NULL, 10);
}

/* "n=1,level=dram" into a shape; axes that are not named take their defaults. */
static inline void mini_bind(const struct assay_op *op, const char *axes, struct assay_shape *shape)
{
	char list[512], *save = NULL;
	uint32_t i;

	assert_int_equal(op->axis_stride, sizeof(struct assay_axis));
	for (i = 0; i < op->n_axes; i++)
		shape->axis[i] = op->axes[i].def;
	snprintf(list, sizeof(list), "%s", axes ? axes : "");
	for (char *item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		char *value = strchr(item, '=');

		assert_non_null(value);
		*value++ = '\0';
		for (i = 0; i < op->n_axes && strcmp(op->axes[i].name, item);)
			i++;
		if (i == op->n_axes)
			fail_msg("op '%s' has no axis '%s'", op->name, item);
		shape->axis[i] = mini_axis_value(&op->axes[i], value);
	}
}

/* describe() of the op for a shape: 0, or negative with `why` filled. */
static inline int mini_try_describe(const char *op_name, const char *axes, struct assay_problem *out,
				    struct assay_reason *why)
{
	const struct assay_op *op = mini_op(op_name);
	struct assay_host_info info = { .size = sizeof(info), .n_cores = 1 };
	struct assay_shape shape = { .size = sizeof(shape), .n_threads = 1, .host = &info };

	assert_non_null(op);
	mini_bind(op, axes, &shape);
	memset(out, 0, sizeof(*out));
	memset(why, 0, sizeof(*why));
	out->size = sizeof(*out);
	return op->describe(&shape, out, why);
}

/* ---- one case ---- */

static inline void mini_free(struct mini_case *c)
{
	if (!c)
		return;
	if (c->prepared && c->variant->release)
		c->variant->release(&c->job);
	if (c->op->release)
		c->op->release(&c->job);
	for (uint32_t i = 0; i < c->problem.n_tensors; i++)
		free(c->bases[i]);
	pthread_barrier_destroy(&c->barrier);
	assert_int_equal(c->n_allocated, 0);
	free(c);
}

static inline void mini_make_tensors(struct mini_case *c, const struct mini_options *o)
{
	assert_true(c->problem.n_tensors <= ASSAY_MAX_TENSORS);
	for (uint32_t i = 0; i < c->problem.n_tensors; i++) {
		const struct assay_tensor_spec *spec = &c->problem.tensors[i];
		uint64_t bytes = mini_dtype_bytes(spec->dtype);
		uint64_t offset = o->offset_bytes + (bytes == 1 ? o->byte_offset : 0);

		assert_true(spec->rank >= 1 && spec->rank <= ASSAY_MAX_RANK);
		for (uint32_t d = 0; d < spec->rank; d++) {
			assert_true(spec->dims[d] >= 0);
			bytes *= (uint64_t)spec->dims[d];
		}
		assert_int_equal(posix_memalign(&c->bases[i], 64, bytes + offset + !bytes), 0);
		memset(c->bases[i], MINI_POISON, bytes + offset);
		c->tensors[i] =
			(struct assay_tensor){ .data = (char *)c->bases[i] + offset, .bytes = bytes, .spec = spec };
	}
}

/*
 * A case of an op and a variant with its tensors allocated. The op, the variant and the shape must exist; where the
 * variant's supports() refuses the shape, the reason fails the test.
 */
static inline struct mini_case *mini_new(const char *op, const char *variant, const char *axes,
					 const struct mini_options *options)
{
	static const struct mini_options defaults;
	const struct mini_options *o = options ? options : &defaults;
	struct mini_case *c = calloc(1, sizeof(*c));
	uint32_t n_threads = o->n_threads ? o->n_threads : 1;

	assert_non_null(c);
	c->op = mini_op(op);
	if (!c->op)
		fail_msg("no op '%s'", op);
	c->variant = mini_variant(op, variant);
	if (!c->variant && c->op->composes)
		c->variant = mini_variant(c->op->composes, variant);
	if (!c->variant)
		fail_msg("no variant '%s' of '%s'", variant, op);
	c->info = (struct assay_host_info){ .size = sizeof(c->info),
					    .n_cores = n_threads,
					    .l1d_bytes = 32 << 10,
					    .l2_bytes = 1 << 20,
					    .llc_bytes = 8 << 20,
					    .memory_bytes = 1ull << 32 };
	c->shape = (struct assay_shape){ .size = sizeof(c->shape), .n_threads = n_threads, .host = &c->info };
	mini_bind(c->op, axes, &c->shape);
	c->problem.size = sizeof(c->problem);
	if (c->op->describe(&c->shape, &c->problem, &c->reason))
		fail_msg("describe '%s' %s: %s", op, axes, c->reason.text);
	if (c->variant->supports && c->variant->supports(&c->shape, &c->reason) < 0)
		fail_msg("variant '%s' refuses %s: %s", variant, axes, c->reason.text);
	mini_make_tensors(c, o);
	c->host = (struct assay_host){ .size = sizeof(c->host),
				       .abi_major = ASSAY_ABI_MAJOR,
				       .abi_minor = ASSAY_ABI_MINOR,
				       .parallel = mini_parallel,
				       .barrier = mini_barrier,
				       .alloc = mini_alloc,
				       .release = mini_release,
				       .fail = mini_fail,
				       .metric = mini_record,
				       .now_ns = mini_now_ns,
				       .part = mini_part,
				       .observe = mini_observe };
	assert_int_equal(pthread_barrier_init(&c->barrier, NULL, n_threads), 0);
	assert_true(c->op->n_counters <= MINI_MAX_COUNTERS);
	c->job = (struct assay_job){ .size = sizeof(c->job),
				     .n_tensors = c->problem.n_tensors,
				     .host = &c->host,
				     .host_private = c,
				     .shape = &c->shape,
				     .tensors = c->tensors,
				     .seed = o->seed,
				     .n_threads = n_threads,
				     .counters = c->counters };
	if (strcmp(c->variant->op, op)) {
		c->job.kernel = c->variant;
		c->variant = c->op->driver;
	}
	return c;
}

static inline void mini_fill(struct mini_case *c)
{
	if (c->op->fill(&c->job))
		fail_msg("fill '%s': %s", c->op->name, c->reason.text);
}

static inline uint64_t mini_hash_inputs(const struct mini_case *c)
{
	uint64_t h = 14695981039346656037u;

	for (uint32_t i = 0; i < c->problem.n_tensors; i++) {
		const unsigned char *p = c->tensors[i].data;

		for (uint64_t j = 0; c->problem.tensors[i].role == ASSAY_INPUT && j < c->tensors[i].bytes; j++)
			h = (h ^ p[j]) * 1099511628211u;
	}
	return h;
}

/* prepare() once, then run() into poisoned outputs; the callback's own return value. */
static inline int mini_try_run(struct mini_case *c)
{
	int rc = 0;

	if (!c->prepared && c->variant->prepare)
		rc = c->variant->prepare(&c->job);
	if (rc)
		return rc;
	c->prepared = true;
	for (uint32_t i = 0; i < c->problem.n_tensors; i++)
		if (c->problem.tensors[i].role == ASSAY_OUTPUT)
			memset(c->tensors[i].data, MINI_POISON, c->tensors[i].bytes);
	return c->variant->run(&c->job);
}

static inline void mini_run(struct mini_case *c)
{
	uint64_t before = mini_hash_inputs(c);

	if (mini_try_run(c))
		fail_msg("run '%s/%s': %s", c->op->name, c->variant->name, c->reason.text);
	assert_int_equal(before, mini_hash_inputs(c));
}

/* The oracle's verdict on the outputs as they are. */
static inline struct assay_check mini_try_check(struct mini_case *c)
{
	struct assay_check out = { .size = sizeof(out), .max_rel_err = -1, .first_bad = -1 };

	if (c->op->check(&c->job, &out))
		fail_msg("check '%s': %s", c->op->name, c->reason.text);
	return out;
}

static inline void mini_check(struct mini_case *c)
{
	struct assay_check out = mini_try_check(c);

	if (!out.correct)
		fail_msg("'%s/%s': tensor %s[%lld]: %s", c->op->name, c->variant->name, out.tensor ? out.tensor : "?",
			 (long long)out.first_bad, out.reason.text);
	/* the variants of this tree are held to all edges */
	if (out.deviates)
		fail_msg("'%s/%s': deviates: %s", c->op->name, c->variant->name, out.deviation.text);
}

/* report(), then the value of one metric; asserts that it was published. */
static inline void mini_report(struct mini_case *c)
{
	c->n_metrics = 0;
	if (c->op->report && c->op->report(&c->job))
		fail_msg("report '%s': %s", c->op->name, c->reason.text);
}

static inline double mini_metric(const struct mini_case *c, const char *tag)
{
	for (uint32_t i = 0; i < c->n_metrics; i++)
		if (!strcmp(c->metrics[i].tag, tag))
			return c->metrics[i].value;
	fail_msg("metric '%s' was not published", tag);
	return 0;
}

#endif
