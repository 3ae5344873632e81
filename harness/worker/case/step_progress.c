/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel may first read all that there is, or pack it, and fills its outputs in bursts, such as a tile of rows. So
 * what comes before the first burst is taken as it is, and the rate begins behind it.
 */
#include "worker/case/step_counts.h"

#include <stdlib.h>

/* A rate spans this part of the steps behind the first write; otherwise it may be that of one burst. */
#define MOST_OF(steps) ((steps) / 2)
/* Writes within this share of the time from first to last belong to the first burst. */
#define BURST_SHARE 16

/* The outputs that a thread has filled. Steps are numbered from 0. */
struct filling {
	bool any;
	uint64_t first, last;        /* steps that filled something */
	uint64_t burst_end, steps;   /* the last one of the first burst; all steps */
	uint64_t burst_bytes, bytes; /* of the first burst; of all */
};

void assay_step_outputs_of(const struct assay_case_job *j, struct assay_step_outputs *out)
{
	const struct assay_job *job = &j->jobs[j->next_copy];

	*out = (struct assay_step_outputs){ .n = 0 };
	for (uint32_t i = 0; i < job->n_tensors && out->n < ASSAY_MAX_TENSORS; i++) {
		const struct assay_tensor *t = &job->tensors[i];

		if (t->spec->role != ASSAY_OUTPUT || !t->bytes)
			continue;
		out->v[out->n++] = (struct assay_step_range){ (uintptr_t)t->data, t->bytes };
		out->bytes += t->bytes;
	}
}

/* Mark what @a writes in @map, which has a byte for each byte of the outputs. Returns how many were not marked yet. */
static uint64_t fill(const struct assay_step_outputs *o, const struct assay_step_access *a, unsigned char *map)
{
	uint64_t n = 0, at = 0;

	if (a->kind != ASSAY_STEP_WRITE && a->kind != ASSAY_STEP_MODIFY)
		return 0;
	for (size_t i = 0; i < o->n; at += o->v[i++].bytes)
		for (uint32_t b = 0; b < a->bytes; b++) {
			const uint64_t offset = a->address + b - o->v[i].begin;

			if (offset >= o->v[i].bytes || map[at + offset])
				continue;
			map[at + offset] = 1;
			n++;
		}
	return n;
}

/*
 * The first reading finds the first and the last write, from which follows when the first burst ends at the latest. The
 * second one finds what belongs to that burst.
 */
static void read_trace(const struct assay_step_outputs *o, const struct assay_step_trace *t, unsigned char *map,
		       bool second, struct filling *f)
{
	const uint64_t burst = f->first + (f->last - f->first) / BURST_SHARE;
	struct assay_step_entry e;
	uint64_t step = 0;

	for (size_t at = 0; at < t->n; at += assay_step_entry_words(&e)) {
		uint64_t n = 0;

		e = assay_step_entry_of(t->words[at]);
		for (unsigned a = 0; a < e.accesses; a++) {
			const struct assay_step_access access = assay_step_entry_access(t->words + at, a);

			n += fill(o, &access, map);
		}
		if (n && second && step <= burst) {
			f->burst_end = step;
			f->burst_bytes += n;
		} else if (n && !second) {
			f->first = f->any ? f->first : step;
			f->last = step;
			f->any = true;
			f->bytes += n;
		}
		step += !e.is_mark;
	}
	f->steps = step;
}

static bool read_all(const struct assay_step_outputs *o, const struct assay_step_trace *threads, unsigned n_threads,
		     bool second, struct filling *f)
{
	unsigned char *map = calloc(o->bytes + 1, 1);

	for (unsigned i = 0; i < n_threads && map; i++)
		read_trace(o, &threads[i], map, second, &f[i]);
	free(map);
	return map != NULL;
}

double assay_step_outputs_expect(const struct assay_step_outputs *o, const struct assay_step_trace *threads,
				 unsigned n_threads)
{
	struct filling *f = calloc(n_threads, sizeof(*f));
	uint64_t before = 0, steps = 0, behind = 0, burst_bytes = 0, bytes = 0;

	if (f && read_all(o, threads, n_threads, false, f) && read_all(o, threads, n_threads, true, f))
		for (unsigned i = 0; i < n_threads; i++) {
			before += f[i].any ? f[i].burst_end + 1 : f[i].steps;
			steps += f[i].any ? f[i].last - f[i].burst_end : 0;
			behind += f[i].any ? f[i].steps - f[i].burst_end : 0;
			burst_bytes += f[i].burst_bytes;
			bytes += f[i].bytes;
		}
	free(f);
	if (bytes == burst_bytes || bytes == o->bytes || steps < MOST_OF(behind))
		return 0;
	return (double)before + (double)(o->bytes - burst_bytes) * (double)steps / (double)(bytes - burst_bytes);
}
