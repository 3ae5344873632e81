/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay plot` was asked for, and its parts. Internal to that command. */
#ifndef ASSAY_CLI_PLOT_COMMAND_H
#define ASSAY_CLI_PLOT_COMMAND_H

#include "cli/cli_options.h"
#include "cli/command.h"
#include "drive/history/trend_lines.h"
#include "drive/show/name.h"
#include "reports/plot/plot.h"

#define ASSAY_PLOT_NAMES 2

struct assay_plot_args {
	struct assay_settings s;
	const char *what; /* a kind of plot, or "report" */
	const char *key, *out, *metric, *axis, *machine;
	bool by_date, by_given;
	enum assay_trend_per per;
	enum assay_plot_theme theme;
	const char *names[ASSAY_PLOT_NAMES]; /* of runs, or of a comparison; none: the newest */
	size_t n_names;
	struct assay_stored_name ids[ASSAY_PLOT_NAMES];
};

/* Write @p to a->out. */
int assay_plot_write(const struct assay_plot_args *a, const struct assay_plot *p, const char *path,
		     struct assay_err *err);
/* The trends of all cases of a machine into the folder a->out, with a page over them. */
int assay_plot_gallery(const struct assay_plot_args *a, struct assay_err *err);

#endif
