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
 * Turn the SVG that gnuplot wrote into one for people: @about becomes its title, and colours "#rrggbb". @style adds
 * rules that turn it dark where the reader's system is.
 */
void assay_plot_finish_svg(const char *about, bool style, const char *svg, struct assay_text *out);

#endif
