/* SPDX-License-Identifier: Apache-2.0 */
/* The files of reports/page/web, which are part of the program. */
#ifndef ASSAY_REPORTS_PAGE_HTML_H
#define ASSAY_REPORTS_PAGE_HTML_H

/* "page.css", "page.js" (all scripts as one), "page.html", and the digests "page.css.sha256". "" for any other name. */
const char *assay_page_file(const char *name);

#endif
