/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 one character at a time, for formats that refuse broken or control characters. */
#ifndef ASSAY_REPORTS_CODE_POINTS_H
#define ASSAY_REPORTS_CODE_POINTS_H

#include <stdint.h>

#include "base/text.h"

#define ASSAY_CODE_POINT_BAD 0xfffdu /* the replacement character */

/* The character at *s, which moves behind it; 0 at the end. A byte that begins no valid sequence is
 * ASSAY_CODE_POINT_BAD. */
uint32_t assay_code_point_next(const char **s);
/* Add @c, a valid code point, to @out as UTF-8. */
void assay_code_point_add(struct assay_text *out, uint32_t c);

#endif
