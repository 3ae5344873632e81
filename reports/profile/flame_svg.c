/* SPDX-License-Identifier: Apache-2.0 */
/* It is whole without its script, which adds zoom, search, filter, colours and keys. */
#include "reports/profile/flame_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/quantity.h"
#include "reports/profile/parts.h"
#include "reports/text_parts.h"

/* ---- flame tree ---- */

/* Frames of one name are one; those without a name are told apart by their objects. */
static int order_of(const struct assay_frame *a, const struct assay_frame *b)
{
	return strcmp(assay_profile_name(a->name, a->object), assay_profile_name(b->name, b->object));
}

static int add_node(struct assay_flame_tree *t, uint32_t parent, const struct assay_frame *f, uint32_t *out)
{
	const uint32_t at = (uint32_t)t->n;
	uint32_t *link;

	if (assay_grow(&t->nodes, t->n, sizeof(*t->nodes)))
		return ASSAY_ENOMEM;
	t->nodes[t->n++] = (struct assay_flame_node){ .frame = f, .parent = parent };
	*out = at;
	if (!f)
		return 0;
	t->nodes[at].depth = t->nodes[parent].depth + 1;
	if (t->nodes[at].depth > t->depth)
		t->depth = t->nodes[at].depth;
	link = &t->nodes[parent].child;
	while (*link && order_of(t->nodes[*link].frame, f) < 0)
		link = &t->nodes[*link].next;
	t->nodes[at].next = *link;
	*link = at;
	return 0;
}

static int child_of(struct assay_flame_tree *t, uint32_t parent, const struct assay_frame *f, uint32_t *out)
{
	for (uint32_t i = t->nodes[parent].child; i; i = t->nodes[i].next)
		if (t->nodes[i].frame->kind == f->kind && !order_of(t->nodes[i].frame, f)) {
			*out = i;
			return 0;
		}
	return add_node(t, parent, f, out);
}

static void grow(struct assay_flame_node *n, uint64_t weight, bool before)
{
	*(before ? &n->before : &n->weight) += weight;
}

const struct assay_frame assay_flame_harness = {
	.kind = ASSAY_FRAME_LABEL, .name = "harness", .object = "", .file = ""
};

static const struct assay_frame *frame_at(const struct assay_stack_table *stacks, const struct assay_stack *k,
					  uint32_t d)
{
	return &stacks->frames[stacks->order[k->first + d]];
}

static int add_stacks(struct assay_flame_tree *t, const struct assay_stack_table *stacks, bool before, bool fold)
{
	int rc = 0;

	for (size_t i = 0; i < stacks->n_stacks && !rc; i++) {
		const struct assay_stack *k = &stacks->stacks[i];
		uint32_t at = 0, from = 0, end = fold ? assay_stack_harness(stacks, k, &from) : 0;

		grow(&t->nodes[at], k->weight, before);
		for (uint32_t d = 0; d < k->n && !rc; d++) {
			const bool folded = d >= from && d < end;

			rc = child_of(t, at, folded ? &assay_flame_harness : frame_at(stacks, k, d), &at);
			if (folded)
				d = end - 1;
			if (!rc)
				grow(&t->nodes[at], k->weight, before);
		}
	}
	return rc;
}

int assay_flame_tree_make(struct assay_flame_tree *t, const struct assay_stack_table *stacks,
			  const struct assay_stack_table *before, bool fold, struct assay_err *err)
{
	uint32_t at;
	int rc;

	*t = (struct assay_flame_tree){ 0 };
	rc = add_node(t, 0, NULL, &at);
	if (!rc)
		rc = add_stacks(t, stacks, false, fold);
	if (!rc && before)
		rc = add_stacks(t, before, true, fold);
	if (!rc)
		return 0;
	assay_flame_tree_release(t);
	return assay_err_set(err, rc, "out of memory for a flame graph");
}

void assay_flame_tree_release(struct assay_flame_tree *t)
{
	free(t->nodes);
	*t = (struct assay_flame_tree){ 0 };
}

#define PICTURE_WIDTH 1200
#define LEFT          10
#define ROW           18
#define HEAD          76
#define FOOT          10
#define LETTER        7.25
#define LEAST_SHARE   2e-5 /* of a frame that is written */

struct drawing {
	const struct assay_profile *p;
	const struct assay_profile_diff *diff; /* NULL: the one profile */
	const struct assay_flame_tree *t;
	struct assay_text *out;
	uint32_t *number; /* of each node among those written */
	uint32_t n;
	double all; /* width of the picture */
	double most_change;
	int height;   /* of this tree, with the head */
	bool in_page; /* which has style and script once for all */
};

static const struct {
	const char *name, *text;
} files[] = {
#include "flame_files.h"
};

const char *assay_flame_file(const char *name)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strcmp(files[i].name, name))
			return files[i].text;
	return "";
}

static const char *const kinds[] = { "code", "inlined", "label" };

/* The change of a frame's own weight, without the frames that it calls. */
static double own_change(const struct drawing *d, const struct assay_flame_node *n)
{
	double own = d->diff->scale[1] * (double)n->weight - d->diff->scale[0] * (double)n->before;

	for (uint32_t i = n->child; i; i = d->t->nodes[i].next)
		own -= d->diff->scale[1] * (double)d->t->nodes[i].weight -
		       d->diff->scale[0] * (double)d->t->nodes[i].before;
	return own;
}

static void add_change(const struct drawing *d, const struct assay_flame_node *n, struct assay_text *text)
{
	const double after = d->diff->scale[1] * (double)n->weight, before = d->diff->scale[0] * (double)n->before;
	char v[4][48];

	assay_profile_change_text(d->diff, after, false, v[0], sizeof(v[0]));
	assay_profile_change_text(d->diff, before, false, v[1], sizeof(v[1]));
	assay_profile_change_text(d->diff, after - before, false, v[2], sizeof(v[2]));
	assay_profile_change_text(d->diff, own_change(d, n), false, v[3], sizeof(v[3]));
	assay_text_addf(text, "\n%s, base %s: %s, self %s", v[0] + 1, v[1] + 1, v[2], v[3]);
	assay_text_add(text, !n->weight ? "; vanished" : !n->before ? "; not in the base" : "");
}

/* Of what grew and what shrank, the deeper the more; grey for what did not change. */
static void change_colour(const struct drawing *d, const struct assay_flame_node *n, char *buf, size_t size)
{
	const double v = d->most_change > 0 ? own_change(d, n) / d->most_change : 0;
	const int pale = 235 - (int)(165 * sqrt(fmin(1, fabs(v))));

	snprintf(buf, size, "#%02x%02x%02x", v > 0 ? 235 : pale, pale, v < 0 ? 235 : pale);
}

/* "12.34 % of 2.71 s", "12.34 % of 1952 samples". */
static void add_weight(const struct drawing *d, const struct assay_flame_node *n, struct assay_text *text)
{
	const double all = (double)d->p->stacks.weight;
	char whole[48];

	if (!strcmp(d->p->unit, "ns"))
		assay_quantity_text(all * 1e-9, "s", true, whole, sizeof(whole));
	else if (!strcmp(d->p->unit, "bytes"))
		assay_quantity_text(all, "B", true, whole, sizeof(whole));
	else
		snprintf(whole, sizeof(whole), "%" PRIu64 " %s", d->p->stacks.weight, d->p->unit);
	assay_text_addf(text, "\n%.2f %% of %s", d->all > 0 ? 100 * (double)n->weight / d->all : 0, whole);
}

/* "name (object, file:12)", and a line of numbers. */
static void add_title(struct drawing *d, const struct assay_flame_node *n)
{
	const struct assay_frame *f = n->frame;
	struct assay_text text = { 0 };

	assay_text_add(&text, f ? assay_profile_name(f->name, f->object) : "all");
	if (f && f->kind != ASSAY_FRAME_LABEL) {
		assay_text_addf(&text, " (%s%s", f->kind == ASSAY_FRAME_INLINED ? "inlined, " : "",
				f->object[0] ? f->object : "unknown object");
		if (f->line)
			assay_text_addf(&text, ", %s:%u", f->file, f->line);
		assay_text_add(&text, ")");
	}
	if (f == &assay_flame_harness)
		assay_text_add(&text, ": what starts and times the case; h shows its frames");
	if (d->diff)
		add_change(d, n, &text);
	else
		add_weight(d, n, &text);
	assay_xml_add(d->out, text.s ? text.s : "");
	d->out->failed |= text.failed;
	assay_text_release(&text);
}

static void draw_node(struct drawing *d, uint32_t at, double x)
{
	const struct assay_flame_node *n = &d->t->nodes[at];
	const double share = d->all > 0 ? (double)n->weight / d->all : 0, width = share * (PICTURE_WIDTH - 2 * LEFT);
	const int y = d->height - FOOT - ROW * ((int)n->depth + 1), room = (int)((width - 6) / LETTER);
	const char *name = n->frame ? assay_profile_name(n->frame->name, n->frame->object) : "all";
	char colour[8] = "#b8c4d0";
	struct assay_text cut = { 0 };

	if (d->diff)
		change_colour(d, n, colour, sizeof(colour));
	else if (n->frame && n->frame->kind != ASSAY_FRAME_LABEL)
		snprintf(colour, sizeof(colour), "#f2b36b");
	d->number[at] = d->n++;
	assay_text_addf(d->out, "<g class=\"f%s\" data-p=\"%u\" data-k=\"%s\"", n->weight ? "" : " off",
			at ? d->number[n->parent] : 0, kinds[n->frame ? n->frame->kind : ASSAY_FRAME_LABEL]);
	if (d->diff)
		assay_text_addf(d->out, " data-w=\"%.6g\" data-b=\"%.6g\"", d->diff->scale[1] * (double)n->weight,
				d->diff->scale[0] * (double)n->before);
	else
		assay_text_addf(d->out, " data-w=\"%" PRIu64 "\"", n->weight);
	assay_xml_attribute(d->out, "data-n", name);
	if (n->frame)
		assay_xml_attribute(d->out, "data-o", n->frame->object);
	assay_text_add(d->out, "><title>");
	add_title(d, n);
	assay_text_addf(d->out,
			"</title><rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" fill=\"%s\"/>"
			"<text x=\"%.2f\" y=\"%d\">",
			LEFT + x, y, width > 0.1 ? width : 0.1, ROW - 1, colour, LEFT + x + 3, y + ROW - 5);
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
	draw_node(d, at, x);
	for (uint32_t i = d->t->nodes[at].child; i; i = d->t->nodes[i].next) {
		const struct assay_flame_node *n = &d->t->nodes[i];

		if ((double)n->weight >= LEAST_SHARE * d->all ||
		    (double)n->before > LEAST_SHARE * (double)d->t->nodes[0].before)
			add_below(d, i, x);
		x += d->all > 0 ? (double)n->weight / d->all * (PICTURE_WIDTH - 2 * LEFT) : 0;
	}
}

static void add_button(struct assay_text *out, const char *id, int x, const char *text)
{
	assay_text_addf(out, "<text class=\"button\" data-a=\"%s\" x=\"%d\" y=\"44\">%s</text>\n", id, x, text);
}

static void add_title_text(const struct drawing *d, struct assay_text *title)
{
	if (d->diff) {
		assay_profile_label(d->diff->side[1], title);
		assay_text_add(title, " against ");
		assay_profile_label(d->diff->side[0], title);
	} else {
		assay_profile_title(d->p, title);
	}
}

/* The head of the picture, before its frames. */
static void begin(const struct drawing *d, const char *title)
{
	assay_text_addf(d->out,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame\" width=\"%d\" height=\"%d\" "
			"viewBox=\"0 0 %d %d\" data-width=\"%d\"%s tabindex=\"0\" role=\"img\">\n<title>",
			PICTURE_WIDTH, d->height, PICTURE_WIDTH, d->height, PICTURE_WIDTH,
			d->diff ? " data-diff=\"1\"" : "");
	assay_xml_add(d->out, title);
	assay_text_add(d->out, "</title>\n");
	if (!d->in_page)
		assay_text_addf(d->out, "<style>%s</style>\n", assay_flame_file("flame.css"));
	assay_text_addf(d->out, "<rect class=\"paper\" width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", PICTURE_WIDTH,
			d->height);
}

/* Title, buttons and what is pointed at: after the frames, over which they stay when these scroll. */
static void add_head(const struct drawing *d, const char *title, bool folds)
{
	int x = LEFT;

	assay_text_addf(d->out,
			"<g class=\"top\"><rect class=\"paper\" width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
			"<text class=\"title\" x=\"%d\" y=\"22\">",
			PICTURE_WIDTH, HEAD - 4, LEFT);
	assay_xml_add(d->out, title);
	assay_text_add(d->out, "</text>\n");
	add_button(d->out, "reset", x, "reset (r)");
	add_button(d->out, "search", x += 90, "search (/)");
	add_button(d->out, "filter", x += 100, "filter (f)");
	add_button(d->out, "least", x += 100, "least (m)");
	add_button(d->out, "colours", x += 130, "colours (c)");
	add_button(d->out, "theme", x += 160, "theme (t)");
	x += 90;
	if (folds) {
		add_button(d->out, "harness", x, "harness: folded (h)");
		x += 160;
	}
	if (d->diff) {
		add_button(d->out, "view", x, "view: head (v)");
		x += 120;
	}
	assay_text_addf(d->out,
			"<text class=\"quiet\" data-a=\"found\" x=\"%d\" y=\"44\"></text>\n"
			"<text class=\"quiet\" data-a=\"about\" x=\"%d\" y=\"64\"></text></g>\n",
			x, LEFT);
}

/* The frames of one tree: @t is made already. */
static void add_tree(struct drawing *d, const struct assay_flame_tree *t, bool shown)
{
	d->t = t;
	d->n = 0;
	d->height = HEAD + FOOT + ROW * ((int)t->depth + 1);
	d->number = calloc(t->n, sizeof(*d->number));
	d->out->failed |= !d->number;
	if (!d->number)
		return;
	assay_text_addf(d->out, "<g class=\"tree\"%s>\n", shown ? "" : " display=\"none\"");
	add_below(d, 0, 0);
	assay_text_add(d->out, "</g>\n");
	free(d->number);
}

static bool has_harness(const struct assay_flame_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].frame == &assay_flame_harness)
			return true;
	return false;
}

/* Of the stacks, held against @before where that is not NULL. Those of a case a second time, with the harness. */
static void draw(struct drawing *d, const struct assay_stack_table *stacks, const struct assay_stack_table *before)
{
	struct assay_flame_tree folded = { 0 }, whole = { 0 };
	struct assay_text title = { 0 };
	bool folds = false;
	int rc = assay_flame_tree_make(&folded, stacks, before, d->p->is_case, NULL);

	if (!rc)
		folds = has_harness(&folded);
	if (!rc && folds)
		rc = assay_flame_tree_make(&whole, stacks, before, false, NULL);
	if (rc) {
		assay_flame_tree_release(&folded);
		d->out->failed = true;
		return;
	}
	d->t = &folded;
	d->all = (double)folded.nodes[0].weight;
	d->height = HEAD + FOOT + ROW * ((int)folded.depth + 1);
	for (size_t i = 0; i < folded.n && d->diff; i++)
		d->most_change = fmax(d->most_change, fabs(own_change(d, &folded.nodes[i])));
	add_title_text(d, &title);
	begin(d, title.s ? title.s : "");
	add_tree(d, &folded, true);
	if (folds)
		add_tree(d, &whole, false);
	add_head(d, title.s ? title.s : "", folds);
	if (!d->in_page)
		assay_text_addf(d->out,
				"<script><![CDATA[\n%sflameGraph(document.currentScript.closest('svg'));\n]]>"
				"</script>\n",
				assay_flame_file("flame.js"));
	assay_text_add(d->out, "</svg>\n");
	d->out->failed |= title.failed;
	assay_text_release(&title);
	assay_flame_tree_release(&folded);
	assay_flame_tree_release(&whole);
}

void assay_flame_svg(const struct assay_profile *p, const struct assay_profile_diff *diff, bool in_page,
		     struct assay_text *out)
{
	struct drawing d = { .p = diff ? diff->side[1] : p, .diff = diff, .out = out, .in_page = in_page };

	draw(&d, diff ? &diff->stacks[1] : &p->stacks, diff ? &diff->stacks[0] : NULL);
}

void assay_profile_svg(const struct assay_profile *p, bool in_page, struct assay_text *out)
{
	if (!strcmp(p->kind, "threads"))
		assay_profile_threads_svg(p, in_page, out);
	else
		assay_flame_svg(p, NULL, in_page, out);
}

static void profile_svg(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_profile_svg(r->profile.p, false, out);
}

static void profile_diff_svg(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_flame_svg(NULL, r->profile_diff, false, out);
}

ASSAY_EMITTER(profile_svg, ASSAY_REPORT_PROFILE, "svg", profile_svg);
ASSAY_EMITTER(profile_diff_svg, ASSAY_REPORT_PROFILE_DIFF, "svg", profile_diff_svg);
