/* SPDX-License-Identifier: Apache-2.0 */
/* Wording that all emitters of gates for people share: the order of verdicts, numbers as text, sentences. */
#ifndef ASSAY_REPORTS_GATE_WORDS_H
#define ASSAY_REPORTS_GATE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "model/gate_report.h"

/* All verdicts, the most severe first, in the order of the exit codes; PASS last. */
extern const enum assay_verdict assay_gate_words_order[ASSAY_N_VERDICTS];
/*
 * The rows in that order, suspects before others that are undecided, each kind in the order of the suite. malloc'ed;
 * NULL: out of memory.
 */
const struct assay_gate_case **assay_gate_words_sorted(const struct assay_gate_report *r);

/* The numbers of a row; "" where one does not apply. */
struct assay_gate_words {
	char change[32];   /* "+1.23 %": change of the time, + is slower; of two variants the speed-up, "1.93x" */
	char interval[80]; /* "+1.10 % to +1.36 %" */
	char margin[32];   /* "0.5 %" */
	char pairs[24];
};

/* Is the change of @c one to show? That of a time has an interval, or nobody knows how far it may be off. */
bool assay_gate_words_has_change(const struct assay_gate_case *c);
void assay_gate_words_of(const struct assay_gate_case *c, struct assay_gate_words *out);
/* The change alone. Lock-step pairs resolve hundredths of a percent, all else shows tenths. */
void assay_gate_words_change(double ratio, bool fine, char *buf, size_t size);

/* "1.93x": how many times as fast, from a ratio of times. "" where there is none. */
void assay_gate_words_times(double ratio, char *buf, size_t size);

/* Does the row matter to a reader in a hurry? Rows without a baseline do not. */
bool assay_gate_words_matters(const struct assay_gate_report *r, const struct assay_gate_case *c);
/* Why there is no baseline, as its rows say; NULL when there is one. */
const char *assay_gate_words_no_baseline(const struct assay_gate_report *r);

/* How many rows there are of each kind. */
struct assay_gate_counts {
	size_t of[ASSAY_N_VERDICTS]; /* without the two kinds below */
	size_t baseless;             /* INCOMPARABLE only because there is no baseline */
	size_t skipped;              /* they pass without a number */
};

struct assay_gate_counts assay_gate_words_count(const struct assay_gate_report *r);
/*
 * One part of the sum for people: of verdict @v, or where @also of what is told apart from it. Its name in *name; 0:
 * there is none.
 */
size_t assay_gate_words_part(const struct assay_gate_counts *n, enum assay_verdict v, bool also, const char **name);
/* "127 cases"; "135 verdicts on 127 cases" where some have several. */
void assay_gate_words_cases(const struct assay_gate_report *r, char *buf, size_t size);
size_t assay_gate_words_suspects(const struct assay_gate_report *r);
size_t assay_gate_words_undecided_controls(const struct assay_gate_report *r);
/*
 * "3 of 20 verdicts inconclusive, one of them apparently 12 % slower; 1 of 2 self-checks inconclusive"; "" where all is
 * known.
 */
void assay_gate_words_doubt(const struct assay_gate_report *r, char *buf, size_t size);
/* All of the first line but the verdict that it begins with: what is in doubt comes before what passed. */
void assay_gate_words_headline(const struct assay_gate_report *r, struct assay_text *out);
/* The row that stands for the verdict of the whole: that whose time changed most. NULL: none has that verdict. */
const struct assay_gate_case *assay_gate_words_worst(const struct assay_gate_report *r);
/* "matmul.ternary/avx2 is 11.5 % slower, and 2 more verdicts are REGRESSED": what happened, without a full stop. */
void assay_gate_words_sentence(const struct assay_gate_report *r, struct assay_text *out);
/* Why an untrusted report has no verdicts by time. */
extern const char assay_gate_words_untrusted[];

/* "base against base", "head with 2 % more work". */
void assay_gate_words_control(const struct assay_gate_control *c, char *buf, size_t size);
/* "3 of 4 passed, 1 inconclusive": an inconclusive one proves nothing, though it fails nothing. */
void assay_gate_words_controls(const struct assay_gate_report *r, char *buf, size_t size);

#endif
