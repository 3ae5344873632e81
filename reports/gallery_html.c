/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page over a folder of plots of histories. Well-formed XML as well as HTML, and nothing in it is fetched from
 * elsewhere.
 */
#include <math.h>
#include <string.h>

#include "reports/emitter.h"
#include "reports/text_parts.h"

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\"/>\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
	"<title>assay: trends</title>\n"
	"<style>\n"
	"body { font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff; max-width: 62em; margin: 2em "
	"auto; padding: 0 1em; }\n"
	"h1 { font-size: 1.5em; margin-bottom: 0; }\n"
	"p { color: #5f6368; margin-top: 0.3em; }\n"
	"table { border-collapse: collapse; width: 100%; margin: 1.5em 0 2.5em; }\n"
	"th, td { text-align: left; padding: 0.3em 0.8em 0.3em 0; border-bottom: 1px solid #e4e4e4; vertical-align: "
	"top; }\n"
	"th { color: #5f6368; font-weight: 600; }\n"
	"td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }\n"
	"td a { color: #0072b2; overflow-wrap: anywhere; }\n"
	"img { display: block; width: 100%; height: auto; border: 1px solid #e4e4e4; margin: 0 0 1.5em; }\n"
	"</style>\n"
	"</head>\n"
	"<body>\n"
	"<h1>Trends</h1>\n";

/* A relative address. What could end the attribute, start a query or look like a scheme is written as %xx. */
static void add_address(struct assay_text *t, const char *file)
{
	assay_text_add(t, "./");
	for (; *file; file++) {
		unsigned char c = (unsigned char)*file;
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (plain || strchr("-._~/=,+", *file))
			assay_text_addn(t, file, 1);
		else
			assay_text_addf(t, "%%%02X", c);
	}
}

static void add_row(struct assay_text *t, const struct assay_report_picture *l, size_t i)
{
	assay_text_addf(t, "<tr><td><a href=\"#plot-%zu\">", i + 1);
	assay_xml_add(t, l->key);
	assay_text_addf(t, "</a></td><td class=\"n\">%zu</td><td class=\"n\">", l->n_runs);
	assay_xml_add(t, l->last);
	assay_text_add(t, "</td><td class=\"n\">");
	if (isfinite(l->change_frac))
		assay_text_addf(t, "%+.1f %%", l->change_frac * 100);
	else
		assay_text_add(t, "\xe2\x80\x93");
	assay_text_add(t, "</td></tr>\n");
}

static void add_picture(struct assay_text *t, const struct assay_report_picture *l, size_t i)
{
	assay_text_addf(t, "<a id=\"plot-%zu\" href=\"", i + 1);
	add_address(t, l->file);
	assay_text_add(t, "\"><img loading=\"lazy\" src=\"");
	add_address(t, l->file);
	assay_text_add(t, "\" alt=\"runs of ");
	assay_xml_add(t, l->key);
	assay_text_add(t, "\"/></a>\n");
}

static void write_html(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_gallery *g = &r->gallery;

	(void)style;
	assay_text_add(out, head);
	assay_text_add(out, "<p>");
	if (g->machine && g->machine[0]) {
		assay_xml_add(out, g->machine);
		assay_text_add(out, ". ");
	}
	if (g->metric) {
		assay_xml_add(out, g->metric);
		assay_text_add(out, " of each run that has it.</p>\n");
	} else {
		assay_text_add(out, "Time per iteration, median of each run; a positive change is slower than the "
				    "first run.</p>\n");
	}
	if (g->n_pictures) {
		assay_text_add(out, "<table>\n<thead><tr><th>case</th><th class=\"n\">runs</th><th class=\"n\">last"
				    "</th><th class=\"n\">change since the first</th></tr></thead>\n<tbody>\n");
		for (size_t i = 0; i < g->n_pictures; i++)
			add_row(out, &g->pictures[i], i);
		assay_text_add(out, "</tbody>\n</table>\n");
		for (size_t i = 0; i < g->n_pictures; i++)
			add_picture(out, &g->pictures[i], i);
	} else {
		assay_text_add(out, "<p>No run is stored yet: <code>make bench</code> makes one.</p>\n");
	}
	assay_text_add(out, "</body>\n</html>\n");
}

ASSAY_EMITTER(gallery_html, ASSAY_REPORT_GALLERY, "html", write_html);
