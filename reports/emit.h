/* SPDX-License-Identifier: Apache-2.0 */
/* Emitters: plain structs in, text out. They never print; the command line does. */
#ifndef ASSAY_REPORTS_EMIT_H
#define ASSAY_REPORTS_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "model/result.h"

struct assay_emit_style {
	bool colour;
	bool utf8;      /* ± µ and the like; plain ASCII otherwise */
	unsigned width; /* columns of the terminal; 0: unlimited */
	bool verbose;   /* all metrics; in a gate also what passed */
};

/* Who, where and how: the lines that stand above a run, known before its first case. */
int assay_emit_run_header(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out,
			  struct assay_err *err);
/* The table of a run: one line a case under its op, a legend of the columns, the summary. */
int assay_emit_run_table(const struct assay_run *run, const struct assay_emit_style *style, struct assay_text *out,
			 struct assay_err *err);
/* Everything about one result: its numbers, metrics, counts, and with @samples every raw sample. */
int assay_emit_result(const struct assay_result *r, bool samples, const struct assay_emit_style *style,
		      struct assay_text *out, struct assay_err *err);
/*
 * The object of section 8 of the design: {"schema":1,"run":{…},"cases":[…]}. What does not apply is null. Numbers above
 * 2^63 - 1 (a seed) are strings. With @samples each case carries "raw": [[iterations, ns, flags], …].
 */
int assay_emit_run_json(const struct assay_run *run, bool samples, struct assay_text *out, struct assay_err *err);
/* Exact counts: the setting, a line a case, and with style->verbose a line a function. */
int assay_emit_exact_table(const struct assay_exact_run *run, const struct assay_emit_style *style,
			   struct assay_text *out, struct assay_err *err);
/*
 * Exact counts of two builds: what the head counted and how that differs from the base; with style->verbose by
 * function. Cases are those of the head.
 */
int assay_emit_exact_sides(const struct assay_exact_run *base, const struct assay_exact_run *head,
			   const struct assay_emit_style *style, struct assay_text *out, struct assay_err *err);
/*
 * Exact counts that stand alone:
 * {"schema":1,"run":{"evidence":"exact",…},"cases":[{"key","status","reason","counters","metrics", "functions"}]}.
 * Those of a run with times are the member "exact" of its object, without "schema".
 */
int assay_emit_exact_json(const struct assay_exact_run *run, struct assay_text *out, struct assay_err *err);
/* A gate or a comparison: the verdict, what matters, how much passed, the controls. */
int assay_emit_gate_table(const struct assay_gate_report *r, const struct assay_emit_style *style,
			  struct assay_text *out, struct assay_err *err);
/*
 * The object of section 8 of the design, of a gate and of a comparison alike. "controls" is {} where there are none,
 * else {"trusted", "items": [{"key", "kind": "aa" | "slower", "injected", "verdict", "ratio", "ci", "pairs", "ok",
 * "reason"}]}.
 */
int assay_emit_gate_json(const struct assay_gate_report *r, struct assay_text *out, struct assay_err *err);

/* First line of every Markdown report: the comment that holds it is the one to replace. */
#define ASSAY_MARKDOWN_MARKER "<!-- assay-gate -->"
/* What a comment on GitHub holds; @out grows by no more bytes than this. */
#define ASSAY_MARKDOWN_MAX 65536
/*
 * A gate as a comment to a pull request: the verdict with a sentence, what matters, and the full table folded. What
 * does not fit is left out from the end, and counted.
 */
int assay_emit_gate_markdown(const struct assay_gate_report *r, struct assay_text *out, struct assay_err *err);

struct assay_emit_junit {
	bool strict;          /* INCONCLUSIVE is a failure; otherwise it is skipped */
	const char *hostname; /* NULL: "localhost" */
	uint64_t unix_ns;     /* when it was judged; 0: not written */
};

/*
 * A gate as JUnit XML, one test case for each case × metric: class name is the op, name the rest of the key and the
 * metric. REGRESSED and WRONG_RESULT are failures, NOT_MEASURED and INCOMPARABLE errors (skipped where a missing
 * baseline was allowed). @o may be NULL for the defaults.
 */
int assay_emit_gate_junit(const struct assay_gate_report *r, const struct assay_emit_junit *o, struct assay_text *out,
			  struct assay_err *err);

#endif
