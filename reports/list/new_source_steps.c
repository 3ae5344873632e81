/* SPDX-License-Identifier: Apache-2.0 */
/* The files that `assay new` and `assay init` wrote and the commands that come next, for people and for scripts. */
#include "model/quantity.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"

static void write_names(const struct assay_new_result *r, struct assay_text *out)
{
	for (size_t i = 0; i < r->files.n; i++)
		assay_text_addf(out, "wrote %s\n", r->files.v[i]);
}

/* Lines that the user has to add to existing files. */
static void write_lines(const struct assay_new_result *r, struct assay_text *out)
{
	for (size_t i = 0; i < r->add_to.n; i++)
		assay_text_addf(out, "%sadd this line to %s:  %s\n", i ? "" : "\n", r->add_to.v[i], r->add.v[i]);
}

static json_t *texts_json(const struct assay_strings *l)
{
	json_t *all = json_array();

	for (size_t i = 0; i < l->n; i++)
		json_array_append_new(all, assay_json_text(l->v[i]));
	return all;
}

static json_t *lines_json(const struct assay_new_result *r)
{
	json_t *lines = json_array();

	for (size_t i = 0; i < r->add_to.n; i++)
		json_array_append_new(lines, json_pack("{s:o,s:o}", "file", assay_json_text(r->add_to.v[i]), "line",
						       assay_json_text(r->add.v[i])));
	return lines;
}

static void write_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_new_result *r = report->source;

	(void)style;
	write_names(r, out);
	write_lines(r, out);
	if (r->compile_installed)
		assay_text_addf(out,
				"\nCompile it with the headers of this program, or with those of an installed one:\n\n"
				"  %s\n  %s\n\n",
				r->compile, r->compile_installed);
	else
		assay_text_addf(out, "\nBuild it:\n\n  %s\n\n", r->compile);
	if (r->variant)
		assay_text_addf(out,
				"Is it right? Write the body of work() first: as it is, this says wrong.\n\n  %s\n\n"
				"How fast is it, beside the other variants?\n\n  %s\n\n",
				r->verify, r->run);
	else
		assay_text_addf(out, "Is it right? As it is, this says ok.\n\n  %s\n\nHow fast is it?\n\n  %s\n\n",
				r->verify, r->run);
	assay_text_addf(out, "Did a change make it faster? %s, and let both take turns:\n\n  %s\n  %s\n",
			r->compile_installed ? "Keep a build, change the source, compile" : "Commit, change the source",
			r->keep, r->compare);
}

static void write_json(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_new_result *r = report->source;
	(void)style;
	assay_json_print(json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "op",
				   assay_json_text(r->op), "variant", assay_json_text(r->variant), "files",
				   texts_json(&r->files), "add", lines_json(r), "compile", assay_json_text(r->compile),
				   "compile_installed", assay_json_text(r->compile_installed), "verify",
				   assay_json_text(r->verify), "run", assay_json_text(r->run), "keep",
				   assay_json_text(r->keep), "compare", assay_json_text(r->compare)),
			 out);
}

/* Of a program: what was found, and what comes next. */
static void write_program_text(const struct assay_new_result *r, const struct assay_emit_style *style,
			       struct assay_text *out)
{
	char seconds[32];

	assay_quantity_text(r->ran_s, "s", style->utf8, seconds, sizeof(seconds));
	write_names(r, out);
	write_lines(r, out);
	assay_text_addf(out, "\n%s", r->variant);
	if (r->ran_s > 0)
		assay_text_addf(out, " ran for %s and exited with 0", seconds);
	else
		assay_text_add(out, " reported its benchmarks");
	assay_text_addf(out, "; what a gate measures:\n");
	for (size_t i = 0; i < r->cases.n; i++)
		assay_text_addf(out, "  %s\n", r->cases.v[i]);
	assay_text_addf(out,
			"\nNext:\n\n"
			"  %s\n"
			"      later changes are compared with this commit\n"
			"  %s\n"
			"      how long does it take?\n"
			"  %s\n"
			"      what a pull request must pass\n",
			r->keep, r->run, r->gate);
}

static void write_program_json(const struct assay_new_result *r, struct assay_text *out)
{
	assay_json_print(json_pack("{s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o}", "schema", 1, "program",
				   assay_json_text(r->variant), "files", texts_json(&r->files), "add", lines_json(r),
				   "cases", texts_json(&r->cases), "keep", assay_json_text(r->keep), "run",
				   assay_json_text(r->run), "gate", assay_json_text(r->gate)),
			 out);
}

static void write_repository_text(const struct assay_report *report, const struct assay_emit_style *style,
				  struct assay_text *out)
{
	const struct assay_new_result *r = report->source;

	if (!r->op) {
		write_program_text(r, style, out);
		return;
	}
	write_names(r, out);
	write_lines(r, out);
	assay_text_addf(out,
			"\n%s/%s in %s is %s\n\n"
			"  %s && %s\n"
			"      builds it: is it right?\n"
			"  %s\n"
			"      how fast is it, beside the other variants?\n"
			"  %s\n"
			"      what a pull request must pass\n",
			r->op, r->variant, r->files.v[0],
			r->right ? "simple, and right as it is. Next:"
				 : "yet to be written: fill in the body of work(), which is wrong as it is. Next:",
			r->compile, r->verify, r->run, r->gate);
}

static void write_repository_json(const struct assay_report *report, const struct assay_emit_style *style,
				  struct assay_text *out)
{
	const struct assay_new_result *r = report->source;

	(void)style;
	if (!r->op) {
		write_program_json(r, out);
		return;
	}
	assay_json_print(json_pack("{s:i,s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:o,s:o}", "schema", 1, "op",
				   assay_json_text(r->op), "variant", assay_json_text(r->variant), "files",
				   texts_json(&r->files), "add", lines_json(r), "right", r->right, "compile",
				   assay_json_text(r->compile), "verify", assay_json_text(r->verify), "run",
				   assay_json_text(r->run), "gate", assay_json_text(r->gate)),
			 out);
}

ASSAY_EMITTER(repository_text, ASSAY_REPORT_REPOSITORY, "text", write_repository_text);
ASSAY_EMITTER(repository_json, ASSAY_REPORT_REPOSITORY, "json", write_repository_json);
ASSAY_EMITTER(source_text, ASSAY_REPORT_SOURCE, "text", write_text);
ASSAY_EMITTER(source_json, ASSAY_REPORT_SOURCE, "json", write_json);
