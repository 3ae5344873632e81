/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes add up: what each allocated, what each never gave back, and the most of each. Addresses are named after
 * the end, from the files that were mapped.
 */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "counters/heap/sites.h"
#include "profile/thread_logs.h"

#define MOST_FRAMES (ASSAY_HEAP_SITES_DEPTH * 4 + 1)

struct reading {
	struct assay_profile *into;
	struct assay_code_places *places;
	const struct assay_heap_sites_header *file;
	const char *text; /* all of the file */
	bool named;       /* processes have frames of their own */
	struct assay_err *err;
};

/* The record after @at; NULL behind the last. */
static const struct assay_heap_record_head *next_record(const struct reading *r, uint64_t *at)
{
	const struct assay_heap_record_head *h = (const void *)(r->text + *at);

	if (*at + sizeof(*h) > r->file->used || h->bytes < sizeof(*h) || h->bytes > r->file->used - *at)
		return NULL;
	*at += h->bytes;
	return h;
}

static void read_maps(struct reading *r)
{
	uint64_t at = sizeof(*r->file);

	for (const struct assay_heap_record_head *h; (h = next_record(r, &at));) {
		const struct assay_heap_map *m = (const void *)h;

		if (h->kind == ASSAY_HEAP_RECORD_MAP && m->path[0])
			assay_code_places_map(r->places, m->path, m->start, m->file_offset);
	}
}

static void add_numbers(struct assay_profile_site *to, const struct assay_heap_numbers *n, double peak_blocks,
			double peak_bytes)
{
	to->blocks += n->blocks;
	to->bytes += n->bytes;
	to->live_blocks += n->live_blocks;
	to->live_bytes += n->live_bytes;
	to->most_blocks += n->most_blocks;
	to->most_bytes += n->most_bytes;
	to->peak_blocks += peak_blocks;
	to->peak_bytes += peak_bytes;
	to->age_bytes += n->age_bytes;
	to->samples += n->samples;
	if (n->largest_bytes > to->largest_bytes)
		to->largest_bytes = n->largest_bytes;
}

/* The numbers of stack @at, for which there may be no room yet. */
static struct assay_profile_site *site_of(struct reading *r, size_t before, size_t at)
{
	struct assay_profile_heap *h = &r->into->heap;
	const size_t n = r->into->stacks.n_stacks;

	if (n > before || !h->sites) {
		struct assay_profile_site *grown = realloc(h->sites, n * sizeof(*grown));

		if (!grown)
			return NULL;
		h->sites = grown;
		h->sites[n - 1] = (struct assay_profile_site){ 0 };
	}
	return &h->sites[at];
}

static int add_site(struct reading *r, const struct assay_heap_site *s)
{
	struct assay_stack_table *t = &r->into->stacks;
	const bool now = r->file->all.live_bytes == r->file->all.most_bytes || s->epoch != r->file->epoch;
	const size_t before = t->n_stacks;
	uint32_t frames[MOST_FRAMES];
	struct assay_logged_list list = { .v = frames, .most = MOST_FRAMES };
	struct assay_profile_site *its;
	bool known = false;
	size_t at = 0;
	int rc = 0;

	if (r->named) {
		char name[sizeof(r->file->name) + 16];

		snprintf(name, sizeof(name), "process: %.31s", r->file->name);
		assay_printable_line(name, sizeof(name));
		rc = assay_stack_table_frame(t, &(struct assay_frame){ .kind = ASSAY_FRAME_LABEL, .name = name },
					     &frames[list.n++], r->err);
	}
	for (uint32_t i = s->n_frames; i-- > 0 && !rc;)
		rc = assay_logged_frames(r->places, t, s->frames[i] - 1, &list, &known, r->err); /* within the call */
	if (!rc)
		rc = assay_stack_table_put(t, frames, list.n, &at, r->err);
	if (rc)
		return rc;
	its = site_of(r, before, at);
	if (!its)
		return assay_err_set(r->err, ASSAY_ENOMEM, "out of memory for the call sites of a profile");
	add_numbers(its, &s->its, now ? s->its.live_blocks : s->peak_blocks, now ? s->its.live_bytes : s->peak_bytes);
	assay_profile_site_weigh(r->into, at);
	r->into->truncated += s->whole ? 0 : s->its.samples;
	r->into->unresolved += known ? 0 : s->its.samples;
	return 0;
}

static int read_file(struct reading *r, size_t len)
{
	struct assay_profile_heap *h = &r->into->heap;
	uint64_t at = sizeof(*r->file);
	int rc = 0;

	if (len < sizeof(*r->file) || r->file->magic != ASSAY_HEAP_SITES_MAGIC || r->file->used > len)
		return 0; /* its process ended while it made it */
	rc = assay_code_places_open_empty(&r->places, r->err);
	if (rc)
		return rc;
	read_maps(r);
	for (const struct assay_heap_record_head *s; !rc && (s = next_record(r, &at));)
		if (s->kind == ASSAY_HEAP_RECORD_SITE)
			rc = add_site(r, (const void *)s);
	if (r->file->all.most_bytes > h->all.most_bytes)
		h->peak_clock = r->file->peak_clock;
	add_numbers(&h->all, &r->file->all, 0, r->file->all.most_bytes);
	h->processes++;
	h->sample_bytes = r->file->sample_bytes;
	r->into->lost += r->file->lost;
	assay_code_places_close(r->places);
	return rc;
}

int assay_heap_profile_read(const char *dir, struct assay_profile *into, struct assay_err *err)
{
	struct reading r = { .into = into, .err = err };
	struct assay_strings names = { 0 };
	char path[8192], *text;
	size_t len;
	int rc = assay_code_places_probe(err);

	snprintf(into->kind, sizeof(into->kind), "heap");
	snprintf(into->unit, sizeof(into->unit), "bytes");
	into->overhead_frac = NAN;
	into->iteration_ns = NAN;
	if (!rc)
		rc = assay_file_list(dir, ASSAY_HEAP_SITES_ENDING, &names, err);
	r.named = names.n > 1;
	for (size_t i = 0; i < names.n && !rc; i++) {
		snprintf(path, sizeof(path), "%s/%s" ASSAY_HEAP_SITES_ENDING, dir, names.v[i]);
		rc = assay_file_read(path, &text, &len, err);
		if (rc)
			break;
		r.text = text;
		r.file = (const void *)text;
		rc = read_file(&r, len);
		free(text);
	}
	assay_strings_release(&names);
	if (!rc && !into->heap.processes)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no process had the heap's object preloaded");
	snprintf(into->source, sizeof(into->source), "%s",
		 into->heap.sample_bytes ? "malloc interposed, sampled" : "malloc interposed");
	return rc;
}
