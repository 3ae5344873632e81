/* SPDX-License-Identifier: Apache-2.0 */
/* A diff for people: what moved, why, and what the intervals do not cover. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/gate/words.h"
#include "reports/report.h"
#include "reports/text_parts.h"

/* Numbers that differ by less are not told beside a case. */
#define NUMBER_FRAC 0.005

#define CELL_MAX 64

/* The cells of one case; "" where there is nothing. */
struct words {
	char result[CELL_MAX];  /* "faster", "not measured" */
	char speedup[CELL_MAX]; /* "1.93x"; with a metric its change, "+3.1 %" */
	char interval[2 * CELL_MAX];
	char value[2][CELL_MAX]; /* of base and head: time, or the metric */
	char roof[2 * CELL_MAX]; /* "27 % to 53 %" */
	char base_variant[ASSAY_NAME_MAX];
};

static void metric_words(const struct assay_report_diff *d, const struct assay_diff_case *c, bool utf8,
			 struct words *out)
{
	const struct assay_diff_number *m = assay_diff_number(c, d->metric);

	for (int s = 0; s < 2 && m; s++)
		if (isfinite(m->value[s]))
			assay_metric_text(m->name, m->value[s], m->unit, utf8, out->value[s], sizeof(out->value[s]));
	if (m && m->value[0] > 0 && isfinite(m->value[1]))
		assay_gate_words_change(m->value[1] / m->value[0], true, out->speedup, sizeof(out->speedup));
}

/* "1.93x"; three decimals where two would hide the change. */
static void times_text(double ratio, char *buf, size_t size)
{
	if (fabs(ratio - 1) < 0.05)
		snprintf(buf, size, "%.3fx", 1 / ratio);
	else
		assay_gate_words_times(ratio, buf, size);
}

static void time_words(const struct assay_diff_case *c, bool utf8, struct words *out)
{
	char lo[32], hi[32];

	for (int s = 0; s < 2; s++)
		if (isfinite(c->ns[s]))
			assay_quantity_text(c->ns[s] * 1e-9, "s", utf8, out->value[s], sizeof(out->value[s]));
	times_text(c->ratio, out->speedup, sizeof(out->speedup));
	/* the bounds of a speed-up change places */
	times_text(c->hi, lo, sizeof(lo));
	times_text(c->lo, hi, sizeof(hi));
	if (lo[0] && hi[0])
		snprintf(out->interval, sizeof(out->interval), "%s to %s", lo, hi);
}

static void roof_words(const struct assay_diff_case *c, struct words *out)
{
	const struct assay_diff_number *m = assay_diff_number(c, "roof_frac");
	char share[2][32] = { "-", "-" };

	for (int s = 0; s < 2 && m; s++)
		if (isfinite(m->value[s]))
			assay_metric_text(m->name, m->value[s], m->unit, true, share[s], sizeof(share[s]));
	if (m)
		snprintf(out->roof, sizeof(out->roof), "%s to %s", share[0], share[1]);
}

static void find_words(const struct assay_report_diff *d, const struct assay_diff_case *c, bool utf8, struct words *out)
{
	*out = (struct words){ 0 };
	snprintf(out->result, sizeof(out->result), "%s", assay_diff_result_name(c->result));
	for (char *p = out->result; *p; p++)
		if (*p == '_')
			*p = ' ';
	snprintf(out->base_variant, sizeof(out->base_variant), "%s", c->base_variant);
	if (d->metric) {
		/* which tells of the time */
		if (assay_diff_compared(c))
			out->result[0] = '\0';
		metric_words(d, c, utf8, out);
		return;
	}
	time_words(c, utf8, out);
	roof_words(c, out);
}

static void side_text(const struct assay_diff_side *s, char *buf, size_t size)
{
	char build[96], when[32];

	assay_build_text(&s->build, build, sizeof(build));
	if (s->started_ns)
		assay_when_text(s->started_ns, when, sizeof(when));
	else
		snprintf(when, sizeof(when), "imported without a date");
	snprintf(buf, size, "%s (%s), %s", s->name, build, when);
}

static void add_counts(const struct assay_diff *d, struct assay_text *out)
{
	const char *between = ": ";

	if (!d->n_cases) {
		assay_text_add(out, d->by_variant ? "nothing to compare: no shape has two variants"
						  : "nothing to compare: neither side has a case");
		return;
	}
	assay_text_addf(out, "%zu case%s", d->n_cases, d->n_cases == 1 ? "" : "s");
	for (int i = 0; i < ASSAY_N_DIFF_RESULTS; i++) {
		static const char *const words[ASSAY_N_DIFF_RESULTS] = {
			[ASSAY_DIFF_FASTER] = "faster",
			[ASSAY_DIFF_SLOWER] = "slower",
			[ASSAY_DIFF_MACHINE] = "moved by the machine",
			[ASSAY_DIFF_UNCLEAR] = "unclear",
			[ASSAY_DIFF_INCOMPARABLE] = "INCOMPARABLE",
			[ASSAY_DIFF_NOT_MEASURED] = "not measured",
			[ASSAY_DIFF_SKIPPED] = "skipped",
			[ASSAY_DIFF_ONLY_BASE] = "only in the base",
			[ASSAY_DIFF_ONLY_HEAD] = "only in the head",
		};
		size_t n = assay_diff_count(d, (enum assay_diff_result)i);

		if (!n)
			continue;
		assay_text_addf(out, "%s%zu %s", between, n, words[i]);
		between = ", ";
	}
}

static void controls_text(const struct assay_diff *d, char *buf, size_t size)
{
	buf[0] = '\0';
	if (d->n_same_code_moved)
		snprintf(buf, size,
			 "%zu of %zu cases whose machine code is the same on both sides nevertheless moved, by up to "
			 "%.1f %%: the machine changed, and changes of that size say nothing about a program",
			 d->n_same_code_moved, d->n_same_code, 100 * (d->same_code_most - 1));
}

static void add_machine(const struct assay_diff *d, struct assay_text *out)
{
	const struct assay_diff_side *b = &d->side[ASSAY_DIFF_BASE], *h = &d->side[ASSAY_DIFF_HEAD];

	if (!strcmp(b->machine_id, h->machine_id))
		assay_text_add(out, h->machine_label);
	else
		assay_text_addf(out, "base %s (%.8s), head %s (%.8s): times of two machines are INCOMPARABLE",
				b->machine_label, b->machine_id, h->machine_label, h->machine_id);
}

static bool is_shown(const struct assay_report_diff *r, const struct assay_diff_case *c,
		     const struct assay_emit_style *style)
{
	if (r->metric && !style->verbose)
		return assay_diff_number(c, r->metric);
	if (c->result == ASSAY_DIFF_SKIPPED)
		return style->verbose;
	return style->verbose || r->diff->by_variant ||
	       (c->result != ASSAY_DIFF_UNCLEAR && c->result != ASSAY_DIFF_MACHINE);
}

/* "17.3 GOP/s to 224 GOP/s" of each number that moved, and how many did not. */
static void add_numbers(const struct assay_diff_case *c, const struct assay_emit_style *style, struct assay_columns *t)
{
	size_t same = 0;
	char rest[64];

	for (size_t i = 0; i < c->n_numbers; i++) {
		const struct assay_diff_number *m = &c->numbers[i];
		char text[2][64], line[256];

		if (m->value[0] == m->value[1] ||
		    fabs(m->value[1] - m->value[0]) < NUMBER_FRAC * fmax(fabs(m->value[0]), fabs(m->value[1]))) {
			same++;
			continue;
		}
		for (int s = 0; s < 2; s++)
			assay_metric_text(m->name, m->value[s], m->unit, style->utf8, text[s], sizeof(text[s]));
		snprintf(line, sizeof(line), "%s %s to %s%s%s", m->name, text[0], text[1], m->source[0] ? ", " : "",
			 m->source);
		assay_columns_line(t, 8, line);
	}
	snprintf(rest, sizeof(rest), "%zu other number%s are equal, or nearly so", same, same == 1 ? "" : "s");
	if (same)
		assay_columns_line(t, 8, rest);
}

static const char *colour_of(const struct assay_diff_case *c)
{
	switch (c->result) {
	case ASSAY_DIFF_FASTER:
		return ASSAY_GREEN;
	case ASSAY_DIFF_SLOWER:
		return ASSAY_RED;
	case ASSAY_DIFF_INCOMPARABLE:
	case ASSAY_DIFF_NOT_MEASURED:
		return ASSAY_YELLOW;
	default:
		return "";
	}
}

static void add_case(const struct assay_report_diff *r, const struct assay_diff_case *c,
		     const struct assay_emit_style *style, struct assay_columns *t)
{
	const char *colour = assay_paint(style, colour_of(c));
	struct words w;
	char result[CELL_MAX + 16], line[512];

	find_words(r, c, style->utf8, &w);
	snprintf(result, sizeof(result), "%s%s%s", colour, w.result, colour[0] ? ASSAY_RESET : "");
	assay_columns_row(t, (const char *const[]){ result, w.speedup, w.interval, w.value[0], w.value[1], w.roof,
						    w.base_variant, c->c.key });
	if (c->reason[0] && (c->result != ASSAY_DIFF_INCOMPARABLE || style->verbose))
		assay_columns_line(t, 6, c->reason);
	if (c->slow_core[0] || c->slow_core[1]) {
		snprintf(line, sizeof(line), "the core was slow in the %s, which can halve the speed",
			 !c->slow_core[0]   ? "head"
			 : !c->slow_core[1] ? "base"
					    : "base and in the head");
		if (assay_diff_moved(c))
			assay_columns_line(t, 6, line);
	}
	snprintf(line, sizeof(line), "%s%s", c->because.name[0] ? "because: " : "", c->because.text);
	if (c->because.name[0] || (c->because.text[0] && style->verbose))
		assay_columns_line(t, 6, line);
	if (style->verbose && !r->metric)
		add_numbers(c, style, t);
}

/* Of a metric there is no interval: it differs or it does not. */
static void count_metric(const struct assay_report_diff *r, struct assay_text *out)
{
	size_t n = 0, moved = 0;

	for (size_t i = 0; i < r->diff->n_cases; i++) {
		const struct assay_diff_number *m = assay_diff_number(&r->diff->cases[i], r->metric);

		if (!m || !isfinite(m->value[0]) || !isfinite(m->value[1]))
			continue;
		n++;
		moved += m->value[0] != m->value[1];
	}
	assay_text_addf(out, "%zu of %zu case%s have %s on both sides, it differs in %zu", n, r->diff->n_cases,
			r->diff->n_cases == 1 ? "" : "s", r->metric, moved);
}

/* How many changes have no known cause, which is not worth a line each. */
static void add_unknown(const struct assay_diff *d, const struct assay_emit_style *style, struct assay_text *out)
{
	size_t n = 0, uncounted = 0;
	struct assay_text line = { 0 };

	for (size_t i = 0; i < d->n_cases; i++) {
		const struct assay_diff_case *c = &d->cases[i];

		if (!assay_diff_moved(c) || c->because.name[0])
			continue;
		n++;
		uncounted += !assay_diff_number(c, "exact_instructions") && !assay_diff_number(c, "PAPI_TOT_INS");
	}
	if (!n)
		return;
	assay_text_addf(&line, "unknown for %zu case%s that moved", n, n == 1 ? "" : "s");
	if (uncounted)
		assay_text_addf(&line,
				": no instructions were counted of %zu; 'assay run --evidence all' or '--counters "
				"flops' counts them",
				uncounted);
	assay_named_line(out, style, "cause", line.s ? line.s : "");
	out->failed |= line.failed;
	assay_text_release(&line);
}

static void add_head(const struct assay_report_diff *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_diff *d = r->diff;
	struct assay_text machine = { 0 };
	char side[320];

	side_text(&d->side[ASSAY_DIFF_BASE], side, sizeof(side));
	assay_named_line(out, style, "base", side);
	side_text(&d->side[ASSAY_DIFF_HEAD], side, sizeof(side));
	assay_named_line(out, style, "head", side);
	add_machine(d, &machine);
	assay_named_line(out, style, "machine", machine.s ? machine.s : "");
	out->failed |= machine.failed;
	assay_text_release(&machine);
	for (size_t i = 0; i < d->n_cases; i++)
		if (d->cases[i].result == ASSAY_DIFF_INCOMPARABLE && d->cases[i].reason[0]) {
			assay_named_line(out, style, "", d->cases[i].reason);
			break;
		}
	assay_text_add(out, "\n");
}

static void add_table(const struct assay_report_diff *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_diff *d = r->diff;
	struct assay_columns t = { .align = "lrlrrlll", .indent = "  ", .width = style->width };
	size_t shown = 0;

	assay_columns_row(&t, (const char *const[]){ "", r->metric ? r->metric : "speed-up", r->metric ? "" : "95 %",
						     "base", "head", r->metric ? "" : "% of limit",
						     d->by_variant ? "against" : "", "case" });
	for (size_t i = 0; i < d->n_cases; i++)
		if (is_shown(r, &d->cases[i], style)) {
			add_case(r, &d->cases[i], style, &t);
			shown++;
		}
	if (shown)
		assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (shown)
		assay_text_add(out, "\n");
}

static void write_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_diff *r = &report->diff;
	const struct assay_diff *d = r->diff;
	struct assay_text line = { 0 };
	char controls[320];
	size_t hidden = assay_diff_count(d, ASSAY_DIFF_SKIPPED);

	if (!d->by_variant)
		hidden += assay_diff_count(d, ASSAY_DIFF_UNCLEAR) + assay_diff_count(d, ASSAY_DIFF_MACHINE);

	add_head(r, style, out);
	add_table(r, style, out);
	if (r->metric)
		count_metric(r, &line);
	else
		add_counts(d, &line);
	if (hidden && !style->verbose && !r->metric)
		assay_text_add(&line, "; -v shows all of them, and their numbers");
	assay_named_line(out, style, "result", line.s ? line.s : "");
	assay_text_release(&line);
	if (r->metric)
		return;
	add_unknown(d, style, out);
	controls_text(d, controls, sizeof(controls));
	if (controls[0])
		assay_named_line(out, style, "control", controls);
	assay_named_line(out, style, "covers", d->uncovered);
	if (d->measure) {
		assay_text_addf(&line, "'%s' measures both in turn, and tells the program from the machine",
				d->measure);
		assay_named_line(out, style, "", line.s ? line.s : "");
		assay_text_release(&line);
	}
}

ASSAY_EMITTER(diff_text, ASSAY_REPORT_DIFF, "text", write_text);
