/* SPDX-License-Identifier: Apache-2.0 */
/* The results of `assay time`, for a terminal: a few lines a command, then the verdicts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/gate_report.h"
#include "model/quantity.h"
#include "model/summary.h"
#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/gate/words.h"
#include "reports/text_parts.h"

/* Of shorter commands a process start is much of the time; that matters where the interval shows it. */
#define SHORT_S    0.005
#define WIDE_SHARE 0.05

static const char *quantity(double value, const char *unit, const struct assay_emit_style *style, char buf[32])
{
	assay_quantity_text(value, unit, style->utf8, buf, 32);
	return buf;
}

static void add_exits(const struct assay_time_command *c, struct assay_text *out)
{
	int first = c->runs[0].exit_code;
	bool same = true;

	for (size_t i = 1; i < c->n_runs; i++)
		same &= c->runs[i].exit_code == first;
	if (!same)
		assay_text_add(out, "exit statuses differ");
	else if (first < 0)
		assay_text_add(out, "ended by a signal");
	else
		assay_text_addf(out, "exit status %d", first);
}

static uint64_t most_bytes(const struct assay_time_command *c, bool *known)
{
	uint64_t peak = 0, most = 0;

	for (size_t i = 0; i < c->n_runs; i++) {
		peak = c->runs[i].peak_bytes > peak ? c->runs[i].peak_bytes : peak;
		most = c->runs[i].peak_most_bytes > most ? c->runs[i].peak_most_bytes : most;
	}
	*known = peak;
	return peak ? peak : most;
}

static bool is_asked(const char *name)
{
	return strcmp(name, ASSAY_COUNT_FAULTS) && strcmp(name, ASSAY_COUNT_SWITCHES);
}

/* Event @i and all that have the same reason, if it is the first of them. */
static void add_missing(const struct assay_counters *c, size_t i, const struct assay_emit_style *style,
			struct assay_text *out)
{
	struct assay_text line = { 0 };

	for (size_t before = 0; before < i; before++)
		if (!strcmp(c->missing[before].reason, c->missing[i].reason))
			return;
	assay_text_addf(&line, "not counted: %s", c->missing[i].name);
	for (size_t k = i + 1; k < c->n_missing; k++)
		if (!strcmp(c->missing[k].reason, c->missing[i].reason))
			assay_text_addf(&line, ", %s", c->missing[k].name);
	assay_text_addf(&line, ": %s", c->missing[i].reason);
	assay_text_add(out, "  ");
	assay_columns_wrap(out, line.s ? line.s : "", 2, 2, style->width);
	assay_text_add(out, "\n");
	assay_text_release(&line);
}

/* The counts of --counters and --events: means of a run, and why others could not be counted. */
static void add_counts(const struct assay_result *r, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_text line = { 0 };

	for (size_t i = 0; i < r->counters.n; i++) {
		const struct assay_count *c = &r->counters.v[i];

		if (is_asked(c->name))
			assay_text_addf(&line, "%s%s %.6g", line.len ? ", " : "", c->name, c->value);
	}
	if (line.len) {
		assay_text_add(out, "  counts  ");
		assay_columns_wrap(out, line.s, 10, 10, style->width);
		assay_text_add(out, "\n");
	}
	assay_text_release(&line);
	for (size_t i = 0; i < r->counters.n_missing; i++)
		add_missing(&r->counters, i, style, out);
}

static void add_numbers(const struct assay_time_command *c, const struct assay_emit_style *style,
			struct assay_text *out)
{
	const struct assay_interval ci = assay_summary_interval_ns(&c->result);
	const struct assay_count *faults = assay_counters_find(&c->result.counters, ASSAY_COUNT_FAULTS);
	const struct assay_count *switches = assay_counters_find(&c->result.counters, ASSAY_COUNT_SWITCHES);
	char a[32], b[32], d[32];
	bool known;
	const uint64_t bytes = most_bytes(c, &known);

	assay_text_addf(out, "  mean    %s%s%s", assay_paint(style, ASSAY_BOLD), quantity(c->mean_s, "s", style, a),
			assay_paint(style, ASSAY_RESET));
	if (c->result.n_samples > 1) /* one run has no standard deviation */
		assay_text_addf(out, " %s %s", style->utf8 ? "±" : "+-", quantity(c->sd_s, "s", style, b));
	assay_text_addf(out, "    user %s, system %s\n", quantity(c->user_s, "s", style, a),
			quantity(c->system_s, "s", style, b));
	assay_text_addf(out, "  median  %s", quantity(c->result.median_ns * 1e-9, "s", style, a));
	if (isfinite(ci.lo))
		assay_text_addf(out, " (95 %%: %s to %s)", quantity(ci.lo * 1e-9, "s", style, a),
				quantity(ci.hi * 1e-9, "s", style, b));
	assay_text_addf(out, "    range %s to %s in %zu run%s\n", quantity(c->result.min_ns * 1e-9, "s", style, a),
			quantity(c->max_s, "s", style, b), c->n_runs, c->n_runs == 1 ? "" : "s");
	assay_text_addf(out, "  memory  %s%s, %.0f page faults, ", known ? "" : "below ",
			quantity((double)bytes, "B", style, d), faults ? faults->value : 0);
	add_exits(c, out);
	assay_text_add(out, "\n");
	if (style->verbose)
		assay_text_addf(out, "  more    %.3g involuntary context switches a run; case %s\n",
				switches ? switches->value : 0, c->result.c.key);
	add_counts(&c->result, style, out);
	if (c->result.min_ns <= 1)
		assay_text_add(out,
			       "  warning: some runs took no longer than the shell alone: measure without --shell\n");
	if (c->mean_s < SHORT_S && assay_summary_half_width_frac(&c->result) > WIDE_SHARE)
		assay_text_addf(
			out,
			"  warning: at less than 5 ms, what starting a process costs today decides this time: its "
			"interval is %.0f %% wide\n",
			200 * assay_summary_half_width_frac(&c->result));
}

static void add_verdict(const struct assay_time_report *r, const struct assay_gate_case *g, const char *name,
			const struct assay_emit_style *style, struct assay_text *out)
{
	const char *colour = g->verdict == ASSAY_REGRESSED  ? ASSAY_RED
			     : g->verdict == ASSAY_IMPROVED ? ASSAY_GREEN
			     : g->verdict == ASSAY_PASS     ? ASSAY_DIM
							    : ASSAY_YELLOW;
	const bool failed = g->verdict == ASSAY_NOT_MEASURED || g->verdict == ASSAY_INCOMPARABLE;
	const char *reason = g->reason;
	struct assay_gate_words w;

	/* commands have names of their own, not those of sides */
	if (failed && (!strncmp(reason, "head ", 5) || !strncmp(reason, "base ", 5)))
		reason += 5;
	assay_gate_words_of(g, &w);
	assay_text_addf(out, "%s%s%s  %s", assay_paint(style, colour), assay_verdict_name(g->verdict),
			assay_paint(style, ASSAY_RESET), name);
	if (w.change[0])
		assay_text_addf(out, ": %s%s%s%s in %s pairs, against %s", w.change, w.interval[0] ? " (" : "",
				w.interval, w.interval[0] ? ")" : "", w.pairs, r->commands[r->reference].name);
	assay_text_add(out, "\n");
	if (reason[0]) {
		assay_text_add(out, "  ");
		assay_columns_wrap(out, reason, 2, 2, style->width);
		assay_text_add(out, "\n");
	}
}

static void write_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_time_report *r = report->time;
	char a[32];

	if (r->shell[0])
		assay_text_addf(out, "started by %s, whose own start of %s is subtracted\n", r->shell,
				quantity(r->shell_s, "s", style, a));
	for (size_t i = 0; i < r->n_commands; i++) {
		const struct assay_time_command *c = &r->commands[i];

		if (!c->n_runs)
			continue;
		assay_text_addf(out, "%s\n", c->name);
		if (c->result.status == ASSAY_STATUS_OK)
			add_numbers(c, style, out);
		else
			assay_text_addf(out, "  %s%s%s: %s\n", assay_paint(style, ASSAY_RED),
					assay_status_name(c->result.status), assay_paint(style, ASSAY_RESET),
					c->result.reason);
	}
	for (size_t i = 0; r->gate && i < r->gate->n_cases; i++) {
		if (!i)
			assay_text_add(out, "\n");
		add_verdict(r, &r->gate->cases[i], r->commands[i < r->reference ? i : i + 1].name, style, out);
	}
}

ASSAY_EMITTER(time_text, ASSAY_REPORT_TIME, "text", write_text);
