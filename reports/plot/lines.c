/* SPDX-License-Identifier: Apache-2.0 */
/* Finds lines among the cases of a run: two are of one line where they differ in the axis alone. */
#include "reports/plot/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "reports/run/parts.h"

/* Are @a and @b equal but for what goes along the axis? */
static bool same_line(const struct assay_case *a, const struct assay_case *b, int axis)
{
	if (strcmp(a->variant, b->variant) || a->cache != b->cache ||
	    (axis != ASSAY_ALONG_THREADS && a->threads != b->threads))
		return false;
	for (unsigned i = 0; i < a->n_axes; i++)
		if ((int)i != axis && strcmp(a->axes[i].text, b->axes[i].text))
			return false;
	return true;
}

static double place(const struct assay_case *c, int axis)
{
	return axis == ASSAY_ALONG_THREADS ? c->threads : (double)c->axes[axis].value;
}

static int add_result(struct assay_case_lines *l, const struct assay_result *r, int axis)
{
	size_t i = 0;
	struct assay_case_line *line;

	while (i < l->n && !same_line(l->v[i].c, &r->c, axis))
		i++;
	if (i == l->n) {
		if (assay_grow(&l->v, l->n, sizeof(*l->v)))
			return ASSAY_ENOMEM;
		l->v[l->n++] = (struct assay_case_line){ .c = &r->c };
	}
	line = &l->v[i];
	if (assay_grow(&line->v, line->n, sizeof(*line->v)))
		return ASSAY_ENOMEM;
	line->v[line->n++] = (struct assay_line_point){ .x = place(&r->c, axis), .r = r };
	return 0;
}

static int by_place(const void *a, const void *b)
{
	double x = ((const struct assay_line_point *)a)->x, y = ((const struct assay_line_point *)b)->x;

	return (x > y) - (x < y);
}

/* The most work a second of a line, in calls: cases at one place of the axis do the same. */
static double best(const struct assay_case_line *l)
{
	double least = INFINITY;

	for (size_t i = 0; i < l->n; i++)
		least = fmin(least, l->v[i].r->median_ns);
	return least;
}

static int by_length(const void *a, const void *b)
{
	const struct assay_case_line *x = a, *y = b;
	double s = best(x), t = best(y);

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : (s > t) - (s < t);
}

/* Part @part of the key of @c, for people: its variant, each axis, threads and cache. */
static void part_text(const struct assay_case *c, unsigned part, char *buf, size_t size)
{
	if (part == 0)
		snprintf(buf, size, "%s", c->variant);
	else if (part <= c->n_axes)
		snprintf(buf, size, "%s=%s", c->axes[part - 1].name, c->axes[part - 1].text);
	else if (part == c->n_axes + 1)
		snprintf(buf, size, "t=%u", c->threads);
	else
		snprintf(buf, size, "%s", assay_cache_name(c->cache));
}

static void append(char *buf, size_t size, const char *text)
{
	size_t n = strlen(buf);

	if (n < size)
		snprintf(buf + n, size - n, "%s%s", n ? " " : "", text);
}

/* Each line is called by the parts in which lines differ; the others are common to all. */
static void name_lines(struct assay_case_lines *l, int axis)
{
	const struct assay_case *first = l->v[0].c;
	const unsigned along = axis == ASSAY_ALONG_THREADS ? first->n_axes + 1 : (unsigned)axis + 1;
	char text[2 * ASSAY_NAME_MAX + 2], other[2 * ASSAY_NAME_MAX + 2];

	snprintf(l->common, sizeof(l->common), "%s", first->op);
	for (unsigned part = 0; part < first->n_axes + 3; part++) {
		bool differs = false;

		if (part == along)
			continue;
		part_text(first, part, text, sizeof(text));
		for (size_t i = 1; i < l->n; i++) {
			part_text(l->v[i].c, part, other, sizeof(other));
			differs |= strcmp(text, other) != 0;
		}
		for (size_t i = 0; i < l->n && differs; i++) {
			part_text(l->v[i].c, part, other, sizeof(other));
			append(l->v[i].name, sizeof(l->v[i].name), other);
		}
		if (!differs)
			append(l->common, sizeof(l->common), text);
	}
	if (!l->v[0].name[0])
		snprintf(l->v[0].name, sizeof(l->v[0].name), "%s", first->variant);
}

int assay_case_lines_find(const struct assay_run *run, const struct assay_case *first, int axis, size_t least,
			  struct assay_case_lines *out, struct assay_err *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < run->n_results && !rc; i++) {
		const struct assay_result *r = &run->results[i];

		if (assay_run_cells_measured(r) && !strcmp(r->c.op, first->op) && r->c.n_axes == first->n_axes)
			rc = add_result(out, r, axis);
	}
	if (rc)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the lines of a plot");
	for (size_t i = 0; i < out->n; i++) {
		qsort(out->v[i].v, out->v[i].n, sizeof(*out->v[i].v), by_place);
		if (out->v[i].n >= least)
			out->v[kept++] = out->v[i];
		else
			free(out->v[i].v);
	}
	out->n = kept;
	if (kept)
		qsort(out->v, kept, sizeof(*out->v), by_length);
	for (; out->n > ASSAY_PLOT_LINES; out->n_left_out++)
		free(out->v[--out->n].v);
	if (out->n)
		name_lines(out, axis);
	return 0;
}

void assay_case_lines_release(struct assay_case_lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].v);
	free(l->v);
	*l = (struct assay_case_lines){ 0 };
}

unsigned assay_case_lines_set(struct assay_text *t, const struct assay_case_lines *l, double factor, const char *other)
{
	struct assay_plot_legend legend = { .left = 112 };
	char name[ASSAY_PLOT_TEXT];

	for (size_t i = 0; i < l->n; i++) {
		assay_text_addf(t, "$line%zu << END\n", i + 1);
		for (size_t k = 0; k < l->v[i].n; k++) {
			const struct assay_line_point *p = &l->v[i].v[k];

			assay_text_addf(t, "%.9g %.9g %.9g %.9g\n", p->x, p->y / factor, p->lo / factor,
					p->hi / factor);
		}
		assay_text_add(t, "END\n");
		assay_plot_fit(l->v[i].name, 40, name);
		assay_plot_legend_add(&legend, name, (int)i + 1);
	}
	assay_text_addf(t, "N_LINES = %zu\n", l->n);
	if (other)
		assay_plot_legend_add(&legend, other, 0);
	return assay_plot_set_legend(t, &legend);
}
