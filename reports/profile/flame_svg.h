/* SPDX-License-Identifier: Apache-2.0 */
/* A flame graph as one SVG, of a profile or of the difference of two. */
#ifndef ASSAY_REPORTS_PROFILE_FLAME_SVG_H
#define ASSAY_REPORTS_PROFILE_FLAME_SVG_H

#include <stdbool.h>

#include "base/text.h"
#include "model/profile_diff.h"

/* Of @diff where that is not NULL, else of @p. @in_page: style and script of reports/profile/flame are the page's. */
void assay_flame_svg(const struct assay_profile *p, const struct assay_profile_diff *diff, bool in_page,
		     struct assay_text *out);

/* The picture of a profile: of threads a timeline, else a flame graph. */
void assay_profile_svg(const struct assay_profile *p, bool in_page, struct assay_text *out);
/* Style and script of pictures, by the name of the file in reports/profile/flame. */
const char *assay_flame_file(const char *name);

#endif
