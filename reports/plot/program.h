/* SPDX-License-Identifier: Apache-2.0 */
/* The files under reports/plot/gnuplot/, which this program carries, and the colours in them. Internal to the plots. */
#ifndef ASSAY_REPORTS_PLOT_PROGRAM_H
#define ASSAY_REPORTS_PLOT_PROGRAM_H

#include "base/text.h"

/* The text of the file @name ("trend.gp"); "" where there is none of this name. */
const char *assay_plot_program(const char *name);

/* A colour of the light theme and what it is in the dark one, both as "#rrggbb". */
struct assay_plot_colour {
	char light[8], dark[8];
};
/* Colour @i of both; false behind the last. */
bool assay_plot_colour(size_t i, struct assay_plot_colour *out);

/*
 * Turn what gnuplot wrote into SVG for people: @about is its description, ids begin with @id, colours are "#rrggbb".
 * @head: with the XML head. @style: with rules that turn it dark where the reader's system is.
 */
struct assay_plot_finish {
	const char *about, *id;
	bool head, style;
};
void assay_plot_finish_svg(const struct assay_plot_finish *f, const char *svg, struct assay_text *out);

#endif
