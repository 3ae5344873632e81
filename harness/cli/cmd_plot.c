/* SPDX-License-Identifier: Apache-2.0 */
/* assay plot: what is stored as a picture. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/history/history.h"
#include "drive/show/name.h"
#include "drive/show/show.h"
#include "reports/plot/plot.h"

#define MOST_NAMES 2

struct plot_args {
	struct assay_settings s;
	const char *what; /* a kind of plot */
	const char *key, *out, *metric, *axis, *machine;
	bool by_date, by_given;
	enum assay_trend_per per;
	enum assay_plot_theme theme;
	const char *names[MOST_NAMES]; /* of runs, or of a comparison; none: the newest */
	size_t n_names;
	struct assay_stored_name ids[MOST_NAMES];
};

/* Which options a kind knows; others would do nothing. */
enum takes {
	TAKES_METRIC = 1,
	TAKES_AXIS = 2,
	TAKES_BY = 4,
	TAKES_PER = 8,
	TAKES_MACHINE = 16,
};

typedef int draw_fn(const struct plot_args *a, struct assay_watcher *w, struct assay_err *err);

static draw_fn draw_trend, draw_comparison, draw_run, draw_distribution;

static const struct kind {
	const char *name;
	const char *form; /* for messages */
	draw_fn *draw;
	unsigned takes;
	unsigned stored; /* what may be named */
	size_t n_names;  /* at most */
	bool needs_case;
} kinds[] = {
	{ "trend", "trend CASE -o FILE.svg", draw_trend, TAKES_METRIC | TAKES_BY | TAKES_PER | TAKES_MACHINE, 0, 0,
	  true },
	{ "comparison", "comparison [COMPARISON [CASE]] -o FILE.svg", draw_comparison, 0, ASSAY_STORED_COMPARISON, 1,
	  false },
	{ "roofline", "roofline [RUN [CASE]] -o FILE.svg", draw_run, 0, ASSAY_STORED_RUN, 1, false },
	{ "distribution", "distribution CASE [RUN [RUN]|COMPARISON] -o FILE.svg", draw_distribution, TAKES_METRIC,
	  ASSAY_STORED_RUN | ASSAY_STORED_COMPARISON, 2, true },
	{ "scaling", "scaling [RUN [CASE]] -o FILE.svg", draw_run, 0, ASSAY_STORED_RUN, 1, false },
	{ "sweep", "sweep [RUN [CASE]] -o FILE.svg", draw_run, TAKES_METRIC | TAKES_AXIS, ASSAY_STORED_RUN, 1, false },
	{ "generate", "generate [RUN [CASE]] -o FILE.svg", draw_run, 0, ASSAY_STORED_RUN, 1, false },
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < N_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* The kind nearest to @name, or all of them, to end a message with. */
static const char *kind_hint(const char *name, char *buf, size_t size)
{
	const char *names[N_KINDS];

	for (size_t i = 0; i < N_KINDS; i++)
		names[i] = kinds[i].name;
	return assay_conf_hint(name, names, N_KINDS, buf, size);
}

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct plot_args *a = args;
	const struct kind *k = a->what ? find_kind(a->what) : NULL;
	char hint[256];

	if (!a->what) {
		if (!find_kind(arg))
			return assay_err_set(err, ASSAY_EUSAGE, "cannot plot '%s'%s", arg,
					     kind_hint(arg, hint, sizeof(hint)));
		a->what = arg;
		return 0;
	}
	if (a->n_names < k->n_names && (assay_stored_name_is(arg) || (k->needs_case && a->key))) {
		a->names[a->n_names++] = arg;
		return 0;
	}
	/* of two words the first was a label */
	if (a->key && !k->needs_case && a->n_names < k->n_names) {
		a->names[a->n_names++] = a->key;
		a->key = NULL;
	}
	if (a->key)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': expected 'assay plot %s'", arg,
				     k->form);
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad case '': expected a part of a key or a glob, such as 'matmul.*'");
	a->key = arg;
	return 0;
}

static int check_options(const struct plot_args *a, const struct kind *k, struct assay_err *err)
{
	const struct {
		bool given;
		unsigned takes;
		const char *name;
	} options[] = {
		{ a->metric, TAKES_METRIC, "--metric" },    { a->axis, TAKES_AXIS, "--axis" },
		{ a->by_given, TAKES_BY, "--by" },          { a->per != ASSAY_TREND_ALONE, TAKES_PER, "--per" },
		{ a->machine, TAKES_MACHINE, "--machine" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].given && !(k->takes & options[i].takes))
			return assay_err_set(err, ASSAY_EUSAGE, "%s does nothing for 'plot %s': drop it",
					     options[i].name, k->name);
	if (a->machine && a->per == ASSAY_TREND_PER_MACHINE)
		return assay_err_set(err, ASSAY_EUSAGE, "--machine and '--per machine' exclude each other");
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct plot_args *a = args;
	const struct kind *k = a->what ? find_kind(a->what) : NULL;
	char hint[256];
	int rc;

	if (!k)
		return assay_err_set(err, ASSAY_EUSAGE, "nothing to plot%s", kind_hint("", hint, sizeof(hint)));
	if (k->needs_case && !a->key)
		return assay_err_set(err, ASSAY_EUSAGE, "no case given: assay plot %s", k->form);
	rc = check_options(a, k, err);
	if (!rc && (!a->out || !a->out[0]))
		rc = assay_err_set(err, ASSAY_EUSAGE, "no output given: name one with -o FILE.svg");
	return rc;
}

/* The place of @arg in @names, which end with NULL. */
static int choose(const char *arg, const char *name, const char *const *names, const char *expected, int *out,
		  struct assay_err *err)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(arg, names[i])) {
			*out = i;
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected %s", name, arg, expected);
}

static int set_by(void *to, const char *arg, const char *name, struct assay_err *err)
{
	static const char *const names[] = { "commit", "date", NULL };
	struct plot_args *a = to;
	int i = 0, rc = choose(arg, name, names, "commit or date", &i, err);

	a->by_given = true;
	a->by_date = i == 1;
	return rc;
}

static int set_per(void *to, const char *arg, const char *name, struct assay_err *err)
{
	static const char *const names[] = { "machine", "variant", NULL };
	struct plot_args *a = to;
	int i = 0, rc = choose(arg, name, names, "machine or variant", &i, err);

	a->per = i ? ASSAY_TREND_PER_VARIANT : ASSAY_TREND_PER_MACHINE;
	return rc;
}

static int set_theme(void *to, const char *arg, const char *name, struct assay_err *err)
{
	static const char *const names[] = { "auto", "light", "dark", NULL };
	struct plot_args *a = to;
	int i = 0, rc = choose(arg, name, names, "light, dark or auto", &i, err);

	a->theme = (enum assay_plot_theme)i;
	return rc;
}

#define AT(member) offsetof(struct plot_args, member)

static const struct assay_option options[] = {
	{ "output", 'o', "FILE", assay_option_text, AT(out), "The picture, .svg or .png" },
	{ "by", 0, "commit|date", set_by, 0, "Axis of a trend: commit (default) or date" },
	{ "per", 0, "machine|variant", set_per, 0,
	  "Draw a line of a trend for each machine or variant (default: one line)" },
	{ "machine", 0, "NAME", assay_option_text, AT(machine),
	  "A part of the machine's label, or the start of its fingerprint (default: that measured last)" },
	{ "metric", 0, "NAME", assay_option_text, AT(metric),
	  "Draw this metric or count of a trend or sweep, such as bytes_per_s or exact_instructions, or this histogram "
	  "of a distribution (default: time, of a sweep the rate)" },
	{ "axis", 0, "NAME", assay_option_text, AT(axis),
	  "Axis of a sweep, such as n (default: the axis with most values)" },
	{ "theme", 0, "light|dark|auto", set_theme, 0,
	  "light, dark, or auto (default): follow the reader's system, where the format allows it" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "trend CASE\ncomparison [COMPARISON [CASE]]\nroofline [RUN [CASE]]\n"
		 "distribution CASE [RUN [RUN]|COMPARISON]\n"
		 "scaling [RUN [CASE]]\nsweep [RUN [CASE]]\ngenerate [RUN [CASE]]",
	.doc = "Draw stored results: the runs of a case over time with its change points; the verdicts of a "
	       "comparison; the roofline of a run; the samples or a histogram of a case; speed against the number of "
	       "threads, or "
	       "along an axis of the shape; or where generation spends its time. CASE is a key, with its number of "
	       "threads or with t=all, or a glob or part of "
	       "a key; where one case is drawn, only one may match. A run is named r3, a comparison c3, the "
	       "newest by 'last' (default).\v"
	       "examples:\n"
	       "  assay plot trend 'quantize.q8_0/avx2/n=1048576/t=1/warm' -o trend.svg\n"
	       "  assay plot trend 'quantize.q8_0/avx2/n=1048576*' --per variant -o q.png\n"
	       "  assay plot comparison c3 -o comparison.svg\n"
	       "  assay plot roofline last 'matmul.*' -o roofline.svg",
	.tables = { { assay_options_store, 0 }, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

static int write_plot(const struct plot_args *a, const struct assay_plot *p, const char *path, struct assay_err *err)
{
	const struct assay_report r = {
		.kind = ASSAY_REPORT_PLOT,
		.plot = { .plot = p, .options = { .theme = a->theme, .interrupted = assay_interrupt_flag() } }
	};

	return assay_user_path_error(assay_emit_file(&r, NULL, path, err), err);
}

static size_t n_points(const struct assay_trend_lines *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_lines; i++)
		n += l->lines[i].n_points;
	return n;
}

static int draw_trend(const struct plot_args *a, struct assay_watcher *w, struct assay_err *err)
{
	const struct assay_trend_request q = { .db = a->s.r.db,
					       .key = a->key,
					       .machine = a->machine,
					       .metric = a->metric,
					       .per = a->per,
					       .interrupted = assay_interrupt_flag() };
	struct assay_trend_lines l;
	int rc = assay_trend_lines(&q, &l, err);

	(void)w;
	if (!rc)
		rc = write_plot(a,
				&(struct assay_plot){ .kind = ASSAY_PLOT_TREND,
						      .trend = { .key = l.c.key,
								 .metric = a->metric,
								 .unit = l.unit,
								 .machine = l.machine,
								 .lines = l.lines,
								 .n_lines = l.n_lines,
								 .marks = l.marks,
								 .n_marks = l.n_marks,
								 .by_date = a->by_date } },
				a->out, err);
	if (!rc)
		assay_cli_say("%zu run%s of %s drawn in %s\n", n_points(&l), n_points(&l) == 1 ? "" : "s", l.c.key,
			      a->out);
	assay_trend_lines_release(&l);
	return rc;
}

static int draw_comparison(const struct plot_args *a, struct assay_watcher *w, struct assay_err *err)
{
	struct assay_compare_outcome out = { 0 };
	int rc;

	w->hold = true;
	rc = assay_stored_verdicts(a->s.r.db, a->ids[0].id, a->key, &w->watch, &out, err);
	if (!rc)
		rc = write_plot(
			a, &(struct assay_plot){ .kind = ASSAY_PLOT_COMPARISON, .comparison = { .gate = &out.report } },
			a->out, err);
	if (!rc)
		assay_cli_say("comparison %" PRId64 " drawn in %s\n", out.id, a->out);
	assay_compare_outcome_release(&out);
	return rc;
}

static int draw_run(const struct plot_args *a, struct assay_watcher *w, struct assay_err *err)
{
	struct assay_run run;
	const enum assay_plot_kind kind = assay_plot_find(a->what);
	int rc = assay_stored_run(a->s.r.db, a->ids[0].id, a->key, &run, err);

	(void)w;
	/* a roofline has limits of cases that were not selected */
	if (!rc && a->key && kind == ASSAY_PLOT_ROOFLINE) {
		int64_t id = run.id;

		assay_run_release(&run);
		rc = assay_stored_run(a->s.r.db, id, NULL, &run, err);
	}
	if (!rc && a->metric && strcmp(a->metric, "time_s") != 0)
		rc = assay_stored_metric_known(&run, a->metric, err);
	if (!rc)
		rc = write_plot(a,
				&(struct assay_plot){
					.kind = kind,
					.run = { .run = &run, .only = a->key, .axis = a->axis, .metric = a->metric } },
				a->out, err);
	if (!rc)
		assay_cli_say("%s of run %" PRId64 " drawn in %s\n", a->what, run.id, a->out);
	assay_run_release(&run);
	return rc;
}

static int draw_distribution(const struct plot_args *a, struct assay_watcher *w, struct assay_err *err)
{
	const struct assay_sample_request q = { .db = a->s.r.db,
						.only = a->key,
						.metric = a->metric,
						.comparison = a->ids[0].kind == ASSAY_STORED_COMPARISON,
						.ids = { a->ids[0].id, a->ids[1].id },
						.n_ids = a->n_names };
	struct assay_sample_sets s;
	int rc = assay_sample_sets(&q, &s, err);

	(void)w;
	if (!rc)
		rc = write_plot(a,
				&(struct assay_plot){ .kind = ASSAY_PLOT_DISTRIBUTION,
						      .distribution = { .key = s.key,
									.machine = s.machine,
									.metric = a->metric,
									.unit = s.unit,
									.sides = s.sides,
									.n_sides = s.n } },
				a->out, err);
	if (!rc)
		assay_cli_say("%s of %s drawn in %s\n", a->metric ? a->metric : "samples", s.key, a->out);
	assay_sample_sets_release(&s);
	return rc;
}

static int plot(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct plot_args *a = args;
	const struct kind *k = find_kind(a->what);
	int rc = 0;

	(void)status;
	assay_interrupt_hold();
	for (size_t i = 0; i < a->n_names && !rc; i++) {
		const bool last = !strcmp(a->names[i], "last");
		const struct assay_name_wanted wanted = {
			.db = a->s.r.db,
			.kinds = k->n_names > 1 && (i || last) ? ASSAY_STORED_RUN : k->stored,
			.what = "what to plot",
		};

		rc = assay_stored_name_read(a->names[i], &wanted, &a->ids[i], err);
	}
	if (!rc && a->n_names > 1 && a->ids[0].kind == ASSAY_STORED_COMPARISON)
		rc = assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': a comparison has both sides",
				   a->names[1]);
	return rc ? rc : k->draw(a, w, err);
}

int assay_cmd_plot(int argc, char **argv)
{
	struct plot_args a = { 0 };

	return assay_command(&line, argc, argv, &a, plot);
}
