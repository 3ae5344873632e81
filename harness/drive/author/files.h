/* SPDX-License-Identifier: Apache-2.0 */
/* A set of files that are written all or not at all, and over none that is there already. */
#ifndef ASSAY_DRIVE_AUTHOR_FILES_H
#define ASSAY_DRIVE_AUTHOR_FILES_H

#include <stdbool.h>

#include "base/text.h"

struct assay_new_file {
	char *path;
	bool folders; /* those that it lies in may be made; else they are there */
	struct assay_text text;
};

/* All-zero is empty. */
struct assay_new_files {
	struct assay_new_file *v;
	size_t n;
	const char *fresh;            /* a folder that must not be there, with files in it; borrowed; NULL: none */
	struct assay_strings folders; /* that writing made, the outer ones first */
};

/* Add a file without text. The pointer to that is good until the next call; NULL: out of memory, which @err says. */
struct assay_text *assay_new_files_add(struct assay_new_files *f, const char *path, bool folders,
				       struct assay_err *err);
/*
 * Write them, and make the folders that may be made. ASSAY_EUSAGE names those that are there already and what cannot be
 * written; nothing is left behind then. @written gets their paths.
 */
int assay_new_files_write(struct assay_new_files *f, struct assay_strings *written, struct assay_err *err);
void assay_new_files_release(struct assay_new_files *f);

#endif
