/* SPDX-License-Identifier: Apache-2.0 */
/* A gate for people: the verdict, then what matters; what passed is counted unless asked for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/gate/words.h"
#include "reports/text_parts.h"

/* ---- doubts ---- */

/* How far a case is from what could be judged: the larger, the more it stands for its kind. */
static double extent(const struct assay_gate_case *c)
{
	double x = c->doubt == ASSAY_DOUBT_MARGIN  ? c->smallest_detectable_frac
		   : c->doubt == ASSAY_DOUBT_NOISE ? c->dropped_frac
						   : fabs(log(c->ratio));

	return isfinite(x) ? x : 0;
}

static const struct assay_gate_case *furthest(const struct assay_gate_report *r, enum assay_doubt doubt, size_t *n)
{
	const struct assay_gate_case *most = NULL;

	*n = 0;
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_gate_case *c = &r->cases[i];

		if (c->doubt != doubt)
			continue;
		(*n)++;
		if (!most || extent(c) > extent(most))
			most = c;
	}
	return most;
}

static void doubt_text(const struct assay_gate_case *most, size_t n, char *buf, size_t size)
{
	const char *s = n == 1 ? "" : "s", *key = most->key;
	char change[32];

	assay_gate_words_change(most->ratio, false, change, sizeof(change));
	switch (most->doubt) {
	case ASSAY_DOUBT_MACHINE:
		snprintf(buf, size, "%zu case%s of unchanged code moved with the machine; the largest change is %s, %s",
			 n, s, change, key);
		break;
	case ASSAY_DOUBT_MOVED:
		snprintf(buf, size,
			 "%zu case%s of changed code moved, but so did unchanged code, so it may be the machine; the "
			 "largest change is %s, %s",
			 n, s, change, key);
		break;
	case ASSAY_DOUBT_NOISE:
		snprintf(buf, size, "%zu case%s too disturbed by the host to be judged, such as %s", n, s, key);
		break;
	case ASSAY_DOUBT_SAMPLES:
		snprintf(buf, size, "%zu case%s with too few samples for an interval, such as %s: %s", n, s, key,
			 most->evidence == ASSAY_EVIDENCE_IMPORTED ? "more repetitions give one"
								   : "--budget gives more");
		break;
	default:
		assay_gate_words_change(1 + most->smallest_detectable_frac, false, change, sizeof(change));
		snprintf(buf, size,
			 "%zu case%s may or may not be slower than allowed; the least certain would show a slowdown of "
			 "%s%s, %s",
			 n, s, change, strncmp(change, "over", 4) ? " or more" : "", key);
	}
}

/* A line for each kind of doubt, with its number of cases and the case that is furthest off, then what to do. */
static void assay_gate_doubts(const struct assay_gate_report *r, const struct assay_emit_style *style,
			      struct assay_text *out)
{
	const char *name = "unsure";
	bool any = false;
	char text[ASSAY_KEY_MAX + 256];

	for (unsigned d = ASSAY_DOUBT_NONE + 1; d < ASSAY_N_DOUBTS; d++) {
		size_t n;
		const struct assay_gate_case *most = furthest(r, (enum assay_doubt)d, &n);

		if (!most)
			continue;
		doubt_text(most, n, text, sizeof(text));
		assay_named_line(out, style, d == ASSAY_DOUBT_MACHINE ? "moved" : name, text);
		name = d == ASSAY_DOUBT_MACHINE ? name : "";
		/* nothing of another tool can be built and compared here */
		any |= most->evidence != ASSAY_EVIDENCE_IMPORTED;
	}
	if (any)
		assay_named_line(out, style, "next",
				 "-v lists these cases; 'assay compare BASE' interleaves both builds, so that the "
				 "machine is the same for both");
}

/* Improvements that get a row, the largest. */
#define IMPROVED_SHOWN 10
/* Up to this number, missing cases get a row each; of more, only that many are named. */
#define MISSING_SHOWN 3
/* The width of a row besides its key; where that and the longest key do not fit, keys get lines of their own. */
#define ROOM_FOR_NUMBERS 80

struct view {
	const struct assay_gate_report *r;
	const struct assay_emit_style *style;
	struct assay_columns table;
	bool evidence; /* the rung needs a column */
	bool keys_below;
	bool numbers;       /* some row has any */
	bool times, counts; /* numbers of which kind */
	bool variants;      /* two of one op are compared */
	bool metrics;       /* of programs, which may be turned round */
	size_t missing;     /* cases that share one line; 0: each has a row */
};

static const char *reset(const struct assay_emit_style *style)
{
	return assay_paint(style, ASSAY_RESET);
}

/* Is it one of many improvements, and not among the largest? */
static bool is_small_improvement(const struct assay_gate_report *r, const struct assay_gate_case *c)
{
	size_t larger = 0;

	if (c->verdict != ASSAY_IMPROVED)
		return false;
	for (size_t i = 0; i < r->n_cases; i++)
		larger += r->cases[i].verdict == ASSAY_IMPROVED &&
			  (r->cases[i].ratio < c->ratio || (r->cases[i].ratio == c->ratio && &r->cases[i] < c));
	return larger >= IMPROVED_SHOWN;
}

static bool is_shown(const struct view *v, const struct assay_gate_case *c)
{
	return v->style->verbose || (assay_gate_words_matters(v->r, c) && !(c->missing && v->missing) && !c->doubt &&
				     !is_small_improvement(v->r, c));
}

static void count_missing(struct view *v)
{
	for (size_t i = 0; i < v->r->n_cases; i++)
		v->missing += v->r->cases[i].missing;
	if (v->missing <= MISSING_SHOWN || v->style->verbose)
		v->missing = 0;
}

/* A run that was cut short lacks many. */
static void add_missing(const struct view *v, struct assay_text *out)
{
	struct assay_text line = { 0 };
	size_t named = 0;

	if (!v->missing)
		return;
	assay_text_addf(&line, "%zu cases are missing in the run: ", v->missing);
	for (size_t i = 0; i < v->r->n_cases && named < MISSING_SHOWN; i++)
		if (v->r->cases[i].missing)
			assay_text_addf(&line, "%s%s", named++ ? ", " : "", v->r->cases[i].key);
	assay_text_addf(&line, ", ...; --verbose lists all%s%s", v->r->missing_hint[0] ? "; " : "", v->r->missing_hint);
	if (line.s)
		assay_columns_wrap(out, line.s, 0, 2, v->style->width);
	assay_text_add(out, "\n");
	out->failed |= line.failed;
	assay_text_release(&line);
}

/* The rung stands in the table of a comparison, and wherever rows rest on different ones. */
static void look_ahead(struct view *v)
{
	const struct assay_gate_case *first = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < v->r->n_cases; i++) {
		const struct assay_gate_case *c = &v->r->cases[i];

		if (!is_shown(v, c))
			continue;
		if (strlen(c->key) > longest)
			longest = strlen(c->key);
		if (!assay_gate_words_has_change(c))
			continue;
		v->numbers = true;
		v->variants |= c->base_variant[0] != '\0';
		if (assay_key_is_program(c->key) && strcmp(c->metric, "time_s") != 0)
			v->metrics = true;
		else
			*(c->evidence == ASSAY_EVIDENCE_EXACT ? &v->counts : &v->times) = true;
		first = first ? first : c;
		v->evidence |= c->evidence != ASSAY_EVIDENCE_STORED || c->evidence != first->evidence;
	}
	v->keys_below = v->style->width && ROOM_FOR_NUMBERS + longest > v->style->width;
}

static void add_header(struct view *v)
{
	bool pairs = false;

	for (size_t i = 0; i < v->r->n_cases; i++)
		pairs |= v->r->cases[i].pairs && is_shown(v, &v->r->cases[i]);
	assay_columns_row(&v->table,
			  (const char *const[]){ "verdict", "metric",
						 !v->numbers   ? ""
						 : v->variants ? "speed-up"
							       : "change",
						 v->numbers ? "interval" : "", v->numbers ? "margin" : "",
						 pairs ? "pairs" : "", v->evidence && !v->keys_below ? "evidence" : "",
						 v->keys_below ? "" : "case" });
}

static void add_key_below(struct view *v, const struct assay_gate_case *c)
{
	char line[ASSAY_KEY_MAX + 32];

	if (v->evidence && assay_gate_words_has_change(c))
		snprintf(line, sizeof(line), "%s (%s)", c->key, assay_evidence_name(c->evidence));
	else
		snprintf(line, sizeof(line), "%s", c->key);
	assay_columns_line(&v->table, 6, line);
}

/* "kv_hits (sde)": a limit has no change, and so no column for its rung. */
static const char *with_rung(const struct assay_gate_case *c, char *buf, size_t size)
{
	bool counted = isfinite(c->limit) && c->evidence != ASSAY_EVIDENCE_NONE &&
		       c->evidence != ASSAY_EVIDENCE_STORED && c->evidence != ASSAY_EVIDENCE_PAIRED;

	if (counted)
		snprintf(buf, size, "%s (%s)", c->metric, assay_evidence_name(c->evidence));
	else
		snprintf(buf, size, "%s", c->metric);
	return buf;
}

static void add_case(struct view *v, const struct assay_gate_case *c)
{
	const char *key = v->keys_below ? NULL : c->key;
	const char *evidence = v->evidence && !v->keys_below ? assay_evidence_name(c->evidence) : "";
	struct assay_gate_words w;
	char verdict[48], metric[ASSAY_METRIC_TAG_MAX + 16];

	assay_gate_words_of(c, &w);
	snprintf(verdict, sizeof(verdict), "%s%s%s", assay_paint_verdict(v->style, c->verdict),
		 assay_verdict_name(c->verdict), reset(v->style));
	if (w.change[0])
		assay_columns_row(&v->table, (const char *const[]){ verdict, c->metric, w.change, w.interval, w.margin,
								    w.pairs, evidence, key });
	else
		assay_columns_tail(&v->table, (const char *const[]){ verdict, with_rung(c, metric, sizeof(metric)) }, 2,
				   key);
	if (v->keys_below)
		add_key_below(v, c);
	if (c->reason[0] && (c->verdict != ASSAY_PASS || !w.change[0]))
		assay_columns_line(&v->table, v->keys_below ? 8 : 6, c->reason);
	if (c->because.asked)
		assay_columns_line(&v->table, v->keys_below ? 8 : 6, c->because.text);
}

static bool add_cases(struct view *v, struct assay_text *out)
{
	const struct assay_gate_case **sorted = assay_gate_words_sorted(v->r);
	bool any = false;

	out->failed |= !sorted;
	for (size_t i = 0; sorted && i < v->r->n_cases; i++)
		if (is_shown(v, sorted[i])) {
			add_case(v, sorted[i]);
			any = true;
		}
	free(sorted);
	return any;
}

/* Wrapped between the counts, never inside one; @at is the column. */
static void add_count(const struct view *v, enum assay_verdict verdict, size_t n, const char *name, size_t *at,
		      bool *first, struct assay_text *out)
{
	char part[64];

	if (!n)
		return;
	snprintf(part, sizeof(part), "%zu %s", n, name);
	assay_text_add(out, *first ? ":" : ",");
	if (v->style->width && *at + strlen(part) + strlen(", ,") > v->style->width) {
		assay_text_add(out, "\n  ");
		*at = 2;
	} else {
		assay_text_add(out, " ");
		*at += 2;
	}
	*first = false;
	assay_text_addf(out, "%s%s%s", assay_paint_verdict(v->style, verdict), part, reset(v->style));
	*at += strlen(part);
}

static void add_counts(const struct view *v, struct assay_text *out)
{
	const struct assay_gate_counts count = assay_gate_words_count(v->r);
	const char *name;
	bool first = true;
	char cases[128];
	size_t at;

	assay_gate_words_cases(v->r, cases, sizeof(cases));
	assay_text_add(out, v->r->n_cases ? cases : "nothing was judged");
	at = strlen(cases);
	for (size_t i = 0; i < 2 * ASSAY_N_VERDICTS; i++) {
		enum assay_verdict verdict = assay_gate_words_order[i / 2];
		size_t n = assay_gate_words_part(&count, verdict, i % 2, &name);

		add_count(v, verdict, n, name, &at, &first, out);
	}
	if (v->r->seconds > 0 && isfinite(v->r->seconds)) {
		if (v->style->width && at + strlen(" in 12345 s") > v->style->width)
			assay_text_add(out, "\n ");
		assay_text_addf(out, " in %.*f s", v->r->seconds < 9.95 ? 1 : 0, v->r->seconds);
	}
	assay_text_add(out, "\n");
}

/* ---- what many cases share ---- */

static void add_improvements(const struct view *v, struct assay_text *out)
{
	size_t left = 0;
	char text[64];

	for (size_t i = 0; i < v->r->n_cases && !v->style->verbose; i++)
		left += is_small_improvement(v->r, &v->r->cases[i]);
	snprintf(text, sizeof(text), "%zu more cases by less; -v lists them", left);
	if (left)
		assay_named_line(out, v->style, "improved", text);
}

/* Is it of a case that the base lacks, and the first row of that? */
static bool is_first_of_new(const struct assay_gate_report *r, size_t i)
{
	if (!r->cases[i].is_new)
		return false;
	for (size_t k = 0; k < i; k++)
		if (r->cases[k].is_new && !strcmp(r->cases[k].key, r->cases[i].key))
			return false;
	return true;
}

/* Cases that the base lacks pass, and a row each would say no more. */
static void add_new(const struct view *v, struct assay_text *out)
{
	const char *first = NULL;
	char text[ASSAY_KEY_MAX + 96];
	size_t n = 0;

	for (size_t i = 0; i < v->r->n_cases && !v->style->verbose; i++)
		if (is_first_of_new(v->r, i) && !n++)
			first = v->r->cases[i].key;
	if (!n)
		return;
	snprintf(text, sizeof(text), "%zu case%s that the base lacks%s %s", n, n == 1 ? "" : "s",
		 n > 1 ? ", such as" : ":", first);
	assay_named_line(out, v->style, "new", text);
}

/* A row that passes is not shown, and a deviation that the policy allows is no other verdict. */
static void add_deviations(const struct view *v, struct assay_text *out)
{
	char edges[ASSAY_EDGES_MAX], text[ASSAY_EDGES_MAX + 64];
	unsigned all = 0;
	size_t n = 0;

	for (size_t i = 0; i < v->r->n_cases && !v->style->verbose; i++) {
		all |= v->r->cases[i].edges;
		n += v->r->cases[i].edges != 0;
	}
	if (!n)
		return;
	snprintf(text, sizeof(text), "%zu case%s on %s, and only there; -v shows which", n,
		 n == 1 ? " deviates" : "s deviate", assay_edges_text(all, edges, sizeof(edges)));
	assay_named_line(out, v->style, "edges", text);
}

/* Rows that pass are not shown: where exact counts stand beside times, say that they were taken. */
static void add_exact(const struct view *v, struct assay_text *out)
{
	size_t exact = 0, other = 0;

	for (size_t i = 0; i < v->r->n_cases; i++) {
		const struct assay_gate_case *c = &v->r->cases[i];

		if (!strcmp(c->metric, "exact") || assay_exact_is_metric(c->metric))
			exact += c->verdict != ASSAY_NOT_MEASURED;
		else
			other++;
	}
	if (exact && other)
		assay_text_addf(out, "%zu of %zu by exact counts\n", exact, v->r->n_cases);
}

static const char *control_mark(const struct assay_gate_control *c)
{
	if (!c->ok)
		return "FAILED";
	return c->verdict == ASSAY_INCONCLUSIVE ? "-" : "ok";
}

static void add_controls(const struct view *v, struct assay_text *out)
{
	const struct assay_gate_report *r = v->r;
	struct assay_columns t = { .align = "lllrrl", .indent = "  ", .width = v->style->width };
	char sum[128];

	if (!r->n_controls)
		return;
	assay_gate_words_controls(r, sum, sizeof(sum));
	assay_text_addf(out, "self-checks: %s\n", sum);
	for (size_t i = 0; i < r->n_controls; i++) {
		const struct assay_gate_control *c = &r->controls[i];
		char kind[64], change[32], pairs[32] = "";

		if (c->ok && !v->style->verbose)
			continue;
		assay_gate_words_control(c, kind, sizeof(kind));
		assay_gate_words_change(c->ratio, true, change, sizeof(change));
		if (c->pairs)
			snprintf(pairs, sizeof(pairs), "%zu pairs", c->pairs);
		assay_columns_row(&t, (const char *const[]){ control_mark(c), assay_verdict_name(c->verdict), kind,
							     change, pairs, v->style->width ? "" : c->key });
		if (v->style->width)
			assay_columns_line(&t, 6, c->key);
		if (c->reason[0])
			assay_columns_line(&t, 6, c->reason);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void add_warning(const struct view *v, struct assay_text *out)
{
	bool missing = false;

	for (size_t i = 0; i < v->r->n_cases; i++)
		missing |= v->r->cases[i].missing;
	if (v->r->manifest[0] && (missing || v->style->verbose))
		assay_named_line(out, v->style, "manifest", v->r->manifest);
	if (v->r->unchecked[0])
		assay_named_line(out, v->style, "unchecked", v->r->unchecked);
	if (!v->r->untrusted)
		return;
	assay_text_addf(out, "\n%sWARNING%s: ", assay_paint(v->style, ASSAY_BOLD ASSAY_RED), reset(v->style));
	assay_columns_wrap(out, assay_gate_words_untrusted, 9, 2, v->style->width);
	assay_text_add(out, "\n");
}

static void add_headline(const struct view *v, struct assay_text *out)
{
	const struct assay_gate_report *r = v->r;

	const char *name = assay_verdict_name(r->verdict);
	struct assay_text rest = { 0 };

	assay_text_addf(out, "%s%s%s", assay_paint_verdict(v->style, r->verdict), name, reset(v->style));
	assay_gate_words_headline(r, &rest);
	if (rest.s)
		assay_columns_wrap(out, rest.s, strlen(name), 2, v->style->width);
	assay_text_add(out, "\n");
	out->failed |= rest.failed;
	assay_text_release(&rest);
}

static void write_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_gate_report *r = report->gate.gate;
	struct view v = { .r = r,
			  .style = style,
			  .table = { .align = "llrlrrll", .indent = "  ", .width = style->width } };
	const char *why = style->verbose ? NULL : assay_gate_words_no_baseline(r);

	count_missing(&v);
	look_ahead(&v);
	add_header(&v);
	add_headline(&v, out);
	add_warning(&v, out);
	if (add_cases(&v, out)) {
		assay_text_add(out, "\n");
		assay_columns_print(&v.table, out);
		if (v.variants)
			assay_text_addf(out, "  speed-up is relative to %s\n", r->base);
		else if (v.metrics)
			assay_text_add(out, "  change is that of the head relative to the base, reversed where more is "
					    "better: + is worse\n");
		else if (v.numbers)
			assay_text_addf(out, "  change is the %s of the head relative to the base: + is %s\n",
					!v.counts ? "time"
					: v.times ? "time or count"
						  : "count",
					!v.counts ? "slower"
					: v.times ? "slower or more"
						  : "more");
		assay_text_add(out, "\n");
	}
	assay_columns_release(&v.table);
	add_missing(&v, out);
	if (why) {
		assay_columns_wrap(out, why, 0, 2, style->width);
		assay_text_add(out, "\n");
	}
	add_counts(&v, out);
	add_exact(&v, out);
	add_deviations(&v, out);
	add_new(&v, out);
	add_improvements(&v, out);
	if (!style->verbose)
		assay_gate_doubts(v.r, style, out);
	add_controls(&v, out);
}

ASSAY_EMITTER(gate_text, ASSAY_REPORT_GATE, "text", write_text);
