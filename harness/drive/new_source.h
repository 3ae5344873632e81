/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay new`: writes the source of a plugin that someone then fills in, a variant of an op of any loaded plugin or an
 * op of its own, with what it takes to run it. What the source says of an op comes from the op.
 */
#ifndef ASSAY_DRIVE_NEW_SOURCE_H
#define ASSAY_DRIVE_NEW_SOURCE_H

#include "drive/request.h"

struct assay_new_request {
	const struct assay_request *r; /* plugins, and the folder where a suite that has the op is looked for */
	const char *op;
	const char *variant; /* NULL: the op is the new one */
	const char *file;    /* ends in ".c"; NULL: named after what is new, in the current folder */
};

/* Commands as a person types them, one line each. */
struct assay_new_result {
	struct assay_strings files; /* that were written: the source, then bench files */
	char *compile;              /* with the headers of this program */
	char *compile_installed;    /* with those that pkg-config finds */
	char *verify, *run;
	char *keep, *compare; /* the build of today set aside, and what comes later compared with it */
};

/*
 * Write the source, and bench files where no suite would run it. ASSAY_EUSAGE for names that cannot be, files that are
 * there already, and ops that have no variants of their own; nothing is left behind then. Release in either case.
 */
int assay_new_write(const struct assay_new_request *q, struct assay_new_result *out, struct assay_err *err);
void assay_new_release(struct assay_new_result *r);

#endif
