/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files under harness/drive/author/templates, which this program carries, and filling them in. A template reads as
 * what it becomes, but for three things:
 *
 *     @KEY@           becomes the value; a line that is nothing but a key goes away with an empty value
 *     @only A B       the lines up to its @end stay only where the tag A or B is set; these blocks nest
 *     @end
 */
#ifndef ASSAY_DRIVE_AUTHOR_TEMPLATE_H
#define ASSAY_DRIVE_AUTHOR_TEMPLATE_H

#include "base/text.h"

struct assay_template_values {
	const char *const *keys;
	const struct assay_text *values; /* one a key */
	size_t n;
	struct assay_strings tags;
};

/* Append @text to @out, filled in. A key without a value is ASSAY_EINTERNAL. */
int assay_template_fill(const char *text, const struct assay_template_values *values, struct assay_text *out,
			struct assay_err *err);
/* The template "op.c" of the file op.c.in; NULL: there is none of this name. */
const char *assay_template_text(const char *name);

#endif
