/* SPDX-License-Identifier: Apache-2.0 */
/* The table of emitters, and how they are found and called. */
#include "reports/emitter.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "reports/text_parts.h"

#define EMITTERS(ROW)                                                                                                  \
	ROW(run_header)                                                                                                \
	ROW(run_text)                                                                                                  \
	ROW(run_json)                                                                                                  \
	ROW(run_csv)                                                                                                   \
	ROW(run_junit)                                                                                                 \
	ROW(run_markdown)                                                                                              \
	ROW(run_llama_bench)                                                                                           \
	ROW(run_openmetrics)                                                                                           \
	ROW(run_cases)                                                                                                 \
	ROW(counts_text)                                                                                               \
	ROW(counts_json)                                                                                               \
	ROW(gate_text)                                                                                                 \
	ROW(gate_json)                                                                                                 \
	ROW(gate_csv)                                                                                                  \
	ROW(gate_openmetrics)                                                                                          \
	ROW(alerts_openmetrics)                                                                                        \
	ROW(alerts_rules)                                                                                              \
	ROW(alerts_json)                                                                                               \
	ROW(gate_markdown)                                                                                             \
	ROW(gate_junit)                                                                                                \
	ROW(comparison_text)                                                                                           \
	ROW(comparison_json)                                                                                           \
	ROW(runs_text)                                                                                                 \
	ROW(runs_json)                                                                                                 \
	ROW(comparisons_text)                                                                                          \
	ROW(comparisons_json)                                                                                          \
	ROW(baselines_text)                                                                                            \
	ROW(baselines_json)                                                                                            \
	ROW(baseline_text)                                                                                             \
	ROW(baseline_json)                                                                                             \
	ROW(bottlenecks_text)                                                                                          \
	ROW(bottlenecks_json)                                                                                          \
	ROW(pareto_text)                                                                                               \
	ROW(pareto_json)                                                                                               \
	ROW(diff_text)                                                                                                 \
	ROW(diff_json)                                                                                                 \
	ROW(catalog_text)                                                                                              \
	ROW(catalog_json)                                                                                              \
	ROW(source_text)                                                                                               \
	ROW(source_json)                                                                                               \
	ROW(repository_text)                                                                                           \
	ROW(repository_json)                                                                                           \
	ROW(health_text)                                                                                               \
	ROW(health_json)                                                                                               \
	ROW(certification_text)                                                                                        \
	ROW(certification_json)                                                                                        \
	ROW(bisection_text)                                                                                            \
	ROW(bisection_json)                                                                                            \
	ROW(changes_text)                                                                                              \
	ROW(changes_json)                                                                                              \
	ROW(changes_csv)                                                                                               \
	ROW(plot_svg)                                                                                                  \
	ROW(plot_png)                                                                                                  \
	ROW(import_text)                                                                                               \
	ROW(import_json)                                                                                               \
	ROW(database_text)                                                                                             \
	ROW(database_json)                                                                                             \
	ROW(model_text)                                                                                                \
	ROW(model_json)                                                                                                \
	ROW(page_html)                                                                                                 \
	ROW(profile_text)                                                                                              \
	ROW(profile_json)                                                                                              \
	ROW(profile_trace)                                                                                             \
	ROW(profile_folded)                                                                                            \
	ROW(profile_svg)                                                                                               \
	ROW(profile_html)                                                                                              \
	ROW(profile_dhat)                                                                                              \
	ROW(profile_diff_text)                                                                                         \
	ROW(profile_diff_json)                                                                                         \
	ROW(profile_diff_html)                                                                                         \
	ROW(profile_diff_svg)                                                                                          \
	ROW(time_text)                                                                                                 \
	ROW(time_json)                                                                                                 \
	ROW(time_hyperfine)                                                                                            \
	ROW(time_markdown)                                                                                             \
	ROW(time_csv)                                                                                                  \
	ROW(fleet_text)                                                                                                \
	ROW(fleet_json)                                                                                                \
	ROW(fleet_html)

#define DECLARE(name) extern const struct assay_emitter assay_emitter_##name;
#define ADDRESS(name) &assay_emitter_##name,

EMITTERS(DECLARE)

const struct assay_emitter *const assay_emitters[] = { EMITTERS(ADDRESS) };
const size_t assay_n_emitters = sizeof(assay_emitters) / sizeof(assay_emitters[0]);

const struct assay_emitter *assay_emitter_find(enum assay_report_kind kind, const char *format)
{
	for (size_t i = 0; i < assay_n_emitters; i++)
		if (assay_emitters[i]->takes == kind && !strcmp(assay_emitters[i]->format, format))
			return assay_emitters[i];
	return NULL;
}

/* "text, json or markdown": what there is of @kind, each with @before. */
static void list_formats(enum assay_report_kind kind, const char *before, char *buf, size_t size)
{
	const char *last = NULL;
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < assay_n_emitters && n < size; i++) {
		if (assay_emitters[i]->takes != kind)
			continue;
		if (last)
			n += (size_t)snprintf(buf + n, size - n, "%s%s%s", n ? ", " : "", before, last);
		last = assay_emitters[i]->format;
	}
	if (last && n < size)
		snprintf(buf + n, size - n, "%s%s%s", n ? " or " : "", before, last);
}

/* Other formats are files, whose readers know how to escape. */
static bool is_for_people(const char *format)
{
	return !strcmp(format, "text") || !strcmp(format, "header") || !strcmp(format, "cases");
}

int assay_emit(const struct assay_report *r, const char *format, const struct assay_emit_style *style,
	       struct assay_text *out, struct assay_err *err)
{
	static const struct assay_emit_style plain;
	const struct assay_emitter *e = assay_emitter_find(r->kind, format);
	const size_t from = out->len;
	char formats[128];
	int rc;

	if (!e || !e->write) {
		list_formats(r->kind, "", formats, sizeof(formats));
		return assay_err_set(err, ASSAY_EUSAGE, "cannot write this as '%s': expected %s", format, formats);
	}
	rc = e->probe ? e->probe(err) : 0;
	if (rc)
		return rc;
	if (!style)
		style = &plain;
	e->write(r, style, out);
	if (style->terminal || is_for_people(format))
		assay_show(out, from, style);
	return out->failed ? assay_err_set(err, ASSAY_ENOMEM, "cannot write the report: out of memory") : 0;
}

static int write_file(const struct assay_report *r, const char *format, const char *path, struct assay_err *err)
{
	struct assay_text out = { 0 };
	int rc = assay_emit(r, format, NULL, &out, err);

	if (!rc)
		rc = assay_file_write(path, out.s ? out.s : "", out.len, err);
	assay_text_release(&out);
	return rc;
}

static const char *ending(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');

	return dot && dot > name ? dot + 1 : "";
}

static int find_for(enum assay_report_kind kind, const char *format, const char *path, const struct assay_emitter **out,
		    struct assay_err *err)
{
	char formats[128];

	*out = assay_emitter_find(kind, format);
	if (*out)
		return 0;
	list_formats(kind, ".", formats, sizeof(formats));
	return assay_err_set(err, ASSAY_EUSAGE, "cannot write '%s': its name must end in %s", path, formats);
}

int assay_emit_check(enum assay_report_kind kind, const char *path, struct assay_err *err)
{
	const struct assay_emitter *e;

	int rc = find_for(kind, ending(path), path, &e, err);

	return rc ? rc : assay_file_write_check(path, err);
}

int assay_emit_file(const struct assay_report *r, const char *format, const char *path, struct assay_err *err)
{
	const struct assay_emitter *e;
	int rc;

	if (!format)
		format = ending(path);
	rc = find_for(r->kind, format, path, &e, err);
	if (rc)
		return rc;
	if (e->write)
		return write_file(r, format, path, err);
	rc = e->probe ? e->probe(err) : 0;
	return rc ? rc : e->draw(r, path, err);
}
