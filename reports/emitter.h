/* SPDX-License-Identifier: Apache-2.0 */
/* The table of emitters: each shows one kind of report in one format. They never print; the command line does. */
#ifndef ASSAY_REPORTS_EMITTER_H
#define ASSAY_REPORTS_EMITTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "reports/report.h"

struct assay_emit_style {
	bool colour;
	bool terminal;  /* it is written to one, where what is for programs is made printable, too */
	bool utf8;      /* ± µ and the like; plain ASCII otherwise */
	unsigned width; /* columns of the terminal; 0: unlimited */
	bool verbose;   /* all metrics, all functions; in a gate also what passed */
	bool html;      /* of profiles: tables and lines as HTML, for a page */
};

struct assay_emitter {
	enum assay_report_kind takes;
	/*
	 * "text", "json", "markdown", "llama-bench", "junit", "csv", "openmetrics", "html", "svg", "png",
	 * "folded", "dhat", "trace";
	 * of runs also "header", "cases"
	 */
	const char *format;
	/* Append it to @out; out of memory shows in out->failed. NULL: it draws. */
	void (*write)(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out);
	/* Write the file @path by means of another program; all or nothing. NULL: it writes text. */
	int (*draw)(const struct assay_report *r, const char *path, struct assay_err *err);
	/* ASSAY_EUNAVAILABLE names what is missing and the package that brings it. NULL: nothing is needed. */
	int (*probe)(struct assay_err *err);
};

/* An emitter that writes text. */
#define ASSAY_EMITTER(name, kind, its_format, writer)                                                                  \
	const struct assay_emitter assay_emitter_##name = { .takes = kind, .format = its_format, .write = writer }

/* Their rows stand in emitter_table.c. */
extern const struct assay_emitter *const assay_emitters[];
extern const size_t assay_n_emitters;

/* NULL when there is none. */
const struct assay_emitter *assay_emitter_find(enum assay_report_kind kind, const char *format);

/* Append @r to @out as text of @format. ASSAY_EUSAGE names the formats there are. @style NULL: all-zero. */
int assay_emit(const struct assay_report *r, const char *format, const struct assay_emit_style *style,
	       struct assay_text *out, struct assay_err *err);
/*
 * Can a report of @kind be written to @path, by its ending and where it lies? To be asked before the work. ASSAY_EUSAGE
 * or ASSAY_EIO otherwise.
 */
int assay_emit_check(enum assay_report_kind kind, const char *path, struct assay_err *err);
/*
 * Write @r to @path; @format NULL: what its ending says. A file that was there stays until the new one is complete.
 * ASSAY_EUSAGE names the formats there are, ASSAY_EUNAVAILABLE what is missing.
 */
int assay_emit_file(const struct assay_report *r, const char *format, const char *path, struct assay_err *err);

#endif
