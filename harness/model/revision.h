/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, as people and scripts name it: its commit, and whether it is a kernel at all. */
#ifndef ASSAY_MODEL_REVISION_H
#define ASSAY_MODEL_REVISION_H

#include "model/build.h"
#include "model/case.h"

/* What the measured code was built from: the plugins' repository, or the program's where the plugins are its own. */
struct assay_commit assay_build_revision(const struct assay_build *b);
/* "8c1f0aa49d21 with changes", "unknown" */
void assay_commit_text(const struct assay_commit *c, char *buf, size_t size);
/* Does the op of a case measure the machine, and no kernel? Such ops are called stream.*, peak.* and overhead.*. */
bool assay_case_is_limit(const struct assay_case *c);

#endif
