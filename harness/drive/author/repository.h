/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `assay init` writes beside the source and its benches: the Makefile, assay.conf, the policy, the manifest of
 * exactly these cases, and the jobs of GitHub and GitLab that gate a change.
 */
#ifndef ASSAY_DRIVE_AUTHOR_REPOSITORY_H
#define ASSAY_DRIVE_AUTHOR_REPOSITORY_H

#include "drive/author/files.h"
#include "drive/author/request.h"
#include "model/catalog.h"

/* ASSAY_EUSAGE unless the current folder is the top of a git repository. */
int assay_new_repository_check(struct assay_err *err);
/* The commands that come next: make, verify, run, gate. */
int assay_new_repository_commands(const struct assay_new_request *q, struct assay_new_result *r, struct assay_err *err);
/*
 * Add the files. @files has the bench files already, of which the manifest follows; @with is the catalog with the new
 * variant in it. ASSAY_ENOTFOUND where the program has no templates beside it.
 */
int assay_new_repository_add(const struct assay_new_request *q, struct assay_new_files *files,
			     const struct assay_catalog *with, struct assay_new_result *r, struct assay_err *err);
/* The folder of @q's files, as a prefix of their paths: "", or "assay/" where the project has files of its own. */
const char *assay_new_repository_dir(const struct assay_new_request *q);

#endif
