/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Set-up and tear-down of a case, and the timed loop. Order: plugins, threads, shape, buffers, inputs, further copies,
 * device, prepare. Services for plugins are in case/services.c, checks in case/check.c.
 */
#include "worker/case/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "worker/case/device.h"
#include "worker/case/memory.h"
#include "worker/case/state.h"
#include "worker/pair/call_slices.h"

/* Do the loaded plugins have all that the case needs: its op, its variant, and the device of that? */
static bool all_loaded(const struct assay_case_job *j)
{
	const struct assay_op *op = assay_loader_op(&j->loader, j->spec->c.op, NULL);
	const struct assay_variant *v = op ? assay_loader_case_variant(&j->loader, op, j->spec->c.variant, NULL) : NULL;

	return v && (v->device_kind == ASSAY_DEVICE_CPU || assay_loader_device(&j->loader, v->device_kind));
}

/*
 * Load plugins in their order until the case has all it needs: every process of a comparison spends that time, and a
 * plugin further behind would change nothing. Code that a compiler adds for -ffast-math turns flush-to-zero on as soon
 * as the object is loaded, so the state of the floating-point unit is checked after each.
 */
static int load_plugins(struct assay_case_job *j, struct assay_err *err)
{
	const char *p = j->spec->plugins, *end;
	int rc = assay_worker_state_note(&j->state, NULL, 1, err);

	for (; (end = strchr(p, '\n')) && !rc && !all_loaded(j); p = end + 1) {
		char path[4096], who[300];
		const char *slash;

		snprintf(path, sizeof(path), "%.*s", (int)(end - p - 1), p + 1);
		rc = assay_loader_add(&j->loader, path, (enum assay_plugin_part) * p, err);
		if (rc)
			break;
		slash = strrchr(path, '/');
		snprintf(who, sizeof(who), "loading '%.256s'", slash ? slash + 1 : path);
		rc = assay_worker_state_check(&j->state, NULL, who, err);
	}
	return rc;
}

static struct assay_outcome place(struct assay_case_job *j)
{
	const struct assay_worker_spec *s = j->spec;
	struct assay_err err = { 0 };

	if (assay_topology_open_told(&j->topology, j->machine_text, &err) ||
	    assay_pool_new(&j->pool, j->topology, s->cpus, s->c.threads, j->cpus, &j->next_pages, &err))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "%s", err.text);
	j->numa_node = assay_topology_node_of_cpu(j->topology, j->cpus[0]);
	for (uint32_t i = 1; i < s->c.threads; i++)
		if (assay_topology_node_of_cpu(j->topology, j->cpus[i]) != j->numa_node)
			j->numa_node = -1;
	return assay_outcome_ok();
}

static struct assay_outcome describe(struct assay_case_job *j)
{
	const struct assay_worker_spec *s = j->spec;
	struct assay_reason why = { "" };

	j->given = assay_layout_calloc(&j->next_pages, 1, sizeof(*j->given));
	if (!j->given)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory");
	j->given->info = s->host;
	j->given->shape = (struct assay_shape){ .size = sizeof(j->given->shape),
						.n_threads = s->c.threads,
						.host = &j->given->info };
	for (unsigned i = 0; i < s->c.n_axes; i++)
		j->given->shape.axis[i] = s->c.axes[i].value;
	j->problem = (struct assay_problem){ .size = sizeof(j->problem) };
	if (j->op->describe(&j->given->shape, &j->problem, &why))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "op '%s' refuses the shape: %s", s->c.op, why.text);
	if (j->variant->supports && j->variant->supports(&j->given->shape, &why))
		return assay_outcome_set(ASSAY_STATUS_SKIPPED, "%s", why.text);
	if (j->problem.n_tensors > ASSAY_MAX_TENSORS)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "op '%s' describes %u tensors, %d are allowed", s->c.op,
					 j->problem.n_tensors, ASSAY_MAX_TENSORS);
	return assay_outcome_ok();
}

struct touch {
	unsigned char *p;
	size_t bytes;
};

static void touch_slice(void *arg, uint32_t tid, uint32_t n)
{
	const struct touch *t = arg;
	size_t lo = t->bytes / n * tid, hi = tid + 1 == n ? t->bytes : t->bytes / n * (tid + 1);

	memset(t->p + lo, 0, hi - lo);
}

static void touch_parallel(void *arg, unsigned char *p, size_t bytes)
{
	struct touch t = { p, bytes };

	assay_pool_run(arg, touch_slice, &t);
}

/*
 * Where a buffer begins within its page changes conflict misses and 4-KiB aliasing, so it is drawn anew for every
 * process, or pair of them.
 */
static size_t layout_offset(uint64_t seed, uint32_t tensor)
{
	return seed ? assay_random4(seed, tensor, 0).v[0] % 64 * 64 : 0;
}

/* The partner has made the inputs that both map. */
static bool inputs_are_there(const struct assay_case_job *j)
{
	return j->common && atomic_load(&j->common->filled);
}

static struct assay_outcome allocate(struct assay_case_job *j)
{
	const struct assay_worker_spec *s = j->spec;
	uint32_t n = j->problem.n_tensors;
	struct assay_err err = { 0 };

	assay_case_job_phase(j, ASSAY_PHASE_ALLOCATE);
	j->n_jobs = j->check_n = s->copies;
	j->tensors = assay_layout_calloc(&j->next_pages, s->copies * n + 1, sizeof(*j->tensors));
	j->jobs = assay_layout_calloc(&j->next_pages, s->copies, sizeof(*j->jobs));
	j->input_digests = calloc(s->copies, sizeof(*j->input_digests));
	j->counters = assay_layout_calloc(&j->next_pages, ASSAY_MAX_COUNTERS, sizeof(*j->counters));
	if (!j->tensors || !j->jobs || !j->input_digests || !j->counters || assay_case_observed_init(j))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for %llu copies",
					 (unsigned long long)s->copies);
	for (uint32_t i = 0; i < n; i++) {
		const struct assay_tensor_spec *t = &j->problem.tensors[i];
		const bool common = j->common && (s->common == ASSAY_COMMON_ALL || t->role == ASSAY_INPUT);
		const struct assay_arena_options o = {
			.bytes = assay_tensor_bytes(t),
			.copies = s->copies,
			.offset_bytes = layout_offset(s->settings.layout_seed, i),
			.address = assay_case_job_place(j),
			.near = assay_case_job_near(j),
			.topology = j->topology,
			.cpu = j->numa_node < 0 ? -1 : j->cpus[0],
			.touch = j->numa_node < 0 ? touch_parallel : NULL,
			.touch_arg = j->pool,
			.file = common ? &j->file : NULL,
			.keep = common && inputs_are_there(j),
			.first_only =
				t->role == ASSAY_INPUT || (t->role == ASSAY_OUTPUT && common && s->checks.few_copies),
		};

		if (assay_arena_init(&j->arenas[i], &o, &err))
			return assay_outcome_set(ASSAY_STATUS_FAILED, "tensor '%s': %s", t->name, err.text);
		assay_case_job_placed(j, &j->arenas[i]);
		j->tensor_bytes += o.bytes * s->copies;
		j->input_bytes += t->role == ASSAY_INPUT ? o.bytes * s->copies : 0;
		for (uint64_t c = 0; c < s->copies; c++)
			j->tensors[c * n + i] = (struct assay_tensor){ .data = assay_arena_copy(&j->arenas[i], c),
								       .bytes = o.bytes,
								       .spec = t };
	}
	if (inputs_are_there(j) && j->file.end != j->common->end)
		return assay_outcome_set(ASSAY_STATUS_FAILED,
					 "the two sides of the pair lay their tensors differently");
	return assay_outcome_ok();
}

/* Is all that fill made of the first copy in its tensors, so that copying them makes another? */
static bool filled_tensors_only(const struct assay_case_job *j)
{
	return !j->jobs[0].op_state && !j->alloc_bytes;
}

static void copy_of_first(struct assay_case_job *j, uint64_t copy)
{
	const uint32_t n = j->problem.n_tensors;

	for (uint32_t i = 0; i < n; i++)
		memcpy(j->tensors[copy * n + i].data, j->tensors[i].data, j->tensors[i].bytes);
	j->input_digests[copy] = j->input_digests[0];
}

static void clear_inputs(struct assay_case_job *j, uint64_t copy)
{
	const struct assay_tensor *t = j->tensors + copy * j->problem.n_tensors;

	for (uint32_t i = 0; i < j->problem.n_tensors; i++)
		if (t[i].spec->role == ASSAY_INPUT)
			memset(t[i].data, 0, t[i].bytes);
}

/* The partner's tensors are kept; its scratch must not be. */
static void take_over(struct assay_case_job *j)
{
	const uint32_t n = j->problem.n_tensors;

	for (uint64_t i = 0; i < j->n_jobs * n; i++)
		if (j->tensors[i].spec->role == ASSAY_SCRATCH)
			memset(j->tensors[i].data, 0, j->tensors[i].bytes);
	for (; j->n_filled < j->n_jobs; j->n_filled++)
		memcpy(j->input_digests[j->n_filled].hex, j->common->input_digest, sizeof(j->common->input_digest));
}

/* All copies hold the same problem. What fill makes besides tensors, such as op_state, it has to make for each. */
static struct assay_outcome fill(struct assay_case_job *j)
{
	assay_case_job_phase(j, ASSAY_PHASE_FILL);
	if (inputs_are_there(j)) {
		take_over(j);
		return assay_outcome_ok();
	}
	for (; j->n_filled < j->n_jobs; j->n_filled++) {
		if (j->n_filled && filled_tensors_only(j)) {
			copy_of_first(j, j->n_filled);
			continue;
		}
		if (j->n_filled)
			clear_inputs(j, j->n_filled);
		if (j->op->fill(&j->jobs[j->n_filled]))
			return assay_case_job_failed(j, "making the inputs");
		j->input_digests[j->n_filled] = assay_case_input_digest(j, j->n_filled);
	}
	j->fill_bytes = j->alloc_bytes;
	j->op_state = j->jobs[0].op_state;
	if (j->common && filled_tensors_only(j)) {
		memcpy(j->common->input_digest, j->input_digests[0].hex, sizeof(j->common->input_digest));
		j->common->end = j->file.end;
		atomic_store(&j->common->filled, 1);
	}
	return assay_outcome_ok();
}

struct assay_outcome assay_case_job_refill(struct assay_case_job *j, uint64_t seed)
{
	struct assay_job *job = &j->jobs[0];
	int rc;

	if (job->op_state != j->op_state && j->op->release)
		j->op->release(job);
	job->op_state = NULL;
	clear_inputs(j, 0);
	job->seed = seed;
	assay_case_job_aim(j, 0, false);
	rc = j->op->fill(job);
	if (seed == j->spec->settings.seed) {
		if (job->op_state && j->op->release)
			j->op->release(job);
		job->op_state = j->op_state;
	}
	assay_case_job_aim(j, 0, true);
	return rc ? assay_case_job_failed(j, "making the inputs") : assay_outcome_ok();
}

void assay_case_job_unprepare(struct assay_case_job *j)
{
	if (j->variant->prepare && j->variant->release)
		j->variant->release(&j->jobs[0]);
}

struct assay_outcome assay_case_job_prepare_again(struct assay_case_job *j)
{
	int rc;

	j->preparing_again = true;
	rc = j->variant->prepare ? j->variant->prepare(&j->jobs[0]) : 0;
	j->preparing_again = false;
	return rc ? assay_device_call_failed(j, "preparing") : assay_outcome_ok();
}

static struct assay_outcome prepare(struct assay_case_job *j)
{
	const struct assay_clock *clock = &j->spec->clock;
	struct assay_err err = { 0 };
	uint64_t t0;
	int rc;

	if (assay_worker_state_note(&j->state, j->pool, j->spec->c.threads, &err))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "%s", err.text);
	assay_case_job_phase(j, ASSAY_PHASE_PREPARE);
	t0 = assay_clock_ticks(clock);
	for (; j->n_prepared < j->n_jobs; j->n_prepared++) {
		assay_case_job_aim(j, j->n_prepared, true);
		if (!j->variant->prepare)
			continue;
		assay_heap_case_begin(&j->heap);
		rc = j->variant->prepare(&j->jobs[j->n_prepared]);
		assay_heap_case_end(&j->heap, 0);
		if (rc)
			return assay_device_call_failed(j, "preparing");
		if (!j->n_prepared) {
			j->first_ns = assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - t0);
			j->first_bytes = j->alloc_bytes - j->fill_bytes;
		}
	}
	j->prepare_ns = assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - t0);
	j->prepare_bytes = j->alloc_bytes - j->fill_bytes;
	assay_device_memory_look(j, &j->device_memory.prepared);
	return assay_case_job_unchanged(j, "prepare");
}

struct assay_outcome assay_case_job_load(struct assay_case_job *j, const struct assay_worker_spec *spec,
					 _Atomic uint32_t *phase)
{
	struct assay_err err = { 0 };
	size_t plugin = 0;

	*j = (struct assay_case_job){
		.spec = spec,
		.phase = phase,
		.numa_node = -1,
		.own = { .fd = -1 },
		.machine_text = j->machine_text,
	};
	assay_case_job_phase(j, ASSAY_PHASE_LOAD);
	if (load_plugins(j, &err))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "%s", err.text);
	for (size_t i = 0; i < j->loader.n_plugins && assay_worker_spec_draws(j->spec); i++)
		assay_code_pages_draw(j->loader.plugins[i].dl);
	j->op = assay_loader_op(&j->loader, j->spec->c.op, NULL);
	if (!j->op)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "no plugin has op '%s'", j->spec->c.op);
	j->variant = assay_loader_case_variant(&j->loader, j->op, j->spec->c.variant, &plugin);
	if (!j->variant)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "no plugin has variant '%s' of op '%s'",
					 j->spec->c.variant, j->op->composes ? j->op->composes : j->op->name);
	j->code = &j->loader.plugins[plugin];
	if (strcmp(j->variant->op, j->op->name)) {
		j->kernel = j->variant;
		j->variant = j->op->driver;
	}
	return assay_outcome_ok();
}

struct assay_outcome assay_case_job_init(struct assay_case_job *j, const struct assay_case_common *common)
{
	static struct assay_outcome (*const steps[])(struct assay_case_job *) = { place, describe, allocate };
	struct assay_outcome out;

	assay_case_job_phase(j, ASSAY_PHASE_LOAD);
	j->accepted = j->spec->accepted;
	if (assay_worker_spec_draws(j->spec))
		j->next_pages = assay_layout_pages(j->spec->settings.layout_seed);
	if (common) {
		j->common = common->memory;
		j->file = common->file;
		j->own = common->own;
	}
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		out = steps[i](j);
		if (out.status != ASSAY_STATUS_OK)
			return out;
	}
	assay_heap_case_init(&j->heap);
	j->recorder = assay_threads_find();
	assay_case_services_init(j);
	if (j->kernel)
		j->given->kernel = *j->kernel;
	for (uint64_t c = 0; c < j->n_jobs; c++)
		j->jobs[c] = (struct assay_job){
			.size = sizeof(struct assay_job),
			.n_tensors = j->problem.n_tensors,
			.host = &j->given->host,
			.shape = &j->given->shape,
			.tensors = j->tensors + c * j->problem.n_tensors,
			.seed = j->spec->settings.seed,
			.n_threads = j->spec->c.threads,
			.device_kind = ASSAY_DEVICE_CPU,
			.kernel = j->kernel ? &j->given->kernel : NULL,
			.counters = j->counters,
		};
	out = fill(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_device_open(j);
	if (out.status == ASSAY_STATUS_OK)
		out = prepare(j);
	return out;
}

void assay_case_job_retire(struct assay_case_job *j)
{
	assay_case_job_phase(j, ASSAY_PHASE_RELEASE);
	for (uint64_t c = 0; c < j->n_prepared; c++) {
		assay_case_job_aim(j, c, true);
		if (!j->variant->release)
			continue;
		assay_heap_case_begin(&j->heap);
		j->variant->release(&j->jobs[c]);
		assay_heap_case_end(&j->heap, 0);
	}
	j->n_prepared = 0;
}

void assay_case_job_release(struct assay_case_job *j)
{
	assay_case_job_retire(j);
	for (uint64_t c = 0; c < j->n_filled; c++) {
		assay_case_job_aim(j, c, false);
		if (j->op->release)
			j->op->release(&j->jobs[c]);
	}
	assay_case_device_close(j);
	assay_case_services_release(j);
	for (uint32_t i = 0; i < ASSAY_MAX_TENSORS; i++)
		assay_arena_release(&j->arenas[i]);
	assay_worker_state_release(&j->state);
	assay_pool_free(j->pool);
	assay_topology_close(j->topology);
	assay_layout_free(j->tensors, j->n_jobs * j->problem.n_tensors + 1, sizeof(*j->tensors));
	assay_layout_free(j->jobs, j->n_jobs, sizeof(*j->jobs));
	free(j->input_digests);
	assay_layout_free(j->counters, ASSAY_MAX_COUNTERS, sizeof(*j->counters));
	assay_layout_free(j->given, 1, sizeof(*j->given));
	assay_case_observed_release(j);
	assay_loader_release(&j->loader);
}

/*
 * The loop that is timed. Kept apart so that nothing else is compiled into it. Audits run through the same loop, so
 * that a call cannot tell by its return address that it is audited. A sample has no hook, and its calls follow each
 * other directly.
 */
static __attribute__((noinline)) int run_loop(struct assay_case_job *j, uint64_t iterations)
{
	const struct assay_call_hook *hook = j->hook;
	int (*run)(struct assay_job *) = j->variant->run;
	uint64_t copy = j->next_copy, i = 0, until = hook && hook->from < iterations ? hook->from : iterations;
	int rc = 0;

	for (;;) {
		for (; i < until; i++) {
			rc |= run(&j->jobs[copy]);
			copy = copy + 1 == j->n_jobs ? 0 : copy + 1;
		}
		if (i == iterations)
			break;
		hook->before(hook->arg, copy);
		until = i + 1;
	}
	j->next_copy = copy;
	return rc;
}

void assay_case_job_draw_pages(struct assay_case_job *j)
{
	assay_pages_remap(j->tensors, (size_t)j->n_jobs * j->problem.n_tensors * sizeof(*j->tensors));
	assay_pages_remap(j->jobs, (size_t)j->n_jobs * sizeof(*j->jobs));
	assay_pages_remap(j->given, sizeof(*j->given));
	assay_pages_remap(j->counters, ASSAY_MAX_COUNTERS * sizeof(*j->counters));
	assay_pages_remap(j, sizeof(*j));
	assay_pool_draw_pages(j->pool);
}

struct assay_outcome assay_case_job_run(struct assay_case_job *j)
{
	uint64_t ns;

	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	if (j->device)
		return assay_case_device_time(j, run_loop, 1, &ns);
	return run_loop(j, 1) ? assay_case_job_failed(j, "running") : assay_outcome_ok();
}

struct assay_outcome assay_case_job_time(struct assay_case_job *j, uint64_t iterations, uint64_t *ns)
{
	const struct assay_clock *clock = &j->spec->clock;
	uint64_t end;
	int rc;

	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	j->part = 0;
	if (j->device)
		return assay_case_device_time(j, run_loop, iterations, ns);
	j->begun = assay_clock_ticks(clock);
	assay_call_slices_enter();
	rc = run_loop(j, iterations);
	assay_call_slices_leave();
	end = assay_clock_ticks(clock);
	*ns = assay_clock_ticks_to_ns(clock, end - j->begun);
	j->call_parts = iterations == 1 ? j->part : 0;
	return rc ? assay_case_job_failed(j, "running") : assay_outcome_ok();
}
