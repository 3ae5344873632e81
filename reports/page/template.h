/* SPDX-License-Identifier: Apache-2.0 */
/* Pages as the program carries them: a template whose parts are filled in, a style, and a script. */
#ifndef ASSAY_REPORTS_PAGE_TEMPLATE_H
#define ASSAY_REPORTS_PAGE_TEMPLATE_H

#include <stdbool.h>

#include "base/text.h"

/*
 * A row of what reports/page/web/embed.sh writes: "page.html", "page.css", "page.js", and the digests of the last two.
 */
struct assay_page_file {
	const char *name, *text;
};

/* The page of `assay report`, which takes a run, a comparison or a fleet; ends with an empty row, as all do. */
extern const struct assay_page_file assay_page_of_results[];

/* "" where there is no such file. */
const char *assay_page_file_text(const struct assay_page_file *files, const char *name);

/* Append the part that the template has as @name@. False: there is no such part. */
typedef bool assay_page_part(const void *of, const char *name, struct assay_text *out);

/*
 * Append the page. Style, script and their digests are filled in; @part writes the rest, and a part that it does not
 * know sets out->failed. NULL: there is no rest.
 */
void assay_page_fill(const struct assay_page_file *files, assay_page_part *part, const void *of,
		     struct assay_text *out);

#endif
