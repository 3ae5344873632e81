/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever a name should not lie on becomes discs: points, names that have a place and, with less weight, lines. A
 * name goes along its roof, above or below it, to where it lies on least.
 */
#include "reports/plot/roof_labels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define CHAR_WIDTH   6.4 /* pixels of a small letter, about */
#define HALF_HEIGHT  7.0
#define OFF_LINE     11.0 /* from the line to the middle of its name */
#define STEP         8.0  /* from one place to the next that is tried, and between the discs of a line */
#define POINT_RADIUS 7.0
#define POINT_WEIGHT 100.0
#define LINE_WEIGHT  1.0
/* So that of equal places the first one is taken. */
#define FAR_WEIGHT 0.001

struct disc {
	double x, y, radius, weight;
};

struct discs {
	struct disc *v;
	size_t n, capacity;
};

struct box {
	double x, y, half_width, cosine, sine;
};

static void add(struct discs *d, double x, double y, double radius, double weight)
{
	struct disc *grown;

	if (d->n == d->capacity) {
		grown = realloc(d->v, (2 * d->capacity + 256) * sizeof(*grown));
		/* without it a name may be covered, no more */
		if (!grown)
			return;
		d->v = grown;
		d->capacity = 2 * d->capacity + 256;
	}
	d->v[d->n++] = (struct disc){ x, y, radius, weight };
}

static double pixel_x(const struct assay_roof_frame *f, double x)
{
	return f->width * log(x / f->x_lo) / log(f->x_hi / f->x_lo);
}

static double pixel_y(const struct assay_roof_frame *f, double y)
{
	return f->height * log(y / f->y_lo) / log(f->y_hi / f->y_lo);
}

/* The visible ends of a roof, in pixels. */
static void ends(const struct assay_roof_frame *f, const struct assay_roof_label *l, double from[2], double to[2])
{
	const double begin = l->bandwidth > 0 ? fmax(f->x_lo, f->y_lo / l->bandwidth) : fmax(f->x_lo, l->from);
	const double end = l->bandwidth > 0 ? fmin(f->x_hi, l->rate / l->bandwidth) : f->x_hi;

	from[0] = pixel_x(f, begin);
	from[1] = pixel_y(f, l->bandwidth > 0 ? begin * l->bandwidth : l->rate);
	to[0] = pixel_x(f, end);
	to[1] = pixel_y(f, l->bandwidth > 0 ? end * l->bandwidth : l->rate);
}

static void add_line(struct discs *d, const double from[2], const double to[2])
{
	const double length = hypot(to[0] - from[0], to[1] - from[1]);

	for (double at = 0; at <= length; at += STEP / 2)
		add(d, from[0] + at / length * (to[0] - from[0]), from[1] + at / length * (to[1] - from[1]), 1,
		    LINE_WEIGHT);
}

static double cost(const struct discs *d, const struct box *b)
{
	double sum = 0;

	for (size_t i = 0; i < d->n; i++) {
		const double x = d->v[i].x - b->x, y = d->v[i].y - b->y;

		if (fabs(x * b->cosine + y * b->sine) < b->half_width + d->v[i].radius &&
		    fabs(y * b->cosine - x * b->sine) < HALF_HEIGHT + d->v[i].radius)
			sum += d->v[i].weight;
	}
	return sum;
}

static bool inside(const struct assay_roof_frame *f, const struct box *b)
{
	const double x = b->half_width * b->cosine, y = b->half_width * fabs(b->sine) + HALF_HEIGHT;

	return b->x - x >= 0 && b->x + x <= f->width && b->y - y >= 0 && b->y + y <= f->height;
}

/* Slopes from their left end, flat roofs from their right end. */
static void place(const struct assay_roof_frame *f, struct discs *d, struct assay_roof_label *l)
{
	double a[2], b[2], length, least = INFINITY;
	struct box box, best;

	ends(f, l, a, b);
	length = hypot(b[0] - a[0], b[1] - a[1]);
	box.half_width = CHAR_WIDTH * (double)l->chars / 2 + 3;
	box.cosine = length > 0 ? (b[0] - a[0]) / length : 1;
	box.sine = length > 0 ? (b[1] - a[1]) / length : 0;
	best = (struct box){ (a[0] + b[0]) / 2, (a[1] + b[1]) / 2 + OFF_LINE, box.half_width, box.cosine, box.sine };
	for (double at = box.half_width; at <= length - box.half_width; at += STEP) {
		const double along = l->bandwidth > 0 ? at : length - at;

		for (int side = 1; side >= -1; side -= 2) {
			double sum;

			box.x = a[0] + along * box.cosine - side * OFF_LINE * box.sine;
			box.y = a[1] + along * box.sine + side * OFF_LINE * box.cosine;
			sum = cost(d, &box) + FAR_WEIGHT * (at + (side < 0 ? 4 * STEP : 0));
			if (inside(f, &box) && sum < least) {
				least = sum;
				best = box;
			}
		}
	}
	for (double at = -best.half_width; at <= best.half_width; at += STEP)
		add(d, best.x + at * best.cosine, best.y + at * best.sine, HALF_HEIGHT, POINT_WEIGHT);
	l->x = f->x_lo * exp(best.x / f->width * log(f->x_hi / f->x_lo));
	l->y = f->y_lo * exp(best.y / f->height * log(f->y_hi / f->y_lo));
}

void assay_roof_labels_place(const struct assay_roof_frame *f, const struct assay_roof_points *points,
			     struct assay_roof_label *v, size_t n)
{
	struct discs discs = { 0 };
	double from[2], to[2];

	for (size_t i = 0; i < points->n; i++)
		add(&discs, pixel_x(f, points->x[i]), pixel_y(f, points->y[i]), POINT_RADIUS, POINT_WEIGHT);
	for (size_t i = 0; i < n; i++) {
		ends(f, &v[i], from, to);
		add_line(&discs, from, to);
	}
	for (size_t i = 0; i < n; i++)
		place(f, &discs, &v[i]);
	free(discs.v);
}
