/* SPDX-License-Identifier: Apache-2.0 */
/* The services that plugins can call: threads, memory, failure reasons, metrics, the clock. */
#include "worker/case/state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/case/job.h"

struct assay_case_alloc {
	struct assay_case_alloc *next;
	struct assay_arena arena;
};

/* A worker serves one case. Plugins are not handed where its state lies, which tells what is asked of the worker. */
static struct assay_case_job *served;
static const struct assay_clock *service_clock;
static _Atomic uint64_t left_out;     /* of it, in ticks; a slice of the call may end at any time */
static struct assay_stepper *stepper; /* that follows what runs; NULL: nobody does */

/* A region whose threads are stepped while they are in the plugin's code; how long they wait varies. */
struct counted_region {
	assay_parallel_fn fn;
	void *arg;
};

static void counted_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct counted_region *r = arg;

	if (stepper) {
		assay_stepper_mark(stepper, tid, ASSAY_STEPPER_FORK);
		assay_stepper_enter(stepper, tid);
	}
	r->fn(r->arg, tid, n_threads);
	if (stepper) {
		assay_stepper_leave(stepper);
		assay_stepper_mark(stepper, tid, ASSAY_STEPPER_JOIN);
	}
}

/*
 * Services of one thread that is counted. The simulator sees the lines that a service touches in D1, and steps do not.
 * So these touch none but that of the return address, which the plugin has just written.
 */
static void counted_parallel(const struct assay_job *job, assay_parallel_fn fn, void *arg)
{
	(void)job;
	fn(arg, 0, 1);
}

static void counted_nothing(const struct assay_job *job)
{
	(void)job;
}

static uint64_t service_now_ns(void);

/* A bucket follows from a value, often a time, and so would the lines that are touched. */
static void counted_observe(const struct assay_job *job, uint32_t metric, double value)
{
	(void)job;
	(void)metric;
	(void)value;
}

/* Ticks stand for nanoseconds here: time in a simulator is no time, and their rate would have to be read. */
static uint64_t counted_now_ns(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return service_now_ns();
#endif
}

/* A region whose part of each thread is a span. */
static void spanned_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	const struct counted_region *r = arg;

	served->recorder->span_begin("parallel region");
	r->fn(r->arg, tid, n_threads);
	served->recorder->span_end();
}

static void service_parallel(const struct assay_job *job, assay_parallel_fn fn, void *arg)
{
	struct counted_region counted = { fn, arg };
	struct assay_case_job *j = served;
	unsigned tid = 0;

	(void)job;
	if (!j->spec->fixed_layout && j->recorder && j->recorder->spans) {
		assay_pool_run(j->pool, spanned_thread, &counted);
		return;
	}
	if (!j->spec->fixed_layout) {
		assay_pool_run(j->pool, fn, arg);
		return;
	}
	if (stepper)
		tid = assay_stepper_leave(stepper);
	assay_pool_run(j->pool, counted_thread, &counted);
	if (stepper)
		assay_stepper_enter(stepper, tid);
}

static void service_barrier(const struct assay_job *job)
{
	struct assay_case_job *j = served;
	unsigned tid;

	(void)job;
	if (!stepper) {
		assay_pool_barrier(j->pool);
		return;
	}
	tid = assay_stepper_leave(stepper);
	assay_stepper_mark(stepper, tid, ASSAY_STEPPER_BARRIER);
	assay_pool_barrier(j->pool);
	assay_stepper_enter(stepper, tid);
}

void assay_case_services_step(struct assay_stepper *s)
{
	stepper = s;
}

/* The memory of the op and the variant, over time. */
static void tell_memory(const struct assay_case_job *j)
{
	if (j->recorder && j->recorder->spans)
		j->recorder->count("op memory", (double)(j->tensor_bytes + j->alloc_bytes));
}

/*
 * What a case takes in many parts before its samples lies together on huge pages: on small ones, with misses of the
 * TLB, processes that decode a token from 80 matrices differed by 1.3 %, and by 0.8 % on huge ones.
 */
static int place_alloc(struct assay_case_job *j, uint64_t bytes, struct assay_arena *a)
{
	const bool first = j->n_prepared < j->n_jobs, lasting = first || j->preparing_again;
	const bool many = lasting && !j->spec->fixed_layout && assay_alloc_pool_many(&j->pool_of_allocs, bytes);
	const bool pooled = many && assay_alloc_pool_takes(bytes), whole_huge = many || j->n_jobs > 1;
	const struct assay_arena *const newest = assay_alloc_pool_newest(&j->pool_of_allocs);
	const struct assay_arena_options o = {
		.bytes = bytes,
		.copies = 1,
		.whole_huge = whole_huge,
		/* what is taken later may be given back, and the bytes of a file are not */
		.file = j->own.fd >= 0 && first && (pooled || assay_arena_is_huge(bytes, whole_huge)) ? &j->own : NULL,
		.address = assay_case_job_place(j),
		.near = lasting ? assay_case_job_near(j) : 0,
		.topology = j->topology,
		.cpu = j->numa_node < 0 ? -1 : j->cpus[0],
	};
	int rc = pooled ? assay_alloc_pool_add(&j->pool_of_allocs, &o, a, NULL) : assay_arena_init(a, &o, NULL);

	if (!rc && !pooled && (lasting || j->spec->fixed_layout))
		assay_case_job_placed(j, a);
	else if (!rc && assay_alloc_pool_newest(&j->pool_of_allocs) != newest)
		assay_case_job_placed(j, assay_alloc_pool_newest(&j->pool_of_allocs));
	return rc;
}

static void *service_alloc(const struct assay_job *job, uint64_t bytes)
{
	struct assay_case_job *j = served;
	uint64_t limit = j->spec->c.memory_bytes, used = j->tensor_bytes + j->alloc_bytes;
	struct assay_case_alloc *a;
	bool watched;

	(void)job;
	if (limit && (used > limit || bytes > limit - used))
		return NULL;
	watched = assay_heap_case_pause(&j->heap);
	a = calloc(1, sizeof(*a));
	if (a && place_alloc(j, bytes, &a->arena)) {
		free(a);
		a = NULL;
	}
	assay_heap_case_resume(&j->heap, watched, a ? assay_arena_copy(&a->arena, 0) : NULL, bytes);
	if (!a)
		return NULL;
	a->next = j->allocs;
	j->allocs = a;
	j->alloc_bytes += bytes;
	if (j->alloc_bytes > j->alloc_peak_bytes)
		j->alloc_peak_bytes = j->alloc_bytes;
	tell_memory(j);
	return assay_arena_copy(&a->arena, 0);
}

static void service_release(const struct assay_job *job, void *ptr)
{
	struct assay_case_job *j = served;

	(void)job;
	for (struct assay_case_alloc **p = &j->allocs; *p && ptr; p = &(*p)->next) {
		struct assay_case_alloc *a = *p;
		bool watched;

		if (assay_arena_copy(&a->arena, 0) != ptr)
			continue;
		*p = a->next;
		j->alloc_bytes -= a->arena.bytes;
		watched = assay_heap_case_pause(&j->heap);
		assay_heap_case_given(&j->heap, ptr);
		assay_alloc_pool_remove(&j->pool_of_allocs, &a->arena);
		assay_arena_release(&a->arena);
		free(a);
		assay_heap_case_resume(&j->heap, watched, NULL, 0);
		tell_memory(j);
		return;
	}
}

int assay_case_services_keep(struct assay_case_job *j, struct assay_kept_state *out)
{
	*out = (struct assay_kept_state){ 0 };
	for (const struct assay_case_alloc *a = j->allocs; a; a = a->next) {
		if (!j->jobs[0].op_state || assay_arena_copy(&a->arena, 0) != j->jobs[0].op_state)
			continue;
		out->state = j->jobs[0].op_state;
		out->bytes = a->arena.bytes;
		out->copy = malloc(out->bytes);
		if (!out->copy)
			return ASSAY_ENOMEM;
		memcpy(out->copy, out->state, out->bytes);
	}
	return 0;
}

bool assay_case_services_intact(const struct assay_case_job *j, int64_t *where, size_t *bytes)
{
	uint64_t copy;

	for (const struct assay_case_alloc *a = j->allocs; a; a = a->next)
		if (!assay_arena_intact(&a->arena, &copy, where)) {
			*bytes = a->arena.bytes;
			return false;
		}
	return true;
}

void assay_case_services_restore(const struct assay_case_job *j, struct assay_kept_state *k)
{
	if (k->copy && j->jobs[0].op_state == k->state)
		memcpy(k->state, k->copy, k->bytes);
	free(k->copy);
	*k = (struct assay_kept_state){ 0 };
}

static int service_fail(const struct assay_job *job, const char *fmt, ...)
{
	struct assay_case_job *j = served;
	va_list ap;

	(void)job;
	va_start(ap, fmt);
	vsnprintf(j->failure, sizeof(j->failure), fmt, ap);
	va_end(ap);
	return -1;
}

static void service_metric(const struct assay_job *job, const char *tag, double value)
{
	struct assay_case_job *j = served;
	bool declared = false;

	(void)job;
	for (uint32_t i = 0; i < j->op->n_metrics; i++)
		declared |= assay_op_metric(j->op, i)->kind == ASSAY_METRIC_GAUGE &&
			    !strcmp(assay_op_metric(j->op, i)->tag, tag);
	for (unsigned i = 0; i < j->n_metrics; i++)
		declared &= strcmp(j->metrics[i].tag, tag) != 0;
	if (!declared || j->n_metrics == ASSAY_JOB_METRICS) {
		snprintf(j->bad_metric, sizeof(j->bad_metric), "%s", tag);
		return;
	}
	snprintf(j->metrics[j->n_metrics].tag, sizeof(j->metrics[0].tag), "%s", tag);
	j->metrics[j->n_metrics++].value = value;
}

static uint64_t service_now_ns(void)
{
	uint64_t out, ticks;

	do {
		out = left_out;
		ticks = assay_clock_ticks(service_clock);
	} while (out != left_out);
	return assay_clock_ticks_to_ns(service_clock, ticks - out);
}

void assay_case_services_leave_out(uint64_t ticks)
{
	left_out += ticks;
}

static void service_part(const struct assay_job *job)
{
	struct assay_case_job *j = served;

	(void)job;
	j->part++;
	if (j->on_part)
		j->on_part(j->on_part_arg);
}

static void service_span(const struct assay_job *job, const char *name)
{
	(void)job;
	if (name)
		served->recorder->span_begin(name);
	else
		served->recorder->span_end();
}

static void service_observe(const struct assay_job *job, uint32_t metric, double value)
{
	(void)job;
	assay_case_observe(served, metric, value);
}

static void service_fallback(const struct assay_job *job, const char *why)
{
	struct assay_case_job *j = served;

	(void)job;
	if (!j->n_fallbacks++)
		snprintf(j->fallback, sizeof(j->fallback), "%s", why ? why : "it gives no reason");
}

void assay_case_services_init(struct assay_case_job *j)
{
	served = j;
	service_clock = &j->spec->clock;
	left_out = 0;
	j->given->host = (struct assay_host){
		.size = sizeof(j->given->host),
		.abi_major = ASSAY_ABI_MAJOR,
		.abi_minor = ASSAY_ABI_MINOR,
		.parallel = service_parallel,
		.barrier = service_barrier,
		.alloc = service_alloc,
		.release = service_release,
		.fail = service_fail,
		.metric = service_metric,
		.now_ns = service_now_ns,
		.part = service_part,
		.fallback = service_fallback,
		.span = j->recorder && j->recorder->spans ? service_span : NULL,
		.observe = j->spec->fixed_layout ? counted_observe : service_observe,
	};
	if (j->spec->fixed_layout && j->spec->c.threads == 1) {
		j->given->host.parallel = counted_parallel;
		j->given->host.barrier = j->given->host.part = counted_nothing;
		j->given->host.now_ns = counted_now_ns;
	}
}

void assay_case_services_release(struct assay_case_job *j)
{
	while (j->allocs) {
		struct assay_case_alloc *a = j->allocs;

		j->allocs = a->next;
		assay_arena_release(&a->arena);
		free(a);
	}
	assay_alloc_pool_release(&j->pool_of_allocs);
}
