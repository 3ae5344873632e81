/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of the heap: a table of call sites, their numbers for scripts, and the format of valgrind's DHAT. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"
#include "reports/profile/parts.h"

#define FEW 15 /* rows without --verbose */

struct row {
	const struct assay_stack *stack;
	const struct assay_profile_site *site;
};

static int by_bytes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->site->bytes != y->site->bytes)
		return x->site->bytes < y->site->bytes ? 1 : -1;
	return x->stack->first < y->stack->first ? -1 : 1;
}

/* All sites, those that allocate most first; NULL without memory. Malloc'ed. */
static struct row *sorted(const struct assay_profile *p)
{
	struct row *v = calloc(p->stacks.n_stacks + 1, sizeof(*v));

	for (size_t i = 0; v && i < p->stacks.n_stacks; i++)
		v[i] = (struct row){ &p->stacks.stacks[i], &p->heap.sites[i] };
	if (v)
		qsort(v, p->stacks.n_stacks, sizeof(*v), by_bytes);
	return v;
}

static void bytes_text(double v, char *buf, size_t size)
{
	assay_quantity_text(v, "B", true, buf, size);
}

static void add_totals(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_profile_site *a = &p->heap.all;
	const char *about = p->heap.sample_bytes ? "about " : "";
	char all[32], peak[32], live[32], mean[32], largest[32], took[32];

	assay_quantity_text(p->seconds, "s", style->utf8, took, sizeof(took));
	if (!(a->blocks > 0)) {
		assay_profile_put_line(style, out, "  no allocations in %s", took);
		return;
	}
	bytes_text(a->bytes, all, sizeof(all));
	bytes_text(a->most_bytes, peak, sizeof(peak));
	bytes_text(a->live_bytes, live, sizeof(live));
	bytes_text((double)a->largest_bytes, largest, sizeof(largest));
	assay_profile_put_line(style, out, "  %s%.0f allocations of %s in %s (%.0f a second), the largest of %s", about,
			       a->blocks, all, took, p->seconds > 0 ? a->blocks / p->seconds : 0, largest);
	assay_profile_put_line(style, out, "  %s%s at the peak; %s%s in %.0f blocks never given back", about, peak,
			       about, live, a->live_blocks);
	if (p->heap.sample_bytes) {
		bytes_text((double)p->heap.sample_bytes, mean, sizeof(mean));
		assay_profile_put_line(style, out, "  estimated from %" PRIu64 " samples, one in %s", a->samples, mean);
	}
	if (p->heap.processes > 1)
		assay_profile_put_line(style, out, "  %u processes, whose numbers and peaks add up", p->heap.processes);
}

void assay_profile_heap_text(const struct assay_profile *p, const struct assay_emit_style *style,
			     struct assay_text *out)
{
	const size_t n = p->stacks.n_stacks, shown = style->verbose || n < FEW ? n : FEW;
	struct assay_columns t = { .align = "rrrrrl", .indent = "  " };
	struct row *v = sorted(p);

	add_totals(p, style, out);
	assay_columns_row(
		&t, (const char *const[]){ "allocated", "at peak", "not freed", "blocks", "largest", "call site" });
	for (size_t i = 0; v && i < shown; i++) {
		char all[32], peak[32], live[32], blocks[32], largest[32];
		struct assay_text where = { 0 };

		bytes_text(v[i].site->bytes, all, sizeof(all));
		bytes_text(v[i].site->peak_bytes, peak, sizeof(peak));
		bytes_text(v[i].site->live_bytes, live, sizeof(live));
		bytes_text((double)v[i].site->largest_bytes, largest, sizeof(largest));
		snprintf(blocks, sizeof(blocks), "%.0f", v[i].site->blocks);
		assay_profile_where(p, v[i].stack, 0, &where);
		assay_columns_row(&t,
				  (const char *const[]){ all, peak, live, blocks, largest, where.s ? where.s : "" });
		out->failed |= where.failed;
		assay_text_release(&where);
	}
	if (n)
		assay_profile_put_table(&t, style, out);
	if (n > shown)
		assay_profile_put_line(style, out, "  and %zu more call sites: --verbose shows all", n - shown);
	assay_columns_release(&t);
	out->failed |= !v;
	free(v);
}

static json_t *numbers_json(const struct assay_profile_site *s)
{
	return json_pack("{s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:o,s:o}", "blocks", s->blocks, "bytes", s->bytes,
			 "live_blocks", s->live_blocks, "live_bytes", s->live_bytes, "most_blocks", s->most_blocks,
			 "most_bytes", s->most_bytes, "peak_blocks", s->peak_blocks, "peak_bytes", s->peak_bytes,
			 "largest_bytes", assay_json_u64(s->largest_bytes), "samples", assay_json_u64(s->samples));
}

json_t *assay_profile_heap_json(const struct assay_profile *p)
{
	json_t *root = numbers_json(&p->heap.all), *sites = json_array();
	struct row *v = sorted(p);

	json_object_del(root, "peak_blocks"); /* in total no other than most_ */
	json_object_del(root, "peak_bytes");
	json_object_set_new(root, "processes", json_integer((json_int_t)p->heap.processes));
	json_object_set_new(root, "sample_bytes",
			    p->heap.sample_bytes ? assay_json_u64(p->heap.sample_bytes) : json_null());
	json_object_set_new(root, "allocations_per_second",
			    p->seconds > 0 ? json_real(p->heap.all.blocks / p->seconds) : json_null());
	for (size_t i = 0; v && i < p->stacks.n_stacks; i++) {
		json_t *site = numbers_json(v[i].site);

		json_object_set_new(site, "stack", assay_profile_stack_json(p, v[i].stack, 0));
		json_array_append_new(sites, site);
	}
	json_object_set_new(root, "sites", sites);
	free(v);
	return root;
}

/* "0x2: main (prog.c:3)": the viewer tells frames apart by their numbers, for which an address stands. */
static json_t *dhat_frame(size_t number, const struct assay_frame *f)
{
	struct assay_text text = { 0 };
	json_t *v;

	assay_text_addf(&text, "0x%zX: %s ", number, assay_profile_name(f->name, f->object));
	if (f->line)
		assay_text_addf(&text, "(%s:%u)", f->file, f->line);
	else
		assay_text_addf(&text, "(in %s)", f->object[0] ? f->object : "?");
	v = assay_json_text(text.s ? text.s : "");
	assay_text_release(&text);
	return v;
}

static json_int_t whole(double v)
{
	return (json_int_t)llround(v);
}

static json_t *dhat_point(const struct assay_profile *p, size_t at)
{
	const struct assay_profile_site *s = &p->heap.sites[at];
	const struct assay_stack *stack = &p->stacks.stacks[at];
	json_t *frames = json_array();

	for (uint32_t i = stack->n; i-- > 0;) /* the innermost first; 0 is the root */
		json_array_append_new(frames, json_integer((json_int_t)p->stacks.order[stack->first + i] + 1));
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "tb", whole(s->bytes), "tbk", whole(s->blocks),
			 "tl", whole(s->age_bytes), "mb", whole(s->most_bytes), "mbk", whole(s->most_blocks), "gb",
			 whole(s->peak_bytes), "gbk", whole(s->peak_blocks), "eb", whole(s->live_bytes), "ebk",
			 whole(s->live_blocks), "fs", frames);
}

/*
 * Version 2 of the format, as valgrind's dhat/dh_main.c documents it. Time is counted in bytes allocated, and there
 * are no accesses.
 */
static void profile_dhat(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_profile *p = r->profile.p;
	json_t *points = json_array(), *frames = json_array();

	(void)style;
	for (size_t i = 0; i < p->stacks.n_stacks; i++)
		json_array_append_new(points, dhat_point(p, i));
	json_array_append_new(frames, json_string("[root]"));
	for (size_t i = 0; i < p->stacks.n_frames; i++)
		json_array_append_new(frames, dhat_frame(i + 1, &p->stacks.frames[i]));
	assay_json_print(json_pack("{s:i,s:s,s:s,s:b,s:b,s:s,s:s,s:i,s:o,s:i,s:I,s:I,s:o,s:o}", "dhatFileVersion", 2,
				   "mode", "heap", "verb", "Allocated", "bklt", 1, "bkacc", 0, "tu", "bytes", "Mtu",
				   "MB", "tuth", 10, "cmd", assay_json_text(p->what), "pid", 0, "te",
				   whole(p->heap.all.bytes), "tg", whole(p->heap.peak_clock), "pps", points, "ftbl",
				   frames),
			 out);
}

ASSAY_EMITTER(profile_dhat, ASSAY_REPORT_PROFILE, "dhat", profile_dhat);
