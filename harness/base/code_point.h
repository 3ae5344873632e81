/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 one character at a time, and text from elsewhere made fit to be shown. */
#ifndef ASSAY_BASE_CODE_POINT_H
#define ASSAY_BASE_CODE_POINT_H

#include "base/text.h"

#define ASSAY_CODE_POINT_BAD 0xfffdu /* the replacement character */

/*
 * The character at *s, which is advanced past it; 0 at the end. ASSAY_CODE_POINT_BAD for a byte that begins no valid
 * sequence.
 */
uint32_t assay_code_point_next(const char **s);
/* Add @c, a valid code point, to @out as UTF-8. */
void assay_code_point_add(struct assay_text *out, uint32_t c);

/*
 * Make text that a plugin or its process wrote fit for terminals, reports and the database. Control characters and
 * escapes, characters that are invisible or change the direction of writing, and bytes that are not UTF-8 become '?';
 * everything else stays. Call these where such text enters the program, so that no code after that has to.
 *
 * assay_printable_line() is for one line in an array of @size bytes, which is terminated; line ends and tabs become
 * blanks.
 */
void assay_printable_line(char *s, size_t size);
/*
 * Likewise for the first @len bytes of @s, whose next byte is 0; line ends and tabs stay. Returns the new length, which
 * is never longer.
 */
size_t assay_printable_lines(char *s, size_t len);

#endif
