/* SPDX-License-Identifier: Apache-2.0 */
/* assay plot report: the trends of all cases of a machine, and a page over them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/plot_command.h"
#include "drive/show/results.h"
#include "model/quantity.h"

struct page {
	struct assay_report_picture *pictures;
	char (*files)[ASSAY_PLOT_FILE_MAX];
	char (*last)[64];
	size_t n, n_failed; /* of n: those whose picture could not be drawn */
};

static int add_plot(struct page *page, const struct assay_plot_args *a, const struct assay_plot *p,
		    struct assay_err *err)
{
	const struct assay_plot_trend *h = &p->trend;
	const struct assay_trend_line *l = h->lines;
	char path[4096 + ASSAY_PLOT_FILE_MAX];
	const struct assay_trend_point *from = &l->points[0], *to = &l->points[l->n_points - 1];
	double first = h->metric ? from->value : from->median_ns, last = h->metric ? to->value : to->median_ns;
	size_t i = page->n;
	int rc;

	if (l->n_points > 1)
		assay_plot_file_name(h->key, ".svg", page->files[i]);
	if (h->metric)
		assay_metric_text(h->metric, last, h->unit, true, page->last[i], sizeof(page->last[i]));
	else
		assay_quantity_text(last * 1e-9, "s", true, page->last[i], sizeof(page->last[i]));
	snprintf(path, sizeof(path), "%s/%s", a->out, page->files[i]);
	rc = l->n_points > 1 ? assay_plot_write(a, p, path, err) : 0;
	if (rc == ASSAY_EINTERRUPTED || rc == ASSAY_ENOMEM || rc == ASSAY_EUNAVAILABLE)
		return rc;
	/* the others are drawn, and the case is in the table */
	if (rc) {
		assay_cli_warn("no picture of %s: %s", h->key, err->text);
		*err = (struct assay_err){ 0 };
		page->files[i][0] = '\0';
		page->n_failed++;
	}
	page->pictures[i] =
		(struct assay_report_picture){ .key = h->key,
					       .file = page->files[i],
					       .last = page->last[i],
					       .change_frac = l->n_points > 1 && first > 0 ? last / first - 1 : NAN,
					       .n_runs = l->n_points };
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

static int plot_all(struct page *page, const struct assay_plot_args *a, const struct assay_history *h,
		    struct assay_err *err)
{
	bool bar = isatty(STDERR_FILENO);
	struct assay_err why = { 0 };
	int rc = 0;

	for (size_t i = 0; i < h->n && !rc; i++) {
		struct assay_trend_line line = { 0 };
		char unit[ASSAY_METRIC_UNIT_MAX];
		struct assay_err none = { 0 };

		if (bar)
			fprintf(stderr, "\rdrawing %zu/%zu\033[K", i + 1, h->n);
		rc = assay_history_points(h, &h->cases[i], a->metric, &line.points, &line.n_points, unit, &none);
		if (!rc)
			rc = add_plot(page, a,
				      &(struct assay_plot){ .kind = ASSAY_PLOT_TREND,
							    .trend = { .key = h->cases[i].key,
								       .metric = a->metric,
								       .unit = unit,
								       .machine = h->newest.machine_label,
								       .lines = &line,
								       .n_lines = 1 } },
				      err);
		else if (a->metric && rc == ASSAY_EUSAGE)
			rc = take_hint(&why, &none); /* not every case has it */
		else
			rc = assay_err_set(err, rc, "%s", none.text);
		assay_trend_line_release(&line);
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

static size_t n_drawn(const struct page *page)
{
	size_t n = 0;

	for (size_t i = 0; i < page->n; i++)
		n += page->files[i][0] != '\0';
	return n;
}

/* All that could be drawn is there, and so is the page; only pictures that failed alone are an error. */
static int check_drawn(const struct page *page, struct assay_err *err)
{
	return page->n_failed && !n_drawn(page)
		       ? assay_err_set(err, ASSAY_EIO, "none of %zu pictures could be drawn", page->n_failed)
		       : 0;
}

static int write_page(const struct page *page, const struct assay_plot_args *a, const struct assay_history *h,
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

static int draw_all(const struct assay_plot_args *a, const struct assay_history *h, struct assay_err *err)
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
		rc = check_drawn(&page, err);
	if (!rc)
		assay_cli_say("%zu cases, %zu with a trend, in %s/index.html\n", page.n, n_drawn(&page), a->out);
	free(page.pictures);
	free(page.files);
	free(page.last);
	return rc;
}

int assay_plot_gallery(const struct assay_plot_args *a, struct assay_err *err)
{
	struct assay_history h = { 0 };
	int rc = assay_plot_probe(err);

	if (!rc)
		rc = assay_history_open(&h, a->s.r.db, a->machine, err);
	if (!rc)
		rc = draw_all(a, &h, err);
	assay_history_close(&h);
	return rc;
}
