/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gnuplot writes fixed colours and a title of its own. Here colours become one notation, by which a style finds them
 * and turns the picture dark, and the picture gets its title.
 */
#include <stdio.h>
#include <string.h>

#include "reports/plot/program.h"
#include "reports/text_parts.h"

static void add_style(struct assay_text *out)
{
	static const char *const properties[] = { "fill", "stroke", "color" };
	struct assay_plot_colour c;

	assay_text_add(out, "<style>\n@media screen and (prefers-color-scheme: dark) {\n");
	for (size_t i = 0; assay_plot_colour(i, &c); i++)
		for (size_t p = 0; p < sizeof(properties) / sizeof(properties[0]); p++)
			assay_text_addf(out, ".assay-plot [%s=\"%s\"] { %s: %s }\n", properties[p], c.light,
					properties[p], c.dark);
	assay_text_add(out, "}\n</style>\n");
}

/* Add the value "rgb( 0, 114, 178)", whose quote is at @s, as "#0072b2". Returns its length, 0 where it is none. */
static size_t add_colour(struct assay_text *out, const char *s)
{
	unsigned r, g, b;
	int len = 0;

	if (sscanf(s + 1, "rgb(%u,%u,%u)%n", &r, &g, &b, &len) != 3 || !len || s[1 + len] != *s)
		return 0;
	assay_text_addf(out, "\"#%02x%02x%02x\"", r & 255, g & 255, b & 255);
	return (size_t)len + 2;
}

/* The root element with the title, in place of gnuplot's, which tells its version. Returns what follows in @s. */
static const char *add_root(const char *about, bool style, const char *s, struct assay_text *out)
{
	const char *end = s + strcspn(s, ">"), *desc = strstr(end, "</desc>");

	assay_text_add(out, "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"no\"?>\n"
			    "<svg class=\"assay-plot\" role=\"img\" aria-label=\"");
	assay_xml_add(out, about);
	assay_text_add(out, "\"");
	assay_text_addn(out, s + strlen("<svg"), (size_t)(end - s) - strlen("<svg"));
	assay_text_add(out, ">\n<title>");
	assay_xml_add(out, about);
	assay_text_add(out, "</title>\n");
	if (style)
		add_style(out);
	return desc ? desc + strlen("</desc>") : *end ? end + 1 : end;
}

void assay_plot_finish_svg(const char *about, bool style, const char *svg, struct assay_text *out)
{
	const char *s = strstr(svg, "<svg");
	bool in_tag = false;

	if (!s)
		return;
	s = add_root(about, style, s, out);
	while (*s) {
		size_t len = in_tag && (*s == '"' || *s == '\'') ? add_colour(out, s) : 0;

		/* colours stand in attributes only: a name in the picture that looks like one stays */
		if (!len) {
			in_tag = *s == '<' || (in_tag && *s != '>');
			len = 1 + strcspn(s + 1, "<>\"'");
			assay_text_addn(out, s, len);
		}
		s += len;
	}
}
