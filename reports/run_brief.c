/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default view of a run. Cases that differ only in variant and number of threads are one shape, and of a shape the
 * fastest case is shown against the reference on as many threads. What failed is always shown.
 */
#include "reports/run_brief.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/run_cells.h"
#include "reports/text_parts.h"

/* An op with one row names its shape where both together are no longer than this. */
#define NAME_SHOWN 26
/* Reasons that get a line each. */
#define REASONS_SHOWN 3
/* The names of lines below the table, and above it. */
#define NAME_WIDTH 10

enum { COL_NAME, COL_THREADS, COL_BEST, COL_TIME, COL_MARK, COL_HALF, COL_FASTER, COL_RATE, COL_ROOF, COL_OF, N_COLS };

/* Columns that go first where the terminal is too narrow for all of them. */
static const int first_to_go[] = { COL_RATE, COL_HALF, COL_OF };

struct view {
	const struct assay_report_run *r;
	const struct assay_emit_style *style;
	bool left_out[N_COLS];
	struct assay_columns table;
	size_t shown;
	bool faster, rate, roof, ranged, doubted;
};

/* ---- what to show ---- */

static bool same_shape(const struct assay_case *a, const struct assay_case *b)
{
	if (strcmp(a->op, b->op) || a->cache != b->cache || a->n_axes != b->n_axes)
		return false;
	for (unsigned i = 0; i < a->n_axes; i++)
		if (strcmp(a->axes[i].text, b->axes[i].text))
			return false;
	return true;
}

static bool is_measured(const struct assay_result *r)
{
	return r->status == ASSAY_STATUS_OK && r->n_samples && r->median_ns > 0;
}

static bool has_failed(const struct assay_result *r)
{
	return r->status != ASSAY_STATUS_OK && r->status != ASSAY_STATUS_SKIPPED;
}

/* Work a second; calls a second where the op counts none. */
static double speed(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_run_cells_rate_metric(r, tag);

	return m && m->value > 0 ? m->value : 1e9 / r->median_ns;
}

static const struct assay_result *best_of(const struct view *v, const struct assay_case *shape, const char *tag)
{
	const struct assay_run *run = v->r->run;
	const struct assay_result *best = NULL;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (is_measured(r) && same_shape(&r->c, shape) && (!best || speed(r, tag) > speed(best, tag)))
			best = r;
	}
	return best;
}

/* On as many threads as @best; NULL where there is none but itself. */
static const struct assay_result *reference_of(const struct view *v, const struct assay_result *best)
{
	const struct assay_run *run = v->r->run;
	const struct assay_result *reference = NULL;
	bool others = false;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (!is_measured(r) || r->c.threads != best->c.threads || !same_shape(&r->c, &best->c))
			continue;
		others |= r != best;
		if (r->c.reference)
			reference = r;
	}
	return others ? reference : NULL;
}

static bool shape_before(const struct assay_run *run, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_shape(&run->results[k].c, &run->results[i].c))
			return true;
	return false;
}

/* ---- the table ---- */

/* Inputs are warm unless it says otherwise. */
static void add_cache(const struct assay_case *c, char *buf, size_t size)
{
	size_t n = strlen(buf);

	if (c->cache != ASSAY_CACHE_WARM)
		snprintf(buf + n, size - n, "%s%s", n ? " " : "", assay_cache_name(c->cache));
}

static void add_head(struct view *v)
{
	static const char *const names[N_COLS] = {
		"", "thr", "best", "time", "", "95 %", "vs ref", "rate", "roof", "of"
	};
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

static void faster_text(const struct view *v, const struct assay_result *best, char *buf, size_t size)
{
	const struct assay_result *reference = reference_of(v, best);
	double times = reference ? reference->median_ns / best->median_ns : NAN;
	int decimals = times < 9.95 ? 2 : times < 99.5 ? 1 : 0;

	buf[0] = '\0';
	if (isfinite(times))
		snprintf(buf, size, v->style->utf8 ? "×%.*f" : "%.*fx", decimals, times);
}

static void add_best(struct view *v, const struct assay_result *best, const char *name, const char *tag)
{
	double half = (best->ci95_hi_ns - best->ci95_lo_ns) / 2 / best->median_ns;
	double share = assay_run_cells_metric(best, "roof_frac");
	bool doubted = !best->steady || best->disturbed || best->slow_core;
	char threads[16], time[64], mark[8], half_text[64], faster[32], rate[64], roof[32] = "";
	const char *cells[N_COLS] = { [COL_NAME] = name, [COL_THREADS] = threads, [COL_BEST] = best->c.variant,
				      [COL_TIME] = time, [COL_MARK] = mark,       [COL_HALF] = half_text,
				      [COL_RATE] = rate, [COL_FASTER] = faster,   [COL_ROOF] = roof,
				      [COL_OF] = best->roof.name };

	snprintf(threads, sizeof(threads), "%u", best->c.threads);
	assay_quantity_text(best->median_ns * 1e-9, "s", v->style->utf8, time, sizeof(time));
	snprintf(mark, sizeof(mark), "%s%s", best->ci95_reached ? "" : "?", doubted ? "!" : "");
	snprintf(half_text, sizeof(half_text), "%s%.1f %%", v->style->utf8 ? "±" : "+-", 100 * half);
	faster_text(v, best, faster, sizeof(faster));
	assay_run_cells_rate(best, tag, v->style, rate, sizeof(rate));
	if (isfinite(share))
		snprintf(roof, sizeof(roof), "%.*f %%", share < 0.0995 ? 1 : 0, 100 * share);
	for (size_t i = 0; i < N_COLS; i++)
		if (v->left_out[i])
			cells[i] = NULL;
	assay_columns_row(&v->table, cells);
	v->shown++;
	v->ranged |= !best->ci95_reached;
	v->doubted |= doubted;
}

/* In the columns of a best case, the reason in place of its numbers. */
static void add_failed(struct view *v, const struct assay_result *r, const char *name)
{
	char threads[16], why[640];

	snprintf(threads, sizeof(threads), "%u", r->c.threads);
	snprintf(why, sizeof(why), "%s%s: %s%s", assay_paint(v->style, ASSAY_RED), assay_status_name(r->status),
		 r->reason, assay_paint(v->style, ASSAY_RESET));
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
		if (has_failed(&run->results[i]) && same_shape(&run->results[i].c, shape))
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
	char common[ASSAY_SHAPE_MAX], title[ASSAY_NAME_MAX + ASSAY_SHAPE_MAX + 32];

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
		char differs[ASSAY_SHAPE_MAX], name[ASSAY_NAME_MAX + ASSAY_SHAPE_MAX + 48];

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

		v->faster |= is_measured(r) && reference_of(v, r);
		v->rate |= is_measured(r) && assay_run_cells_rate_metric(r, assay_run_cells_rate_tag(run, r->c.op));
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

static void legend_line(const struct view *v, const char *name, const char *text, struct assay_text *out)
{
	assay_text_addf(out, "  %-7s", name);
	assay_columns_wrap(out, text, 9, 9, v->style->width);
	assay_text_add(out, "\n");
}

static void add_legend(const struct view *v, struct assay_text *out)
{
	assay_text_add(out, assay_paint(v->style, ASSAY_DIM));
	if (v->faster)
		legend_line(v, "vs ref", "speed against the reference variant on as many threads", out);
	if (v->roof)
		legend_line(v, "roof", "share of the bandwidth (l1 to dram) or arithmetic that bounds the case", out);
	if (v->ranged)
		legend_line(v, "?", "too few samples for a 95 % interval: half the range of all of them", out);
	if (v->doubted)
		legend_line(v, "!", "the host disturbed it: slow core, disturbed samples, or never steady", out);
	assay_text_add(out, assay_paint(v->style, ASSAY_RESET));
}

static void add_table(struct view *v, struct assay_text *out)
{
	char text[128];

	look_ahead(v);
	fill(v);
	for (size_t i = 0; i < sizeof(first_to_go) / sizeof(first_to_go[0]) && v->style->width &&
			   assay_columns_natural_width(&v->table) > v->style->width;
	     i++) {
		assay_columns_release(&v->table);
		v->left_out[first_to_go[i]] = true;
		fill(v);
	}
	if (v->shown) {
		assay_columns_print(&v->table, out);
		assay_text_add(out, "\n");
		add_legend(v, out);
	}
	assay_columns_release(&v->table);
	if (v->shown < v->r->run->n_results) {
		snprintf(text, sizeof(text), "%zu of %zu cases: the best of each shape and what failed; -v shows all",
			 v->shown, v->r->run->n_results);
		assay_text_addf(out, "%s  ", assay_paint(v->style, ASSAY_DIM));
		assay_columns_wrap(out, text, 2, 2, v->style->width);
		assay_text_addf(out, "%s\n", assay_paint(v->style, ASSAY_RESET));
	}
}

/* ---- the lines below ---- */

static void add_line(const struct assay_emit_style *style, const char *name, const char *text, struct assay_text *out)
{
	assay_text_addf(out, "%s%-*s%s", assay_paint(style, ASSAY_DIM), NAME_WIDTH, name,
			assay_paint(style, ASSAY_RESET));
	assay_columns_wrap(out, text, NAME_WIDTH, NAME_WIDTH, style->width);
	assay_text_add(out, "\n");
}

/* The reason of item @i, or NULL where it has none to tell. */
typedef const char *reason_fn(const struct assay_run *run, size_t i);

static const char *skip_reason(const struct assay_run *run, size_t i)
{
	return run->results[i].status == ASSAY_STATUS_SKIPPED ? run->results[i].reason : NULL;
}

static const char *count_reason(const struct assay_run *run, size_t i)
{
	return run->exact->cases[i].status != ASSAY_STATUS_OK ? run->exact->cases[i].reason : NULL;
}

static size_t times_told(const struct assay_run *run, reason_fn *reason, size_t n, const char *why)
{
	size_t times = 0;

	for (size_t i = 0; i < n; i++)
		times += reason(run, i) && !strcmp(reason(run, i), why);
	return times;
}

/* One line a reason, with its number, for the first few of them. */
static void add_reasons(const struct assay_run *run, const struct assay_emit_style *style, const char *name,
			reason_fn *reason, size_t n, struct assay_text *out)
{
	size_t lines = 0, left = 0;
	char text[640];

	for (size_t i = 0; i < n; i++) {
		const char *why = reason(run, i);

		if (!why || times_told(run, reason, i, why))
			continue;
		if (lines == REASONS_SHOWN) {
			left += times_told(run, reason, n, why);
			continue;
		}
		snprintf(text, sizeof(text), "%zu: %s", times_told(run, reason, n, why), why);
		add_line(style, lines++ ? "" : name, text, out);
	}
	snprintf(text, sizeof(text), "%zu for other reasons: -v shows all", left);
	if (left)
		add_line(style, "", text, out);
}

static void add_counted(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_exact_run *exact = run->exact;
	size_t ok = 0;
	char text[128];

	if (!exact || !exact->n_cases)
		return;
	for (size_t i = 0; i < exact->n_cases; i++)
		ok += exact->cases[i].status == ASSAY_STATUS_OK;
	snprintf(text, sizeof(text), "%zu of %zu cases counted exactly", ok, exact->n_cases);
	add_line(style, "counts", text, out);
	add_reasons(run, style, "", count_reason, exact->n_cases, out);
}

static void add_statuses(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	size_t count[ASSAY_N_STATUS] = { 0 };
	bool first = true;

	for (size_t i = 0; i < run->n_results; i++)
		count[run->results[i].status]++;
	for (int s = 0; s < ASSAY_N_STATUS; s++) {
		const char *colour = s == ASSAY_STATUS_OK        ? ASSAY_GREEN
				     : s == ASSAY_STATUS_SKIPPED ? ASSAY_YELLOW
								 : ASSAY_RED;

		if (!count[s] && s != ASSAY_STATUS_OK)
			continue;
		assay_text_addf(out, "%s%s%zu %s%s", first ? "" : ", ", assay_paint(style, count[s] ? colour : ""),
				count[s], assay_status_name((enum assay_status)s), assay_paint(style, ASSAY_RESET));
		first = false;
	}
	if (run->ended_ns > run->started_ns)
		assay_text_addf(out, " in %.0f s", (double)(run->ended_ns - run->started_ns) * 1e-9);
	assay_text_add(out, "\n");
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Half the width of the interval of the middle case, as a share of its time. */
static double middle_half(const struct assay_run *run, struct assay_text *out)
{
	double *half = malloc((run->n_results + 1) * sizeof(*half)), middle = NAN;
	size_t n = 0;

	out->failed |= !half;
	for (size_t i = 0; i < run->n_results && half; i++) {
		const struct assay_result *r = &run->results[i];

		if (is_measured(r))
			half[n++] = (r->ci95_hi_ns - r->ci95_lo_ns) / 2 / r->median_ns;
	}
	if (n) {
		qsort(half, n, sizeof(*half), ascending);
		middle = half[n / 2];
	}
	free(half);
	return middle;
}

static bool has_fixed_work(const struct assay_run *run)
{
	for (size_t i = 0; i < run->n_environment; i++)
		if (!strcmp(run->environment[i].name, "deterministic"))
			return true;
	return false;
}

/* Append "12 on slow cores" to @text at @at; how much that is. */
static size_t add_number(char *text, size_t size, size_t at, size_t n, const char *what)
{
	return n ? (size_t)snprintf(text + at, size - at, "%s%zu %s", at ? ", " : "", n, what) : 0;
}

/* What is not known well, why, and what helps. With fixed work an interval is what it is. */
static void add_doubts(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out)
{
	size_t n = 0, wide = 0, unsteady = 0, slow = 0, disturbed = 0;
	const char *name = "unsure";
	char text[320];

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];

		if (!is_measured(r))
			continue;
		n++;
		wide += !r->converged;
		unsteady += !r->steady;
		slow += r->slow_core;
		disturbed += r->disturbed;
	}
	if (has_fixed_work(run))
		return;
	if (wide) {
		snprintf(text, sizeof(text),
			 "%zu of %zu cases are not known to within 0.5 %%, half of all to within %.2g %%: --budget or "
			 "--rounds narrows that",
			 wide, n, 100 * middle_half(run, out));
		add_line(style, name, text, out);
		name = "";
	}
	if (unsteady || slow || disturbed) {
		size_t at = 0;

		at += add_number(text, sizeof(text), at, unsteady, "did not settle");
		at += add_number(text, sizeof(text), at, slow, "on slow cores");
		at += add_number(text, sizeof(text), at, disturbed, "mostly disturbed");
		snprintf(text + at, sizeof(text) - at, ": 'assay doctor' says what disturbs this machine");
		add_line(style, name, text, out);
	}
}

void assay_run_summary_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			    struct assay_text *out)
{
	add_statuses(r->run, style, out);
	add_doubts(r->run, style, out);
}

void assay_run_brief_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			  struct assay_text *out)
{
	struct view v = { .r = r, .style = style };

	add_table(&v, out);
	assay_text_add(out, "\n");
	add_statuses(r->run, style, out);
	add_reasons(r->run, style, "skipped", skip_reason, r->run->n_results, out);
	add_counted(r->run, style, out);
	add_doubts(r->run, style, out);
}
