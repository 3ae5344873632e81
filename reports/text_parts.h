/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by emitters of text: colours, times of day, XML, CSV and Markdown. */
#ifndef ASSAY_REPORTS_TEXT_PARTS_H
#define ASSAY_REPORTS_TEXT_PARTS_H

#include <stdint.h>

#include "base/text.h"
#include "model/bottleneck.h"
#include "model/verdict.h"
#include "reports/emitter.h"

/*
 * Colours as emitters write them: noncharacters of Unicode, U+FDD0 and on. assay_show() turns them into the escapes of
 * a terminal, and no other escape gets there.
 */
#define ASSAY_BOLD        "\xef\xb7\x90"
#define ASSAY_DIM         "\xef\xb7\x91"
#define ASSAY_RED         "\xef\xb7\x92"
#define ASSAY_GREEN       "\xef\xb7\x93"
#define ASSAY_YELLOW      "\xef\xb7\x94"
#define ASSAY_RESET       "\xef\xb7\x95"
#define ASSAY_PAINT_BYTES 3

/* Is @s at one of these? */
bool assay_is_paint(const char *s);
/*
 * Make the text in @t from @from on fit for a terminal, whatever names are in it: as assay_printable_lines(), but
 * colours become escapes if @style has any, line ends may be CR LF, and signs are ASCII unless @style has UTF-8. All
 * text that people read passes through here.
 */
void assay_show(struct assay_text *t, size_t from, const struct assay_emit_style *style);

/* @code where the style has colours, "" otherwise. */
const char *assay_paint(const struct assay_emit_style *style, const char *code);
/* The same in the colour of a verdict: green, yellow where nothing was decided, red. */
const char *assay_paint_verdict(const struct assay_emit_style *style, enum assay_verdict v);
/* A line with a name in front, wrapped under its text; @name "" goes on with the line before. */
void assay_named_line(struct assay_text *out, const struct assay_emit_style *style, const char *name, const char *text);
/* "2026-11-21 14:05", where the program runs. */
void assay_when_text(uint64_t unix_ns, char *buf, size_t size);

/*
 * Text or attribute value of XML and HTML. XML 1.0 has no control characters but three, not even escaped; those in
 * attributes stay as entities.
 */
void assay_xml_add(struct assay_text *out, const char *s);
/*
 * A field of CSV, in quotes if it needs them. Text that a spreadsheet would run as a formula gets an apostrophe in
 * front, which makes it plain text there.
 */
void assay_csv_add(struct assay_text *out, const char *s);
/* An attribute with a blank before it. */
void assay_xml_attribute(struct assay_text *out, const char *name, const char *value);

/*
 * The output of a worker: a blank line, "@of wrote:", and its lines; nothing if @log is NULL or "". An empty @of stands
 * for the case above.
 */
void assay_log_text(struct assay_text *out, const char *of, const char *log);

/* The next line of the raw_metrics of @r, as "compress 700.5 MB/s, size 1.21 KiB". *@raw is moved behind it. */
void assay_raw_metrics_text(const struct assay_result *r, const char **raw, bool utf8, struct assay_text *out);

/* ---- markdown parts ---- */

/* Text in the Markdown that GitHub and GitLab share, inside tables and outside. */

/* Prose: what Markdown would take for markup is escaped; lines and control characters become spaces. */
void assay_markdown_prose(struct assay_text *out, const char *s);
/* A name: a code span; where that cannot hold it, the same in HTML. */
void assay_markdown_name(struct assay_text *out, const char *s);

/* ---- bottleneck words ---- */

/* The wording of advice, wherever it is shown. */

/* "; expect 12x, 15x at most"; "" where neither is told. */
void assay_advice_gain_text(const struct assay_advice *a, char *buf, size_t size);

#endif
