/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the counters of a case with its pool of threads and the page. */
#include "worker/case/served.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void on_pool(void *pool, assay_parallel_fn fn, void *arg)
{
	assay_pool_run(pool, fn, arg);
}

struct assay_outcome assay_case_counts_open(struct assay_case_counts *c, struct assay_case_job *j)
{
	const struct assay_counting_options o = {
		.ctx = &c->ctx,
		.events = j->spec->events,
		.n_threads = j->spec->c.threads,
		.parallel = on_pool,
		.pool = j->pool,
	};
	struct assay_err err = { 0 };

	if (!j->spec->events[0])
		return assay_outcome_ok();
	assay_counter_context_init(&c->ctx, j->op->counters, j->counters, j->op->n_counters);
	c->ctx.multiplex = j->spec->settings.multiplex;
	c->ctx.cells_from_memory = j->spec->cells_from_memory;
	c->ctx.heap = &j->heap;
	c->ctx.syscalls = &c->syscalls;
	c->ctx.device_pci = j->device ? j->device_info.pci : NULL;
	c->ctx.levels = j->device ? &j->levels : NULL;
	c->ctx.gpu = j->device && j->device->device_kind == ASSAY_DEVICE_CUDA ? &c->gpu : NULL;
	if (assay_counting_open(&c->counting, &o, &err))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "%s", err.text);
	return assay_outcome_ok();
}

void assay_case_counts_close(struct assay_case_counts *c)
{
	assay_counting_close(c->counting);
	c->counting = NULL;
}

static void note_thread(void *arg, uint32_t tid, uint32_t n_threads)
{
	pid_t *threads = arg;

	(void)n_threads;
	threads[tid] = (pid_t)syscall(SYS_gettid);
}

struct traced_run {
	struct assay_case_job *job;
	struct assay_outcome out;
};

static void run_once(void *arg)
{
	struct traced_run *r = arg;

	r->out = assay_case_job_run(r->job);
}

struct assay_outcome assay_case_counts_trace(struct assay_case_counts *c, struct assay_case_job *j)
{
	struct traced_run r = { .job = j, .out = assay_outcome_ok() };
	pid_t *threads;

	if (!c->syscalls.wanted)
		return r.out;
	threads = calloc(j->spec->c.threads, sizeof(*threads));
	if (!threads)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counters");
	assay_pool_run(j->pool, note_thread, threads);
	assay_pool_stay_awake(j->pool, true);
	assay_syscalls_count(threads, j->spec->c.threads, run_once, &r, &c->syscalls);
	assay_pool_stay_awake(j->pool, false);
	free(threads);
	return r.out;
}

static int one_call(void *arg)
{
	run_once(arg);
	return ((struct traced_run *)arg)->out.status != ASSAY_STATUS_OK;
}

/* Nothing holds the stream meanwhile: the kernel that does would be counted. The device's clock is not judged by it. */
struct assay_outcome assay_case_counts_gpu(struct assay_case_counts *c, struct assay_case_job *j)
{
	struct traced_run r = { .job = j, .out = assay_outcome_ok() };
	const struct assay_device_clock clock = j->device_clock;

	if (!c->gpu.wanted)
		return r.out;
	j->device_unheld = true;
	assay_gpu_counts_take(&c->gpu, one_call, &r);
	j->device_unheld = false;
	j->device_clock = clock;
	return r.out;
}

/* Changes of the worker's own state are kept beside the counts that could not be taken. */
static int add_note(struct assay_counters *all, const char *note)
{
	return note[0] ? assay_counters_add_missing(all, ASSAY_STATE_NAME, ASSAY_SOURCE_ASSAY, note) : 0;
}

struct assay_outcome assay_case_counts_report(const struct assay_case_counts *c, const char *note,
					      struct assay_worker_reply *r)
{
	struct assay_counters all = { 0 };
	struct assay_outcome out = assay_outcome_ok();

	r->n_counts = r->n_missing = 0;
	if ((c->counting && assay_counting_result(c->counting, &all)) || add_note(&all, note)) {
		out = assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counters");
	} else if (all.n > ASSAY_PAGE_COUNTS || all.n_missing > ASSAY_PAGE_COUNTS) {
		out = assay_outcome_set(ASSAY_STATUS_FAILED, "more than %d events are to be counted",
					ASSAY_PAGE_COUNTS);
	} else {
		r->n_counts = (uint32_t)all.n;
		r->n_missing = (uint32_t)all.n_missing;
		if (all.n)
			memcpy(r->counts, all.v, all.n * sizeof(*all.v));
		if (all.n_missing)
			memcpy(r->missing, all.missing, all.n_missing * sizeof(*all.missing));
	}
	assay_counters_release(&all);
	return out;
}
