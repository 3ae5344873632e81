/* SPDX-License-Identifier: Apache-2.0 */
/* What all emitters of profiles share. */
#ifndef ASSAY_REPORTS_PROFILE_PARTS_H
#define ASSAY_REPORTS_PROFILE_PARTS_H

#include <jansson.h>

#include "base/text.h"
#include "model/profile_diff.h"
#include "model/profile.h"
#include "reports/emitter.h"

/* The name of a frame: "[unknown]" where it has none. */
const char *assay_profile_name(const char *name);
/* "CPU profile of KEY". */
void assay_profile_title(const struct assay_profile *p, struct assay_text *out);
/* "'before' (KEY)", "profile 3 (KEY)". */
void assay_profile_label(const struct assay_profile *p, struct assay_text *out);
/* "+1.9 us" of a change in the unit of a difference. */
void assay_profile_change_text(const struct assay_profile_diff *d, double change, bool utf8, char *buf, size_t size);
/* A profile of the heap: its totals and call sites. */
void assay_profile_heap_text(const struct assay_profile *p, const struct assay_emit_style *style,
			     struct assay_text *out);
json_t *assay_profile_heap_json(const struct assay_profile *p);
/* "matmul.c:12-40", "matmul.c:12"; "" where nothing is known. */
void assay_profile_place(const char *file, unsigned line, unsigned last_line, char *buf, size_t size);

#endif
