/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run or a comparison as one HTML file. What a reader must see first stands in the page as text; the rest is made by
 * the script of the page from the JSON that it carries. Template, style and script are the files of reports/page/web.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/emitter.h"
#include "reports/gate/words.h"
#include "reports/page/data.h"
#include "reports/page/template.h"
#include "reports/profile/flame_svg.h"
#include "reports/text_parts.h"

/* ---- what stands above the table ---- */

static void add_title(const struct assay_result_page *p, struct assay_text *out)
{
	if (p->of_run)
		assay_text_addf(out, "Run %" PRId64 " of suite %s", p->run.id, p->run.suite);
	else
		assay_text_addf(out, "Comparison %" PRId64 ": %s against %s", p->comparison.cmp.id,
				p->comparison.cmp.head, p->comparison.cmp.base);
}

/* Where and when, behind the title. */
static void write_about(const struct assay_result_page *p, struct assay_text *out)
{
	const char *machine = p->of_run ? p->run.machine.label : p->comparison.cmp.machine.label;
	const uint64_t started_ns = p->of_run ? p->run.started_ns : p->comparison.cmp.started_ns;
	char when[32];

	if (machine[0]) {
		assay_text_add(out, " on ");
		assay_xml_add(out, machine);
	}
	if (p->of_run && p->run.started_unknown)
		return;
	assay_when_text(started_ns, when, sizeof(when));
	assay_text_addf(out, ", %s", when);
}

static void write_title(const struct assay_result_page *p, struct assay_text *out)
{
	struct assay_text title = { 0 };

	add_title(p, &title);
	out->failed |= title.failed;
	if (title.s)
		assay_xml_add(out, title.s);
	assay_text_release(&title);
}

/* The verdict of the whole; of a run that was not judged what became of its cases. */
static const char *verdict_name(const struct assay_result_page *p)
{
	enum assay_exit worst = ASSAY_EXIT_OK;

	if (p->judged)
		return assay_verdict_name(p->gate.verdict);
	for (size_t i = 0; i < p->run.n_results; i++)
		worst = assay_exit_worse(worst, assay_exit_of_status(p->run.results[i].status));
	return worst == ASSAY_EXIT_WRONG_RESULT   ? assay_verdict_name(ASSAY_WRONG_RESULT)
	       : worst == ASSAY_EXIT_NOT_MEASURED ? assay_verdict_name(ASSAY_NOT_MEASURED)
						  : "NOT_JUDGED";
}

static void write_verdict(const struct assay_result_page *p, struct assay_text *out)
{
	assay_text_add(out, verdict_name(p));
}

/* ", " and " and " between what is there. */
static void add_part(struct assay_text *t, const char *between, size_t n, const char *what)
{
	if (n)
		assay_text_addf(t, "%s%zu %s", t->len ? between : "", n, what);
}

/* "81 cases measured, all correct", or how many were not: of a run, unless a verdict says more. */
static void add_run_sentence(const struct assay_run *run, struct assay_text *t)
{
	size_t n[ASSAY_N_STATUS] = { 0 };

	for (size_t i = 0; i < run->n_results; i++)
		n[run->results[i].status]++;
	add_part(t, "", n[ASSAY_STATUS_OK], n[ASSAY_STATUS_OK] == 1 ? "case measured" : "cases measured");
	add_part(t, ", ", n[ASSAY_STATUS_WRONG], "with a wrong result");
	add_part(t, ", ", run->n_results - n[ASSAY_STATUS_OK] - n[ASSAY_STATUS_WRONG] - n[ASSAY_STATUS_SKIPPED],
		 "failed");
	if (!t->len)
		assay_text_add(t, "No case was measured");
	else if (n[ASSAY_STATUS_OK] + n[ASSAY_STATUS_SKIPPED] == run->n_results && !assay_run_is_imported(run))
		assay_text_add(t, n[ASSAY_STATUS_OK] == 1 ? ", and it is correct" : ", all of them correct");
}

static void write_sentence(const struct assay_result_page *p, struct assay_text *out)
{
	const bool judged =
		p->judged && p->gate.n_cases && !(p->gate.no_baseline && p->gate.verdict == ASSAY_INCOMPARABLE);
	struct assay_text t = { 0 };

	if (p->of_run && !judged)
		add_run_sentence(&p->run, &t);
	else
		assay_gate_words_sentence(&p->gate, &t);
	assay_xml_add(out, t.s ? t.s : "");
	out->failed |= t.failed;
	assay_text_release(&t);
}

static void add_paragraph(const char *s, struct assay_text *out)
{
	assay_text_add(out, "<p class=\"headline\">");
	assay_xml_add(out, s);
	assay_text_add(out, "</p>\n");
}

/* Why the first case changed, and how sure that is. */
static void add_reasons(const struct assay_gate_report *r, struct assay_text *out)
{
	const struct assay_gate_case *worst = assay_gate_words_worst(r);
	struct assay_text sure = { 0 };
	struct assay_gate_words w;
	char line[192];

	if (!worst || r->verdict == ASSAY_PASS)
		return;
	if (worst->because.asked && worst->because.text[0]) {
		snprintf(line, 2, "%c", worst->because.text[0] == 'b' ? 'B' : worst->because.text[0]);
		assay_text_addf(&sure, "%s%s.", line, worst->because.text + 1);
		add_paragraph(sure.s ? sure.s : "", out);
		out->failed |= sure.failed;
		assay_text_release(&sure);
	}
	assay_gate_words_of(worst, &w);
	assay_text_addf(&sure, "How sure: %s", w.interval[0] ? w.interval : worst->reason);
	if (worst->pairs)
		assay_text_addf(&sure, " over %zu pair%s of processes", worst->pairs, worst->pairs == 1 ? "" : "s");
	assay_text_addf(&sure, " (%s)", worst->key);
	if (r->alpha > 0 && r->alpha < 1)
		assay_text_addf(&sure, "; of comparisons of unchanged code, at most %.3g %% fail", 100 * r->alpha);
	if (r->n_controls) {
		assay_gate_words_controls(r, line, sizeof(line));
		assay_text_addf(&sure, "; self-checks: %s", line);
	}
	assay_text_add(&sure, ".");
	add_paragraph(sure.s ? sure.s : "", out);
	out->failed |= sure.failed;
	assay_text_release(&sure);
}

/* The runs that a run was held against. */
static void add_base(const struct assay_gate_report *r, struct assay_text *out)
{
	struct assay_text t = { 0 };

	if (!r->no_baseline)
		assay_text_addf(&t, "Compared with %s.", r->base);
	else if (r->verdict == ASSAY_INCOMPARABLE)
		assay_text_addf(&t, "Times are not judged, because no baseline is stored%s%s.",
				r->base[0] ? "; exact counts were compared with " : "", r->base);
	if (t.len)
		add_paragraph(t.s, out);
	out->failed |= t.failed;
	assay_text_release(&t);
}

static void write_headline(const struct assay_result_page *p, struct assay_text *out)
{
	char doubt[192];

	if (!p->judged)
		return;
	if (!p->of_run)
		add_reasons(&p->gate, out);
	else
		add_base(&p->gate, out);
	assay_gate_words_doubt(&p->gate, doubt, sizeof(doubt));
	if (doubt[0])
		add_paragraph(doubt, out);
}

static void write_notes(const struct assay_result_page *p, struct assay_text *out)
{
	if (p->judged && p->gate.untrusted) {
		assay_text_add(out, "<p class=\"note\">");
		assay_xml_add(out, assay_gate_words_untrusted);
		assay_text_add(out, "</p>\n");
	}
	for (size_t i = 0; i < p->notes.n; i++) {
		assay_text_add(out, "<p class=\"note\">");
		assay_xml_add(out, p->notes.v[i]);
		assay_text_add(out, "</p>\n");
	}
}

/* The text between the first and the last single quote is a command. */
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

static void write_next(const struct assay_result_page *p, struct assay_text *out)
{
	const char *next = p->next.s;
	size_t word;

	if (!next)
		return;
	/* the "next: " or "why: " of the terminal has its place in the title of the line */
	word = strspn(next, "abcdefghijklmnopqrstuvwxyz");
	if (!strncmp(next + word, ": ", 2))
		next += word + 2;
	assay_text_add(out, "<p class=\"next\"><strong>Next step</strong> ");
	add_with_command(next, out);
	assay_text_add(out, "</p>\n");
}

/* ---- profiles of its cases, which the page of the case takes to itself ---- */

static void write_profiles(const struct assay_result_page *p, struct assay_text *out)
{
	for (size_t i = 0; i < p->n_profiles; i++) {
		assay_text_add(out, "<figure class=\"profile\" hidden");
		assay_xml_attribute(out, "data-case", p->profiles[i].what);
		assay_text_add(out, "><div class=\"scroll graph\">\n");
		assay_flame_svg(&p->profiles[i], NULL, true, out);
		assay_text_add(out, "</div></figure>\n");
	}
}

/* ---- the template ---- */

static const struct {
	const char *name;
	void (*write)(const struct assay_result_page *p, struct assay_text *out);
} parts[] = {
	{ "title", write_title },       { "verdict", write_verdict },   { "sentence", write_sentence },
	{ "headline", write_headline }, { "notes", write_notes },       { "next", write_next },
	{ "about", write_about },       { "profiles", write_profiles }, { "data", assay_page_data },
};

static bool write_part(const void *of, const char *name, struct assay_text *out)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strcmp(parts[i].name, name)) {
			parts[i].write(of, out);
			return true;
		}
	return false;
}

static void write_html(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_page_fill(assay_page_of_results, write_part, r->page, out);
}

ASSAY_EMITTER(page_html, ASSAY_REPORT_PAGE, "html", write_html);
