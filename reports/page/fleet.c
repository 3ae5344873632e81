/* SPDX-License-Identifier: Apache-2.0 */
/* The matrix of a fleet as one HTML file: its beginning as text, the rest made by the script of the page. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "reports/emitter.h"
#include "reports/json_parts.h"
#include "reports/page/data.h"
#include "reports/page/template.h"
#include "reports/text_parts.h"

/* So many machines are named in a sentence; more are counted. */
#define MOST_NAMES 3

static void add_about(const struct assay_fleet_report *f, struct assay_text *out)
{
	char when[64];

	if (f->base[0]) {
		assay_text_add(out, ", ");
		assay_xml_add(out, f->head);
		assay_text_add(out, " against ");
		assay_xml_add(out, f->base);
	}
	if (f->started_ns) {
		assay_when_text(f->started_ns, when, sizeof(when));
		assay_text_addf(out, ", %s", when);
	}
}

/* "NOT_MEASURED on n2, PASS on 7 machines", the gravest first. */
static void add_sentence(const struct assay_fleet_report *f, struct assay_text *out)
{
	enum assay_verdict left[ASSAY_N_VERDICTS];
	size_t n_left = 0;
	const char *comma = "";

	for (int v = 0; v < ASSAY_N_VERDICTS; v++)
		left[n_left++] = (enum assay_verdict)v;
	while (n_left) {
		size_t at = 0, n = 0, named = 0;

		for (size_t i = 1; i < n_left; i++)
			if (assay_verdict_worse(left[at], left[i]) != left[at])
				at = i;
		for (size_t k = 0; k < f->n_machines; k++)
			n += f->machines[k].verdict == left[at];
		if (n)
			assay_text_addf(out, "%s%s on ", comma, assay_verdict_name(left[at]));
		if (n > MOST_NAMES)
			assay_text_addf(out, "%zu machines", n);
		for (size_t k = 0; k < f->n_machines && n && n <= MOST_NAMES; k++)
			if (f->machines[k].verdict == left[at]) {
				assay_text_add(out, !named ? "" : named + 1 < n ? ", " : " and ");
				assay_xml_add(out, f->machines[k].name);
				named++;
			}
		if (n)
			comma = "; ";
		left[at] = left[--n_left];
	}
	if (!f->n_machines)
		assay_text_add(out, "No machine took part");
}

/* The verdict of the gravest node, and the promise of a gate. */
static void add_headline(const struct assay_fleet_report *f, struct assay_text *out)
{
	for (size_t k = 0; k < f->n_machines; k++) {
		const struct assay_fleet_machine *m = &f->machines[k];

		if (m->verdict != f->verdict || !m->reason[0])
			continue;
		assay_text_add(out, "<p class=\"headline\">");
		assay_xml_add(out, m->name);
		assay_text_add(out, ": ");
		assay_xml_add(out, m->reason);
		assay_text_add(out, ".</p>\n");
		break;
	}
	if (f->base[0])
		assay_text_addf(
			out,
			"<p class=\"headline\">Of such gates over unchanged code, at most %.3g %% fail on any of "
			"these machines.</p>\n",
			100 * f->alpha);
}

static void add_next(const struct assay_fleet_report *f, struct assay_text *out)
{
	const struct assay_fleet_machine *worst = NULL;

	for (size_t k = 0; k < f->n_machines && !worst; k++)
		if (f->machines[k].verdict == f->verdict)
			worst = &f->machines[k];
	if (!worst || f->verdict == ASSAY_PASS || f->verdict == ASSAY_IMPROVED)
		return;
	assay_text_add(out, "<p class=\"next\"><strong>Next step</strong> ");
	if (worst->comparison)
		assay_text_addf(out, "<code>assay show c%" PRId64 "</code> has the details.", worst->comparison);
	else if (worst->run)
		assay_text_addf(out, "<code>assay show r%" PRId64 "</code> has the details.", worst->run);
	else
		assay_text_add(out, "The same command measures what is missing, and keeps what is measured.");
	assay_text_add(out, "</p>\n");
}

static bool write_part(const void *of, const char *name, struct assay_text *out)
{
	const struct assay_fleet_report *f = of;

	if (!strcmp(name, "title")) {
		assay_text_add(out, "Suite ");
		assay_xml_add(out, f->suite);
		assay_text_addf(out, " on %zu machine%s of ", f->n_machines, f->n_machines == 1 ? "" : "s");
		assay_xml_add(out, f->partition);
	} else if (!strcmp(name, "about")) {
		add_about(f, out);
	} else if (!strcmp(name, "verdict")) {
		assay_text_add(out, assay_verdict_name(f->verdict));
	} else if (!strcmp(name, "sentence")) {
		add_sentence(f, out);
	} else if (!strcmp(name, "headline")) {
		add_headline(f, out);
	} else if (!strcmp(name, "next")) {
		add_next(f, out);
	} else if (!strcmp(name, "data")) {
		assay_page_json(assay_json_fleet(f), out);
	} else {
		/* nothing is profiled or noted of a fleet */
		return !strcmp(name, "notes") || !strcmp(name, "profiles");
	}
	return true;
}

static void fleet_html(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_page_fill(assay_page_of_results, write_part, r->fleet, out);
}

ASSAY_EMITTER(fleet_html, ASSAY_REPORT_FLEET, "html", fleet_html);
