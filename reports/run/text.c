/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run for people, every case of it: one line a case under its op, a legend, a summary. Knows results only, never how
 * they came about.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "model/summary.h"
#include "reports/columns.h"
#include "reports/run/parts.h"
#include "reports/text_parts.h"

enum {
	COL_VARIANT,
	COL_SHAPE,
	COL_THREADS,
	COL_CACHE,
	COL_TIME,
	COL_HALF,
	COL_RATE,
	COL_ROOF,
	COL_BOUND,
	COL_CHECK,
	COL_AGAINST,
	COL_NOTE,
	N_COLS
};

/* A dropped share that is worth a word. */
#define DROPPED_SHOWN_FRAC 0.05
/* Below these widths the cache column and checks go, and notes get lines of their own. */
#define NARROW         92
#define ROOM_FOR_NOTES 116
/* And so much more where cases are held against each other. */
#define ROOM_FOR_AGAINST 28

struct view {
	const struct assay_run *run;
	const struct assay_emit_style *style;
	const char *pm; /* plus-minus */
	bool timed;     /* any case has a time */
	bool against;   /* any shape has several variants */
	bool roof, above, narrow, note_lines, starred, alone, efficiency, in_turn;
	bool unsteady, dropped, disturbed, slow; /* notes that occur */
	bool deviates;
	bool warm, cold, digest, relative;
};

static void check_text(const struct assay_result *r, char *buf, size_t size)
{
	char edges[ASSAY_EDGES_MAX];

	if (!r->checked)
		snprintf(buf, size, "unchecked");
	else if (r->status == ASSAY_STATUS_WRONG)
		snprintf(buf, size, "wrong");
	else if (r->deviation.edges)
		snprintf(buf, size, "deviates on %s", assay_edges_text(r->deviation.edges, edges, sizeof(edges)));
	else if (r->c.cache == ASSAY_CACHE_NONE)
		snprintf(buf, size, "exit status 0");
	else if (!r->digest[0] && !(r->max_rel_err >= 0))
		snprintf(buf, size, "ok");
	else if (r->digest[0])
		snprintf(buf, size, "ok %.8s", r->digest);
	else if (r->max_rel_err == 0)
		snprintf(buf, size, "ok err 0");
	else
		snprintf(buf, size, "ok err %.0e", r->max_rel_err);
}

static void note_text(struct view *v, const struct assay_result *r, char *buf, size_t size)
{
	double efficiency = assay_run_cells_metric(r, "parallel_efficiency");
	const struct assay_roof_range *in_turn = &r->roof.in_turn;
	char edges[ASSAY_EDGES_MAX];

	buf[0] = '\0';
	v->deviates |= r->deviation.edges != 0;
	v->unsteady |= r->n_samples && !r->steady;
	v->dropped |= r->dropped_frac > DROPPED_SHOWN_FRAC;
	v->disturbed |= r->disturbed;
	v->slow |= r->slow_core;
	/* little room: it has no column */
	if (v->note_lines)
		assay_run_cells_against_text(v->run, r, buf, size);
	if (v->narrow && r->deviation.edges && r->status == ASSAY_STATUS_OK)
		snprintf(buf + strlen(buf), size - strlen(buf), "%sdeviates on %s", buf[0] ? ", " : "",
			 assay_edges_text(r->deviation.edges, edges, sizeof(edges)));
	if (r->n_samples && !r->steady)
		snprintf(buf + strlen(buf), size - strlen(buf), "%sunsteady", buf[0] ? ", " : "");
	if (r->dropped_frac > DROPPED_SHOWN_FRAC)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%.0f %% dropped", buf[0] ? ", " : "",
			 100 * r->dropped_frac);
	if (r->disturbed)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%.0f %% disturbed", buf[0] ? ", " : "",
			 100 * r->disturbed_frac);
	if (r->slow_core)
		snprintf(buf + strlen(buf), size - strlen(buf), "%sslow core", buf[0] ? ", " : "");
	if (isfinite(efficiency))
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%.0f %% efficient", buf[0] ? ", " : "",
			 100 * efficiency);
	v->efficiency |= isfinite(efficiency);
	if (in_turn->most_frac > 0)
		snprintf(buf + strlen(buf), size - strlen(buf), "%slimit %.1f to %.1f %%%s", buf[0] ? ", " : "",
			 100 * in_turn->least_frac, 100 * in_turn->most_frac, in_turn->reached ? "" : "?");
	v->in_turn |= in_turn->most_frac > 0;
}

static void add_measured(struct assay_columns *t, struct view *v, const struct assay_result *r, const char *tag,
			 const char **cells)
{
	char time[64] = "", half[64] = "", rate[64] = "", roof[64] = "", check[80];
	char note[160 + ASSAY_NAME_MAX];
	char against[ASSAY_NAME_MAX + 32];
	double roof_frac = assay_run_cells_metric(r, "roof_frac");

	if (r->n_samples) {
		assay_quantity_text(r->median_ns * 1e-9, "s", v->style->utf8, time, sizeof(time));
		if (r->ci95_reached)
			snprintf(half, sizeof(half), "%s%.1f %%%s", v->pm, 100 * assay_summary_half_width_frac(r),
				 r->converged ? " " : "*");
		v->starred |= r->ci95_reached && !r->converged;
		v->alone |= !r->ci95_reached;
	}
	assay_run_cells_rate(r, tag, v->style, rate, sizeof(rate));
	assay_run_cells_share(r, roof, sizeof(roof));
	v->above |= assay_limit_exceeded(roof_frac);
	check_text(r, check, sizeof(check));
	v->digest |= r->checked && r->digest[0];
	v->relative |= r->checked && !r->digest[0] && r->max_rel_err >= 0;
	note_text(v, r, note, sizeof(note));
	assay_run_cells_against_text(v->run, r, against, sizeof(against));

	cells[COL_TIME] = time;
	cells[COL_HALF] = half;
	cells[COL_RATE] = rate;
	cells[COL_ROOF] = roof;
	cells[COL_BOUND] = v->narrow ? NULL : r->roof.name;
	/* little room: a line that says nothing else is right */
	cells[COL_CHECK] = v->narrow && r->checked ? NULL : check;
	cells[COL_AGAINST] = v->note_lines ? NULL : against;
	cells[COL_NOTE] = v->note_lines ? NULL : note;
	assay_columns_row(t, cells);
	if (v->note_lines && note[0])
		assay_columns_line(t, 4, note);
	/* ops publish metrics of their own */
	assay_run_cells_metrics_line(t, v->style, r);
	assay_run_cells_note(t, v->style, r);
}

static void add_result(struct assay_columns *t, struct view *v, const struct assay_result *r, const char *tag)
{
	char variant[ASSAY_NAME_MAX + 16], shape[ASSAY_SHAPE_MAX], threads[16];
	const bool timed = r->status == ASSAY_STATUS_WRONG && r->n_samples;
	const char *cells[N_COLS] = { 0 };

	snprintf(variant, sizeof(variant), "%s", r->c.variant);
	assay_run_cells_shape(v->run, &r->c, false, shape, sizeof(shape));
	snprintf(threads, sizeof(threads), r->c.threads ? "%u" : "-", r->c.threads);
	cells[COL_VARIANT] = variant;
	cells[COL_SHAPE] = shape;
	cells[COL_THREADS] = threads;
	v->cold |= r->c.cache == ASSAY_CACHE_COLD;
	v->warm |= r->c.cache == ASSAY_CACHE_WARM;
	/* little room: only what is not usual */
	if (!v->narrow)
		cells[COL_CACHE] = assay_cache_name(r->c.cache);
	else if (r->c.cache == ASSAY_CACHE_COLD)
		snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape), "%s%s", shape[0] ? " " : "",
			 assay_cache_name(r->c.cache));

	if (r->status == ASSAY_STATUS_OK || timed)
		add_measured(t, v, r, tag, cells);
	if (r->status != ASSAY_STATUS_OK) {
		char why[640];

		snprintf(why, sizeof(why), "%s%s: %s%s",
			 assay_paint(v->style, r->status == ASSAY_STATUS_SKIPPED ? ASSAY_YELLOW : ASSAY_RED),
			 assay_status_name(r->status), r->reason, assay_paint(v->style, ASSAY_RESET));
		if (timed)
			assay_columns_line(t, 4, why);
		else
			assay_columns_tail(t, cells, COL_TIME, why);
	}
}

static void add_head(struct assay_columns *t, const struct view *v)
{
	static const char *const names[N_COLS] = { "variant", "shape",      "thr",        "cache", "time",   "95 %",
						   "rate",    "% of limit", "limited by", "check", "versus", "" };
	char cells[N_COLS][32];
	const char *p[N_COLS];

	for (size_t i = 0; i < N_COLS; i++) {
		bool shown = names[i][0] && (i != COL_AGAINST || (v->against && !v->note_lines)) &&
			     (v->timed || i < COL_TIME || i > COL_BOUND) &&
			     (v->roof || (i != COL_ROOF && i != COL_BOUND)) &&
			     (!v->narrow || (i != COL_CACHE && i != COL_BOUND && i != COL_CHECK));

		cells[i][0] = '\0';
		if (shown)
			snprintf(cells[i], sizeof(cells[i]), "%s%s%s", assay_paint(v->style, ASSAY_DIM), names[i],
				 assay_paint(v->style, ASSAY_RESET));
		p[i] = cells[i];
	}
	assay_columns_row(t, p);
}

static bool any_metric(const struct assay_run *run, const char *start)
{
	for (size_t i = 0; i < run->n_results; i++)
		for (size_t k = 0; k < run->results[i].n_metrics; k++)
			if (!strncmp(run->results[i].metrics[k].tag, start, strlen(start)))
				return true;
	return false;
}

/* Words of the lines under cases that not everybody knows. */
static void add_metric_legend(struct assay_text *out, const struct view *v)
{
	static const struct {
		const char *tag, *text; /* the tag begins so */
	} words[] = {
		{ "ttft_", "ttft: time to the first token" },
		{ "tpot_", "tpot: time per output token after the first; such times include the calls that are "
			   "discarded above" },
		{ "next_token_", "first token, next token: the same of the samples alone, all of them" },
		{ "kv_bytes", "kv: cache of keys and values" },
		{ "kv_cache_hit_rate", "kv cache hit rate: share of prompt tokens found in it" },
		{ "time_ffn_frac", "time: share of each part of the model, of which ffn is the feed-forward" },
	};
	struct assay_text line = { 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (any_metric(v->run, words[i].tag))
			assay_text_addf(&line, "%s%s", line.len ? "; " : "", words[i].text);
	if (line.len)
		assay_run_legend_line(out, v->style, "below", line.s);
	out->failed |= line.failed;
	assay_text_release(&line);
}

/* Explain the notes that occur. */
static void add_note_legend(struct assay_text *out, const struct view *v)
{
	const struct {
		bool occurs;
		const char *text;
	} notes[] = {
		{ v->unsteady, "unsteady: warm-up did not settle" },
		{ v->dropped, "dropped: samples discarded because the host disturbed them or a core was slow" },
		{ v->disturbed, "disturbed: so many samples were disturbed that none was discarded for it" },
		{ v->slow, "slow core: most of the time something slowed the core, such as its other hardware thread" },
	};
	struct assay_text line = { 0 };

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (notes[i].occurs)
			assay_text_addf(&line, "%s%s", line.len ? "; " : "", notes[i].text);
	if (line.len)
		assay_run_legend_line(out, v->style, "notes", line.s);
	out->failed |= line.failed;
	assay_text_release(&line);
}

static void add_thread_legend(struct assay_text *out, const struct view *v)
{
	char text[192] = "threads, each bound to a core of its own";
	size_t n;

	if (assay_run_is_imported(v->run))
		snprintf(text, sizeof(text), "threads, as far as the imported file says");
	n = strlen(text);

	if (v->narrow && v->cold)
		snprintf(text + n, sizeof(text) - n,
			 "; inputs were used before, unless the shape ends with cold: then they are only in memory");
	else if (!v->narrow && (v->warm || v->cold))
		snprintf(text + n, sizeof(text) - n, "; cache: %s%s%s", v->warm ? "warm (inputs used before)" : "",
			 v->warm && v->cold ? " or " : "", v->cold ? "cold (in memory only)" : "");
	assay_run_legend_line(out, v->style, "thr", text);
}

static void add_deviation_legend(struct assay_text *out, const struct view *v)
{
	if (v->deviates)
		assay_run_legend_line(
			out, v->style, "",
			"deviates: right on all ordinary values, but not as the op defines it on these; a policy "
			"may refuse that (require_edges)");
}

/* @v->narrow: a line that says nothing else is right. */
static void add_check_legend(struct assay_text *out, const struct view *v)
{
	char text[160];

	if (v->narrow) {
		assay_run_legend_line(
			out, v->style, "check",
			v->run->id ? "results equal the op's own answer, unless their line says otherwise; 'assay "
				     "show RUN CASE' shows digests"
				   : "every result equals the op's own answer, unless its line says otherwise");
		add_deviation_legend(out, v);
		return;
	}
	snprintf(text, sizeof(text), "ok: equal to the op's own answer%s%s%s%s",
		 v->digest || v->relative ? "; with " : "", v->digest ? "the digest of exact results" : "",
		 v->digest && v->relative ? ", or " : "",
		 !v->relative ? ""
		 : v->digest  ? "the worst relative error of others"
			      : "the worst relative error");
	assay_run_legend_line(out, v->style, "check", text);
	add_deviation_legend(out, v);
}

static void add_legend(struct assay_text *out, const struct view *v)
{
	char no_roof[512];

	assay_text_addf(out, "\n%s", assay_paint(v->style, ASSAY_DIM));
	add_thread_legend(out, v);
	if (v->timed) {
		assay_run_legend_line(
			out, v->style, "time",
			v->alone
				? "median time of a call, and half the width of its 95 % interval over processes; none "
				  "where one process took all samples, or where it would be wider than the time"
				: "median time of a call, and half the width of its 95 % interval over processes, "
				  "interleaved with the other cases");
		if (v->starred)
			assay_run_legend_line(
				out, v->style, "*",
				"that interval is wider than 0.5 %: --budget (more time) or --rounds (more "
				"processes) narrows it");
		assay_run_legend_line(
			out, v->style, "rate",
			"the least work that the op needs (bytes: B/s; arithmetic: OP/s, where a multiply-add is "
			"two; tokens) over time");
	}
	if (v->roof)
		assay_run_legend_line(
			out, v->style, "% of limit",
			v->narrow ? "share of the bandwidth or arithmetic peak that bounds the case, as measured "
				    "in this run; a wider terminal shows which"
				  : "share of the limit that this run measured, and which limit: the bandwidth of "
				    "stream.* where the data lies (l1, l2, l3, dram), or the arithmetic of peak.*");
	if (v->above)
		assay_run_legend_line(out, v->style, "wrong", ASSAY_LIMIT_EXCEEDED_TEXT);
	assay_run_cells_no_roof(v->run, no_roof, sizeof(no_roof));
	if (no_roof[0])
		assay_run_legend_line(out, v->style, v->roof ? "" : "% of limit", no_roof);
	add_check_legend(out, v);
	if (v->against)
		assay_run_legend_line(
			out, v->style, "versus",
			"the fastest variant of the shape on as many threads; for that one, the reference variant");
	add_metric_legend(out, v);
	add_note_legend(out, v);
	if (v->in_turn)
		assay_run_legend_line(
			out, v->style, "",
			"limit: 95 % interval of the share, where the limit was interleaved with the case; over "
			"rounds, from the smallest to the largest; ?: too few for an interval, the range of all");
	if (v->efficiency)
		assay_run_legend_line(out, v->style, "",
				      "efficient: work per second and thread, relative to one thread in this run");
	assay_text_add(out, assay_paint(v->style, ASSAY_RESET));
}

static void add_rows(struct view *v, struct assay_text *out)
{
	struct assay_columns t = { .align = "llrlrrrrllll", .indent = "  ", .width = v->style->width };
	const struct assay_run *run = v->run;

	add_head(&t, v);
	for (size_t i = 0; i < run->n_results; i++) {
		const char *op = run->results[i].c.op, *tag;
		char title[ASSAY_OP_MAX + ASSAY_SHAPE_MAX + 32], common[ASSAY_SHAPE_MAX];

		if (assay_run_cells_op_before(run, i))
			continue;
		assay_run_cells_shape(run, &run->results[i].c, true, common, sizeof(common));
		snprintf(title, sizeof(title), "%s%s%s%s%s", assay_paint(v->style, ASSAY_BOLD), op,
			 assay_paint(v->style, ASSAY_RESET), common[0] ? " " : "", common);
		assay_columns_line(&t, 0, title);
		tag = assay_run_cells_rate_tag(run, op);
		for (size_t k = i; k < run->n_results; k++)
			if (!strcmp(run->results[k].c.op, op))
				add_result(&t, v, &run->results[k], tag);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = r->run.run;
	struct view v = { .run = run,
			  .style = style,
			  .pm = style->utf8 ? "±" : "+-",
			  .narrow = style->width && style->width < NARROW };

	if (r->run.brief) {
		assay_run_brief_text(&r->run, style, out);
		assay_text_add(out, "\n");
		assay_run_summary_text(&r->run, style, out);
		return;
	}
	for (size_t i = 0; i < run->n_results; i++) {
		v.timed |= run->results[i].n_samples > 0;
		v.roof |= assay_result_metric(&run->results[i], "roof_frac") != NULL;
		v.against |= assay_run_cells_against(run, &run->results[i]).other != NULL;
	}
	v.note_lines = style->width && style->width < ROOM_FOR_NOTES + (v.against ? ROOM_FOR_AGAINST : 0);
	add_rows(&v, out);
	if (run->n_results)
		add_legend(out, &v);
	assay_text_add(out, "\n");
	assay_run_summary_text(&r->run, style, out);
	if (run->exact && run->exact->n_cases) {
		assay_text_add(out, "\n");
		assay_counts_text(run->exact, style, out);
	}
	/* of a stored run `show` has them */
	for (size_t i = 0; i < run->n_results && !run->id; i++)
		if (run->results[i].status != ASSAY_STATUS_OK)
			assay_log_text(out, run->results[i].c.key, run->results[i].log);
}

ASSAY_EMITTER(run_text, ASSAY_REPORT_RUN, "text", write_text);
