/* SPDX-License-Identifier: Apache-2.0 */
/* Labels above the frames, threads, and the numbers of how samples were taken. */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/monotonic.h"
#include "base/text.h"
#include "profile/code_places.h"
#include "profile/sampled_processes.h"

#define MOST_FRAMES (ASSAY_STACK_MAX * 4)
/* Stacks are deep where at least so many, and more than this share of them, are. */
#define DEEP_SAMPLES 16
#define DEEP_FRAC    0.005
/* Whether they are is looked at after every so many of the first samples. */
#define LOOK_SAMPLES  24
#define FIRST_SAMPLES 384

struct thread {
	pid_t tid;
	uint32_t label;
};

struct assay_cpu_profile {
	struct assay_profile *into;
	struct assay_cpu_sampler *sampler;
	struct assay_sampled_processes processes;
	struct thread *threads; /* as many as the profile has */
	const char *op, *phase; /* labels; NULL: none */
	bool leaves;
	uint64_t began_ns, drain_ns;
	uint64_t seen, deep; /* samples since so much is copied of a stack, and those that a longer copy would help */
	uint64_t wanted;     /* bytes that these asked for, at most */
};

static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static uint32_t label(struct assay_cpu_profile *p, const char *text)
{
	uint32_t at = 0;

	assay_stack_table_frame(&p->into->stacks, &(struct assay_frame){ .kind = ASSAY_FRAME_LABEL, .name = text }, &at,
				&p->processes.err);
	return at;
}

/* "thread 2", and its own name where it has one. */
static void name_thread(const struct assay_cpu_sample *s, size_t number, char *buf, size_t size)
{
	char path[64], name[32] = "", process[32] = "";

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)s->pid);
	assay_file_line(path, process, sizeof(process));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)s->pid, (int)s->tid);
	if (assay_file_line(path, name, sizeof(name)) && strcmp(name, process))
		snprintf(buf, size, "thread %zu: %s", number, name);
	else
		snprintf(buf, size, "thread %zu", number);
	assay_printable_line(buf, size);
}

/* Of the thread, whose weight grows. */
static uint32_t thread_label(struct assay_cpu_profile *p, const struct assay_cpu_sample *s)
{
	struct assay_profile *into = p->into;
	struct assay_profile_thread *t;

	for (size_t i = 0; i < into->n_threads; i++)
		if (p->threads[i].tid == s->tid) {
			into->threads[i].weight++;
			return p->threads[i].label;
		}
	if (assay_grow(&p->threads, into->n_threads, sizeof(*p->threads)) ||
	    assay_grow(&into->threads, into->n_threads, sizeof(*into->threads))) {
		assay_err_set(&p->processes.err, ASSAY_ENOMEM, "out of memory for the samples of a profile");
		return 0;
	}
	t = &into->threads[into->n_threads];
	*t = (struct assay_profile_thread){ .weight = 1 };
	name_thread(s, into->n_threads + 1, t->name, sizeof(t->name));
	p->threads[into->n_threads] = (struct thread){ s->tid, label(p, t->name) };
	return p->threads[into->n_threads++].label;
}

static void on_mapped(void *arg, pid_t pid, const char *path, uint64_t start, uint64_t bytes, uint64_t file_offset)
{
	struct assay_cpu_profile *p = arg;

	assay_sampled_mapped(&p->processes, pid, path, start, bytes, file_offset);
}

static void on_executed(void *arg, pid_t pid)
{
	struct assay_cpu_profile *p = arg;

	assay_sampled_executed(&p->processes, pid);
}

static void on_forked(void *arg, pid_t parent, pid_t child)
{
	struct assay_cpu_profile *p = arg;

	assay_sampled_forked(&p->processes, parent, child);
}

static void on_sampled(void *arg, const struct assay_cpu_sample *s)
{
	struct assay_cpu_profile *p = arg;
	uint32_t frames[MOST_FRAMES], n = 0;
	struct assay_sampled_stack stack;

	if (p->processes.err.code)
		return;
	if (p->op)
		frames[n++] = label(p, p->op);
	if (p->phase)
		frames[n++] = label(p, p->phase);
	frames[n++] = thread_label(p, s);
	stack = assay_sampled_frames(&p->processes, s, frames, &n, MOST_FRAMES);
	p->into->truncated += stack.end != ASSAY_STACK_BEGAN && !p->leaves;
	p->seen++;
	if (stack.end == ASSAY_STACK_COPIED && stack.wanted <= ASSAY_SAMPLE_STACK_MOST_BYTES) {
		p->into->outgrown += !p->leaves;
		if (s->stack_bytes >= p->sampler->stack_bytes) {
			p->deep++;
			p->wanted = stack.wanted > p->wanted ? stack.wanted : p->wanted;
		}
	}
	p->into->unresolved += !stack.named;
	if (p->phase && !strcmp(p->phase, ASSAY_PROFILE_TIMED))
		p->into->timed_weight++;
	if (!p->processes.err.code)
		assay_stack_table_add(&p->into->stacks, frames, n, 1, &p->processes.err);
}

/* ---- the profile ---- */

int assay_cpu_profile_open(struct assay_cpu_profile **out, const struct assay_cpu_sampling *how,
			   struct assay_profile *into, struct assay_err *err)
{
	struct assay_cpu_profile *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	p->into = into;
	p->leaves = how->leaves;
	p->processes.table = &into->stacks;
	snprintf(into->kind, sizeof(into->kind), "cpu");
	snprintf(into->unit, sizeof(into->unit), "samples");
	into->rate_hz = how->rate_hz;
	into->overhead_frac = NAN;
	into->iteration_ns = NAN;
	rc = assay_code_places_probe(err);
	if (!rc)
		rc = assay_cpu_sampler_open(&p->sampler, how, err);
	if (rc) {
		assay_cpu_profile_close(p);
		return rc;
	}
	snprintf(into->source, sizeof(into->source), "%s", p->sampler->name);
	*out = p;
	return 0;
}

const char *const *assay_cpu_profile_environment(const struct assay_cpu_profile *p)
{
	return p->sampler->environment;
}

int assay_cpu_profile_attach(struct assay_cpu_profile *p, pid_t pid, struct assay_err *err)
{
	const int rc = p->sampler->source->attach(p->sampler, pid, err);

	if (rc)
		return rc;
	p->began_ns = assay_monotonic_ns();
	assay_cpu_sampler_go(p->sampler);
	assay_sampled_look(&p->processes, pid);
	return 0;
}

const char *assay_cpu_profile_absent(const struct assay_cpu_profile *p)
{
	return p->sampler->source->absent ? p->sampler->source->absent(p->sampler) : NULL;
}

/* Copy more of each stack where it is too little: only whoever has deep stacks pays for them. */
static void deepen(struct assay_cpu_profile *p)
{
	pid_t *pids;

	if (p->deep < DEEP_SAMPLES || (double)p->deep < DEEP_FRAC * (double)p->seen)
		return;
	pids = calloc(p->processes.n + 1, sizeof(*pids));
	for (size_t i = 0; pids && i < p->processes.n; i++)
		pids[i] = assay_sampled_pid(&p->processes, i);
	if (pids)
		assay_cpu_sampler_deepen(p->sampler, pids, p->processes.n, p->wanted);
	free(pids);
	p->seen = p->deep = p->wanted = 0;
}

void assay_cpu_profile_drain(struct assay_cpu_profile *p)
{
	const struct assay_cpu_listener l = {
		.arg = p, .mapped = on_mapped, .forked = on_forked, .executed = on_executed, .sampled = on_sampled
	};
	const uint64_t before = cpu_ns();

	assay_cpu_sampler_drain(p->sampler, &l);
	deepen(p);
	p->drain_ns += cpu_ns() - before;
}

static uint64_t look_ns(const struct assay_cpu_profile *p)
{
	return (uint64_t)(LOOK_SAMPLES * 1e9 / assay_cpu_sampler_rate_hz(p->sampler));
}

uint64_t assay_cpu_profile_read_every_ns(const struct assay_cpu_profile *p)
{
	const uint64_t ns = assay_cpu_sampler_read_every_ns(p->sampler);

	return p->seen < FIRST_SAMPLES && !p->leaves && look_ns(p) < ns ? look_ns(p) : ns;
}

uint64_t assay_cpu_profile_settling_ns(const struct assay_cpu_profile *p)
{
	return p->leaves ? 0 : 2 * look_ns(p);
}

void assay_cpu_profile_phase(struct assay_cpu_profile *p, const char *op, const char *phase)
{
	assay_cpu_profile_drain(p);
	p->op = op;
	p->phase = phase;
}

void assay_cpu_profile_pause(struct assay_cpu_profile *p, bool paused)
{
	(paused ? assay_cpu_sampler_pause : assay_cpu_sampler_go)(p->sampler);
}

bool assay_cpu_profile_pauses_free(const struct assay_cpu_profile *p)
{
	return p->sampler->source->pauses_free;
}

int assay_cpu_profile_end(struct assay_cpu_profile *p, struct assay_err *err)
{
	struct assay_profile *into = p->into;
	uint64_t took;

	assay_cpu_sampler_pause(p->sampler);
	assay_cpu_profile_drain(p);
	took = assay_monotonic_ns() - p->began_ns;
	into->seconds = (double)took * 1e-9;
	into->lost = assay_cpu_sampler_lost(p->sampler);
	into->rate_hz = assay_cpu_sampler_rate_hz(p->sampler);
	into->overhead_frac = took ? (double)p->drain_ns / (double)took : NAN;
	if (p->processes.err.code && err)
		*err = p->processes.err;
	return p->processes.err.code;
}

void assay_cpu_profile_close(struct assay_cpu_profile *p)
{
	if (!p)
		return;
	assay_sampled_processes_release(&p->processes);
	free(p->threads);
	assay_cpu_sampler_close(p->sampler);
	free(p);
}
