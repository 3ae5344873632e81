/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run or a comparison as one HTML file. What a reader must see first stands in the page as text; the rest is made by
 * the script of the page from the JSON that it carries. Template, style and script are the files of reports/html.
 */
#include "reports/page_html.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/emitter.h"
#include "reports/gate_words.h"
#include "reports/flame_svg.h"
#include "reports/page_data.h"
#include "reports/page_template.h"
#include "reports/text_parts.h"

static const struct {
	const char *name, *text;
} files[] = {
#include "report_page.h"
};

const char *assay_page_file(const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].name, name))
			return files[i].text;
	return "";
}

/* ---- what stands above the table ---- */

static void add_title(const struct assay_report_page *p, struct assay_text *out)
{
	if (p->run)
		assay_text_addf(out, "Run %" PRId64 " of suite %s", p->run->id, p->run->suite);
	else
		assay_text_addf(out, "Comparison %" PRId64 ": %s against %s", p->comparison->cmp->id,
				p->comparison->cmp->head, p->comparison->cmp->base);
}

static void write_title(const struct assay_report_page *p, struct assay_text *out)
{
	struct assay_text title = { 0 };

	add_title(p, &title);
	out->failed |= title.failed;
	if (title.s)
		assay_xml_add(out, title.s);
	assay_text_release(&title);
}

/* The verdict of the whole; of a run that was not judged what became of its cases. */
static const char *verdict_name(const struct assay_report_page *p)
{
	enum assay_exit worst = ASSAY_EXIT_OK;

	if (p->gate)
		return assay_verdict_name(p->gate->verdict);
	for (size_t i = 0; i < p->run->n_results; i++)
		worst = assay_exit_worse(worst, assay_exit_of_status(p->run->results[i].status));
	return worst == ASSAY_EXIT_WRONG_RESULT   ? assay_verdict_name(ASSAY_WRONG_RESULT)
	       : worst == ASSAY_EXIT_NOT_MEASURED ? assay_verdict_name(ASSAY_NOT_MEASURED)
						  : "NOT_JUDGED";
}

static void write_verdict(const struct assay_report_page *p, struct assay_text *out)
{
	assay_text_add(out, verdict_name(p));
}

static void write_sentence(const struct assay_report_page *p, struct assay_text *out)
{
	assay_text_add(out, p->gate ? assay_gate_words_sentence(p->gate)
				    : "Speed was not judged, only whether each case was measured and right");
}

static void write_headline(const struct assay_report_page *p, struct assay_text *out)
{
	struct assay_text t = { 0 };
	const char *text;

	if (!p->gate)
		return;
	assay_gate_words_headline(p->gate, &t);
	out->failed |= t.failed;
	/* it goes on behind the name of the verdict */
	text = t.s ? t.s + strspn(t.s, ":, ") : "";
	assay_xml_add(out, text);
	assay_text_release(&t);
}

static void write_notes(const struct assay_report_page *p, struct assay_text *out)
{
	if (p->gate && p->gate->untrusted) {
		assay_text_add(out, "<p class=\"note\">");
		assay_xml_add(out, assay_gate_words_untrusted);
		assay_text_add(out, "</p>\n");
	}
	for (size_t i = 0; p->notes && i < p->notes->n; i++) {
		assay_text_add(out, "<p class=\"note\">");
		assay_xml_add(out, p->notes->v[i]);
		assay_text_add(out, "</p>\n");
	}
}

/* What stands between the first and the last single quote is a command. */
static void add_with_command(const char *s, struct assay_text *out)
{
	const char *from = strchr(s, '\''), *to = from ? strrchr(s, '\'') : NULL;
	struct assay_text part = { 0 };

	if (to == from) {
		assay_xml_add(out, s);
		return;
	}
	assay_text_addn(&part, s, (size_t)(from - s));
	assay_text_addn(&part, "", 1);
	assay_text_addn(&part, from + 1, (size_t)(to - from) - 1);
	if (!part.failed) {
		assay_xml_add(out, part.s);
		assay_text_add(out, "<code>");
		assay_xml_add(out, part.s + (from - s) + 1);
		assay_text_add(out, "</code>");
		assay_xml_add(out, to + 1);
	}
	out->failed |= part.failed;
	assay_text_release(&part);
}

static void write_next(const struct assay_report_page *p, struct assay_text *out)
{
	const char *next = p->next;
	size_t word;

	if (!next)
		return;
	/* the "next: " or "why: " of the terminal has its place in the title of the line */
	word = strspn(next, "abcdefghijklmnopqrstuvwxyz");
	if (!strncmp(next + word, ": ", 2))
		next += word + 2;
	assay_text_add(out, "<p class=\"next\"><strong>What to do next</strong> ");
	add_with_command(next, out);
	assay_text_add(out, "</p>\n");
}

/* ---- pictures of the whole, which gnuplot draws ---- */

/* As an address that holds what it names. */
static void add_data_address(const char *svg, struct assay_text *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -._~/=,+:;()!*'";

	assay_text_add(out, "data:image/svg+xml,");
	while (*svg) {
		size_t len = strspn(svg, plain);

		assay_text_addn(out, svg, len);
		svg += len;
		if (*svg)
			assay_text_addf(out, "%%%02X", (unsigned char)*svg++);
	}
}

/* One line says why a picture is not there. */
static void write_plots(const struct assay_report_page *p, struct assay_text *out)
{
	const struct assay_plot roofline = { .kind = ASSAY_PLOT_ROOFLINE, .run = { .run = p->run } };
	const struct assay_plot comparison = {
		.kind = ASSAY_PLOT_COMPARISON,
		.comparison = { .gate = p->gate, .machine = p->run ? NULL : p->comparison->cmp->machine.label }
	};
	const struct assay_plot_options options = { 0 };
	struct assay_text svg = { 0 };
	struct assay_err err = { 0 };
	int rc = assay_plot_probe(&err);

	assay_text_addf(out, "<section id=\"plots\">\n<h2>%s</h2>\n", p->run ? "Roofline" : "All changes");
	if (!rc)
		rc = assay_plot_svg(p->run ? &roofline : &comparison, &options, &svg, &err);
	if (!rc) {
		assay_text_addf(
			out, "<img alt=\"%s\" src=\"",
			p->run ? "Rate of each case over its operations per byte, below the limits of the machine; "
				 "the table has the same shares"
			       : "Change of each case with its interval and margin; the table has the same numbers");
		add_data_address(svg.s, out);
		assay_text_add(out, "\"/>\n");
	} else {
		assay_text_add(out, "<p class=\"muted\">Not drawn: ");
		assay_xml_add(out, err.text);
		assay_text_add(out, "</p>\n");
	}
	assay_text_add(out, "</section>\n");
	out->failed |= svg.failed || rc == ASSAY_ENOMEM;
	assay_text_release(&svg);
}

/* ---- profiles of its cases, which the page of the case takes to itself ---- */

static void write_profiles(const struct assay_report_page *p, struct assay_text *out)
{
	for (size_t i = 0; i < p->n_profiles; i++) {
		assay_text_add(out, "<figure class=\"profile\" hidden");
		assay_xml_attribute(out, "data-case", p->profiles[i].what);
		assay_text_add(out, ">\n");
		assay_flame_svg(&p->profiles[i], NULL, true, out);
		assay_text_add(out, "</figure>\n");
	}
}

/* ---- the template ---- */

/* Plots that gnuplot drew are pictures within the page. */
static void write_images(const struct assay_report_page *p, struct assay_text *out)
{
	(void)p;
	assay_text_add(out, "img-src data:; ");
}

static void write_style(const struct assay_report_page *p, struct assay_text *out)
{
	(void)p;
	assay_text_add(out, assay_page_file("page.css"));
}

static void write_script(const struct assay_report_page *p, struct assay_text *out)
{
	(void)p;
	assay_text_add(out, assay_page_file("page.js"));
}

/* Digests are a line each. */
static void write_style_digest(const struct assay_report_page *p, struct assay_text *out)
{
	(void)p;
	assay_text_addn(out, assay_page_file("page.css.sha256"), strcspn(assay_page_file("page.css.sha256"), "\n"));
}

static void write_script_digest(const struct assay_report_page *p, struct assay_text *out)
{
	(void)p;
	assay_text_addn(out, assay_page_file("page.js.sha256"), strcspn(assay_page_file("page.js.sha256"), "\n"));
}

static const struct {
	const char *name;
	void (*write)(const struct assay_report_page *p, struct assay_text *out);
} parts[] = {
	{ "title", write_title },       { "verdict", write_verdict },
	{ "sentence", write_sentence }, { "headline", write_headline },
	{ "notes", write_notes },       { "next", write_next },
	{ "plots", write_plots },       { "images", write_images },
	{ "style", write_style },       { "style_digest", write_style_digest },
	{ "script", write_script },     { "script_digest", write_script_digest },
	{ "profiles", write_profiles }, { "data", assay_page_data },
};

static void write_part(const void *of, const char *name, size_t len, struct assay_text *out)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strlen(parts[i].name) == len && !strncmp(parts[i].name, name, len)) {
			parts[i].write(of, out);
			return;
		}
	/* a name that the template has and nobody writes */
	out->failed = true;
}

static void write_html(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_page_fill(assay_page_file("page.html"), write_part, &r->page, out);
}

ASSAY_EMITTER(page_html, ASSAY_REPORT_PAGE, "html", write_html);
