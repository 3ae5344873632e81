/* SPDX-License-Identifier: Apache-2.0 */
/* The gain of further threads: work a second against that of one thread of the same line, beside the ideal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/build.h"
#include "reports/plot/lines.h"
#include "reports/run/parts.h"

#define PLOT_HEIGHT 380

/*
 * The op of most cases with a number of threads other than 1, limits of the machine or none; NULL: there is none.
 */
static const struct assay_case *busiest(const struct assay_run *run, bool limits)
{
	const struct assay_case *best = NULL;
	size_t most = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		size_t n = 0;

		if (assay_run_cells_op_before(run, i) || assay_case_is_limit(&run->results[i].c) != limits)
			continue;
		for (size_t k = i; k < run->n_results; k++)
			n += assay_run_cells_measured(&run->results[k]) && run->results[k].c.threads > 1 &&
			     !strcmp(run->results[k].c.op, run->results[i].c.op);
		if (n > most) {
			most = n;
			best = &run->results[i].c;
		}
	}
	return best;
}

/* Work a second; of what publishes no rate, calls. */
static double rate(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	return m && m->value > 0 ? m->value : 1e9 / r->median_ns;
}

/* Against the least number of threads of the line, as if that were ideal: of one thread, 1. */
static void set_speed(struct assay_case_lines *l, const char *tag, double *most, double *threads)
{
	for (size_t i = 0; i < l->n; i++) {
		double base = rate(l->v[i].v[0].r, tag) / l->v[i].v[0].x;

		for (size_t k = 0; k < l->v[i].n; k++) {
			struct assay_line_point *p = &l->v[i].v[k];

			p->y = rate(p->r, tag) / base;
			p->lo = p->hi = p->y;
			if (p->r->ci95_reached) {
				p->lo *= p->r->median_ns / p->r->ci95_hi_ns;
				p->hi *= p->r->median_ns / p->r->ci95_lo_ns;
			}
			*most = fmax(*most, p->hi);
			*threads = fmax(*threads, p->x);
		}
	}
}

int assay_plot_scaling_data(const struct assay_plot *p, struct assay_text *t, struct assay_err *err)
{
	const struct assay_run *run = p->run.run;
	const struct assay_case *kernel = busiest(run, false), *first = kernel ? kernel : busiest(run, true);
	struct assay_case_lines l = { 0 };
	char title[ASSAY_KEY_MAX + 32], below[256];
	double most = 1, threads = 1;
	unsigned top, key;
	size_t n;
	int rc = 0;

	if (first)
		rc = assay_case_lines_find(run, first, ASSAY_ALONG_THREADS, 2, &l, err);
	if (!rc && !l.n && kernel) { /* none of them on several numbers of threads */
		first = busiest(run, true);
		if (first)
			rc = assay_case_lines_find(run, first, ASSAY_ALONG_THREADS, 2, &l, err);
	}
	if (!rc && !l.n)
		rc = assay_err_set(
			err, ASSAY_ENOTFOUND,
			"run %lld has no case on more than one number of threads: 'assay run --suite scaling' "
			"measures some",
			(long long)run->id);
	if (!rc) {
		set_speed(&l, assay_run_cells_rate_tag(run, first->op), &most, &threads);
		snprintf(title, sizeof(title), "scaling of %s", l.common);
		n = (size_t)snprintf(below, sizeof(below), "%.120s. run %lld, work per second relative to one thread",
				     run->machine.label, (long long)run->id);
		if (l.n_left_out && n < sizeof(below))
			snprintf(below + n, sizeof(below) - n, "; %zu slower lines left out", l.n_left_out);
		key = assay_plot_set_head(t, title, below);
		top = key + assay_case_lines_set(t, &l, 1, "ideal") + 16;
		assay_text_addf(t, "THREADS = %g\nYHI = %.9g\nTOP = %u\nBOTTOM = 62\nKEY_AT = %u\n", threads,
				1.06 * fmax(most, threads), top, key + 12);
		assay_text_addf(t, "WIDTH = %d\nHEIGHT = %u\n", ASSAY_PLOT_WIDTH, top + PLOT_HEIGHT + 62);
	}
	assay_case_lines_release(&l);
	return rc;
}
