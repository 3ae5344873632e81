/* SPDX-License-Identifier: Apache-2.0 */
/* What emitters of text share: colours, times of day, XML, and UTF-8 one character at a time. */
#ifndef ASSAY_REPORTS_TEXT_PARTS_H
#define ASSAY_REPORTS_TEXT_PARTS_H

#include <stdint.h>

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

#define ASSAY_CODE_POINT_BAD 0xfffdu /* the replacement character */

/* The character at *s, which moves behind it; 0 at the end. A byte that begins no valid sequence is
 * ASSAY_CODE_POINT_BAD. */
uint32_t assay_code_point_next(const char **s);
/* Add @c, a valid code point, to @out as UTF-8. */
void assay_code_point_add(struct assay_text *out, uint32_t c);
/*
 * Text or attribute value of XML and HTML. XML 1.0 has no control characters but three, not even escaped; those in
 * attributes stay as entities.
 */
void assay_xml_add(struct assay_text *out, const char *s);

#endif
