/* SPDX-License-Identifier: Apache-2.0 */
/* What this program and a set of plugins were built from. */
#ifndef ASSAY_DRIVE_BUILD_IDENTITY_H
#define ASSAY_DRIVE_BUILD_IDENTITY_H

#include <stddef.h>

#include "model/catalog.h"
#include "model/result.h"

/* What this program was built from, with the build-ids of the plugins in @cat. */
void assay_build_identity(const struct assay_catalog *cat, struct assay_build *out);
/* Fill plugins and id of a build of which commit and changes are known, from @n plugins of @cat. */
void assay_build_identity_of(const struct assay_catalog *cat, size_t first, size_t n, struct assay_build *b);
/* "assay 0.1.0 (8c1f0aa with changes, gcc 12.2.0)" */
void assay_build_identity_text(char *buf, size_t size);

#endif
