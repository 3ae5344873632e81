/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay new` and `assay init`: the source of a plugin that someone then fills in, a variant of an op of any loaded
 * plugin or an op of its own, with what it takes to run it. What the source says of an op comes from the op.
 */
#ifndef ASSAY_DRIVE_AUTHOR_SOURCE_H
#define ASSAY_DRIVE_AUTHOR_SOURCE_H

#include "drive/author/request.h"

/*
 * Write the source, and bench files where no suite would run it. ASSAY_EUSAGE for names that cannot be, files that are
 * there already, ops that have no variants of their own, and for a repository a current folder that is not the top of
 * one; nothing is left behind then. Release in either case.
 */
int assay_new_write(const struct assay_new_request *q, struct assay_new_result *out, struct assay_err *err);
void assay_new_release(struct assay_new_result *r);

#endif
