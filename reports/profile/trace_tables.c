/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as tables: the time of each span, and what of it lies on the critical path. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"
#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/json_parts.h"
#include "reports/profile/parts.h"

#define FEW 15 /* rows without --verbose */

static double share(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void ns_text(uint64_t ns, const struct assay_emit_style *style, char *buf, size_t size)
{
	assay_quantity_text((double)ns * 1e-9, "s", style->utf8, buf, size);
}

static void add_head(const struct assay_profile *p, uint64_t path_ns, const struct assay_emit_style *style,
		     struct assay_text *out)
{
	struct assay_text line = { 0 };
	char path[32];

	ns_text(path_ns, style, path, sizeof(path));
	assay_text_addf(&line, "  %zu thread%s; %" PRIu64 " spans lost; the critical path takes %s:", p->n_threads,
			p->n_threads == 1 ? "" : "s", p->lost, path_ns ? path : "-");
	for (size_t i = 0; i < p->n_threads; i++) {
		const uint64_t ns = assay_trace_path_of(p, p->threads[i].name);

		if (ns)
			assay_text_addf(&line, " %.1f %% on %s;", share(ns, path_ns), p->threads[i].name);
	}
	/* the last letter is a separator */
	if (!line.failed)
		assay_profile_put_line(style, out, "%.*s", (int)line.len - 1, line.s);
	out->failed |= line.failed;
	assay_text_release(&line);
}

void assay_profile_trace_text(const struct assay_profile *p, const struct assay_emit_style *style,
			      struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrrl", .indent = "  " };
	struct assay_trace_share *v = NULL;
	uint64_t path_ns;
	size_t n, shown;

	if (assay_trace_shares(p, &v, &n, &path_ns, NULL)) {
		out->failed = true;
		return;
	}
	add_head(p, path_ns, style, out);
	shown = style->verbose || n < FEW ? n : FEW;
	assay_columns_row(
		&t, (const char *const[]){ "total of path", "self", "total of threads", "self", "count", "span" });
	for (size_t i = 0; i < shown; i++) {
		char path[32], path_own[32], all[32], own[32], times[32] = "-";

		snprintf(path, sizeof(path), "%.1f %%", share(v[i].path_total_ns, path_ns));
		snprintf(path_own, sizeof(path_own), "%.1f %%", share(v[i].path_ns, path_ns));
		ns_text(v[i].total_ns, style, all, sizeof(all));
		ns_text(v[i].self_ns, style, own, sizeof(own));
		if (v[i].times)
			snprintf(times, sizeof(times), "%" PRIu64, v[i].times);
		assay_columns_row(&t, (const char *const[]){ path, path_own, all, own, times, v[i].name });
	}
	if (n)
		assay_profile_put_table(&t, style, out);
	else
		assay_columns_release(&t);
	if (n > shown)
		assay_profile_put_line(style, out, "  and %zu more spans: --verbose shows all", n - shown);
	free(v);
}

static json_t *frac(uint64_t part, uint64_t of)
{
	return of ? json_real((double)part / (double)of) : json_null();
}

void assay_profile_trace_json(const struct assay_profile *p, json_t *root)
{
	json_t *spans = json_array(), *threads = json_array();
	struct assay_trace_share *v = NULL;
	uint64_t path_ns = 0;
	size_t n = 0;

	if (!assay_trace_shares(p, &v, &n, &path_ns, NULL))
		for (size_t i = 0; i < n; i++)
			json_array_append_new(
				spans, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "name", assay_json_text(v[i].name),
						 "times", v[i].times ? assay_json_u64(v[i].times) : json_null(),
						 "self_ns", assay_json_u64(v[i].self_ns), "total_ns",
						 assay_json_u64(v[i].total_ns), "path_ns", assay_json_u64(v[i].path_ns),
						 "path_frac", frac(v[i].path_ns, path_ns), "path_total_frac",
						 frac(v[i].path_total_ns, path_ns)));
	free(v);
	for (size_t i = 0; i < p->n_threads; i++) {
		const uint64_t ns = assay_trace_path_of(p, p->threads[i].name);

		json_array_append_new(threads,
				      json_pack("{s:o,s:o,s:o,s:o}", "name", assay_json_text(p->threads[i].name), "ns",
						assay_json_u64(p->threads[i].weight), "path_ns", assay_json_u64(ns),
						"path_frac", frac(ns, path_ns)));
	}
	json_object_set_new(root, "threads", threads);
	json_object_set_new(root, "spans", spans);
	json_object_set_new(root, "path_ns", assay_json_u64(path_ns));
}
