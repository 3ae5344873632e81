/* SPDX-License-Identifier: Apache-2.0 */
/* What emitters of text share: colours, times of day and XML. */
#ifndef ASSAY_REPORTS_TEXT_PARTS_H
#define ASSAY_REPORTS_TEXT_PARTS_H

#include <stdint.h>

#include "base/code_point.h"
#include "reports/emitter.h"

#define ASSAY_BOLD   "\033[1m"
#define ASSAY_DIM    "\033[2m"
#define ASSAY_RED    "\033[31m"
#define ASSAY_GREEN  "\033[32m"
#define ASSAY_YELLOW "\033[33m"
#define ASSAY_RESET  "\033[0m"

/* @code where the style has colours, "" otherwise. */
const char *assay_paint(const struct assay_emit_style *style, const char *code);
/* A line with a name in front, wrapped under its text; @name "" goes on with the line before. */
void assay_named_line(struct assay_text *out, const struct assay_emit_style *style, const char *name, const char *text);
/* "2026-11-21 14:05", where the program runs. */
void assay_when_text(uint64_t unix_ns, char *buf, size_t size);

/*
 * Text or attribute value of XML and HTML. XML 1.0 has no control characters but three, not even escaped; those in
 * attributes stay as entities.
 */
void assay_xml_add(struct assay_text *out, const char *s);
/* An attribute with a blank before it. */
void assay_xml_attribute(struct assay_text *out, const char *name, const char *value);

/*
 * What a worker printed, its lines behind a blank line and "@of wrote:"; nothing where @log is NULL or "". An empty @of
 * stands for the case above.
 */
void assay_log_text(struct assay_text *out, const char *of, const char *log);

#endif
