/* SPDX-License-Identifier: Apache-2.0 */
/* A profile for scripts, and as the folded text that other viewers read. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/build.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"
#include "reports/profile/parts.h"

static json_t *frac(uint64_t part, uint64_t of)
{
	return of ? json_real((double)part / (double)of) : json_null();
}

static json_t *line_or_null(unsigned line)
{
	return line ? json_integer((json_int_t)line) : json_null();
}

static json_t *interval(struct assay_interval ci)
{
	return isfinite(ci.lo) ? json_pack("[f,f]", ci.lo, ci.hi) : json_null();
}

static json_t *function_json(const struct assay_profile *p, const struct assay_profile_function *f)
{
	struct assay_interval ci;
	const double ns = assay_profile_function_ns(p, f, &ci);

	/* shares of all samples, and beside the time per call those of timed calls, of which it is a part */
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name",
			 assay_json_text(assay_profile_name(f->name, f->object)), "object", assay_json_text(f->object),
			 "file", assay_json_text(f->file), "line", line_or_null(f->line), "last_line",
			 line_or_null(f->last_line), "inlined", f->inlined, "self", assay_json_u64(f->self), "total",
			 assay_json_u64(f->total), "self_frac", frac(f->self, p->stacks.weight), "total_frac",
			 frac(f->total, p->stacks.weight), "timed_self_frac", frac(f->timed_self, p->timed_weight),
			 "timed_total_frac", frac(f->timed_total, p->timed_weight), "ns_per_iteration",
			 assay_json_number(ns), "ci", interval(ci));
}

static json_t *functions_json(const struct assay_profile *p)
{
	struct assay_profile_function *f = NULL;
	json_t *list = json_array();
	size_t n;

	if (assay_profile_functions(p, &f, &n, NULL)) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, function_json(p, &f[i]));
	free(f);
	return list;
}

static json_t *lines_json(const struct assay_profile *p, bool instructions)
{
	struct assay_profile_line *v = NULL;
	json_t *list = json_array();
	size_t n;

	if (assay_profile_lines(p, instructions, &v, &n, NULL)) {
		json_decref(list);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list,
			json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "function",
				  assay_json_text(assay_profile_name(v[i].frame->name, v[i].frame->object)), "object",
				  assay_json_text(v[i].frame->object), "file", assay_json_text(v[i].frame->file),
				  "line", line_or_null(v[i].frame->line), "address",
				  instructions ? assay_json_u64(v[i].frame->offset) : json_null(), "self",
				  assay_json_u64(v[i].self), "self_frac", frac(v[i].self, p->stacks.weight)));
	free(v);
	return list;
}

static void profile_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_profile *p = r->profile.p;
	const struct assay_commit revision = assay_build_revision(&p->build);
	json_t *root, *threads = json_array();

	(void)style;
	for (size_t i = 0; i < p->n_threads; i++)
		json_array_append_new(threads, json_pack("{s:o,s:o,s:o}", "name", assay_json_text(p->threads[i].name),
							 "self", assay_json_u64(p->threads[i].weight), "self_frac",
							 frac(p->threads[i].weight, p->stacks.weight)));
	root = json_pack(
		"{s:i,s:{s:o,s:s,s:o,s:o,s:o,s:o,s:s,s:o,s:f,s:o,s:o,s:o,s:o,s:o,s:o,s:o},s:o,s:o}", "schema", 1,
		"profile", "id", p->id ? json_integer((json_int_t)p->id) : json_null(), "kind", p->kind, "name",
		assay_json_text(p->name), "case", p->is_case ? assay_json_text(p->what) : json_null(), "command",
		p->is_case ? json_null() : assay_json_text(p->what), "source", assay_json_text(p->source), "unit",
		p->unit, "rate_hz", p->rate_hz > 0 ? json_real(p->rate_hz) : json_null(), "seconds", p->seconds,
		"samples", assay_json_u64(p->stacks.weight), "lost", assay_json_u64(p->lost), "truncated",
		assay_json_u64(p->truncated), "unresolved", assay_json_u64(p->unresolved), "overhead_frac",
		assay_json_number(p->overhead_frac), "timed_samples", assay_json_u64(p->timed_weight), "iteration_ns",
		assay_json_number(p->iteration_ns), "functions", functions_json(p), "threads", threads);
	if (root)
		json_object_update_new(
			json_object_get(root, "profile"),
			json_pack("{s:o,s:o,s:o}", "started",
				  p->started_ns ? assay_json_time(p->started_ns) : json_null(), "machine",
				  p->machine.id[0] ? assay_json_text(p->machine.label) : json_null(), "build",
				  p->build.id[0] ? json_pack("{s:o,s:b,s:o}", "commit", assay_json_text(revision.hash),
							     "dirty", revision.dirty, "compiler",
							     assay_json_text(p->build.compiler))
						 : json_null()));
	if (root && p->heap.processes)
		json_object_set_new(root, "heap", assay_profile_heap_json(p));
	if (root && p->gpu.n_devices)
		json_object_set_new(root, "gpu", assay_profile_gpu_json(p));
	if (root && r->profile.bottleneck) {
		json_object_set_new(root, "bottleneck", assay_json_bottleneck(r->profile.bottleneck));
		json_object_set_new(root, "bottleneck_run", json_integer((json_int_t)r->profile.run));
	}
	if (root && !strcmp(p->kind, "threads"))
		assay_profile_threads_json(p, root);
	if (root && !strcmp(p->kind, "trace"))
		assay_profile_trace_json(p, root);
	if (root && r->profile.lines) {
		json_object_set_new(root, "lines", lines_json(p, false));
		json_object_set_new(root, "instructions", lines_json(p, true));
	}
	assay_json_print(root, out);
}

/* ';' parts frames and a newline ends a stack. */
static void add_folded_name(struct assay_text *out, const char *name)
{
	for (; *name; name++)
		assay_text_addn(out, *name == ';' ? ":" : *name == '\n' || *name == '\r' ? " " : name, 1);
}

static void profile_folded(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_stack_table *t = &r->profile.p->stacks;

	(void)style;
	for (size_t i = 0; i < t->n_stacks; i++) {
		const struct assay_stack *s = &t->stacks[i];

		for (uint32_t k = 0; k < s->n; k++) {
			const struct assay_frame *f = &t->frames[t->order[s->first + k]];

			assay_text_add(out, k ? ";" : "");
			add_folded_name(out, assay_profile_name(f->name, f->object));
			assay_text_add(out, f->kind == ASSAY_FRAME_INLINED ? "_[i]" : "");
		}
		assay_text_addf(out, " %" PRIu64 "\n", s->weight);
	}
}

ASSAY_EMITTER(profile_json, ASSAY_REPORT_PROFILE, "json", profile_json);
ASSAY_EMITTER(profile_folded, ASSAY_REPORT_PROFILE, "folded", profile_folded);
