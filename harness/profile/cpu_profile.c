/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each process has its own files mapped and its own unwinder, made with its first sample. An address stands for the
 * same frames as long as the process runs one program, so that its debug information is asked once.
 */
#include "profile/cpu_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/code_point.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/monotonic.h"
#include "profile/unwind.h"

#define MOST_INLINED 32
#define MOST_FRAMES  (ASSAY_STACK_MAX * 4)
#define CACHE_BITS   14

struct mapping {
	uint64_t start, bytes, file_offset;
	char *path;
};

struct known_address {
	uint64_t address; /* 0: none */
	bool leaf, named;
	uint32_t n, frames[MOST_INLINED]; /* outermost first */
};

struct process {
	pid_t pid;
	struct mapping *maps;
	size_t n_maps, n_reported; /* known to @places */
	struct assay_code_places *places;
	struct assay_unwinder *unwinder;
	struct known_address *known; /* 1 << CACHE_BITS */
};

struct thread {
	pid_t tid;
	uint32_t label;
};

struct assay_cpu_profile {
	struct assay_profile *into;
	struct assay_cpu_sampler *sampler;
	struct process *processes;
	size_t n_processes;
	struct thread *threads; /* as many as the profile has */
	const char *op, *phase; /* labels; NULL: none */
	struct assay_err err;   /* the first that happened */
	uint64_t began_ns, drain_ns;
};

static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void no_memory(struct assay_cpu_profile *p)
{
	if (!p->err.code)
		assay_err_set(&p->err, ASSAY_ENOMEM, "out of memory for the samples of a profile");
}

/* ---- processes ---- */

static void forget_program(struct process *k)
{
	assay_unwinder_close(k->unwinder);
	assay_code_places_close(k->places);
	for (size_t i = 0; i < k->n_maps; i++)
		free(k->maps[i].path);
	free(k->maps);
	free(k->known);
	*k = (struct process){ .pid = k->pid };
}

static struct process *process_of(struct assay_cpu_profile *p, pid_t pid)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].pid == pid)
			return &p->processes[i];
	if (assay_grow(&p->processes, p->n_processes, sizeof(*p->processes))) {
		no_memory(p);
		return NULL;
	}
	p->processes[p->n_processes] = (struct process){ .pid = pid };
	return &p->processes[p->n_processes++];
}

static void add_mapping(struct assay_cpu_profile *p, pid_t pid, const struct mapping *m)
{
	struct process *k = process_of(p, pid);
	char *path = strdup(m->path);

	for (size_t i = 0; k && path && i < k->n_maps; i++)
		if (k->maps[i].start == m->start && !strcmp(k->maps[i].path, m->path)) {
			free(path);
			return;
		}
	if (!k || !path || assay_grow(&k->maps, k->n_maps, sizeof(*k->maps))) {
		free(path);
		no_memory(p);
		return;
	}
	k->maps[k->n_maps] = *m;
	k->maps[k->n_maps++].path = path;
}

static void on_mapped(void *arg, pid_t pid, const char *path, uint64_t start, uint64_t bytes, uint64_t file_offset)
{
	add_mapping(arg, pid, &(struct mapping){ start, bytes, file_offset, (char *)path });
}

static void on_executed(void *arg, pid_t pid)
{
	struct process *k = process_of(arg, pid);

	if (k)
		forget_program(k);
}

static void on_forked(void *arg, pid_t parent, pid_t child)
{
	struct assay_cpu_profile *p = arg;
	size_t from = SIZE_MAX;

	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].pid == parent)
			from = i;
	for (size_t i = 0; from < p->n_processes && i < p->processes[from].n_maps; i++)
		add_mapping(p, child, &p->processes[from].maps[i]);
}

/* What was mapped before the kernel told of it. */
static void read_maps(struct assay_cpu_profile *p, pid_t pid)
{
	char path[64], *text = NULL, *next;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (assay_file_read(path, &text, &len, NULL))
		return;
	for (char *line = text; line && *line; line = next) {
		uint64_t start, end, offset;
		char mode[5];
		int at = 0;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &start, &end, mode, &offset,
			   &at) >= 4 &&
		    mode[2] == 'x' && at && line[at] == '/')
			add_mapping(p, pid, &(struct mapping){ start, end - start, offset, line + at });
	}
	free(text);
}

/* Ready to unwind; false where nothing is mapped that could be. */
static bool ready(struct assay_cpu_profile *p, struct process *k)
{
	if (!k->known)
		k->known = calloc((size_t)1 << CACHE_BITS, sizeof(*k->known));
	if (!k->places && assay_code_places_open_empty(&k->places, NULL))
		k->places = NULL;
	if (!k->places || !k->known) {
		no_memory(p);
		return false;
	}
	for (; k->n_reported < k->n_maps; k->n_reported++) {
		const struct mapping *m = &k->maps[k->n_reported];

		assay_code_places_map(k->places, m->path, m->start, m->file_offset);
	}
	if (!k->unwinder && assay_unwinder_open(&k->unwinder, k->places, k->pid, NULL))
		k->unwinder = NULL;
	return k->unwinder != NULL;
}

/* ---- frames ---- */

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *object_at(const struct process *k, uint64_t address)
{
	for (size_t i = k->n_maps; i-- > 0;)
		if (address - k->maps[i].start < k->maps[i].bytes)
			return file_name(k->maps[i].path);
	return "";
}

static void look_up(struct assay_cpu_profile *p, struct process *k, uint64_t address, bool leaf,
		    struct known_address *out)
{
	struct assay_code_place places[MOST_INLINED] = { { "", "", "", 0 } };
	uint64_t offset = address;
	size_t n = k->places ? assay_code_places_inlined(k->places, address, places, MOST_INLINED, &offset) : 1;

	*out = (struct known_address){ .address = address, .leaf = leaf, .named = n && places[0].function[0] };
	for (size_t i = n; i-- > 0;) {
		const char *object = file_name(places[n - 1].object);
		const struct assay_frame f = { .kind = i + 1 < n ? ASSAY_FRAME_INLINED : ASSAY_FRAME_CODE,
					       .name = places[i].function,
					       .object = object[0] ? object : object_at(k, address),
					       .file = places[i].file,
					       .line = places[i].line,
					       .offset = leaf && !i ? offset : 0 };

		if (assay_stack_table_frame(&p->into->stacks, &f, &out->frames[out->n++], &p->err))
			return;
	}
}

static const struct known_address *known(struct assay_cpu_profile *p, struct process *k, uint64_t address, bool leaf)
{
	struct known_address *a = &k->known[address * 0x9e3779b97f4a7c15ull >> (64 - CACHE_BITS)];

	if (a->address != address || a->leaf != leaf)
		look_up(p, k, address, leaf, a);
	return a;
}

static uint32_t label(struct assay_cpu_profile *p, const char *text)
{
	uint32_t at = 0;

	assay_stack_table_frame(&p->into->stacks, &(struct assay_frame){ .kind = ASSAY_FRAME_LABEL, .name = text }, &at,
				&p->err);
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
		no_memory(p);
		return 0;
	}
	t = &into->threads[into->n_threads];
	*t = (struct assay_profile_thread){ .weight = 1 };
	name_thread(s, into->n_threads + 1, t->name, sizeof(t->name));
	p->threads[into->n_threads] = (struct thread){ s->tid, label(p, t->name) };
	return p->threads[into->n_threads++].label;
}

static void on_sampled(void *arg, const struct assay_cpu_sample *s)
{
	struct assay_cpu_profile *p = arg;
	struct process *k = process_of(p, s->pid);
	uint64_t addresses[ASSAY_STACK_MAX] = { s->ip };
	uint32_t frames[MOST_FRAMES], n = 0;
	bool whole = false, named = false;
	size_t n_addresses = 1;

	if (!k || p->err.code)
		return;
	if (p->op)
		frames[n++] = label(p, p->op);
	if (p->phase)
		frames[n++] = label(p, p->phase);
	frames[n++] = thread_label(p, s);
	if (ready(p, k))
		n_addresses = assay_unwind(k->unwinder, s, addresses, &whole);
	for (size_t i = n_addresses; i-- > 0 && k->known;) {
		const struct known_address *a = known(p, k, addresses[i], !i);

		for (uint32_t f = 0; f < a->n && n < MOST_FRAMES; f++)
			frames[n++] = a->frames[f];
		named = a->named;
	}
	p->into->truncated += !whole;
	p->into->unresolved += !named;
	if (p->phase && !strcmp(p->phase, ASSAY_PROFILE_TIMED))
		p->into->timed_weight++;
	if (!p->err.code)
		assay_stack_table_add(&p->into->stacks, frames, n, 1, &p->err);
}

/* ---- the profile ---- */

int assay_cpu_profile_open(struct assay_cpu_profile **out, pid_t pid, unsigned rate_hz, struct assay_profile *into,
			   struct assay_err *err)
{
	struct assay_cpu_profile *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a profile");
	p->into = into;

	snprintf(into->kind, sizeof(into->kind), "cpu");
	snprintf(into->unit, sizeof(into->unit), "samples");
	snprintf(into->source, sizeof(into->source), "perf_event_open's cpu-clock");
	into->rate_hz = rate_hz;
	into->overhead_frac = NAN;
	into->iteration_ns = NAN;
	rc = assay_code_places_probe(err);
	if (!rc)
		rc = assay_cpu_sampler_open(&p->sampler, pid, rate_hz, err);
	if (rc) {
		assay_cpu_profile_close(p);
		return rc;
	}
	p->began_ns = assay_monotonic_ns();
	assay_cpu_sampler_go(p->sampler);
	read_maps(p, pid);
	*out = p;
	return 0;
}

void assay_cpu_profile_drain(struct assay_cpu_profile *p)
{
	const struct assay_cpu_listener l = {
		.arg = p, .mapped = on_mapped, .forked = on_forked, .executed = on_executed, .sampled = on_sampled
	};
	const uint64_t before = cpu_ns();

	assay_cpu_sampler_drain(p->sampler, &l);
	p->drain_ns += cpu_ns() - before;
}

uint64_t assay_cpu_profile_patience_ns(const struct assay_cpu_profile *p)
{
	return assay_cpu_sampler_patience_ns(p->sampler);
}

void assay_cpu_profile_phase(struct assay_cpu_profile *p, const char *op, const char *phase)
{
	assay_cpu_profile_drain(p);
	p->op = op;
	p->phase = phase;
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
	into->overhead_frac = took ? (double)p->drain_ns / (double)took : NAN;
	if (p->err.code && err)
		*err = p->err;
	return p->err.code;
}

void assay_cpu_profile_close(struct assay_cpu_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_processes; i++)
		forget_program(&p->processes[i]);
	free(p->processes);
	free(p->threads);
	assay_cpu_sampler_close(p->sampler);
	free(p);
}
