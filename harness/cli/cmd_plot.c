/* SPDX-License-Identifier: Apache-2.0 */
/* assay plot: the history of one case as a picture, or of all cases as a page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "drive/stored_results.h"
#include "model/quantity.h"
#include "reports/trend.h"

struct plot_args {
	struct assay_settings s;
	const char *what; /* "trend" or "report" */
	const char *key, *out, *metric;
};

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct plot_args *a = args;

	if (!a->what) {
		if (strcmp(arg, "trend") && strcmp(arg, "report"))
			return assay_err_set(err, ASSAY_EUSAGE,
					     "cannot plot '%s': expected 'trend CASE -o FILE' or 'report -o DIR'", arg);
		a->what = arg;
		return 0;
	}
	if (a->key || strcmp(a->what, "trend"))
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': the output is named with -o", arg);
	a->key = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct plot_args *a = args;

	if (!a->what)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "nothing to plot: expected 'trend CASE -o FILE' or 'report -o DIR'");
	if (!strcmp(a->what, "trend") && !a->key)
		return assay_err_set(err, ASSAY_EUSAGE, "no case given: assay plot trend CASE -o FILE.svg");
	if (!a->out || !a->out[0])
		return assay_err_set(err, ASSAY_EUSAGE, "no output given: name one with -o %s",
				     !strcmp(a->what, "trend") ? "FILE.svg" : "DIR");
	return 0;
}

static const struct assay_option options[] = {
	{ "output", 'o', "PATH", assay_option_text, offsetof(struct plot_args, out),
	  "Picture (.svg or .png) of a trend, folder of a report" },
	{ "metric", 0, "NAME", assay_option_text, offsetof(struct plot_args, metric),
	  "Draw this metric or count, such as bytes_per_s, kv_cache_hit_rate or exact_instructions (default: time)" },
	{ 0 },
};
static const struct assay_command_line line = {
	.usage = "trend CASE\nreport",
	.doc = "Draw the stored runs of a case over time (median with its interval), or of all cases into a folder "
	       "with a page. CASE is a key, with its number of threads or with t=all, or a glob or part that only "
	       "one key has. The runs are those of the machine that measured last.\v"
	       "examples:\n"
	       "  assay plot trend 'quantize.q8_0/avx2/n=1048576/t=1/warm' -o trend.svg\n"
	       "  assay plot report --metric roof_frac -o roofs",
	.tables = { { assay_options_store, 0 }, { options, 0 } },
	.argument = set_argument,
	.check = check,
};

/* The runs of a case, which borrow @unit; the caller frees *points. */
static int history_of(const struct assay_history *h, const struct assay_case *c, const char *metric,
		      char unit[ASSAY_METRIC_UNIT_MAX], struct assay_report *r, struct assay_trend_point **points,
		      struct assay_err *err)
{
	size_t n = 0;
	int rc = assay_history_points(h, c, metric, points, &n, unit, err);

	*r = (struct assay_report){
		.kind = ASSAY_REPORT_HISTORY,
		.history = { .key = c->key,
			     .metric = metric,
			     .unit = unit,
			     .machine = h->newest.machine_label,
			     .points = *points,
			     .n_points = n,
			     .interrupted = assay_interrupt_flag() },
	};
	return rc;
}

static int plot_trend(const struct plot_args *a, const struct assay_history *h, struct assay_err *err)
{
	struct assay_trend_point *points = NULL;
	const struct assay_case *c = NULL;
	char unit[ASSAY_METRIC_UNIT_MAX];
	struct assay_report r;
	int rc = assay_history_find(h, a->key, &c, err);

	if (!rc)
		rc = history_of(h, c, a->metric, unit, &r, &points, err);
	if (!rc)
		rc = assay_hint_user_path(assay_emit_file(&r, NULL, a->out, err), err);
	if (!rc)
		printf("%zu run%s of %s drawn in %s\n", r.history.n_points, r.history.n_points == 1 ? "" : "s", c->key,
		       a->out);
	free(points);
	return rc;
}

struct page {
	struct assay_report_picture *pictures;
	char (*files)[ASSAY_TREND_NAME_MAX];
	char (*last)[64];
	size_t n;
};

static int add_plot(struct page *page, const char *folder, const struct assay_report *r, struct assay_err *err)
{
	const struct assay_report_history *h = &r->history;
	char path[4096 + ASSAY_TREND_NAME_MAX];
	const struct assay_trend_point *from = &h->points[0], *to = &h->points[h->n_points - 1];
	double first = h->metric ? from->value : from->median_ns, last = h->metric ? to->value : to->median_ns;
	size_t i = page->n;
	int rc;

	assay_trend_file_name(h->key, ".svg", page->files[i]);
	if (h->metric)
		assay_metric_text(h->metric, last, h->unit, true, page->last[i], sizeof(page->last[i]));
	else
		assay_quantity_text(last * 1e-9, "s", true, page->last[i], sizeof(page->last[i]));
	snprintf(path, sizeof(path), "%s/%s", folder, page->files[i]);
	rc = assay_hint_user_path(assay_emit_file(r, NULL, path, err), err);
	if (rc)
		return rc;
	page->pictures[i] =
		(struct assay_report_picture){ .key = h->key,
					       .file = page->files[i],
					       .last = page->last[i],
					       .change_frac = h->n_points > 1 && first > 0 ? last / first - 1 : NAN,
					       .n_runs = h->n_points };
	page->n++;
	return 0;
}

/* Keep the first reason why a case cannot be drawn. */
static int take_hint(struct assay_err *to, const struct assay_err *why)
{
	if (!to->text[0])
		*to = *why;
	return 0;
}

static int plot_all(struct page *page, const struct plot_args *a, const struct assay_history *h, struct assay_err *err)
{
	bool bar = isatty(STDERR_FILENO);
	struct assay_err why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < h->n && !rc; i++) {
		struct assay_trend_point *points = NULL;
		char unit[ASSAY_METRIC_UNIT_MAX];
		struct assay_err none = { 0 };
		struct assay_report r;

		if (bar)
			fprintf(stderr, "\rdrawing %zu/%zu\033[K", i + 1, h->n);
		rc = history_of(h, &h->cases[i], a->metric, unit, &r, &points, &none);
		if (!rc)
			rc = add_plot(page, a->out, &r, err);
		else if (a->metric && rc == ASSAY_EUSAGE)
			rc = take_hint(&why, &none); /* not every case has it */
		else
			rc = assay_err_set(err, rc, "%s", none.text);
		free(points);
	}
	if (bar)
		fputs("\r\033[K", stderr);
	if (!rc && a->metric && !page->n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s", why.text);
	if (rc == ASSAY_EINTERRUPTED)
		assay_err_set(err, rc, "interrupted: %zu of %zu plots are in '%.255s', and no page of them", page->n,
			      h->n, a->out);
	return rc;
}

static int write_page(const struct page *page, const struct plot_args *a, const struct assay_history *h,
		      struct assay_err *err)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_GALLERY,
					.gallery = { .machine = h->newest.machine_label,
						     .metric = a->metric,
						     .pictures = page->pictures,
						     .n_pictures = page->n } };
	char path[4096 + sizeof("/index.html")];

	snprintf(path, sizeof(path), "%s/index.html", a->out);
	return assay_hint_user_path(assay_emit_file(&r, NULL, path, err), err);
}

static int plot_report(const struct plot_args *a, const struct assay_history *h, struct assay_err *err)
{
	struct page page = { 0 };
	int rc = 0;

	if (strlen(a->out) >= 4096)
		return assay_err_set(err, ASSAY_EUSAGE, "cannot write '%.80s…': its path is too long", a->out);
	page.pictures = calloc(h->n + 1, sizeof(*page.pictures));
	page.files = calloc(h->n + 1, sizeof(*page.files));
	page.last = calloc(h->n + 1, sizeof(*page.last));
	if (!page.pictures || !page.files || !page.last)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc)
		rc = assay_hint_user_path(assay_file_mkdirs(a->out, err), err);
	if (!rc)
		rc = plot_all(&page, a, h, err);
	if (!rc)
		rc = write_page(&page, a, h, err);
	if (!rc)
		printf("%zu plots in %s/index.html\n", page.n, a->out);
	free(page.pictures);
	free(page.files);
	free(page.last);
	return rc;
}

static int plot(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	const struct plot_args *a = args;
	struct assay_history h = { 0 };
	int rc = assay_history_open(&h, a->s.r.db, NULL, err);

	(void)w;
	(void)status;
	assay_interrupt_hold();
	if (!rc)
		rc = !strcmp(a->what, "trend") ? plot_trend(a, &h, err) : plot_report(a, &h, err);
	assay_history_close(&h);
	return rc;
}

int assay_cmd_plot(int argc, char **argv)
{
	struct plot_args a = { 0 };

	return assay_command(&line, argc, argv, &a, plot);
}
