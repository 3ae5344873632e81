/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/next_step.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive/user_text.h"

static void add_option(struct assay_text *out, const char *option, const char *word)
{
	assay_text_addf(out, " %s ", option);
	assay_text_add_word(out, word);
}

/* Add all options of a stored comparison, but its --only just for the @whole. */
static void add_places(struct assay_text *out, const struct assay_compare_request *q, bool whole)
{
	if (q->places) {
		const struct assay_request stored = { 0 };

		assay_text_addn(out, q->places, whole ? strlen(q->places) : assay_options_without_only(q->places));
		assay_places_text(out, &stored, NULL, q->what->plan.suite);
	} else {
		assay_places_text(out, q->what, q->what->plan.bench_dir, q->what->plan.suite);
	}
}

void assay_next_add_compare(struct assay_text *out, const struct assay_compare_request *q, const char *key)
{
	assay_text_addf(out, "assay compare%s ", q->variants ? " --variants" : "");
	assay_text_add_word(out, q->base);
	if (q->head) {
		assay_text_add(out, " ");
		assay_text_add_word(out, q->head);
	}
	add_places(out, q, !key);
	if (q->policy)
		add_option(out, "--policy", q->policy);
	if (strcmp(q->what->db, ASSAY_DEFAULT_DB))
		add_option(out, "--db", q->what->db);
	if (key)
		add_option(out, "--only", key);
}

static void add_show(struct assay_text *out, const struct assay_compare_request *q, int64_t id, const char *what)
{
	char number[48], command[1024];

	snprintf(number, sizeof(number), "show c%" PRId64, id);
	assay_command_text(command, sizeof(command), number, NULL, q->what->db);
	assay_text_addf(out, "next: '%s' %s", command, what);
}

/* The first row of the verdict of the whole, suspects first; NULL: there is none. */
static const struct assay_gate_case *first_row(const struct assay_gate_report *r)
{
	const struct assay_gate_case *first = NULL;

	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_gate_case *c = &r->cases[i];

		if (c->verdict == r->verdict && (!first || (c->suspect && !first->suspect)))
			first = c;
	}
	return first;
}

static bool has_undecided_control(const struct assay_gate_report *r)
{
	for (size_t i = 0; i < r->n_controls; i++)
		if (r->controls[i].verdict == ASSAY_INCONCLUSIVE || !r->controls[i].ok)
			return true;
	return false;
}

/* The budget that the reason of @row names. */
static void add_more_time(struct assay_text *out, const struct assay_gate_case *row)
{
	const uint64_t ms = row->deciding_ns / 1000000;

	if (ms % 1000)
		assay_text_addf(out, " --budget %" PRIu64 "ms", ms);
	else
		assay_text_addf(out, " --budget %" PRIu64 "s", ms / 1000);
}

void assay_next_of_comparison(struct assay_text *out, const struct assay_compare_request *q,
			      const struct assay_gate_report *r, int64_t id)
{
	const struct assay_gate_case *row = first_row(r);
	const bool timed = row && row->evidence == ASSAY_EVIDENCE_PAIRED;

	if (timed && r->verdict == ASSAY_REGRESSED && !q->variants && !assay_key_is_program(row->key)) {
		assay_text_add(out, "why: '");
		assay_next_add_compare(out, q, row->key);
		assay_text_add(out, " --evidence exact' says in which functions it does more");
	} else if (r->verdict == ASSAY_REGRESSED) {
		add_show(out, q, id, "shows what was measured of both");
	} else if (r->verdict == ASSAY_NOT_MEASURED && row) {
		add_show(out, q, id, "shows what each side said");
	} else if (timed && r->verdict == ASSAY_INCONCLUSIVE && row->deciding_ns && !r->untrusted) {
		assay_text_add(out, "next: '");
		assay_next_add_compare(out, q, row->key);
		add_more_time(out, row);
		assay_text_add(out, "' gives it more time");
	} else if (r->untrusted || (timed && r->verdict == ASSAY_INCONCLUSIVE) || has_undecided_control(r)) {
		assay_text_add(out, "next: 'assay doctor' says what disturbs this machine");
	} else if (r->verdict == ASSAY_WRONG_RESULT && row && !q->head && !q->places) {
		assay_text_add(out, "next: 'assay verify");
		add_places(out, q, false);
		add_option(out, "--only", row->key);
		assay_text_add(out, "' checks it alone");
	} else {
		add_show(out, q, id, "shows its pairs");
	}
}

void assay_next_of_gate(struct assay_text *out, const struct assay_gate_report *r, const char *suite, const char *db)
{
	const struct assay_gate_case *row = first_row(r);
	char command[1024];

	if (r->unchecked[0]) {
		assay_command_text(command, sizeof(command), "history", NULL, db);
		assay_text_addf(out, "next: '%s", command);
		assay_text_add(out, row ? " " : " CASE");
		if (row)
			assay_text_add_word(out, row->key);
		assay_text_add(out, "' shows the runs of a case");
		return;
	}
	assay_command_text(command, sizeof(command), "compare HEAD~1", suite, db);
	if (row && r->verdict == ASSAY_REGRESSED && row->evidence == ASSAY_EVIDENCE_STORED) {
		assay_text_addf(out, "why: '%s", command);
		add_option(out, "--only", row->key);
		assay_text_add(out,
			       "' interleaves it with the previous commit, so that the machine is the same for both");
	} else if (row && r->verdict == ASSAY_NOT_MEASURED) {
		const bool counts = !strcmp(row->metric, "exact");

		if (!counts && !row->missing) {
			assay_command_text(command, sizeof(command), "show last", NULL, db);
			assay_text_addf(out, "next: '%s ", command);
			assay_text_add_word(out, row->key);
			assay_text_add(out, "' shows what it said last");
			return;
		}
		assay_command_text(command, sizeof(command), "run", suite, db);
		assay_text_addf(out, "next: '%s%s' measures %s again, and says why it leaves something out", command,
				counts ? " --evidence exact" : "", counts ? "all counts" : "the whole suite");
	} else if (row && r->verdict == ASSAY_WRONG_RESULT) {
		assay_text_add(out, "next: 'assay verify");
		if (suite && strcmp(suite, ASSAY_DEFAULT_SUITE))
			add_option(out, "--suite", suite);
		add_option(out, "--only", row->key);
		assay_text_add(out, "' checks it alone");
	} else if (row && r->verdict != ASSAY_PASS && r->verdict != ASSAY_IMPROVED) {
		assay_command_text(command, sizeof(command), "show last", NULL, db);
		assay_text_addf(out, "next: '%s' shows every case of the run", command);
	} else {
		assay_text_addf(out, "next: '%s' compares the last change, interleaved", command);
	}
}
