/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of GPUs: what each GPU used, and its kernels and copies, as tables and for scripts. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/json_parts.h"
#include "reports/profile/parts.h"

#define FEW 15 /* rows without --verbose */

struct row {
	const struct assay_stack *stack;
	const struct assay_profile_gpu_work *work;
};

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->stack->weight != y->stack->weight)
		return x->stack->weight < y->stack->weight ? 1 : -1;
	return x->stack->first < y->stack->first ? -1 : 1;
}

/* Kernels and copies that were watched, those that took most first; NULL without memory. Malloc'ed. */
static struct row *sorted(const struct assay_profile *p, size_t *n)
{
	struct row *v = calloc(p->stacks.n_stacks + 1, sizeof(*v));

	*n = v && p->gpu.work ? p->stacks.n_stacks : 0;
	for (size_t i = 0; i < *n; i++)
		v[i] = (struct row){ &p->stacks.stacks[i], &p->gpu.work[i] };
	if (v)
		qsort(v, *n, sizeof(*v), by_time);
	return v;
}

/* The frame @up callers above the kernel, which is 0. */
static const struct assay_frame *frame(const struct assay_profile *p, const struct assay_stack *s, uint32_t up)
{
	return &p->stacks.frames[p->stacks.order[s->first + s->n - 1 - up]];
}

static void percent_text(double frac, char *buf, size_t size)
{
	if (isfinite(frac))
		snprintf(buf, size, "%.1f %%", 100 * frac);
	else
		buf[0] = '\0';
}

static void quantity_or_none(double v, const char *unit, bool utf8, char *buf, size_t size)
{
	if (isfinite(v))
		assay_quantity_text(v, unit, utf8, buf, size);
	else
		buf[0] = '\0';
}

static void add_devices(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "lrrrrrr", .indent = "  " };

	assay_columns_row(&t, (const char *const[]){ "GPU", "busy", "memory busy", "most memory", "mean power",
						     "most power", "energy" });
	for (size_t i = 0; i < p->gpu.n_devices; i++) {
		const struct assay_profile_gpu_device *d = &p->gpu.devices[i];
		char name[160], busy[32], memory[32], used[64] = "", mean[32], most[32], energy[32];

		snprintf(name, sizeof(name), "%u: %s", d->index, d->name);
		percent_text(d->busy_frac, busy, sizeof(busy));
		percent_text(d->memory_busy_frac, memory, sizeof(memory));
		if (d->memory_bytes)
			assay_quantity_text((double)d->most_memory_bytes, "B", style->utf8, used, sizeof(used));
		quantity_or_none(d->mean_watts, "W", style->utf8, mean, sizeof(mean));
		quantity_or_none(d->most_watts, "W", style->utf8, most, sizeof(most));
		quantity_or_none(d->joules, "J", style->utf8, energy, sizeof(energy));
		assay_columns_row(&t, (const char *const[]){ name, busy, memory, used, mean, most, energy });
	}
	assay_profile_put_table(&t, style, out);
}

/* "40 registers, 4096 × 256 threads, 16 KiB shared", or the rate of a copy. */
static void about(const struct row *r, bool utf8, char *buf, size_t size)
{
	const struct assay_profile_gpu_work *w = r->work;
	char text[48], shared[64] = "";

	buf[0] = '\0';
	if (w->block_threads) {
		if (w->shared_bytes) {
			assay_quantity_text((double)w->shared_bytes, "B", utf8, text, sizeof(text));
			snprintf(shared, sizeof(shared), ", %s shared", text);
		}
		snprintf(buf, size, "%" PRIu64 " registers, %" PRIu64 " %s %" PRIu64 " threads%s", w->registers,
			 w->blocks, utf8 ? "\u00d7" : "x", w->block_threads, shared);
	} else if (w->bytes && r->stack->weight) {
		assay_quantity_text((double)w->bytes, "B", utf8, shared, sizeof(shared));
		assay_quantity_text((double)w->bytes * 1e9 / (double)r->stack->weight, "B/s", utf8, text, sizeof(text));
		snprintf(buf, size, "%s at %s", shared, text);
	}
}

static void add_row(const struct assay_profile *p, const struct row *r, const struct assay_emit_style *style,
		    struct assay_columns *t)
{
	const struct assay_profile_gpu_work *w = r->work;
	char all[32], share[32], calls[32], mean[32], least[32], most[32], occupancy[32], what[192];

	assay_quantity_text((double)r->stack->weight * 1e-9, "s", style->utf8, all, sizeof(all));
	percent_text(p->stacks.weight ? (double)r->stack->weight / (double)p->stacks.weight : NAN, share,
		     sizeof(share));
	snprintf(calls, sizeof(calls), "%" PRIu64, w->calls);
	assay_quantity_text((double)r->stack->weight * 1e-9 / (double)w->calls, "s", style->utf8, mean, sizeof(mean));
	assay_quantity_text((double)w->least_ns * 1e-9, "s", style->utf8, least, sizeof(least));
	assay_quantity_text((double)w->most_ns * 1e-9, "s", style->utf8, most, sizeof(most));
	percent_text(w->occupancy_frac, occupancy, sizeof(occupancy));
	about(r, style->utf8, what, sizeof(what));
	assay_columns_row(t, (const char *const[]){ all, share, calls, mean, least, most, occupancy,
						    assay_profile_name(frame(p, r->stack, 0)->name, ""), what });
}

void assay_profile_gpu_text(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrrrrll", .indent = "  " };
	char all[32], took[32];
	size_t n, shown;
	struct row *v = sorted(p, &n);

	assay_quantity_text((double)p->stacks.weight * 1e-9, "s", style->utf8, all, sizeof(all));
	assay_quantity_text(p->seconds, "s", style->utf8, took, sizeof(took));
	assay_profile_put_line(style, out, "  %s of kernels and copies in %s by %s; %" PRIu64 " lost", all, took,
			       p->source, p->lost);
	add_devices(p, style, out);
	if (p->gpu.why[0])
		assay_profile_put_line(style, out, "  no kernel was seen: %s", p->gpu.why);
	shown = style->verbose || n < FEW ? n : FEW;
	assay_columns_row(&t, (const char *const[]){ "time", "share", "calls", "mean", "least", "most", "occupancy",
						     "kernel or copy", "how" });
	for (size_t i = 0; i < shown; i++)
		add_row(p, &v[i], style, &t);
	if (n)
		assay_profile_put_table(&t, style, out);
	if (n > shown)
		assay_profile_put_line(style, out, "  and %zu more: --verbose shows all", n - shown);
	assay_columns_release(&t);
	out->failed |= !v;
	free(v);
}

static json_t *device_json(const struct assay_profile_gpu_device *d)
{
	return json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "index", (int)d->index, "name",
			 assay_json_text(d->name), "busy_frac", assay_json_number(d->busy_frac), "memory_busy_frac",
			 assay_json_number(d->memory_busy_frac), "mean_watts", assay_json_number(d->mean_watts),
			 "most_watts", assay_json_number(d->most_watts), "joules", assay_json_number(d->joules),
			 "memory_bytes", d->memory_bytes ? assay_json_u64(d->memory_bytes) : json_null(),
			 "most_memory_bytes", d->memory_bytes ? assay_json_u64(d->most_memory_bytes) : json_null(),
			 "most_celsius", assay_json_number(d->most_celsius), "samples", assay_json_u64(d->samples));
}

static json_t *work_json(const struct assay_profile *p, const struct row *r)
{
	const struct assay_profile_gpu_work *w = r->work;
	json_t *o = json_pack("{s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name",
			      assay_json_text(assay_profile_name(frame(p, r->stack, 0)->name, "")), "kernel",
			      w->block_threads != 0, "stream", assay_json_text(frame(p, r->stack, 1)->name), "gpu",
			      assay_json_text(frame(p, r->stack, 2)->name), "ns", assay_json_u64(r->stack->weight),
			      "calls", assay_json_u64(w->calls), "least_ns", assay_json_u64(w->least_ns), "most_ns",
			      assay_json_u64(w->most_ns), "share",
			      p->stacks.weight ? json_real((double)r->stack->weight / (double)p->stacks.weight)
					       : json_null());

	if (o && w->block_threads)
		json_object_update_new(
			o, json_pack("{s:o,s:o,s:o,s:o,s:o}", "occupancy_frac", assay_json_number(w->occupancy_frac),
				     "registers", assay_json_u64(w->registers), "block_threads",
				     assay_json_u64(w->block_threads), "blocks", assay_json_u64(w->blocks),
				     "shared_bytes", assay_json_u64(w->shared_bytes)));
	else if (o)
		json_object_set_new(o, "bytes", assay_json_u64(w->bytes));
	return o;
}

json_t *assay_profile_gpu_json(const struct assay_profile *p)
{
	json_t *devices = json_array(), *work = json_array();
	size_t n;
	struct row *v = sorted(p, &n);

	for (size_t i = 0; i < p->gpu.n_devices; i++)
		json_array_append_new(devices, device_json(&p->gpu.devices[i]));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(work, work_json(p, &v[i]));
	free(v);
	return json_pack("{s:o,s:o,s:o}", "devices", devices, "work", work, "why",
			 p->gpu.why[0] ? assay_json_text(p->gpu.why) : json_null());
}
