/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A warm call finds the caches that a call before it left. So both are stepped, which also shows whether they do the
 * same. Lines and functions are looked up here, where a damaged file can do no harm.
 */
#include "worker/case/step_counts.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/callgrind/callgrind.h"
#include "counters/step/stepper.h"
#include "profile/code_places.h"
#include "worker/case/exact_call.h"
#include "worker/case/state.h"

#define LINE_SHIFT 6

/* An instruction of a thread and where it is. */
struct row {
	struct assay_code_place place;
	const struct assay_step_counts *counts;
};

/* The work of each thread in the first call, by instruction. */
struct earlier {
	struct assay_step_counts *v;
	size_t n;
};

struct stepping {
	struct assay_case_job *job;
	struct assay_stepper *stepper;
	struct assay_step_replay *replay;
	struct assay_code_places *places;
	struct earlier *earlier;
	struct assay_step_reply *reply;
	unsigned n_threads;
};

/* "name (object)+0x10 at file:line", as much of it as is known. */
static void place_text(struct stepping *k, uint64_t address, char *buf, size_t size)
{
	const struct assay_code_place at =
		k->places ? assay_code_places_find(k->places, address) : (struct assay_code_place){ "", "", "", 0 };

	if (at.line)
		snprintf(buf, size, "'%s' at 0x%" PRIx64 " (%s:%u)", at.function, address, at.file, at.line);
	else if (at.function[0])
		snprintf(buf, size, "'%s' at 0x%" PRIx64, at.function, address);
	else
		snprintf(buf, size, "code at 0x%" PRIx64, address);
}

static struct assay_outcome refused(struct stepping *k, uint64_t address, const char *why)
{
	char where[384];

	place_text(k, address, where, sizeof(where));
	return assay_outcome_set(ASSAY_STATUS_SKIPPED, "cannot be stepped: %.300s %s", where, why);
}

/* Threads of this process; 0 where that cannot be told. */
static unsigned count_tasks(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *e;
	unsigned n = 0;

	while (tasks && (e = readdir(tasks)))
		n += e->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	return n;
}

/* A thread that an earlier call or the plugin itself left behind may work for this one, and nobody steps it. */
static struct assay_outcome check_tasks(const struct stepping *k)
{
	const unsigned n = count_tasks();

	return n > k->n_threads ? assay_outcome_set(
					  ASSAY_STATUS_SKIPPED,
					  "cannot be stepped: the plugin keeps threads of its own, %u beside the %u of "
					  "the case",
					  n - k->n_threads, k->n_threads)
				: assay_outcome_ok();
}

/* A first stretch: it ends @behind steps behind the first write into one of @outputs. */
struct stretch {
	struct assay_step_outputs outputs;
	uint64_t behind;
};

/* Other programs on the machine make a call take longer, but not more of this. */
static uint64_t cpu_ns(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Step one call. One that takes more than @max_steps fails, unless only its @first stretch was wanted. */
static struct assay_outcome step_call(struct stepping *k, uint64_t max_steps, const struct stretch *first)
{
	struct assay_outcome out;
	enum assay_stepper_end end;
	uint64_t at, begun = cpu_ns();
	char why[256], most[32];

	assay_stepper_begin(k->stepper, max_steps);
	if (first && first->behind)
		assay_stepper_watch(k->stepper, first->outputs.v, first->outputs.n, first->behind);
	assay_case_services_step(k->stepper);
	assay_stepper_enter(k->stepper, 0);
	out = assay_exact_call_once(k->job);
	assay_stepper_leave(k->stepper);
	assay_case_services_step(NULL);
	end = assay_stepper_end(k->stepper, &at, why, sizeof(why));
	k->reply->ns = cpu_ns() - begun;
	k->reply->whole = end == ASSAY_STEPPER_WHOLE;
	k->reply->steps = 0;
	for (unsigned i = 0; i < k->n_threads; i++)
		k->reply->steps += assay_stepper_trace(k->stepper, i).steps;
	if (out.status != ASSAY_STATUS_OK)
		return out;
	if (end == ASSAY_STEPPER_REFUSED)
		return refused(k, at, why);
	assay_exact_count_text(max_steps, most, sizeof(most));
	if (end == ASSAY_STEPPER_LIMIT && !first)
		return assay_outcome_set(ASSAY_STATUS_SKIPPED, "takes more than the limit of %s steps", most);
	return out;
}

/* ---- a first stretch -------------------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Different lines of memory that the steps so far have reached; 0 also where there is no memory to tell. */
static uint64_t count_lines(const struct stepping *k)
{
	uint64_t *lines = NULL;
	size_t n = 0, most = 0, different = 0;

	for (unsigned i = 0; i < k->n_threads; i++)
		most += assay_stepper_trace(k->stepper, i).n;
	lines = calloc(most + 1, sizeof(*lines));
	for (unsigned i = 0; lines && i < k->n_threads; i++) {
		const struct assay_step_trace t = assay_stepper_trace(k->stepper, i);
		struct assay_step_entry e;

		for (size_t at = 0; at < t.n; at += assay_step_entry_words(&e)) {
			e = assay_step_entry_of(t.words[at]);
			for (unsigned a = 0; a < e.accesses; a++)
				lines[n++] = assay_step_entry_access(t.words + at, a).address >> LINE_SHIFT;
		}
	}
	if (lines)
		qsort(lines, n, sizeof(*lines), compare_numbers);
	for (size_t i = 0; i < n; i++)
		different += !i || lines[i] != lines[i - 1];
	free(lines);
	return different;
}

static double expect_by_outputs(const struct stepping *k, const struct assay_step_outputs *o)
{
	struct assay_step_trace *threads = calloc(k->n_threads, sizeof(*threads));
	double expected = 0;

	for (unsigned i = 0; threads && i < k->n_threads; i++)
		threads[i] = assay_stepper_trace(k->stepper, i);
	if (threads)
		expected = assay_step_outputs_expect(o, threads, k->n_threads);
	free(threads);
	return expected;
}

static double count_operations(const struct stepping *k)
{
	double sum = 0;

	for (unsigned i = 0; i < k->n_threads; i++) {
		const struct assay_step_mix mix = assay_stepper_trace(k->stepper, i).mix;

		for (unsigned w = 0; w < ASSAY_STEP_N_WIDTHS; w++)
			sum += (double)mix.operations[ASSAY_STEP_INTEGER][w] +
			       (double)mix.operations[ASSAY_STEP_FLOAT][w];
	}
	return sum;
}

/* By this job's own cost: an op that divides its work by the size of a cache took that from the model of caches. */
static void expect_all(const struct stepping *k, const struct assay_step_outputs *o)
{
	const struct assay_cost *cost = &k->job->problem.cost;
	const double steps = (double)k->reply->steps, bytes = cost->bytes_read + cost->bytes_written;
	const double operations = count_operations(k), reached = (double)(count_lines(k) << LINE_SHIFT);

	k->reply->by_outputs = expect_by_outputs(k, o);
	k->reply->by_work = operations > 0 ? steps * cost->ops / operations : 0;
	k->reply->by_memory = reached > 0 ? steps * bytes / reached : 0;
}

/* ---- both calls ------------------------------------------------------------------------------------------------- */

static struct assay_outcome keep_earlier(struct stepping *k)
{
	for (unsigned i = 0; i < k->n_threads; i++) {
		size_t n;
		const struct assay_step_counts *v = assay_step_replay_counts(k->replay, i, &n);
		struct earlier *e = &k->earlier[i];

		e->v = calloc(n + 1, sizeof(*e->v));
		if (!e->v)
			return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counts");
		memcpy(e->v, v, n * sizeof(*v));
		e->n = n;
	}
	return assay_outcome_ok();
}

/* Counts that do not depend on the contents of caches. The table of a thread only grows, so that places in it stay. */
static struct assay_outcome compare_calls(struct stepping *k)
{
	static const enum assay_exact_event of_code[] = { ASSAY_EXACT_INSTRUCTIONS, ASSAY_EXACT_DATA_READS,
							  ASSAY_EXACT_DATA_WRITES, ASSAY_EXACT_BRANCHES };
	static const struct assay_step_counts none;
	char where[384];

	for (unsigned i = 0; i < k->n_threads; i++) {
		size_t n;
		const struct assay_step_counts *v = assay_step_replay_counts(k->replay, i, &n);

		for (size_t at = 0; at < n; at++) {
			const struct assay_step_counts *was = at < k->earlier[i].n ? &k->earlier[i].v[at] : &none;

			for (size_t e = 0; e < sizeof(of_code) / sizeof(of_code[0]); e++) {
				if (was->counts.v[of_code[e]] == v[at].counts.v[of_code[e]])
					continue;
				place_text(k, v[at].address, where, sizeof(where));
				return assay_outcome_set(ASSAY_STATUS_FAILED,
							 "not exact: %s of %.300s were %" PRIu64
							 " in one run and %" PRIu64 " in the next",
							 assay_exact_event_name(of_code[e]), where,
							 was->counts.v[of_code[e]], v[at].counts.v[of_code[e]]);
			}
		}
	}
	return assay_outcome_ok();
}

/* Replay what was stepped last. */
static struct assay_outcome replay(struct stepping *k)
{
	struct assay_err err = { 0 };

	return assay_step_replay_run(k->replay, k->stepper, &err)
		       ? assay_outcome_set(ASSAY_STATUS_FAILED, "%s", err.text)
		       : assay_outcome_ok();
}

/* Step a call after one on other inputs, which nobody follows, and check its outputs. */
static struct assay_outcome step_checked(struct stepping *k, uint64_t max_steps, const struct assay_exact_data *d)
{
	struct assay_outcome out = assay_exact_data_call_other(k->job, d);

	if (out.status == ASSAY_STATUS_OK)
		out = assay_exact_data_renew(d);
	if (out.status == ASSAY_STATUS_OK)
		out = step_call(k, max_steps, NULL);
	return out.status == ASSAY_STATUS_OK ? assay_exact_data_check(k->job) : out;
}

static struct assay_outcome count_calls(struct stepping *k, bool warm, uint64_t max_steps,
					const struct assay_exact_data *d)
{
	struct assay_outcome out = step_checked(k, max_steps, d);

	assay_step_replay_empty(k->replay);
	if (out.status == ASSAY_STATUS_OK)
		out = replay(k);
	if (out.status == ASSAY_STATUS_OK)
		out = keep_earlier(k);
	if (out.status == ASSAY_STATUS_OK)
		out = step_checked(k, max_steps, d);
	if (!warm)
		assay_step_replay_empty(k->replay);
	if (out.status == ASSAY_STATUS_OK)
		out = replay(k);
	return out.status == ASSAY_STATUS_OK ? compare_calls(k) : out;
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->place.object, y->place.object);

	if (!order)
		order = strcmp(x->place.function, y->place.function);
	if (!order)
		order = strcmp(x->place.file, y->place.file);
	if (!order)
		order = x->place.line < y->place.line ? -1 : x->place.line > y->place.line;
	return order;
}

/* In the order of the columns below. */
static void write_counts(FILE *f, const struct assay_exact_counts *c, uint64_t taken)
{
	for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
		fprintf(f, " %" PRIu64, c->v[e]);
	fprintf(f, " %" PRIu64 "\n", taken);
}

#define COLUMNS "Ir Dr Dw I1mr D1mr DLmr Bc Bcm " ASSAY_CALLGRIND_TAKEN

static void write_row(FILE *f, const struct row *r, const struct row *before)
{
	const struct assay_code_place *at = &r->place, *was = before ? &before->place : NULL;

	if (!was || strcmp(at->object, was->object))
		fprintf(f, "ob=%s\n", at->object[0] ? at->object : "???");
	if (!was || strcmp(at->object, was->object) || strcmp(at->function, was->function))
		fprintf(f, "fl=%s\nfn=%s\n", at->file, at->function[0] ? at->function : "???");
	else if (strcmp(at->file, was->file))
		fprintf(f, "fi=%s\n", at->file);
	fprintf(f, "%u", at->line);
	write_counts(f, &r->counts->counts, r->counts->taken);
}

/* Of instructions of one kind and width, under a name without blanks. */
static void write_mix_of(FILE *f, unsigned kind, unsigned width, const char *what, uint64_t n)
{
	const char *name = assay_step_width_name((enum assay_step_width)width);

	if (n)
		fprintf(f, ASSAY_CALLGRIND_MIX "%s_%.*s_%s %" PRIu64 "\n",
			assay_step_kind_name((enum assay_step_kind)kind), (int)strcspn(name, " "), name, what, n);
}

static void write_mix(FILE *f, const struct assay_step_mix *m, uint64_t l2_misses)
{
	const struct {
		const char *name;
		uint64_t n;
	} others[] = {
		{ "prefetches", m->prefetches },     { "non_temporal_writes", m->non_temporal_writes },
		{ "masked_reads", m->masked_reads }, { "masked_elements", m->masked_elements },
		{ "bytes_read", m->bytes_read },     { "bytes_written", m->bytes_written },
		{ "l2_misses", l2_misses },
	};

	for (unsigned k = 0; k < ASSAY_STEP_N_KINDS; k++)
		for (unsigned w = 0; w < ASSAY_STEP_N_WIDTHS; w++) {
			write_mix_of(f, k, w, "instructions", m->instructions[k][w]);
			write_mix_of(f, k, w, "operations", m->operations[k][w]);
		}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].n)
			fprintf(f, ASSAY_CALLGRIND_MIX "%s %" PRIu64 "\n", others[i].name, others[i].n);
}

static struct assay_outcome write_thread(struct stepping *k, unsigned thread, FILE *f)
{
	struct assay_exact_counts total = { { 0 } };
	uint64_t taken = 0, l2_misses = 0;
	size_t n;
	const struct assay_step_counts *v = assay_step_replay_counts(k->replay, thread, &n);
	const struct assay_step_trace trace = assay_stepper_trace(k->stepper, thread);
	struct row *rows = calloc(n + 1, sizeof(*rows));

	if (!rows)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counts");
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct row){ assay_code_places_find(k->places, v[i].address), &v[i] };
		l2_misses += v[i].l2_misses;
	}
	qsort(rows, n, sizeof(*rows), compare_rows);
	fprintf(f,
		"\npart: %u\nthread: %u\ndesc: Trigger: Client Request: " ASSAY_CALLGRIND_RUN "\nevents: " COLUMNS "\n",
		thread + 1, thread + 1);
	write_mix(f, &trace.mix, l2_misses);
	for (size_t i = 0; i < n; i++) {
		write_row(f, &rows[i], i ? &rows[i - 1] : NULL);
		for (unsigned e = 0; e < ASSAY_N_EXACT_EVENTS; e++)
			total.v[e] += v[i].counts.v[e];
		taken += v[i].taken;
	}
	fprintf(f, "totals:");
	write_counts(f, &total, taken);
	free(rows);
	return assay_outcome_ok();
}

static struct assay_outcome write_file(struct stepping *k, const char *path)
{
	struct assay_outcome out = assay_outcome_ok();
	FILE *f = fopen(path, "w");

	if (!f)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "cannot write the counts to '%s'", path);
	fprintf(f, "version: 1\ncreator: assay\npositions: line\nevents: " COLUMNS "\n");
	for (unsigned i = 0; i < k->n_threads && out.status == ASSAY_STATUS_OK; i++)
		out = write_thread(k, i, f);
	if (fclose(f) && out.status == ASSAY_STATUS_OK)
		out = assay_outcome_set(ASSAY_STATUS_FAILED, "cannot write the counts to '%s'", path);
	return out;
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

static struct assay_outcome open_all(struct stepping *k, uint64_t max_steps, _Atomic uint64_t *progress)
{
	const struct assay_stepper_options o = { .threads = k->n_threads,
						 .max_steps = max_steps,
						 .progress = progress };
	struct assay_err err = { 0 };

	k->earlier = calloc(k->n_threads, sizeof(*k->earlier));
	if (!k->earlier)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counts");
	if (assay_stepper_open(&k->stepper, &o, &err) ||
	    assay_step_replay_new(&k->replay, &k->job->spec->cache_model, k->n_threads, &err) ||
	    assay_code_places_open(&k->places, &err))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "%s", err.text);
	return assay_outcome_ok();
}

static void close_all(struct stepping *k)
{
	assay_code_places_close(k->places);
	assay_step_replay_free(k->replay);
	assay_stepper_close(k->stepper);
	for (unsigned i = 0; k->earlier && i < k->n_threads; i++)
		free(k->earlier[i].v);
	free(k->earlier);
}

struct assay_outcome assay_step_counts_try(struct assay_case_job *j, uint64_t max_steps, uint64_t behind,
					   struct assay_step_reply *reply)
{
	struct stretch first = { .behind = behind };
	struct stepping k = { .job = j, .n_threads = j->spec->c.threads, .reply = reply };
	struct assay_outcome out = open_all(&k, max_steps, NULL);
	struct assay_kept_state kept;

	if (out.status == ASSAY_STATUS_OK)
		out = check_tasks(&k);
	if (out.status == ASSAY_STATUS_OK && assay_case_services_keep(j, &kept))
		out = assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counts");
	if (out.status == ASSAY_STATUS_OK) {
		assay_step_outputs_of(j, &first.outputs);
		out = step_call(&k, max_steps, &first);
		assay_case_services_restore(j, &kept);
	}
	if (out.status == ASSAY_STATUS_OK)
		expect_all(&k, &first.outputs);
	close_all(&k);
	return out;
}

struct assay_outcome assay_step_counts_take(struct assay_case_job *j, bool warm, uint64_t max_steps,
					    _Atomic uint64_t *progress, struct assay_step_reply *reply)
{
	struct stepping k = { .job = j, .n_threads = j->spec->c.threads, .reply = reply };
	struct assay_outcome out = open_all(&k, max_steps, progress);
	struct assay_exact_data data = { .fd = -1 };

	if (out.status == ASSAY_STATUS_OK)
		out = assay_exact_data_keep(j, &data);
	if (out.status == ASSAY_STATUS_OK)
		out = count_calls(&k, warm, max_steps, &data);
	if (out.status == ASSAY_STATUS_OK)
		out = write_file(&k, j->spec->counts_path);
	assay_exact_data_release(&data);
	close_all(&k);
	return out;
}
