/* SPDX-License-Identifier: Apache-2.0 */
/* The sources that this program and a set of plugins were built from. */
#ifndef ASSAY_DRIVE_RUN_BUILD_IDENTITY_H
#define ASSAY_DRIVE_RUN_BUILD_IDENTITY_H

#include <stddef.h>

#include "drive/session.h"
#include "drive/watch.h"
#include "model/catalog.h"
#include "model/result.h"

/*
 * Fill @out with the build of this program, the build-ids of the plugins of @s, and the revision of those plugins that
 * are not the program's own. These are what @q names, else what the current repository names, else what was built. The
 * revision is what @q states, which must exist in that repository, or else the state of the repository that holds the
 * first of them. 0, ASSAY_EUSAGE or ASSAY_EINTERRUPTED.
 */
int assay_build_identity(const struct assay_session *s, const struct assay_request *q, const struct assay_watch *w,
			 struct assay_build *out, struct assay_err *err);
/* The commit of this program. */
struct assay_commit assay_build_identity_program(void);
/* Fill plugins and id of a build of which commit and changes are known, from @n plugins of @cat. */
void assay_build_identity_of(const struct assay_catalog *cat, size_t first, size_t n, struct assay_build *b);
/* "assay 0.1.0 (8c1f0aa with changes, gcc 12.2.0)" */
void assay_build_identity_text(char *buf, size_t size);

#endif
