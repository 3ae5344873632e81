/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stored comparison for people: a row a case, or of single cases a row a pair. What is shown is what is stored and
 * what the judge takes from it, the function to blame included; verdicts are left to `assay compare --replay`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/gate/words.h"
#include "reports/run/parts.h"
#include "reports/text_parts.h"

static void control_text(const struct assay_comparison_case *c, char *buf, size_t size)
{
	switch (c->control) {
	case ASSAY_CONTROL_AA:
		snprintf(buf, size, "base against base");
		break;
	case ASSAY_CONTROL_SLOWER:
		snprintf(buf, size, "head with %.3g %% more work", 100 * assay_comparison_injected(c));
		break;
	default:
		snprintf(buf, size, "%s", !c->in_head ? "lost" : !c->in_base ? "new" : "");
		break;
	}
}

/* Mean and spread over the pairs, as far as they are usable. */
static void case_row(struct assay_columns *t, const struct assay_comparison_case *c,
		     const struct assay_case_reading *reading)
{
	char pairs[24], used[24], sd[32] = "", change[32] = "", kind[64], name[ASSAY_KEY_MAX + 80];
	char doubt[sizeof(reading->undecided) + 16];

	snprintf(pairs, sizeof(pairs), "%zu", c->n_pairs);
	snprintf(used, sizeof(used), "%zu", reading->n_used);
	assay_gate_words_change(reading->ratio, true, change, sizeof(change));
	if (isfinite(reading->sd))
		snprintf(sd, sizeof(sd), "%.3f %%", 100 * reading->sd);
	control_text(c, kind, sizeof(kind));
	snprintf(name, sizeof(name), "%s%s%s", c->c.key, kind[0] ? ", " : "", kind);
	assay_columns_tail(t, (const char *const[]){ pairs, used, change, sd }, 4, name);
	if (c->reason[0])
		assay_columns_line(t, 4, c->reason);
	if (c->difference[0])
		assay_columns_line(t, 4, c->difference);
	if (reading->undecided[0]) {
		snprintf(doubt, sizeof(doubt), "undecided: %s", reading->undecided);
		assay_columns_line(t, 4, doubt);
	}
	if (reading->because.asked)
		assay_columns_line(t, 4, reading->because.text);
}

static void block_rows(const struct assay_pair *p, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrr", .indent = "      " };

	assay_columns_row(&t, (const char *const[]){ "block", "base ns", "base ns", "head ns", "head ns" });
	for (size_t b = 0; b < p->n_blocks; b++) {
		char cell[5][32];

		snprintf(cell[0], sizeof(cell[0]), "%zu", b);
		for (int k = 0; k < 4; k++)
			snprintf(cell[k + 1], sizeof(cell[0]), "%" PRIu64,
				 p->side[k / 2].samples[2 * b + (size_t)k % 2].ns);
		assay_columns_row(&t, (const char *const[]){ cell[0], cell[1], cell[2], cell[3], cell[4] });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static void pair_row(struct assay_columns *t, const struct assay_pair *p, const struct assay_pair_reading *reading,
		     size_t i, bool utf8)
{
	const struct assay_result *bad =
		p->side[ASSAY_HEAD].status != ASSAY_STATUS_OK ? &p->side[ASSAY_HEAD] : &p->side[ASSAY_BASE];
	char no[24], change[32], blocks[24], dropped[24], it[24], took[32], note[640] = "";

	snprintf(no, sizeof(no), "%zu", i + 1);
	assay_gate_words_change(reading->ratio, true, change, sizeof(change));
	snprintf(blocks, sizeof(blocks), "%zu", p->n_blocks);
	snprintf(dropped, sizeof(dropped), "%zu", reading->n_dropped);
	snprintf(it, sizeof(it), "%" PRIu64, p->iterations);
	assay_quantity_text((double)p->wall_ns * 1e-9, "s", utf8, took, sizeof(took));
	if (bad->status != ASSAY_STATUS_OK)
		snprintf(note, sizeof(note), "%s %s: %s", bad == &p->side[ASSAY_HEAD] ? "head" : "base",
			 assay_status_name(bad->status), bad->reason);
	else if (!p->n_blocks)
		snprintf(note, sizeof(note), "same machine code, so it was not timed");
	else if (!isfinite(reading->ratio))
		snprintf(note, sizeof(note), "not used: too disturbed");
	else if (!p->steady)
		snprintf(note, sizeof(note), "not steady after the warm-up");
	assay_columns_row(t, (const char *const[]){ no, change, blocks, dropped, it, took });
	if (note[0])
		assay_columns_line(t, 6, note);
}

/* The metrics that each process of a program printed. */
static void raw_metrics(const struct assay_pair *p, bool utf8, struct assay_text *out)
{
	for (unsigned side = 0; side < 2; side++)
		for (const char *raw = p->side[side].raw_metrics; raw && *raw;) {
			assay_text_addf(out, "      %s  ", side == ASSAY_BASE ? "base" : "head");
			assay_raw_metrics_text(&p->side[side], &raw, utf8, out);
			assay_text_add(out, "\n");
		}
}

/* ---- counts of the two sides ---- */

/* The side's value of @name, a count, a metric derived from counts, or a reason; false: it has none. */
static bool cell(const struct assay_result *s, const char *name, bool utf8, char *value, char *note, size_t size)
{
	const struct assay_count *count = assay_counters_find(&s->counters, name);
	const struct assay_unavailable *u = assay_counters_find_missing(&s->counters, name);
	const struct assay_metric *m = assay_result_metric(s, name);

	if (m) {
		assay_metric_text(m->tag, m->value, m->unit, utf8, value, size);
		snprintf(note, size, "%s%s", m->source, m->estimated ? ", an estimate" : "");
	} else if (count) {
		assay_count_text(count, value, size);
		assay_count_note(count, note, size);
	} else if (u) {
		snprintf(value, size, "unavailable");
		snprintf(note, size, "%s: %s", u->source, u->reason);
	}
	return m || count || u;
}

/* Metrics of an op or a program, such as the quantiles of a histogram; those of the harness follow from the time. */
static bool is_own(const struct assay_metric *m)
{
	return !m->source[0] && !assay_metric_find(m->tag);
}

/* How the head's value of such a metric differs from the base's. */
static void change_note(const struct assay_pair *p, const char *name, char *note, size_t size)
{
	const struct assay_metric *base = assay_result_metric(&p->side[ASSAY_BASE], name);
	const struct assay_metric *head = assay_result_metric(&p->side[ASSAY_HEAD], name);

	if (base && head && is_own(head) && base->value > 0 && isfinite(head->value / base->value))
		snprintf(note, size, "%+.1f %%%s", 100 * (head->value / base->value - 1),
			 head->better ? head->better < 0 ? ", lower is better" : ", higher is better" : "");
}

static void add_row(struct assay_columns *t, const struct assay_pair *p, const char *name, bool utf8)
{
	char value[2][320] = { "-", "-" }, note[2][320] = { "", "" }, both[720];
	bool base = cell(&p->side[ASSAY_BASE], name, utf8, value[ASSAY_BASE], note[ASSAY_BASE], sizeof(note[0]));
	bool head = cell(&p->side[ASSAY_HEAD], name, utf8, value[ASSAY_HEAD], note[ASSAY_HEAD], sizeof(note[0]));

	if (base && head && strcmp(note[ASSAY_BASE], note[ASSAY_HEAD]))
		snprintf(both, sizeof(both), "base %s; head %s", note[ASSAY_BASE], note[ASSAY_HEAD]);
	else
		snprintf(both, sizeof(both), "%s", note[head ? ASSAY_HEAD : ASSAY_BASE]);
	change_note(p, name, both, sizeof(both));
	assay_columns_tail(t, (const char *const[]){ name, value[ASSAY_BASE], value[ASSAY_HEAD] }, 3, both);
}

static bool has(const struct assay_result *s, const char *name)
{
	return assay_result_metric(s, name) || assay_counters_find(&s->counters, name) ||
	       assay_counters_find_missing(&s->counters, name);
}

/* The names of the head, then those that the base alone has. */
static void add_side(struct assay_columns *t, const struct assay_pair *p, enum assay_side side, bool utf8)
{
	const struct assay_result *s = &p->side[side];
	bool known = side == ASSAY_BASE;

	for (size_t i = 0; i < s->n_metrics; i++)
		if ((s->metrics[i].source[0] || is_own(&s->metrics[i])) &&
		    !(known && has(&p->side[ASSAY_HEAD], s->metrics[i].tag)))
			add_row(t, p, s->metrics[i].tag, utf8);
	for (size_t i = 0; i < s->counters.n; i++)
		if (!(known && has(&p->side[ASSAY_HEAD], s->counters.v[i].name)))
			add_row(t, p, s->counters.v[i].name, utf8);
	for (size_t i = 0; i < s->counters.n_missing; i++)
		if (!(known && has(&p->side[ASSAY_HEAD], s->counters.missing[i].name)))
			add_row(t, p, s->counters.missing[i].name, utf8);
}

/* A row for each metric of the op, count, metric derived from counts, and reason; nothing where there is none. */
static void add_counts(const struct assay_pair *counted, const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "lrrl", .indent = "  ", .width = style->width };

	assay_columns_row(&t, (const char *const[]){ "counted", "base", "head", "by" });
	add_side(&t, counted, ASSAY_HEAD, style->utf8);
	add_side(&t, counted, ASSAY_BASE, style->utf8);
	if (t.n_rows > 1)
		assay_columns_print(&t, out);
	assay_columns_release(&t);
}

/*
 * Show one output of each side: that of its last pair that failed, or else of its last pair that wrote anything.
 * Programs that measure themselves write a table in each pair, and all of these would hide the pairs above.
 */
static void add_log(const struct assay_comparison_case *c, enum assay_side side, struct assay_text *out)
{
	const char *name = side == ASSAY_HEAD ? "head" : "base";
	const struct assay_result *shown = NULL;
	size_t pair = 0, wrote = 0;
	char of[96];

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_result *r = &c->pairs[i].side[side];

		if (!r->log || !r->log[0])
			continue;
		wrote++;
		if (shown && shown->status != ASSAY_STATUS_OK && r->status == ASSAY_STATUS_OK)
			continue;
		shown = r;
		pair = i + 1;
	}
	if (!shown)
		return;
	snprintf(of, sizeof(of), "pair %zu, %s,", pair, name);
	if (shown->status != ASSAY_STATUS_OK)
		snprintf(of, sizeof(of), "pair %zu, %s, which failed,", pair, name);
	else if (wrote > 1)
		snprintf(of, sizeof(of), "pair %zu, %s, the last of %zu that are kept (--json has all),", pair, name,
			 wrote);
	assay_log_text(out, of, shown->log);
}

/* ---- the whole ---- */

static void case_pairs(const struct assay_comparison_case *c, const struct assay_case_reading *reading, bool samples,
		       const struct assay_emit_style *style, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrrr", .indent = "  ", .width = style->width };
	char kind[64];

	control_text(c, kind, sizeof(kind));
	assay_text_addf(out, "\n%s%s%s%s%s\n", assay_paint(style, ASSAY_BOLD), c->c.key,
			assay_paint(style, ASSAY_RESET), kind[0] ? ", " : "", kind);
	if (c->reason[0])
		assay_text_addf(out, "  %s\n", c->reason);
	if (c->difference[0])
		assay_text_addf(out, "  %s\n", c->difference);
	if (reading->because.asked)
		assay_text_addf(out, "  %s\n", reading->because.text);
	if (c->n_pairs)
		assay_columns_row(&t,
				  (const char *const[]){ "pair", "change", "blocks", "dropped", "iterations", "took" });
	for (size_t i = 0; i < c->n_pairs; i++)
		pair_row(&t, &c->pairs[i], &reading->pairs[i], i, style->utf8);
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	add_counts(&reading->counted, style, out);
	add_log(c, ASSAY_BASE, out);
	add_log(c, ASSAY_HEAD, out);
	for (size_t i = 0; i < c->n_pairs && samples; i++) {
		assay_text_addf(out, "    pair %zu\n", i + 1);
		block_rows(&c->pairs[i], out);
		raw_metrics(&c->pairs[i], style->utf8, out);
	}
}

/* The label of a revision has its commit; of files it stands behind. */
static void side_line(struct assay_text *out, const char *name, const char *label, const struct assay_build *b)
{
	char commit[8];

	snprintf(commit, sizeof(commit), "%.7s", b->commit);
	assay_text_addf(out, "%-8s %s", name, label);
	if (commit[0] && !strstr(label, commit))
		assay_text_addf(out, ", built from %s%s", commit, b->dirty ? " with changes" : "");
	assay_text_add(out, "\n");
}

static void header(const struct assay_comparison *cmp, const char *verdict, struct assay_text *out)
{
	char when[32];

	assay_when_text(cmp->started_ns, when, sizeof(when));
	assay_text_addf(out, "comparison %" PRId64 " of suite '%s', %s, seed %" PRIu64 "\n", cmp->id, cmp->suite, when,
			cmp->seed);
	/* commands of a command line have no threads and were not built from where they ran */
	if (cmp->n_cases && !cmp->cases[0].c.threads) {
		assay_text_addf(out, "head     %s\nbase     %s\n", cmp->head, cmp->base);
	} else {
		side_line(out, "head", cmp->head, &cmp->build[ASSAY_HEAD]);
		side_line(out, "base", cmp->base, &cmp->build[ASSAY_BASE]);
	}
	assay_text_addf(out, "machine  %s\n", cmp->machine.label);
	if (cmp->program.hash[0])
		assay_text_addf(out, "program  %.12s%s\n", cmp->program.hash,
				cmp->program.dirty ? " with changes" : "");
	assay_text_addf(out, "verdict  %s\n",
			verdict[0] ? verdict : "unfinished, or under way: only what follows was measured");
}

static void write_text(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_report_comparison *v = &r->comparison;
	const struct assay_comparison *cmp = v->cmp;
	struct assay_columns t = { .align = "rrrrl", .indent = "  ", .width = style->width };
	struct assay_emit_style by_function = *style;

	header(cmp, v->verdict, out);
	if (!v->pairs && cmp->n_cases) {
		assay_text_add(out, "\n");
		assay_columns_row(&t, (const char *const[]){ "pairs", "used", "change", "pair sd", "case" });
	}
	for (size_t i = 0; i < cmp->n_cases; i++) {
		if (v->pairs)
			case_pairs(&cmp->cases[i], &v->readings[i], v->samples, style, out);
		else
			case_row(&t, &cmp->cases[i], &v->readings[i]);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (!cmp->exact[ASSAY_HEAD].n_cases)
		return;
	by_function.verbose = v->pairs;
	assay_text_add(out, "\n");
	assay_counts_sides_text(&cmp->exact[ASSAY_BASE], &cmp->exact[ASSAY_HEAD], &by_function, out);
}

ASSAY_EMITTER(comparison_text, ASSAY_REPORT_COMPARISON, "text", write_text);
