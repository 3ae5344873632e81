/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate as a comment to a pull request, in the Markdown that GitHub and GitLab share: the verdict with a sentence,
 * what matters, and the full table folded. What does not fit is left out from the end, and counted.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/emitter.h"
#include "reports/gate/words.h"
#include "reports/text_parts.h"

/* First line of every report: the comment that holds it is the one to replace. */
#define MARKER "<!-- assay-gate -->"
/* The most that a comment on GitHub holds; a report is no longer. */
#define MAX_BYTES 65536
/* Rows above the fold; a reader in haste reads no more. */
#define MATTERS_MAX 50
/* The room for rows above the fold and controls, so that there is always room for what follows. */
#define MATTERS_BYTES (MAX_BYTES / 2)
/* Kept free for what closes the report. */
#define CLOSING_BYTES 512

static void add_row(struct assay_text *out, const struct assay_gate_case *c)
{
	struct assay_gate_words w;

	assay_gate_words_of(c, &w);
	assay_text_addf(out, "| %s%s%s | ", c->verdict == ASSAY_PASS ? "" : "**", assay_verdict_name(c->verdict),
			c->verdict == ASSAY_PASS ? "" : "**");
	assay_markdown_name(out, c->key);
	assay_text_add(out, " | ");
	if (c->metric[0])
		assay_markdown_name(out, c->metric);
	assay_text_addf(out, " | %s | %s | %s | %s | %s | ", w.change, w.interval, w.margin, w.pairs,
			assay_evidence_name(c->evidence));
	assay_markdown_prose(out, c->reason);
	if (c->because.asked) {
		assay_text_add(out, c->reason[0] ? "; " : "");
		assay_markdown_prose(out, c->because.text);
	}
	assay_text_add(out, " |\n");
}

static const char table_head[] =
	"| verdict | case | metric | change | interval | margin | pairs | evidence | reason |\n"
	"| --- | --- | --- | ---: | ---: | ---: | ---: | --- | --- |\n";

/* The room that rows have: bytes of the whole text, and how many. */
struct room {
	size_t max, max_rows;
};

/* Rows in the order of tables while there is room, without @all just those that matter. Returns how many are left. */
static size_t add_rows(const struct assay_gate_report *r, bool all, struct room room, struct assay_text *out)
{
	const struct assay_gate_case **sorted = assay_gate_words_sorted(r);
	size_t shown = 0, total = 0;
	bool full = false;

	assay_text_add(out, table_head);
	out->failed |= !sorted;
	for (size_t i = 0; sorted && i < r->n_cases; i++) {
		struct assay_text row = { 0 };

		if (!all && !assay_gate_words_matters(r, sorted[i]))
			continue;
		total++;
		if (full || shown == room.max_rows)
			continue;
		add_row(&row, sorted[i]);
		full = out->len + row.len > room.max;
		if (!full)
			assay_text_add(out, row.s ? row.s : "");
		shown += !full;
		out->failed |= row.failed;
		assay_text_release(&row);
	}
	free(sorted);
	return total - shown;
}

static void add_counts(const struct assay_gate_report *r, struct assay_text *out)
{
	const struct assay_gate_counts count = assay_gate_words_count(r);
	const char *between = ": ", *name;
	char cases[128];

	assay_gate_words_cases(r, cases, sizeof(cases));
	assay_text_add(out, cases);
	for (size_t i = 0; i < 2 * ASSAY_N_VERDICTS; i++) {
		size_t n = assay_gate_words_part(&count, assay_gate_words_order[i / 2], i % 2, &name);

		if (!n)
			continue;
		assay_text_addf(out, "%s%zu %s", between, n, name);
		between = ", ";
	}
}

static void add_verdict(const struct assay_gate_report *r, struct assay_text *out)
{
	const char *why = assay_gate_words_no_baseline(r);
	const bool good = r->verdict == ASSAY_PASS || r->verdict == ASSAY_IMPROVED;
	struct assay_text sentence = { 0 };
	char doubt[192];

	assay_gate_words_doubt(r, doubt, sizeof(doubt));
	assay_text_addf(out, MARKER "\n## assay: %s%s%s\n\n", assay_verdict_name(r->verdict),
			!doubt[0] ? ""
			: good    ? ", but "
				  : ": ",
			doubt);
	assay_gate_words_sentence(r, &sentence);
	assay_markdown_prose(out, sentence.s ? sentence.s : "");
	out->failed |= sentence.failed;
	assay_text_release(&sentence);
	assay_text_add(out, ".\n\n");
	assay_markdown_name(out, r->head[0] ? r->head : "this run");
	assay_text_add(out, " against ");
	assay_markdown_name(out, r->base[0] ? r->base : "no baseline");
	assay_text_add(out, ". ");
	add_counts(r, out);
	if (r->seconds > 0 && isfinite(r->seconds))
		assay_text_addf(out, " in %.*f s", r->seconds < 9.95 ? 1 : 0, r->seconds);
	assay_text_add(out, ".\n");
	if (r->fitness[0])
		assay_text_addf(out, "\nMachine: %s.\n", r->fitness);
	if (r->unchecked[0]) {
		assay_text_add(out, "\n> ");
		assay_markdown_prose(out, r->unchecked);
		assay_text_add(out, ".\n");
	}
	if (why) {
		assay_text_add(out, "\n> Speed was not judged: ");
		assay_markdown_prose(out, why);
		assay_text_add(out, "\n");
	}
	if (r->untrusted)
		assay_text_addf(out, "\n> **Warning:** %s.\n", assay_gate_words_untrusted);
}

static void add_matters(const struct assay_gate_report *r, struct assay_text *out, size_t start)
{
	bool any = false;
	size_t left;

	for (size_t i = 0; i < r->n_cases; i++)
		any |= assay_gate_words_matters(r, &r->cases[i]);
	if (!any)
		return;
	assay_text_add(out, "\n");
	left = add_rows(r, false, (struct room){ start + MATTERS_BYTES, MATTERS_MAX }, out);
	if (left)
		assay_text_addf(out, "\n… and %zu more.\n", left);
}

static void add_controls(const struct assay_gate_report *r, struct assay_text *out, size_t start)
{
	char sum[128];

	if (!r->n_controls)
		return;
	assay_gate_words_controls(r, sum, sizeof(sum));
	assay_text_addf(out, "\nSelf-checks: %s.\n", sum);
	for (size_t i = 0; i < r->n_controls && out->len < start + MATTERS_BYTES; i++) {
		const struct assay_gate_control *c = &r->controls[i];
		char kind[64], change[32];

		if (c->ok)
			continue;
		assay_gate_words_control(c, kind, sizeof(kind));
		assay_gate_words_change(c->ratio, true, change, sizeof(change));
		assay_text_addf(out, "- **failed:** %s was %s%s%s, ", kind, assay_verdict_name(c->verdict),
				change[0] ? " at " : "", change);
		assay_markdown_name(out, c->key);
		if (c->reason[0])
			assay_text_add(out, ": ");
		assay_markdown_prose(out, c->reason);
		assay_text_add(out, "\n");
	}
}

static void add_everything(const struct assay_gate_report *r, struct assay_text *out, size_t start)
{
	size_t left;

	if (!r->n_cases)
		return;
	assay_text_addf(out, "\n<details>\n<summary>All %zu verdict%s</summary>\n\n", r->n_cases,
			r->n_cases == 1 ? "" : "s");
	left = add_rows(r, true, (struct room){ start + MAX_BYTES - CLOSING_BYTES, SIZE_MAX }, out);
	if (left)
		assay_text_addf(out,
				"\n%zu of %zu rows are left out: a comment holds %d characters. The JSON report has "
				"all of them.\n",
				left, r->n_cases, MAX_BYTES);
	assay_text_add(out, "\n</details>\n");
}

static void write_markdown(const struct assay_report *report, const struct assay_emit_style *style,
			   struct assay_text *out)
{
	const struct assay_gate_report *r = report->gate.gate;
	size_t start = out->len;

	(void)style;
	add_verdict(r, out);
	add_matters(r, out, start);
	add_controls(r, out, start);
	add_everything(r, out, start);
	assay_text_add(out, "\nChange is the time of the head relative to the base: + is slower.");
	if (r->alpha > 0 && r->alpha < 1)
		assay_text_addf(out, " The false-alarm rate of the whole is %.3g %%.", 100 * r->alpha);
	if (r->comparison_id)
		assay_text_addf(out, " Comparison %" PRId64 ".", r->comparison_id);
	assay_text_add(out, "\n");
}

ASSAY_EMITTER(gate_markdown, ASSAY_REPORT_GATE, "markdown", write_markdown);
