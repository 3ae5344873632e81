/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay new` wrote and the commands that come after it, for people and for scripts. */
#include "reports/emitter.h"
#include "reports/json_parts.h"

static void write_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_source *r = &report->source;

	(void)style;
	for (size_t i = 0; i < r->files->n; i++)
		assay_text_addf(out, "wrote %s\n", r->files->v[i]);
	assay_text_addf(out,
			"\nCompile it with the headers of this program, or with those of an installed one:\n\n"
			"  %s\n  %s\n\n",
			r->compile, r->compile_installed);
	if (r->variant)
		assay_text_addf(out,
				"Is it right? Write the body of work() first: as it is, this says wrong.\n\n  %s\n\n"
				"How fast is it, beside the other variants?\n\n  %s\n\n",
				r->verify, r->run);
	else
		assay_text_addf(out, "Is it right? As it is, this says ok.\n\n  %s\n\nHow fast is it?\n\n  %s\n\n",
				r->verify, r->run);
	assay_text_addf(
		out,
		"Did a change make it faster? Keep a build, change the source, compile, and let both take turns:\n\n"
		"  %s\n  %s\n",
		r->keep, r->compare);
}

static void write_json(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_source *r = &report->source;
	json_t *files = json_array();

	(void)style;
	for (size_t i = 0; i < r->files->n; i++)
		json_array_append_new(files, assay_json_text(r->files->v[i]));
	assay_json_print(json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "op",
				   assay_json_text(r->op), "variant", assay_json_text(r->variant), "files", files,
				   "compile", assay_json_text(r->compile), "compile_installed",
				   assay_json_text(r->compile_installed), "verify", assay_json_text(r->verify), "run",
				   assay_json_text(r->run), "keep", assay_json_text(r->keep), "compare",
				   assay_json_text(r->compare)),
			 out);
}

ASSAY_EMITTER(source_text, ASSAY_REPORT_SOURCE, "text", write_text);
ASSAY_EMITTER(source_json, ASSAY_REPORT_SOURCE, "json", write_json);
