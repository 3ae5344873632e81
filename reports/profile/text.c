/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as tables for people: functions, lines and instructions, threads, and what was missed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/profile/parts.h"
#include "reports/text_parts.h"

#define FEW 15 /* rows without --verbose */

static double share(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void add_share(char *buf, size_t size, uint64_t part, uint64_t of)
{
	snprintf(buf, size, "%.1f %%", share(part, of));
}

/*
 * The shares of a case are of its timed calls, as its times per call are. How long it is set up, warmed up and checked
 * says nothing about the kernel.
 */
static bool is_timed(const struct assay_profile *p)
{
	return p->timed_weight > 0;
}

static uint64_t all_of(const struct assay_profile *p)
{
	return is_timed(p) ? p->timed_weight : p->stacks.weight;
}

static void add_head(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	char rate[48] = "", took[32];

	if (p->rate_hz > 0)
		snprintf(rate, sizeof(rate), " at %.0f Hz", p->rate_hz);
	assay_quantity_text(p->seconds, "s", style->utf8, took, sizeof(took));
	assay_profile_put_line(style, out,
			       "  %" PRIu64 " %s%s in %s by %s; %" PRIu64 " lost, %" PRIu64 " truncated, %" PRIu64
			       " unresolved",
			       p->stacks.weight, p->unit, rate, took, p->source, p->lost, p->truncated, p->unresolved);
	if (is_timed(p))
		assay_profile_put_line(style, out,
				       "  shares are of the %" PRIu64
				       " samples in timed calls; the others are of setting up, warming up and checking",
				       p->timed_weight);
	if (isfinite(p->overhead_frac))
		assay_profile_put_line(style, out, "  the profiler itself took %.2f %% of a processor",
				       100 * p->overhead_frac);
}

static void add_more(const struct assay_emit_style *style, struct assay_text *out, size_t shown, size_t n,
		     const char *what)
{
	if (n > shown)
		assay_profile_put_line(style, out, "  and %zu more %s: --verbose shows all", n - shown, what);
}

/* Everything of timed calls outside the kernel, in one row: the harness between them, and its clock. */
static void add_rest(const struct assay_profile *p, const struct assay_profile_function *f, size_t n,
		     const struct assay_emit_style *style, struct assay_columns *t)
{
	char own[32], ns[32] = "", name[64];
	uint64_t timed = 0;
	size_t rest = 0;

	for (size_t i = 0; i < n; i++) {
		if (f[i].kernel || !f[i].timed_self)
			continue;
		rest++;
		timed += f[i].timed_self;
	}
	if (!rest)
		return;
	add_share(own, sizeof(own), timed, p->timed_weight);
	if (isfinite(p->iteration_ns))
		assay_quantity_text((double)timed / (double)p->timed_weight * p->iteration_ns * 1e-9, "s", style->utf8,
				    ns, sizeof(ns));
	snprintf(name, sizeof(name), "harness: %zu function%s", rest, rest == 1 ? "" : "s");
	assay_columns_row(t, (const char *const[]){ own, "", ns, name, "" });
}

static void add_functions(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrll", .indent = "  " };
	struct assay_profile_function *f = NULL;
	struct assay_interval ci;
	const bool timed = is_timed(p), folds = timed && (!style->verbose || style->html);
	size_t n, shown = 0, most = style->verbose ? SIZE_MAX : FEW, of = 0;

	if (assay_profile_functions(p, &f, &n, NULL)) {
		out->failed = true;
		return;
	}
	assay_columns_row(&t, (const char *const[]){ "self", "total",
						     isfinite(p->iteration_ns) && timed ? "self per call" : "",
						     "function", "source" });
	for (size_t i = 0; i < n; i++) {
		char own[32], total[32], ns[32] = "", place[256], name[512];
		const double v = assay_profile_function_ns(p, &f[i], &ci);

		if ((folds && !f[i].kernel) || (timed && !f[i].timed_total))
			continue;
		if (of++ >= most)
			continue;
		shown++;
		add_share(own, sizeof(own), timed ? f[i].timed_self : f[i].self, all_of(p));
		add_share(total, sizeof(total), timed ? f[i].timed_total : f[i].total, all_of(p));
		if (isfinite(v))
			assay_quantity_text(v * 1e-9, "s", style->utf8, ns, sizeof(ns));
		assay_profile_place(f[i].file, f[i].line, f[i].last_line, place, sizeof(place));
		if (!place[0])
			snprintf(place, sizeof(place), "%.255s", f[i].object);
		snprintf(name, sizeof(name), "%.480s%s", assay_profile_name(f[i].name, f[i].object),
			 f[i].inlined ? " (inlined)" : "");
		assay_columns_row(&t, (const char *const[]){ own, total, ns, name, place });
	}
	if (folds)
		add_rest(p, f, n, style, &t);
	assay_profile_put_table(&t, style, out);
	add_more(style, out, shown, of, "functions");
	free(f);
}

static void add_lines(const struct assay_profile *p, bool instructions, const struct assay_emit_style *style,
		      struct assay_text *out)
{
	struct assay_columns t = { .align = "rlll", .indent = "  " };
	struct assay_profile_line *v = NULL;
	size_t n, shown;

	if (assay_profile_lines(p, instructions, &v, &n, NULL)) {
		out->failed = true;
		return;
	}
	/* those of timed calls come first */
	while (is_timed(p) && n && !v[n - 1].timed_self)
		n--;
	shown = style->verbose || n < FEW ? n : FEW;
	assay_text_add(out, "\n");
	assay_columns_row(&t,
			  (const char *const[]){ "self", instructions ? "instruction" : "line", "function", "object" });
	for (size_t i = 0; i < shown; i++) {
		const struct assay_frame *f = v[i].frame;
		char own[32], at[256];

		add_share(own, sizeof(own), is_timed(p) ? v[i].timed_self : v[i].self, all_of(p));
		if (instructions)
			snprintf(at, sizeof(at), "0x%" PRIx64, f->offset);
		else if (f->line)
			snprintf(at, sizeof(at), "%.200s:%u", f->file, f->line);
		else
			snprintf(at, sizeof(at), "?");
		assay_columns_row(&t,
				  (const char *const[]){ own, at, assay_profile_name(f->name, f->object), f->object });
	}
	assay_profile_put_table(&t, style, out);
	add_more(style, out, shown, n, instructions ? "instructions" : "lines");
	free(v);
}

static void add_threads(const struct assay_profile *p, const struct assay_emit_style *style, struct assay_text *out)
{
	const size_t shown = style->verbose || p->n_threads < FEW ? p->n_threads : FEW;
	struct assay_columns t = { .align = "rl", .indent = "  " };
	char own[32];

	if (p->n_threads < 2)
		return;
	assay_text_add(out, "\n");
	assay_columns_row(&t, (const char *const[]){ is_timed(p) ? "of all samples" : "self", "thread" });
	for (size_t i = 0; i < shown; i++) {
		add_share(own, sizeof(own), p->threads[i].weight, p->stacks.weight);
		assay_columns_row(&t, (const char *const[]){ own, p->threads[i].name });
	}
	assay_profile_put_table(&t, style, out);
	add_more(style, out, shown, p->n_threads, "threads");
}

void assay_profile_tables(const struct assay_report_profile *r, const struct assay_emit_style *style,
			  struct assay_text *out)
{
	const struct assay_profile *p = r->p;

	if (r->bottleneck)
		assay_profile_put_bottleneck(r, style, out);
	if (p->heap.processes) {
		assay_profile_heap_text(p, style, out);
		return;
	}
	if (p->gpu.n_devices) {
		assay_profile_gpu_text(p, style, out);
		return;
	}
	if (!strcmp(p->kind, "threads")) {
		assay_profile_threads_text(p, style, out);
		return;
	}
	if (!strcmp(p->kind, "trace")) {
		assay_profile_trace_text(p, style, out);
		return;
	}
	add_head(p, style, out);
	if (p->stacks.weight)
		add_functions(p, style, out);
	if (r->lines) {
		add_lines(p, false, style, out);
		add_lines(p, true, style, out);
	}
	add_threads(p, style, out);
}

static void profile_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	assay_profile_title(r->profile.p, out);
	assay_text_add(out, "\n");
	assay_profile_tables(&r->profile, style, out);
}

ASSAY_EMITTER(profile_text, ASSAY_REPORT_PROFILE, "text", profile_text);
