/* SPDX-License-Identifier: Apache-2.0 */
/* Text in the Markdown that GitHub and GitLab share, inside tables and outside. */
#ifndef ASSAY_REPORTS_MARKDOWN_PARTS_H
#define ASSAY_REPORTS_MARKDOWN_PARTS_H

#include "base/text.h"

/* Prose: what Markdown would take for markup is escaped; lines and control characters become spaces. */
void assay_markdown_prose(struct assay_text *out, const char *s);
/* A name: a code span; where that cannot hold it, the same in HTML. */
void assay_markdown_name(struct assay_text *out, const char *s);

#endif
