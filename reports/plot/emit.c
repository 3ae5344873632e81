/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures as emitters. */
#include "reports/emitter.h"

static int draw_svg(const struct assay_report *r, const char *path, struct assay_err *err)
{
	return assay_plot_file(r->plot.plot, &r->plot.options, false, path, err);
}

static int draw_png(const struct assay_report *r, const char *path, struct assay_err *err)
{
	return assay_plot_file(r->plot.plot, &r->plot.options, true, path, err);
}

const struct assay_emitter assay_emitter_plot_svg = {
	.takes = ASSAY_REPORT_PLOT, .format = "svg", .draw = draw_svg, .probe = assay_plot_probe
};

const struct assay_emitter assay_emitter_plot_png = {
	.takes = ASSAY_REPORT_PLOT, .format = "png", .draw = draw_png, .probe = assay_plot_probe
};
