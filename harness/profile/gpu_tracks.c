/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of CUPTI is its own: two looks at both clocks, the first and the last of the process, say how it goes
 * against CLOCK_MONOTONIC. A file is input: its process may have ended while it wrote.
 */
#include "profile/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "counters/gpu/records.h"

#define MEMORY_NAME   "GPU memory in use"
#define FIRST_PROCESS 1000000 /* processes of programs have lower numbers */

struct reading {
	const struct assay_gpu_header *file;
	const struct assay_gpu_record *records;
	size_t n;
	unsigned processes; /* is there more than one? */
	struct assay_trace *t;
	struct assay_err *err;
};

/* The place of a GPU among the processes of a trace, for it is none of the program's. */
static unsigned process_of(unsigned gpu)
{
	return FIRST_PROCESS + gpu;
}

static int add_track(struct assay_trace *t, unsigned gpu, const char *name, const char *device, size_t *at,
		     struct assay_err *err)
{
	struct assay_trace_track track = { .process = process_of(gpu), .gpu = true };

	snprintf(track.name, sizeof(track.name), "%s", name);
	snprintf(track.device, sizeof(track.device), "%s", device);
	for (*at = 0; *at < t->n_tracks; ++*at)
		if (t->tracks[*at].gpu && t->tracks[*at].process == track.process &&
		    !strcmp(t->tracks[*at].name, track.name))
			return 0;
	return assay_trace_add_track(t, &track, err);
}

static void device_name(unsigned gpu, const char *name, char *buf, size_t size)
{
	snprintf(buf, size, "GPU %u%s%.100s", gpu, name[0] ? ": " : "", name);
	assay_printable_line(buf, size);
}

static int track_of(const struct reading *r, const struct assay_gpu_key *k, size_t *at)
{
	char name[64], device[ASSAY_GPU_NAME + 32];

	device_name(k->device, "", device, sizeof(device));
	for (size_t i = 0; i < r->n; i++)
		if (r->records[i].key.kind == ASSAY_GPU_DEVICE && r->records[i].key.device == k->device)
			device_name(k->device, r->records[i].key.name, device, sizeof(device));
	if (r->processes > 1)
		snprintf(name, sizeof(name), "stream %" PRIu32 " of %.31s (%" PRId64 ")", k->stream, r->file->name,
			 r->file->pid);
	else
		snprintf(name, sizeof(name), "stream %" PRIu32, k->stream);
	assay_printable_line(name, sizeof(name));
	return add_track(r->t, k->device, name, device, at, r->err);
}

/* From the clock of CUPTI to CLOCK_MONOTONIC. */
static uint64_t monotonic(const struct assay_gpu_header *h, uint64_t ns)
{
	const uint64_t gpu = h->clock[1].gpu_ns - h->clock[0].gpu_ns, own = h->clock[1].own_ns - h->clock[0].own_ns;
	const double rate = gpu && own ? (double)own / (double)gpu : 1;
	const double since = (double)((int64_t)(ns - h->clock[0].gpu_ns)) * rate;

	return h->clock[0].own_ns + (uint64_t)(int64_t)since;
}

static int read_pair(struct reading *r, const char *records, size_t len, const char *spans, size_t spans_len,
		     uint64_t *lost)
{
	const struct assay_gpu_header *h = (const void *)records;
	const struct assay_gpu_spans *s = (const void *)spans;
	int rc = 0;

	if (len < sizeof(*h) || h->magic != ASSAY_GPU_RECORDS_MAGIC || h->bytes != sizeof(*r->records) ||
	    h->used > len || h->used < sizeof(*h) || spans_len < sizeof(*s) || s->magic != ASSAY_GPU_RECORDS_MAGIC ||
	    s->n > (spans_len - sizeof(*s)) / sizeof(s->v[0]) || !h->clock[0].own_ns)
		return 0;
	r->file = h;
	r->records = (const void *)(h + 1);
	r->n = (h->used - sizeof(*h)) / sizeof(*r->records);
	*lost += s->lost;
	for (size_t i = 0; i < s->n && !rc; i++) {
		const struct assay_gpu_span *x = &s->v[i];
		struct assay_trace_span span = { .waker = ASSAY_TRACE_NONE };
		char name[ASSAY_GPU_NAME + 64];

		if (x->record >= r->n || x->end_ns < x->begin_ns)
			continue;
		assay_gpu_work_name(&r->records[x->record].key, name, sizeof(name));
		span.begin_ns = monotonic(r->file, x->begin_ns);
		span.end_ns = span.begin_ns + (x->end_ns - x->begin_ns);
		rc = track_of(r, &r->records[x->record].key, &span.track);
		if (!rc)
			rc = assay_trace_name(r->t, name, &span.name, r->err);
		if (!rc)
			rc = assay_trace_add_span(r->t, &span, r->err);
	}
	return rc;
}

int assay_gpu_tracks_read(const char *dir, struct assay_trace *t, uint64_t *lost, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	struct reading r = { .t = t, .err = err };
	int rc = assay_file_list(dir, ASSAY_GPU_SPANS_ENDING, &names, err);

	*lost = 0;
	r.processes = (unsigned)names.n;
	for (size_t i = 0; i < names.n && !rc; i++) {
		char path[8192], *records = NULL, *spans = NULL;
		size_t len, spans_len;

		snprintf(path, sizeof(path), "%s/%s" ASSAY_GPU_RECORDS_ENDING, dir, names.v[i]);
		rc = assay_file_read(path, &records, &len, err);
		snprintf(path, sizeof(path), "%s/%s" ASSAY_GPU_SPANS_ENDING, dir, names.v[i]);
		if (!rc)
			rc = assay_file_read(path, &spans, &spans_len, err);
		if (!rc)
			rc = read_pair(&r, records, len, spans, spans_len, lost);
		free(records);
		free(spans);
	}
	assay_strings_release(&names);
	return rc;
}

int assay_gpu_tracks_memory(void *trace, unsigned gpu, const char *name, uint64_t at_ns, uint64_t used_bytes)
{
	struct assay_trace_count c = { .process = process_of(gpu), .at_ns = at_ns, .value = (double)used_bytes };
	char device[160];
	size_t at;
	int rc;

	device_name(gpu, name, device, sizeof(device));
	rc = add_track(trace, gpu, "memory", device, &at, NULL);
	if (!rc)
		rc = assay_trace_name(trace, MEMORY_NAME, &c.name, NULL);
	return rc ? rc : assay_trace_add_count(trace, &c, NULL);
}
