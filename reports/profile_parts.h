/* SPDX-License-Identifier: Apache-2.0 */
/* What all emitters of profiles share. */
#ifndef ASSAY_REPORTS_PROFILE_PARTS_H
#define ASSAY_REPORTS_PROFILE_PARTS_H

#include "base/text.h"
#include "model/profile.h"

/* The name of a frame: "[unknown]" where it has none. */
const char *assay_profile_name(const char *name);
/* "CPU profile of KEY". */
void assay_profile_title(const struct assay_profile *p, struct assay_text *out);
/* "matmul.c:12-40", "matmul.c:12"; "" where nothing is known. */
void assay_profile_place(const struct assay_profile_function *f, char *buf, size_t size);

#endif
