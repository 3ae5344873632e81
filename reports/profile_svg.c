/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as one SVG. It is whole without its script, which adds zoom, search, filter, colours and keys. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "reports/flame_tree.h"
#include "reports/profile_parts.h"
#include "reports/text_parts.h"

#define PICTURE_WIDTH 1200
#define LEFT          10
#define ROW           18
#define HEAD          58
#define FOOT          30
#define LETTER        7.25
#define LEAST_SHARE   2e-5 /* of a frame that is written */

struct drawing {
	const struct assay_profile *p;
	const struct assay_flame_tree *t;
	struct assay_text *out;
	uint32_t *number; /* of each node among those written */
	uint32_t n;
	double all; /* width of the picture */
	int height;
};

static const struct {
	const char *name, *text;
} files[] = {
#include "flame_files.h"
};

static const char *file_text(const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].name, name))
			return files[i].text;
	return "";
}

static const char *const kinds[] = { "code", "inlined", "label" };

/* "name (object, file:12)", and a line of numbers. */
static void add_title(struct drawing *d, const struct assay_flame_node *n)
{
	const struct assay_frame *f = n->frame;
	struct assay_text text = { 0 };

	assay_text_add(&text, f ? assay_profile_name(f->name) : "all");
	if (f && f->kind != ASSAY_FRAME_LABEL) {
		assay_text_addf(&text, " (%s%s", f->kind == ASSAY_FRAME_INLINED ? "inlined, " : "",
				f->object[0] ? f->object : "unknown object");
		if (f->line)
			assay_text_addf(&text, ", %s:%u", f->file, f->line);
		assay_text_add(&text, ")");
	}
	assay_text_addf(&text, "\n%.2f %% of %" PRIu64 " %s", d->all > 0 ? 100 * (double)n->weight / d->all : 0,
			d->p->stacks.weight, d->p->unit);
	assay_xml_add(d->out, text.s ? text.s : "");
	d->out->failed |= text.failed;
	assay_text_release(&text);
}

static void add_node(struct drawing *d, uint32_t at, double x)
{
	const struct assay_flame_node *n = &d->t->nodes[at];
	const double share = d->all > 0 ? (double)n->weight / d->all : 0, width = share * (PICTURE_WIDTH - 2 * LEFT);
	const int y = d->height - FOOT - ROW * ((int)n->depth + 1), room = (int)((width - 6) / LETTER);
	const char *name = n->frame ? assay_profile_name(n->frame->name) : "all";
	struct assay_text cut = { 0 };

	d->number[at] = d->n++;
	assay_text_addf(d->out, "<g class=\"f\" data-p=\"%u\" data-w=\"%" PRIu64 "\" data-k=\"%s\"",
			at ? d->number[n->parent] : 0, n->weight, kinds[n->frame ? n->frame->kind : ASSAY_FRAME_LABEL]);
	assay_xml_attribute(d->out, "data-n", name);
	if (n->frame)
		assay_xml_attribute(d->out, "data-o", n->frame->object);
	assay_text_add(d->out, "><title>");
	add_title(d, n);
	assay_text_addf(d->out,
			"</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>"
			"<text x=\"%.2f\" y=\"%d\">",
			LEFT + x, y, width > 0.1 ? width : 0.1, ROW - 1,
			n->frame && n->frame->kind != ASSAY_FRAME_LABEL ? "#f2b36b" : "#b8c4d0", LEFT + x + 3,
			y + ROW - 5);
	if (room >= 3 && strlen(name) <= (size_t)room) {
		assay_xml_add(d->out, name);
	} else if (room >= 3) {
		size_t len = (size_t)room - 2;

		while (len && ((unsigned char)name[len] & 0xc0) == 0x80)
			len--; /* between characters */
		assay_text_addn(&cut, name, len);
		assay_text_add(&cut, "..");
		assay_xml_add(d->out, cut.s ? cut.s : "");
		d->out->failed |= cut.failed;
		assay_text_release(&cut);
	}
	assay_text_add(d->out, "</text></g>\n");
}

static void add_below(struct drawing *d, uint32_t at, double x)
{
	add_node(d, at, x);
	for (uint32_t i = d->t->nodes[at].child; i; i = d->t->nodes[i].next) {
		const struct assay_flame_node *n = &d->t->nodes[i];

		if ((double)n->weight >= LEAST_SHARE * d->all)
			add_below(d, i, x);
		x += d->all > 0 ? (double)n->weight / d->all * (PICTURE_WIDTH - 2 * LEFT) : 0;
	}
}

static void add_button(struct assay_text *out, const char *id, int x, const char *text)
{
	assay_text_addf(out, "<text class=\"button\" id=\"%s\" x=\"%d\" y=\"44\">%s</text>\n", id, x, text);
}

static void add_head(const struct drawing *d)
{
	struct assay_text title = { 0 };

	assay_profile_title(d->p, &title);
	assay_text_addf(d->out,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" viewBox=\"0 0 %d %d\" "
			"data-width=\"%d\" tabindex=\"0\" "
			"role=\"img\">\n<title>",
			PICTURE_WIDTH, d->height, PICTURE_WIDTH);
	assay_xml_add(d->out, title.s ? title.s : "");
	assay_text_addf(
		d->out,
		"</title>\n<style>%s</style>\n<rect class=\"paper\" width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
		"<text class=\"title\" x=\"%d\" y=\"22\">",
		file_text("flame.css"), PICTURE_WIDTH, d->height, LEFT);
	assay_xml_add(d->out, title.s ? title.s : "");
	assay_text_add(d->out, "</text>\n");
	d->out->failed |= title.failed;
	assay_text_release(&title);
	add_button(d->out, "reset", LEFT, "reset (r)");
	add_button(d->out, "search", LEFT + 90, "search (/)");
	add_button(d->out, "filter", LEFT + 190, "filter (f)");
	add_button(d->out, "least", LEFT + 290, "least (m)");
	add_button(d->out, "colours", LEFT + 420, "colours (c)");
	add_button(d->out, "theme", LEFT + 600, "theme (t)");
	assay_text_addf(d->out, "<text class=\"quiet\" id=\"found\" x=\"%d\" y=\"44\"></text>\n", LEFT + 700);
}

static void profile_svg(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_flame_tree t;
	struct drawing d = { .p = r->profile.p, .t = &t, .out = out };

	(void)style;
	if (assay_flame_tree_make(&t, &d.p->stacks, NULL)) {
		out->failed = true;
		return;
	}
	d.number = calloc(t.n, sizeof(*d.number));
	d.all = (double)t.nodes[0].weight;
	d.height = HEAD + FOOT + ROW * ((int)t.depth + 1);
	if (d.number) {
		add_head(&d);
		add_below(&d, 0, 0);
		assay_text_addf(out,
				"<text class=\"quiet\" id=\"about\" x=\"%d\" y=\"%d\"></text>\n<script><![CDATA[\n",
				LEFT, d.height - 10);
		assay_text_add(out, file_text("flame.js"));
		assay_text_add(out, "]]></script>\n</svg>\n");
	}
	out->failed |= !d.number;
	free(d.number);
	assay_flame_tree_release(&t);
}

ASSAY_EMITTER(profile_svg, ASSAY_REPORT_PROFILE, "svg", profile_svg);
