/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default view of a run. Cases that differ only in variant and number of threads are one shape, and of a shape the
 * fastest case is shown against the reference on as many threads. What failed is always shown.
 */
#include "reports/run/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "model/summary.h"
#include "reports/columns.h"
#include "reports/text_parts.h"

/* An op with one row names its shape where both together are no longer than this. */
#define NAME_SHOWN 26

enum { COL_NAME, COL_THREADS, COL_BEST, COL_TIME, COL_MARK, COL_HALF, COL_FASTER, COL_RATE, COL_ROOF, COL_OF, N_COLS };

/* Columns that go first where the terminal is too narrow for all of them. */
static const int first_to_go[] = { COL_RATE, COL_HALF, COL_OF };

struct view {
	const struct assay_report_run *r;
	const struct assay_emit_style *style;
	bool left_out[N_COLS];
	struct assay_columns table;
	size_t shown;
	bool faster, rate, roof, above, alone, doubted;
};

/* ---- what to show ---- */

static bool has_failed(const struct assay_result *r)
{
	return r->status != ASSAY_STATUS_OK && r->status != ASSAY_STATUS_SKIPPED;
}

/* Work a second; calls a second where the op counts none. */
static double speed(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	return m && m->value > 0 ? m->value : 1e9 / r->median_ns;
}

static const struct assay_result *best_of(const struct view *v, const struct assay_case *shape, const char *tag)
{
	const struct assay_run *run = v->r->run;
	const struct assay_result *best = NULL;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (assay_run_cells_measured(r) && assay_case_same_shape(&r->c, shape) &&
		    (!best || speed(r, tag) > speed(best, tag)))
			best = r;
	}
	return best;
}

static bool shape_before(const struct assay_run *run, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (assay_case_same_shape(&run->results[k].c, &run->results[i].c))
			return true;
	return false;
}

/* ---- the table ---- */

/* Inputs are warm unless it says otherwise. */
static void add_cache(const struct assay_case *c, char *buf, size_t size)
{
	size_t n = strlen(buf);

	if (c->cache == ASSAY_CACHE_COLD)
		snprintf(buf + n, size - n, "%s%s", n ? " " : "", assay_cache_name(c->cache));
}

static void add_head(struct view *v)
{
	static const char *const names[N_COLS] = { "",     "thr",    "best", "time",       "",
						   "95 %", "vs ref", "rate", "% of limit", "limited by" };
	char cells[N_COLS][32];
	const char *p[N_COLS];

	for (size_t i = 0; i < N_COLS; i++) {
		bool shown = names[i][0] && !v->left_out[i] && (i != COL_FASTER || v->faster) &&
			     (i != COL_RATE || v->rate) && ((i != COL_ROOF && i != COL_OF) || v->roof);

		cells[i][0] = '\0';
		if (shown)
			snprintf(cells[i], sizeof(cells[i]), "%s%s%s", assay_paint(v->style, ASSAY_DIM), names[i],
				 assay_paint(v->style, ASSAY_RESET));
		p[i] = cells[i];
	}
	assay_columns_row(&v->table, p);
}

static void add_best(struct view *v, const struct assay_result *best, const char *name, const char *tag)
{
	double share = assay_run_cells_metric(best, "roof_frac");
	bool doubted = !best->steady || best->disturbed || best->slow_core;
	char threads[16], time[64], mark[8], half_text[64] = "", faster[32], rate[64], roof[32] = "";
	const char *cells[N_COLS] = { [COL_NAME] = name,         [COL_THREADS] = threads, [COL_BEST] = best->c.variant,
				      [COL_TIME] = time,         [COL_MARK] = mark,       [COL_HALF] = half_text,
				      [COL_RATE] = rate,         [COL_FASTER] = faster,   [COL_ROOF] = roof,
				      [COL_OF] = best->roof.name };

	snprintf(threads, sizeof(threads), best->c.threads ? "%u" : "-", best->c.threads);
	assay_quantity_text(best->median_ns * 1e-9, "s", v->style->utf8, time, sizeof(time));
	snprintf(mark, sizeof(mark), "%s", doubted ? "!" : "");
	if (best->ci95_reached)
		snprintf(half_text, sizeof(half_text), "%s%.1f %%", v->style->utf8 ? "±" : "+-",
			 100 * assay_summary_half_width_frac(best));
	assay_run_cells_vs_reference(v->r->run, best, v->style->utf8, faster, sizeof(faster));
	assay_run_cells_rate(best, tag, v->style, rate, sizeof(rate));
	assay_run_cells_share(best, roof, sizeof(roof));
	v->above |= assay_limit_exceeded(share);
	for (size_t i = 0; i < N_COLS; i++)
		if (v->left_out[i])
			cells[i] = NULL;
	assay_columns_row(&v->table, cells);
	/* the output of a program is the purpose of running it */
	if (best->c.cache == ASSAY_CACHE_NONE)
		assay_run_cells_metrics_line(&v->table, v->style, best);
	assay_run_cells_note(&v->table, v->style, best);
	v->shown++;
	v->alone |= !best->ci95_reached;
	v->doubted |= doubted;
}

/* In the columns of a best case, the reason in place of its numbers. */
static void add_failed(struct view *v, const struct assay_result *r, const char *name)
{
	const bool timed = r->status == ASSAY_STATUS_WRONG && r->n_samples;
	char threads[16], why[720], time[64];

	snprintf(threads, sizeof(threads), r->c.threads ? "%u" : "-", r->c.threads);
	assay_quantity_text(r->median_ns * 1e-9, "s", v->style->utf8, time, sizeof(time));
	snprintf(why, sizeof(why), "%s%s%s%s: %s%s", assay_paint(v->style, ASSAY_RED), timed ? time : "",
		 timed ? " and " : "", assay_status_name(r->status), r->reason, assay_paint(v->style, ASSAY_RESET));
	assay_columns_tail(&v->table, (const char *const[]){ name, threads, r->c.variant }, COL_TIME, why);
	v->shown++;
}

/* The best case of a shape, and all that failed. */
static void add_shape(struct view *v, const struct assay_case *shape, const char *name, const char *tag)
{
	const struct assay_run *run = v->r->run;
	const struct assay_result *best = best_of(v, shape, tag);

	if (best)
		add_best(v, best, name, tag);
	for (size_t i = 0; i < run->n_results; i++)
		if (has_failed(&run->results[i]) && assay_case_same_shape(&run->results[i].c, shape))
			add_failed(v, &run->results[i], name);
}

static size_t rows_of(const struct view *v, const char *op, const char *tag)
{
	const struct assay_run *run = v->r->run;
	size_t rows = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (!strcmp(r->c.op, op))
			rows += has_failed(r) + (!shape_before(run, i) && best_of(v, &r->c, tag));
	}
	return rows;
}

/* Several rows stand under the name of their op, one beside it. */
static void add_op(struct view *v, size_t first)
{
	const struct assay_run *run = v->r->run;
	const struct assay_case *c = &run->results[first].c;
	const char *tag = assay_run_cells_rate_tag(run, c->op);
	size_t rows = rows_of(v, c->op, tag);
	char common[ASSAY_SHAPE_MAX], title[ASSAY_OP_MAX + ASSAY_SHAPE_MAX + 32];

	if (!rows)
		return;
	assay_run_cells_shape(run, c, true, common, sizeof(common));
	if (rows > 1) {
		snprintf(title, sizeof(title), "%s%s%s%s%s", assay_paint(v->style, ASSAY_BOLD), c->op,
			 assay_paint(v->style, ASSAY_RESET), common[0] ? " " : "", common);
		assay_columns_line(&v->table, 0, title);
	}
	for (size_t i = first; i < run->n_results; i++) {
		const struct assay_case *shape = &run->results[i].c;
		bool fits = strlen(c->op) + strlen(common) < NAME_SHOWN;
		char differs[ASSAY_SHAPE_MAX], name[ASSAY_OP_MAX + ASSAY_SHAPE_MAX + 48];

		if (strcmp(shape->op, c->op) || shape_before(run, i))
			continue;
		assay_run_cells_shape(run, shape, false, differs, sizeof(differs));
		add_cache(shape, differs, sizeof(differs));
		if (rows > 1)
			snprintf(name, sizeof(name), "  %s", differs);
		else
			snprintf(name, sizeof(name), "%s%s%s%s%s", assay_paint(v->style, ASSAY_BOLD), c->op,
				 assay_paint(v->style, ASSAY_RESET), fits && common[0] ? " " : "", fits ? common : "");
		add_shape(v, shape, name, tag);
	}
}

static void look_ahead(struct view *v)
{
	const struct assay_run *run = v->r->run;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		v->faster |= assay_run_cells_measured(r) && assay_run_cells_reference(run, r) != NULL;
		v->rate |=
			assay_run_cells_measured(r) && assay_result_metric(r, assay_run_cells_rate_tag(run, r->c.op));
		v->roof |= assay_result_metric(r, "roof_frac") != NULL;
	}
}

static void fill(struct view *v)
{
	const struct assay_run *run = v->r->run;

	v->table = (struct assay_columns){ .align = "lrlrlrrrrl", .width = v->style->width };
	v->shown = 0;
	add_head(v);
	for (size_t i = 0; i < run->n_results; i++)
		if (!assay_run_cells_op_before(run, i))
			add_op(v, i);
}

static void add_legend(const struct view *v, struct assay_text *out)
{
	char text[512];

	assay_text_add(out, assay_paint(v->style, ASSAY_DIM));
	if (v->faster)
		assay_run_legend_line(
			out, v->style, "vs ref",
			"speed-up over the reference variant on as many threads; unsure where one of both times "
			"has no interval, or was taken mostly from disturbed samples, and where its own would be "
			"wider than the ratio");
	if (v->roof)
		assay_run_legend_line(
			out, v->style, "% of limit",
			"share of the bandwidth (l1 to dram) or arithmetic peak that bounds the case, as measured "
			"in this run");
	if (v->above)
		assay_run_legend_line(out, v->style, "wrong", ASSAY_LIMIT_EXCEEDED_TEXT);
	assay_run_cells_no_roof(v->r->run, text, sizeof(text));
	if (text[0])
		assay_run_legend_line(out, v->style, v->roof ? "" : "% of limit", text);
	if (v->alone)
		assay_run_legend_line(
			out, v->style, "95 %",
			"half the width of the 95 % interval over processes; none where one process took all samples, "
			"or where it would be wider than the time");
	if (v->doubted)
		assay_run_legend_line(out, v->style, "!",
				      "the host disturbed it: slow core, disturbed samples, or never steady");
	assay_text_add(out, assay_paint(v->style, ASSAY_RESET));
}

void assay_run_brief_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			  struct assay_text *out)
{
	struct view v = { .r = r, .style = style };
	size_t n = r->run->n_results;
	char text[128];

	look_ahead(&v);
	fill(&v);
	for (size_t i = 0; i < sizeof(first_to_go) / sizeof(first_to_go[0]) && style->width &&
			   assay_columns_natural_width(&v.table) > style->width;
	     i++) {
		assay_columns_release(&v.table);
		v.left_out[first_to_go[i]] = true;
		fill(&v);
	}
	if (v.shown) {
		assay_columns_print(&v.table, out);
		assay_text_add(out, "\n");
		add_legend(&v, out);
	}
	assay_columns_release(&v.table);
	if (v.shown < n) {
		snprintf(text, sizeof(text), "%zu of %zu cases: the best of each shape and what failed; -v shows all",
			 v.shown, n);
		assay_text_addf(out, "%s  ", assay_paint(style, ASSAY_DIM));
		assay_columns_wrap(out, text, 2, 2, style->width);
		assay_text_addf(out, "%s\n", assay_paint(style, ASSAY_RESET));
	}
}
