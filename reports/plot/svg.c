/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gnuplot gives all pictures the same ids and fixed colours. Here tags are rewritten: ids get a name of the picture in
 * front, so that a page can hold several, and colours become one notation, by which a style finds them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/plot/program.h"
#include "reports/text_parts.h"

static const char *const properties[] = { "fill", "stroke", "color" };

static void add_style(struct assay_text *out, const char *scope)
{
	struct assay_plot_colour c;

	assay_text_add(out, "@media screen and (prefers-color-scheme: dark) {\n");
	for (size_t i = 0; assay_plot_colour(i, &c); i++)
		for (size_t p = 0; p < sizeof(properties) / sizeof(properties[0]); p++)
			assay_text_addf(out, "%s [%s=\"%s\"] { %s: %s }\n", scope, properties[p], c.light,
					properties[p], c.dark);
	assay_text_add(out, "}\n");
}

void assay_plot_style(struct assay_text *out)
{
	add_style(out, ".assay-plot");
}

/* "rgb( 0, 114, 178)", which ends before the quote at @end, as "#0072b2"; false: it is none. */
static bool add_colour(struct assay_text *out, const char *value, const char *end)
{
	unsigned r, g, b;
	int len = 0;

	if (sscanf(value, "rgb(%u,%u,%u)%n", &r, &g, &b, &len) != 3 || value + len != end)
		return false;
	assay_text_addf(out, "#%02x%02x%02x", r & 255, g & 255, b & 255);
	return true;
}

/* The value of an attribute, up to its closing quote. */
static void add_value(struct assay_text *out, const char *name, size_t len, const char *value, const char *end,
		      const char *id)
{
	bool names = (len == 2 && !strncmp(name, "id", 2));
	bool refers = *value == '#' && len >= 4 && !strncmp(name + len - 4, "href", 4);

	if (add_colour(out, value, end))
		return;
	if (names)
		assay_text_addf(out, "%s-", id);
	if (refers || !strncmp(value, "url(#", 5)) {
		size_t before = refers ? 1 : 5;

		assay_text_addn(out, value, before);
		assay_text_addf(out, "%s-", id);
		value += before;
	}
	assay_text_addn(out, value, (size_t)(end - value));
}

/* A tag from its '<' on; returns what is behind its '>'. */
static const char *add_tag(struct assay_text *out, const char *s, const char *id)
{
	while (*s && *s != '>') {
		const char *name = s, *quote = s + strcspn(s, "'\">"), *end;
		size_t len;

		if (*quote == '>' || !*quote) {
			assay_text_addn(out, s, (size_t)(quote - s));
			s = quote;
			continue;
		}
		end = strchr(quote + 1, *quote);
		if (!end)
			break;
		/* the name stands before " = " or "=" */
		len = (size_t)(quote - s);
		while (len && strchr(" =\n\t", name[len - 1]))
			len--;
		while (len && strchr(" \n\t", *name)) {
			name++;
			len--;
		}
		for (size_t i = len; i-- > 0;)
			if (strchr(" \n\t<", name[i])) {
				name += i + 1;
				len -= i + 1;
				break;
			}
		assay_text_addn(out, s, (size_t)(quote - s));
		assay_text_add(out, "\"");
		add_value(out, name, len, quote + 1, end, id);
		assay_text_add(out, "\"");
		s = end + 1;
	}
	if (*s == '>')
		assay_text_addn(out, s++, 1);
	return s;
}

/* All of an element of no use: gnuplot's own title and description, whose text is not that of the picture. */
static const char *behind(const char *s, const char *end)
{
	const char *at = strstr(s, end);

	return at ? at + strlen(end) : s + strlen(s);
}

static void add_root(const struct assay_plot_finish *f, const char **s, struct assay_text *out)
{
	const char *end = *s + strcspn(*s, ">");

	assay_text_addf(out, "<svg id=\"%s\" class=\"assay-plot\" role=\"img\" aria-label=\"", f->id);
	assay_xml_add(out, f->about);
	assay_text_add(out, "\"");
	assay_text_addn(out, *s + strlen("<svg"), (size_t)(end - *s) - strlen("<svg"));
	assay_text_add(out, ">\n<title>");
	assay_xml_add(out, f->about);
	assay_text_add(out, "</title>\n");
	if (f->style) {
		char scope[80];

		snprintf(scope, sizeof(scope), "#%.70s", f->id);
		assay_text_add(out, "<style>\n");
		add_style(out, scope);
		assay_text_add(out, "</style>\n");
	}
	*s = *end ? end + 1 : end;
}

void assay_plot_finish_svg(const struct assay_plot_finish *f, const char *svg, struct assay_text *out)
{
	const char *s = strstr(svg, "<svg");
	bool root_titled = false;

	if (!s)
		return;
	if (f->head)
		assay_text_add(out, "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"no\"?>\n");
	add_root(f, &s, out);
	while (*s) {
		size_t text = strcspn(s, "<");

		assay_text_addn(out, s, text);
		s += text;
		if (!root_titled && !strncmp(s, "<title>", 7)) {
			s = behind(s, "</title>");
			root_titled = true;
		} else if (!strncmp(s, "<desc>", 6)) {
			s = behind(s, "</desc>");
		} else if (*s) {
			s = add_tag(out, s, f->id);
		}
	}
}
