/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page over a folder of plots of histories. Well-formed XML as well as HTML, and nothing in it is fetched from
 * elsewhere.
 */
#include <math.h>
#include <string.h>

#include "reports/emitter.h"
#include "reports/page/html.h"
#include "reports/text_parts.h"

static void add_head(struct assay_text *t)
{
	assay_text_add(t, "<!DOCTYPE html>\n"
			  "<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
			  "<head>\n"
			  "<meta charset=\"utf-8\"/>\n"
			  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
			  "<title>assay: trends</title>\n"
			  "<style>\n");
	assay_text_add(t, assay_page_file("page.css"));
	assay_text_add(t, "</style>\n"
			  "</head>\n"
			  "<body>\n"
			  "<h1>Trends</h1>\n");
}

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
	assay_text_add(t, "<tr><td class=\"key\">");
	if (l->file[0])
		assay_text_addf(t, "<a href=\"#plot-%zu\">", i + 1);
	assay_xml_add(t, l->key);
	assay_text_addf(t, "%s</td><td class=\"number\">%zu</td><td class=\"number\">", l->file[0] ? "</a>" : "",
			l->n_runs);
	assay_xml_add(t, l->last);
	assay_text_add(t, "</td><td class=\"number\">");
	if (isfinite(l->change_frac))
		assay_text_addf(t, "%+.1f %%", l->change_frac * 100);
	else
		assay_text_add(t, "\xe2\x80\x93");
	assay_text_add(t, "</td></tr>\n");
}

static void add_picture(struct assay_text *t, const struct assay_report_picture *l, size_t i)
{
	if (!l->file[0])
		return;
	assay_text_addf(t, "<a class=\"picture\" id=\"plot-%zu\" href=\"", i + 1);
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
	add_head(out);
	assay_text_add(out, "<p>");
	if (g->machine && g->machine[0]) {
		assay_xml_add(out, g->machine);
		assay_text_add(out, ". ");
	}
	if (g->metric) {
		assay_xml_add(out, g->metric);
		assay_text_add(out, " of each run that has it.</p>\n");
	} else {
		assay_text_add(
			out,
			"Time per call, median of each run; a positive change is slower than the first run.</p>\n");
	}
	if (g->n_pictures) {
		assay_text_add(
			out, "<table>\n<thead><tr><th>case</th><th class=\"number\">runs</th><th class=\"number\">last"
			     "</th><th class=\"number\">change since the first</th></tr></thead>\n<tbody>\n");
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
