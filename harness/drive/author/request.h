/* SPDX-License-Identifier: Apache-2.0 */
/* What `assay new` and `assay init` ask for, and what they get. */
#ifndef ASSAY_DRIVE_AUTHOR_REQUEST_H
#define ASSAY_DRIVE_AUTHOR_REQUEST_H

#include "base/text.h"
#include "drive/request.h"

struct assay_new_request {
	const struct assay_request *r; /* plugins, and the folder where a suite that has the op is looked for */
	const char *op;
	const char *variant; /* NULL: the op is the new one */
	const char *file;    /* ends in ".c"; NULL: named after what is new, in the current folder */
	bool here;       /* a repository that is there already: all in a folder of its own, but assay.conf and jobs */
	bool repository; /* with all that gates it in a repository of its own; a variant, and no file is named */
};

/* Commands as a person types them, one line each. */
struct assay_new_result {
	struct assay_strings files; /* that were written, the source first */
	char *compile;              /* with the headers of this program */
	char *compile_installed;    /* with those that pkg-config finds */
	char *verify, *run;
	char *keep, *compare; /* the build of today set aside, and what comes later compared with it */
	char *gate;           /* of a repository, which has neither of these three: the commit, and what it must pass */
	struct assay_strings add_to, add; /* files that were there, and the line that each has to get */
	bool right;                       /* the source is right as it is */
};

#endif
