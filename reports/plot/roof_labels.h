/* SPDX-License-Identifier: Apache-2.0 */
/* Where the names of roofs stand in a roofline: nothing covers them, as far as there is room. Internal to the plots. */
#ifndef ASSAY_REPORTS_PLOT_ROOF_LABELS_H
#define ASSAY_REPORTS_PLOT_ROOF_LABELS_H

#include <stddef.h>

#define ASSAY_ROOF_LABELS 16
#define ASSAY_ROOF_POINTS 300

/* Both axes are logarithmic; @width and @height of the plot are in pixels. */
struct assay_roof_frame {
	double x_lo, x_hi, y_lo, y_hi, width, height;
};

/* A roof, and where its name goes: the centre, in units of the axes. */
struct assay_roof_label {
	double bandwidth; /* y at x = 1 of a slope; 0: flat */
	double rate;      /* where a slope ends, or a flat roof lies */
	double from;      /* x where a flat roof begins */
	size_t chars;
	double x, y;
};

struct assay_roof_points {
	size_t n;
	double x[ASSAY_ROOF_POINTS], y[ASSAY_ROOF_POINTS];
};

/* Fill x and y of the @n (at most ASSAY_ROOF_LABELS) labels. */
void assay_roof_labels_place(const struct assay_roof_frame *f, const struct assay_roof_points *points,
			     struct assay_roof_label *v, size_t n);

#endif
