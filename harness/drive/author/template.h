/* SPDX-License-Identifier: Apache-2.0 */
/* The files under harness/drive/author/templates, which this program carries, and filling them in. */
#ifndef ASSAY_DRIVE_AUTHOR_TEMPLATE_H
#define ASSAY_DRIVE_AUTHOR_TEMPLATE_H

#include "base/text.h"

/* @KEY@ in a template becomes the value. A line that is nothing but a key goes away with an empty value. */
struct assay_template_value {
	const char *key, *value;
};

/* Append the template @name ("op.c") to @out. A key without a value is ASSAY_EINTERNAL. */
int assay_template_fill(const char *name, const struct assay_template_value *values, size_t n, struct assay_text *out,
			struct assay_err *err);

/* The template as it stands; NULL: there is none of this name. */
const char *assay_template_text(const char *name);

/* @s for the inside of a comment, which it must not end, on one line. */
void assay_template_comment(struct assay_text *out, const char *s);

#endif
