/* SPDX-License-Identifier: Apache-2.0 */
/* A run for people: one line a case under its op, a legend, a summary. Knows results only, never how they came about.
 */
#include "reports/emit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/run_cells.h"

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define RED    "\033[31m"
#define YELLOW "\033[33m"
#define GREEN  "\033[32m"
#define RESET  "\033[0m"

#define SHAPE_MAX (ASSAY_MAX_AXES * 2 * ASSAY_NAME_MAX)

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
	COL_NOTE,
	N_COLS
};

/* Above this many operations a byte an op is shown by its arithmetic rate, below by its bandwidth. */
#define OPS_PER_BYTE_ARITHMETIC 4.0
/* A dropped share that is worth a word. */
#define DROPPED_SHOWN_FRAC 0.05
/* Below these widths the cache column and checks go, and notes get lines of their own. */
#define NARROW         92
#define ROOM_FOR_NOTES 116

struct view {
	const struct assay_run *run;
	const struct assay_emit_style *style;
	const char *pm; /* plus-minus */
	bool timed;     /* any case has a time */
	bool roof, narrow, note_lines, rounds, starred, ranged, noted, efficiency, in_turn;
};

static const char *paint(const struct assay_emit_style *st, const char *colour)
{
	return st->colour ? colour : "";
}

static double metric(const struct assay_result *r, const char *tag)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	return m ? m->value : NAN;
}

/* One rate for all cases of an op, so that its lines can be compared. */
static const char *rate_tag(const struct assay_run *run, const char *op)
{
	double intensity = 0;
	bool bytes = false, ops = false;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];
		double b = metric(r, "bytes_per_s"), o = metric(r, "ops_per_s");

		if (strcmp(r->c.op, op) || r->status != ASSAY_STATUS_OK)
			continue;
		if (assay_result_metric(r, "tokens_per_s"))
			return "tokens_per_s";
		bytes |= isfinite(b) && b > 0;
		ops |= isfinite(o) && o > 0;
		if (b > 0 && o / b > intensity)
			intensity = o / b;
	}
	if (ops && (!bytes || intensity > OPS_PER_BYTE_ARITHMETIC))
		return "ops_per_s";
	return bytes ? "bytes_per_s" : "items_per_s";
}

/* Tokens are counted over the time that stands beside them, not over the op's own. */
static void rate_text(const struct view *v, const struct assay_result *r, const char *tag, char *buf, size_t size)
{
	const struct assay_metric *items = !strcmp(tag, "tokens_per_s") ? assay_result_metric(r, "items_per_s") : NULL;
	const struct assay_metric *m = items ? items : assay_result_metric(r, tag);

	buf[0] = '\0';
	if (m)
		assay_metric_text(tag, m->value, m->unit, v->style->utf8, buf, size);
}

static void check_text(const struct assay_result *r, char *buf, size_t size)
{
	if (!r->checked)
		snprintf(buf, size, "unchecked");
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
	double efficiency = metric(r, "parallel_efficiency");
	const struct assay_roof_range *in_turn = &r->roof.in_turn;

	buf[0] = '\0';
	if (r->n_samples && !r->steady)
		snprintf(buf, size, "unsteady");
	if (r->dropped_frac > DROPPED_SHOWN_FRAC)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%.0f %% dropped", buf[0] ? ", " : "",
			 100 * r->dropped_frac);
	if (r->disturbed)
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%.0f %% disturbed", buf[0] ? ", " : "",
			 100 * r->disturbed_frac);
	if (r->slow_core)
		snprintf(buf + strlen(buf), size - strlen(buf), "%sslow core", buf[0] ? ", " : "");
	v->noted |= buf[0] != '\0';
	if (isfinite(efficiency))
		snprintf(buf + strlen(buf), size - strlen(buf), "%s%.0f %% efficient", buf[0] ? ", " : "",
			 100 * efficiency);
	v->efficiency |= isfinite(efficiency);
	if (in_turn->most_frac > 0)
		snprintf(buf + strlen(buf), size - strlen(buf), "%sroof %.1f to %.1f %%%s", buf[0] ? ", " : "",
			 100 * in_turn->least_frac, 100 * in_turn->most_frac, in_turn->reached ? "" : "?");
	v->in_turn |= in_turn->most_frac > 0;
}

/* Ops publish metrics of their own; they fill a line under the case. */
static void add_metrics(struct assay_columns *t, const struct view *v, const struct assay_result *r)
{
	struct assay_text line = { 0 };

	assay_run_cells_metrics(r, v->style, &line);
	if (line.len) {
		assay_columns_line(t, 4, line.s);
	}
	t->failed |= line.failed;
	assay_text_release(&line);
}

static void add_measured(struct assay_columns *t, struct view *v, const struct assay_result *r, const char *tag,
			 const char **cells)
{
	char time[64] = "", half[64] = "", rate[64] = "", roof[64] = "", check[80], note[80];
	double roof_frac = metric(r, "roof_frac");

	if (r->n_samples) {
		double half_ns = (r->ci95_hi_ns - r->ci95_lo_ns) / 2;

		assay_quantity_text(r->median_ns * 1e-9, "s", v->style->utf8, time, sizeof(time));
		snprintf(half, sizeof(half), "%s%.1f %%%s", v->pm, 100 * half_ns / r->median_ns,
			 !r->ci95_reached ? "?"
			 : r->converged   ? " "
					  : "*");
		v->rounds |= r->rounds > 1;
		v->starred |= r->ci95_reached && !r->converged;
		v->ranged |= !r->ci95_reached;
	}
	rate_text(v, r, tag, rate, sizeof(rate));
	if (isfinite(roof_frac))
		snprintf(roof, sizeof(roof), "%.*f %%", roof_frac < 0.0995 ? 1 : 0, 100 * roof_frac);
	check_text(r, check, sizeof(check));
	note_text(v, r, note, sizeof(note));

	cells[COL_TIME] = time;
	cells[COL_HALF] = half;
	cells[COL_RATE] = rate;
	cells[COL_ROOF] = roof;
	cells[COL_BOUND] = v->narrow ? NULL : r->roof.name;
	/* little room: a line that says nothing else is right */
	cells[COL_CHECK] = v->narrow && r->checked ? NULL : check;
	cells[COL_NOTE] = v->note_lines ? NULL : note;
	assay_columns_row(t, cells);
	if (v->note_lines && note[0])
		assay_columns_line(t, 4, note);
	add_metrics(t, v, r);
}

static void add_result(struct assay_columns *t, struct view *v, const struct assay_result *r, const char *tag)
{
	char variant[ASSAY_NAME_MAX + 16], shape[SHAPE_MAX], threads[16];
	const char *cells[N_COLS] = { 0 };

	snprintf(variant, sizeof(variant), "%s", r->c.variant);
	assay_run_cells_shape(v->run, &r->c, false, shape, sizeof(shape));
	snprintf(threads, sizeof(threads), "%u", r->c.threads);
	cells[COL_VARIANT] = variant;
	cells[COL_SHAPE] = shape;
	cells[COL_THREADS] = threads;
	/* little room: only what is not usual */
	if (!v->narrow)
		cells[COL_CACHE] = assay_cache_name(r->c.cache);
	else if (r->c.cache != ASSAY_CACHE_WARM)
		snprintf(shape + strlen(shape), sizeof(shape) - strlen(shape), "%s%s", shape[0] ? " " : "",
			 assay_cache_name(r->c.cache));

	if (r->status == ASSAY_STATUS_OK) {
		add_measured(t, v, r, tag, cells);
	} else {
		char why[640];

		snprintf(why, sizeof(why), "%s%s: %s%s",
			 paint(v->style, r->status == ASSAY_STATUS_SKIPPED ? YELLOW : RED),
			 assay_status_name(r->status), r->reason, paint(v->style, RESET));
		assay_columns_tail(t, cells, COL_TIME, why);
	}
}

static void add_head(struct assay_columns *t, const struct view *v)
{
	static const char *const names[N_COLS] = { "variant", "shape", "thr", "cache", "time", "95 %",
						   "rate",    "roof",  "of",  "check", "" };
	char cells[N_COLS][32];
	const char *p[N_COLS];

	for (size_t i = 0; i < N_COLS; i++) {
		bool shown = names[i][0] && (v->timed || i < COL_TIME || i > COL_BOUND) &&
			     (v->roof || (i != COL_ROOF && i != COL_BOUND)) &&
			     (!v->narrow || (i != COL_CACHE && i != COL_BOUND && i != COL_CHECK));

		cells[i][0] = '\0';
		if (shown)
			snprintf(cells[i], sizeof(cells[i]), "%s%s%s", paint(v->style, DIM), names[i],
				 paint(v->style, RESET));
		p[i] = cells[i];
	}
	assay_columns_row(t, p);
}

static void legend_line(struct assay_text *out, const struct view *v, const char *name, const char *text)
{
	assay_text_addf(out, "  %-7s", name);
	assay_columns_wrap(out, text, 9, 9, v->style->width);
	assay_text_add(out, "\n");
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
		{ "tpot_", "tpot: time per output token after the first; such times are of all calls, also of those "
			   "that are left out above" },
		{ "kv_bytes", "kv: cache of keys and values" },
		{ "kv_cache_hit_rate", "kv cache hit rate: share of prompt tokens found in it" },
		{ "time_ffn_frac", "time: share of each part of the model, of which ffn is the feed-forward" },
	};
	struct assay_text line = { 0 };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (any_metric(v->run, words[i].tag))
			assay_text_addf(&line, "%s%s", line.len ? "; " : "", words[i].text);
	if (line.len)
		legend_line(out, v, "below", line.s);
	out->failed |= line.failed;
	assay_text_release(&line);
}

static void add_legend(struct assay_text *out, const struct view *v)
{
	assay_text_addf(out, "\n%s", paint(v->style, DIM));
	legend_line(out, v, "thr",
		    v->narrow ? "threads, each bound to a core of its own; inputs were used before, unless the shape "
				"ends with cold: then "
				"they are in memory only"
			      : "threads, each bound to a core of its own; cache: warm (inputs used before) or cold "
				"(in memory only)");
	if (v->timed) {
		legend_line(out, v, "time",
			    v->rounds ? "median of one call, and half the width of its 95 % interval, over rounds: "
					"each a process "
					"of its own, with the other cases between"
				      : "median of one call, and half the width of its 95 % interval");
		if (v->starred)
			legend_line(out, v, "*",
				    "that interval is wider than 0.5 %: more time, --budget, or more rounds, --rounds, "
				    "narrow it");
		if (v->ranged)
			legend_line(out, v, "?",
				    "too few samples for a 95 % interval: half the width of the range of all of them");
		legend_line(out, v, "rate",
			    "what the op needs at least (bytes: B/s, arithmetic: OP/s with a multiply-add as two, "
			    "tokens) over time");
	}
	if (v->roof)
		legend_line(out, v, "roof",
			    v->narrow ? "share of the bandwidth or arithmetic that bounds the case, as this machine "
					"gave it in this run; a wider "
					"terminal shows of which"
				      : "share of what this machine gave in this run, and of what: the bandwidth of "
					"stream.* where the data lies "
					"(l1, l2, l3, dram) or the arithmetic of peak.*");
	if (v->narrow)
		legend_line(out, v, "check",
			    "results equal the op's own answer, unless their line says so; digests stand in 'assay "
			    "show RUN CASE'");
	else
		legend_line(out, v, "check",
			    "ok: equal to the op's own answer; with the digest of exact results, or the worst relative "
			    "error of others");
	add_metric_legend(out, v);
	if (v->noted)
		legend_line(out, v, "notes",
			    "unsteady: warm-up did not settle; dropped: samples left out because the host disturbed "
			    "them or a core was slow; "
			    "disturbed: so many were that none is left out for it; slow core: most of the time "
			    "something slowed the core, such as its "
			    "other hardware thread");
	if (v->in_turn)
		legend_line(out, v, "",
			    "roof: 95 % interval of the share, where the limit took turns with the case; over rounds, "
			    "from the least to the most; ?: too few turns for one, the range of all");
	if (v->efficiency)
		legend_line(out, v, "", "efficient: work per second and thread, against one thread in this run");
	assay_text_add(out, paint(v->style, RESET));
}

static void add_summary(struct assay_text *out, const struct view *v)
{
	size_t count[ASSAY_N_STATUS] = { 0 };
	bool first = true;

	for (size_t i = 0; i < v->run->n_results; i++)
		count[v->run->results[i].status]++;
	assay_text_add(out, "\n");
	for (int s = 0; s < ASSAY_N_STATUS; s++) {
		const char *colour = s == ASSAY_STATUS_OK ? GREEN : s == ASSAY_STATUS_SKIPPED ? YELLOW : RED;

		if (!count[s] && s != ASSAY_STATUS_OK)
			continue;
		assay_text_addf(out, "%s%s%zu %s%s", first ? "" : ", ", paint(v->style, count[s] ? colour : ""),
				count[s], assay_status_name((enum assay_status)s), paint(v->style, RESET));
		first = false;
	}
	if (v->run->ended_ns > v->run->started_ns)
		assay_text_addf(out, " in %.0f s", (double)(v->run->ended_ns - v->run->started_ns) * 1e-9);
	assay_text_add(out, "\n");
}

/* The op of result @i was already shown with an earlier one. */
static bool seen_before(const struct assay_run *run, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(run->results[k].c.op, run->results[i].c.op))
			return true;
	return false;
}

int assay_emit_run_table(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out,
			 struct assay_err *err)
{
	struct view v = { .run = run, .style = style, .pm = style->utf8 ? "±" : "+-" };
	struct assay_columns t = { .align = "llrlrrrrlll", .indent = "  ", .width = style->width };

	v.narrow = style->width && style->width < NARROW;
	v.note_lines = style->width && style->width < ROOM_FOR_NOTES;
	for (size_t i = 0; i < run->n_results; i++) {
		v.timed |= run->results[i].n_samples > 0;
		v.roof |= assay_result_metric(&run->results[i], "roof_frac") != NULL;
	}

	add_head(&t, &v);
	for (size_t i = 0; i < run->n_results; i++) {
		const char *op = run->results[i].c.op, *tag;
		char title[ASSAY_NAME_MAX + SHAPE_MAX + 32], common[SHAPE_MAX];

		if (seen_before(run, i))
			continue;
		assay_run_cells_shape(run, &run->results[i].c, true, common, sizeof(common));
		snprintf(title, sizeof(title), "%s%s%s%s%s", paint(style, BOLD), op, paint(style, RESET),
			 common[0] ? " " : "", common);
		assay_columns_line(&t, 0, title);
		tag = rate_tag(run, op);
		for (size_t k = i; k < run->n_results; k++)
			if (!strcmp(run->results[k].c.op, op))
				add_result(&t, &v, &run->results[k], tag);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (run->n_results)
		add_legend(out, &v);
	add_summary(out, &v);
	return out->failed ? assay_err_set(err, ASSAY_ENOMEM, "cannot write the table: out of memory") : 0;
}
