/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the tables of a run: cells (run/cells.c), the short table (run/brief.c), the lines below. */
#ifndef ASSAY_REPORTS_RUN_PARTS_H
#define ASSAY_REPORTS_RUN_PARTS_H

#include "model/summary.h"
#include "reports/columns.h"
#include "reports/emitter.h"

#define ASSAY_SHAPE_MAX (ASSAY_MAX_AXES * 2 * ASSAY_NAME_MAX)

/*
 * "m=2560,n=1": of the axes of @c those on which the cases of its op in @run differ, or with @common those that are the
 * same in all of them and so need to be said only once.
 */
void assay_run_cells_shape(const struct assay_run *run, const struct assay_case *c, bool common, char *buf,
			   size_t size);

/* The result that a time is compared with: the fastest variant on as many threads; for that one, the reference. */
struct assay_run_against {
	const struct assay_result *other; /* NULL: none was measured */
	struct assay_time_ratio times;    /* as long as @other takes; below 1 it is faster; NaN: it has no interval */
};
struct assay_run_against assay_run_cells_against(const struct assay_run *run, const struct assay_result *r);
/*
 * "48.0x slower than avx512 (47.1x to 49.0x)", "unsure against avx512: no interval"; "" where there is no other. A
 * ratio is never shown without its interval: it may be off by any factor.
 */
void assay_run_cells_against_text(const struct assay_run *run, const struct assay_result *r, char *buf, size_t size);

/* Has an earlier result the op of result @i? */
bool assay_run_cells_op_before(const struct assay_run *run, size_t i);

/* It is ok and has a time. */
bool assay_run_cells_measured(const struct assay_result *r);
/* NaN where @r has no such metric. */
double assay_run_cells_metric(const struct assay_result *r, const char *tag);

/* The share of its limit, marked where it is wrong; "" where there is none. */
void assay_run_cells_share(const struct assay_result *r, char *buf, size_t size);

/*
 * Why measured cases have no share of the roof: "none: REASON" of all of them, "none of 3 cases: REASON" of some; the
 * reason is that of the first. "" where each has one.
 */
void assay_run_cells_no_roof(const struct assay_run *run, char *buf, size_t size);

/* The reference on as many threads as @r, perhaps @r itself; NULL: there is none, or nothing but @r. */
const struct assay_result *assay_run_cells_reference(const struct assay_run *run, const struct assay_result *r);
/* "×4.32 ±0.8 %": how many times as fast as the reference, or "unsure" as above; "" where there is none. */
void assay_run_cells_vs_reference(const struct assay_run *run, const struct assay_result *r, bool utf8, char *buf,
				  size_t size);

/* One rate for all cases of an op, so that its lines can be compared: "ops_per_s", "bytes_per_s", … */
const char *assay_run_cells_rate_tag(const struct assay_run *run, const char *op);
/* "61.2 GB/s"; "" where @r has none. */
void assay_run_cells_rate(const struct assay_result *r, const char *tag, const struct assay_emit_style *style,
			  char *buf, size_t size);

/* @m says again what the op's own count of the same items says: items_per_s beside tokens_per_s. */
bool assay_run_cells_repeats(const struct assay_result *r, const struct assay_metric *m);

/* "ttft 1.80 ms · tpot p50 71.1 µs, p95 100 µs · …": the op's own metrics, with style->verbose also the harness's. */
void assay_run_cells_metrics(const struct assay_result *r, const struct assay_emit_style *style,
			     struct assay_text *out);

/* The same as a line below the row of @r, where it has any. */
void assay_run_cells_metrics_line(struct assay_columns *t, const struct assay_emit_style *style,
				  const struct assay_result *r);

/* A line below the row of @r with its note, where it has one. */
void assay_run_cells_note(struct assay_columns *t, const struct assay_emit_style *style, const struct assay_result *r);

/* A line of the legend: what the column or mark @name means. */
void assay_run_legend_line(struct assay_text *out, const struct assay_emit_style *style, const char *name,
			   const char *text);

/* The best variant of each shape and what failed, with a legend. */
void assay_run_brief_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			  struct assay_text *out);
/*
 * How many cases ended how, and what is not known well and why; with r->brief also why cases were skipped or not
 * counted.
 */
void assay_run_summary_text(const struct assay_report_run *r, const struct assay_emit_style *style,
			    struct assay_text *out);

/* ---- counts text ---- */

/* Exact counts as text: alone, under a run, or of both sides of a comparison. */

/* The setting, a line a case, and with style->verbose a line a function. */
void assay_counts_text(const struct assay_exact_run *run, const struct assay_emit_style *style, struct assay_text *out);
/*
 * What the head counted and how that differs from the base; with style->verbose by function. Cases are those of the
 * head.
 */
void assay_counts_sides_text(const struct assay_exact_run *base, const struct assay_exact_run *head,
			     const struct assay_emit_style *style, struct assay_text *out);

#endif
