/* SPDX-License-Identifier: Apache-2.0 */
/* The files of reports/page/web, which are part of the program. */
#ifndef ASSAY_REPORTS_PAGE_HTML_H
#define ASSAY_REPORTS_PAGE_HTML_H

#include <stddef.h>

#include "base/text.h"

/* "page.css", "page.js" (all scripts as one), "page.html", and the digests "page.css.sha256". "" for any other name. */
const char *assay_page_file(const char *name);

/* ---- template ---- */

/* Templates of pages: text in which @name@ stands for a part that a function writes. */

/* Write the part that is called @name, which is @len characters long; one that nobody knows sets out->failed. */
typedef void assay_page_part(const void *of, const char *name, size_t len, struct assay_text *out);

void assay_page_fill(const char *page, assay_page_part *part, const void *of, struct assay_text *out);

#endif
