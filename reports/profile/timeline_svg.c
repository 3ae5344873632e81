/* SPDX-License-Identifier: Apache-2.0 */
/* Activity of threads over time, as one SVG: a row a thread, whose colours are shares of each span of time. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"
#include "model/quantity.h"
#include "reports/profile/flame_svg.h"
#include "reports/profile/parts.h"
#include "reports/text_parts.h"

#define PICTURE_WIDTH 1200
#define LEFT          190
#define RIGHT         20
#define HEAD          74
#define FOOT          44
#define ROW           46
#define GAP           14
#define MOST_TICKS    7 /* beside the one at the beginning */
#define MOST_ROWS     64
#define NAME_LETTERS  24

/* From the bottom of a row to its top. Two that differ in lightness stand beside each other, for all eyes. */
static const struct {
	const char *name, *colour;
} looks[ASSAY_N_THREAD_STATES] = {
	[ASSAY_STATE_RUNNING] = { "run", "#2a78d6" },
	[ASSAY_STATE_WAITING] = { "wait", "#eda100" },
	[ASSAY_STATE_BLOCKED] = { "block", "#b8336a" },
	[ASSAY_STATE_READY] = { "ready", "#7fc8b8" },
};

struct picture {
	const struct assay_profile *p;
	bool in_page; /* which has its style */
	const struct assay_thread_account *v;
	size_t n, rows;
	struct assay_timeline line;
	struct assay_text *out;
};

static double x_of(const struct picture *d, double bin)
{
	return LEFT + bin / (double)d->line.n_bins * (PICTURE_WIDTH - LEFT - RIGHT);
}

static uint64_t sum(const struct assay_timeline_cell *c)
{
	uint64_t all = 0;

	for (unsigned s = 0; s < ASSAY_N_THREAD_STATES; s++)
		all += c->ns[s];
	return all;
}

/* The states up to @s take so much of the height; where a thread was not watched, nothing. */
static double height(const struct picture *d, const struct assay_timeline_cell *c, unsigned s)
{
	uint64_t part = 0, all = sum(c);

	for (unsigned i = 0; i <= s; i++)
		part += c->ns[i];
	if (all < d->line.bin_ns / 1000)
		return 0;
	return (double)part / (double)all * ROW;
}

/* A state as one area of steps, behind which the states above it lie. */
static void add_state(const struct picture *d, size_t at, unsigned s, double bottom)
{
	const struct assay_timeline_cell *c = &d->line.cells[at * d->line.n_bins];

	assay_text_addf(d->out, "<path class=\"%s\" fill=\"%s\" d=\"M%.2f %.1f", looks[s].name, looks[s].colour,
			x_of(d, 0), bottom);
	for (size_t b = 0; b < d->line.n_bins; b++) {
		const double h = height(d, &c[b], s), before = b ? height(d, &c[b - 1], s) : -1;

		if (h != before)
			assay_text_addf(d->out, "H%.2fV%.1f", x_of(d, (double)b), bottom - h);
	}
	assay_text_addf(d->out, "H%.2fV%.1fZ\"/>\n", x_of(d, (double)d->line.n_bins), bottom);
}

static void add_bins(const struct picture *d, size_t at, double top)
{
	char from[32], part[ASSAY_N_THREAD_STATES][16];

	for (size_t b = 0; b < d->line.n_bins; b++) {
		const struct assay_timeline_cell *c = &d->line.cells[at * d->line.n_bins + b];

		if (!sum(c))
			continue;
		assay_quantity_text((double)(b * d->line.bin_ns) * 1e-9, "s", true, from, sizeof(from));
		for (unsigned s = 0; s < ASSAY_N_THREAD_STATES; s++)
			snprintf(part[s], sizeof(part[s]), "%.0f %%", 100 * (double)c->ns[s] / (double)sum(c));
		assay_text_addf(
			d->out,
			"<rect class=\"see\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"><title>from %s: "
			"running %s, waiting %s, blocked %s, ready %s</title></rect>\n",
			x_of(d, (double)b), top, x_of(d, 1) - x_of(d, 0), ROW, b ? from : "0 s", part[0], part[1],
			part[2], part[3]);
	}
}

/* Of thread @at. */
static void add_row(const struct picture *d, size_t at, size_t row)
{
	const double top = HEAD + (double)row * (ROW + GAP);
	const struct assay_thread_account *a = &d->v[at];
	const double wall = a->wall_ns ? (double)a->wall_ns : 1;
	char name[128];

	snprintf(name, sizeof(name), "%.*s", NAME_LETTERS, a->name);
	assay_text_addf(d->out, "<g><text x=\"10\" y=\"%.1f\">", top + 18);
	assay_xml_add(d->out, name);
	assay_text_addf(d->out,
			"</text><text class=\"quiet\" x=\"10\" y=\"%.1f\">%.1f %% running</text>\n<rect class=\"row\" "
			"x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\"/>\n",
			top + 34, 100 * (double)a->ns[ASSAY_STATE_RUNNING] / wall, LEFT, top,
			PICTURE_WIDTH - LEFT - RIGHT, ROW);
	for (unsigned s = ASSAY_N_THREAD_STATES; s-- > 0;)
		add_state(d, at, s, top + ROW);
	add_bins(d, at, top);
	assay_text_add(d->out, "</g>\n");
}

/* 1, 2 or 5 times a power of ten: the least of which @whole has no more than MOST_TICKS. */
static double tick_step(double whole)
{
	const double least = whole / MOST_TICKS, ten = pow(10, floor(log10(least)));

	return ten * (least <= ten ? 1 : least <= 2 * ten ? 2 : least <= 5 * ten ? 5 : 10);
}

static void add_axis(const struct picture *d, double bottom)
{
	const double seconds = (double)d->line.bin_ns * (double)d->line.n_bins * 1e-9;

	const double step = seconds > 0 ? tick_step(seconds) : 1;

	for (unsigned i = 0; i * step <= seconds; i++) {
		const double x = x_of(d, (double)d->line.n_bins * (seconds > 0 ? i * step / seconds : 0));
		char text[32] = "0 s";

		if (i)
			assay_quantity_text(i * step, "s", true, text, sizeof(text));
		assay_text_addf(d->out,
				"<path class=\"tick\" d=\"M%.2f %.1fv6\"/><text class=\"quiet\" x=\"%.2f\" y=\"%.1f\" "
				"text-anchor=\"%s\">%s</text>\n",
				x, bottom, x, bottom + 20,
				!i                           ? "start"
				: (i + 0.3) * step > seconds ? "end"
							     : "middle",
				text);
	}
}

static void add_head(const struct picture *d, double tall)
{
	struct assay_text title = { 0 };
	double x = LEFT;

	assay_profile_title(d->p, &title);
	assay_text_addf(d->out,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"timeline\" width=\"%d\" height=\"%.0f\" "
			"viewBox=\"0 0 %d %.0f\" "
			"role=\"img\">\n<title>",
			PICTURE_WIDTH, tall, PICTURE_WIDTH, tall);
	assay_xml_add(d->out, title.s ? title.s : "");
	assay_text_add(d->out, "</title>\n");
	if (!d->in_page)
		assay_text_addf(d->out, "<style>%s</style>\n", assay_flame_file("timeline.css"));
	assay_text_addf(d->out,
			"<rect class=\"paper\" width=\"%d\" height=\"%.0f\" fill=\"#fff\"/>\n"
			"<text class=\"title\" x=\"10\" y=\"24\">",
			PICTURE_WIDTH, tall);
	assay_xml_add(d->out, title.s ? title.s : "");
	assay_text_add(d->out, "</text>\n");
	d->out->failed |= title.failed;
	assay_text_release(&title);
	for (unsigned s = 0; s < ASSAY_N_THREAD_STATES; s++) {
		assay_text_addf(d->out,
				"<rect x=\"%.0f\" y=\"40\" width=\"14\" height=\"14\" fill=\"%s\"/><text x=\"%.0f\" "
				"y=\"52\">%s</text>\n",
				x, looks[s].colour, x + 20, assay_thread_state_name(s));
		x += 180;
	}
}

/* Of a stored profile: all time as one bin. */
static bool one_bin(struct picture *d)
{
	uint64_t longest = 1;

	d->line = (struct assay_timeline){ .n_bins = 1, .n_threads = d->n };
	d->line.cells = calloc(d->n + 1, sizeof(*d->line.cells));
	for (size_t i = 0; d->line.cells && i < d->n; i++) {
		for (unsigned s = 0; s < ASSAY_N_THREAD_STATES; s++)
			d->line.cells[i].ns[s] = d->v[i].ns[s];
		longest = d->v[i].wall_ns > longest ? d->v[i].wall_ns : longest;
	}
	d->line.bin_ns = longest;
	return d->line.cells;
}

void assay_profile_threads_svg(const struct assay_profile *p, bool in_page, struct assay_text *out)
{
	struct picture d = { .p = p, .out = out, .line = p->timeline, .in_page = in_page };
	char more[64] = "", asleep[64] = "", line[128];
	struct assay_thread_account *v = NULL;
	size_t slept = 0;
	double bottom;

	if (assay_thread_accounts(p, &v, &d.n, NULL)) {
		out->failed = true;
		return;
	}
	d.v = v;
	if (!p->timeline.cells && !one_bin(&d)) {
		out->failed = true;
		free(v);
		return;
	}
	for (size_t i = 0; i < d.n; i++)
		slept += assay_thread_slept(&v[i]);
	slept = slept < d.n ? slept : 0;
	d.rows = d.n - slept < MOST_ROWS ? d.n - slept : MOST_ROWS;
	bottom = HEAD + (double)d.rows * (ROW + GAP);
	add_head(&d, bottom + FOOT);
	for (size_t i = 0, row = 0; i < d.n && row < d.rows; i++)
		if (!slept || !assay_thread_slept(&v[i]))
			add_row(&d, i, row++);
	add_axis(&d, bottom);
	if (d.n - slept > d.rows)
		snprintf(more, sizeof(more), "and %zu more threads; ", d.n - slept - d.rows);
	if (slept)
		snprintf(asleep, sizeof(asleep), "%zu thread%s slept all the time; ", slept, slept == 1 ? "" : "s");
	snprintf(line, sizeof(line), "%s%s", more, asleep);
	if (line[0]) /* without the last separator */
		assay_text_addf(out, "<text class=\"quiet\" x=\"10\" y=\"%.1f\">%.*s</text>\n", bottom + 36,
				(int)strlen(line) - 2, line);
	assay_text_add(out, "</svg>\n");
	if (!p->timeline.cells)
		free(d.line.cells);
	free(v);
}
