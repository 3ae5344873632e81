/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of pages: text in which @name@ stands for a part that a function writes. */
#ifndef ASSAY_REPORTS_PAGE_TEMPLATE_H
#define ASSAY_REPORTS_PAGE_TEMPLATE_H

#include <stddef.h>

#include "base/text.h"

/* Write the part that is called @name, which is @len characters long; one that nobody knows sets out->failed. */
typedef void assay_page_part(const void *of, const char *name, size_t len, struct assay_text *out);

void assay_page_fill(const char *page, assay_page_part *part, const void *of, struct assay_text *out);

#endif
