/* SPDX-License-Identifier: Apache-2.0 */
/* Programs for gnuplot: the parts that all kinds share, then that of the kind. */
#include "reports/plot/parts.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *text;
} programs[] = {
#include "plot_programs.h"
};

static const struct {
	const char *name;
	assay_plot_data *data;
} kinds[ASSAY_N_PLOTS] = {
	[ASSAY_PLOT_TREND] = { "trend", assay_plot_trend_data },
	[ASSAY_PLOT_COMPARISON] = { "comparison", assay_plot_comparison_data },
	[ASSAY_PLOT_ROOFLINE] = { "roofline", assay_plot_roofline_data },
	[ASSAY_PLOT_DISTRIBUTION] = { "distribution", assay_plot_distribution_data },
	[ASSAY_PLOT_SCALING] = { "scaling", assay_plot_scaling_data },
	[ASSAY_PLOT_SWEEP] = { "sweep", assay_plot_sweep_data },
	[ASSAY_PLOT_GENERATE] = { "generate", assay_plot_generate_data },
};

const char *assay_plot_name(enum assay_plot_kind kind)
{
	return kinds[kind].name;
}

enum assay_plot_kind assay_plot_find(const char *name)
{
	int kind = 0;

	while (kind < ASSAY_N_PLOTS && strcmp(kinds[kind].name, name))
		kind++;
	return (enum assay_plot_kind)kind;
}

const char *assay_plot_program(const char *name)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!strcmp(programs[i].name, name))
			return programs[i].text;
	return "";
}

/* Of the @i-th line "NAME = '#rrggbb'" of a theme. */
static bool nth_colour(const char *theme, size_t i, char buf[8])
{
	const char *at = theme;

	while ((at = strstr(at, " = '#"))) {
		at += strlen(" = '");
		if (!i--) {
			snprintf(buf, 8, "%s", at);
			return true;
		}
	}
	return false;
}

bool assay_plot_colour(size_t i, struct assay_plot_colour *out)
{
	return nth_colour(assay_plot_program("light.gp"), i, out->light) &&
	       nth_colour(assay_plot_program("dark.gp"), i, out->dark);
}

int assay_plot_script(const struct assay_plot *p, const struct assay_plot_options *o, bool png, const char *output,
		      struct assay_text *out, struct assay_err *err)
{
	struct assay_text data = { 0 };
	char name[32];
	int rc = kinds[p->kind].data(p, &data, err);

	if (!rc) {
		snprintf(name, sizeof(name), "%s.gp", kinds[p->kind].name);
		assay_plot_set_number(out, "PNG", png);
		assay_plot_set_text(out, "OUTPUT", output);
		assay_text_add(out, assay_plot_program(o->theme == ASSAY_THEME_DARK ? "dark.gp" : "light.gp"));
		assay_text_addn(out, data.s ? data.s : "", data.len);
		assay_text_add(out, assay_plot_program("common.gp"));
		assay_text_add(out, assay_plot_program(name));
		assay_text_add(out, "unset output\n");
		if (out->failed || data.failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory for a plot");
	}
	assay_text_release(&data);
	return rc;
}
