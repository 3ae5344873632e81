/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay new` and `assay init`: the source of a plugin that someone then fills in, a variant of an op of any loaded
 * plugin or an op of its own, with what it takes to run it and, for `assay init`, to gate it; or what gates a program
 * that needs no plugin.
 */
#ifndef ASSAY_DRIVE_AUTHOR_AUTHOR_H
#define ASSAY_DRIVE_AUTHOR_AUTHOR_H

#include <signal.h>

#include "base/text.h"
#include "drive/request.h"
#include "model/reports.h"

struct assay_new_request {
	const struct assay_request *r; /* plugins, and the folder where a suite that has the op is looked for */
	const char *op;
	const char *variant; /* NULL: the op is the new one */
	const char *file;    /* ends in ".c"; NULL: named after what is new, in the current folder */
	bool here;       /* a repository that is there already: all in a folder of its own, but assay.conf and jobs */
	bool repository; /* with all that gates it in a repository of its own; a variant, and no file is named */
	/* Instead of a variant: a command to be measured, in a repository that is there already. NULL: none. */
	const char *program;
	const char *reads; /* the format in which it writes what it measures itself; NULL: its time is measured */
	const char *build; /* a command; NULL: one that the files at the top suggest */
	const volatile sig_atomic_t *interrupted; /* ends the program; NULL: never */
};

/*
 * Write the files. ASSAY_EUSAGE for names that cannot be, files that are there already, ops that have no variants of
 * their own, and for a repository a current folder that is not the top of one; nothing is left behind then. Release in
 * either case.
 */
int assay_new_write(const struct assay_new_request *q, struct assay_new_result *out, struct assay_err *err);
void assay_new_release(struct assay_new_result *r);

/*
 * Run q->program once: how long it took is in @r. ASSAY_EUSAGE where it cannot be started or fails.
 */
int assay_new_try(const struct assay_new_request *q, struct assay_new_result *r, struct assay_err *err);

/* ---- template ---- */

/*
 * The files under harness/drive/author/templates, which this program carries, and filling them in. A template reads as
 * what it becomes, but for three things:
 *
 *     @KEY@           becomes the value; a line that is nothing but a key goes away with an empty value
 *     @only A B       the lines up to its @end stay only where the tag A or B is set; these blocks nest
 *     @end
 */

struct assay_template_values {
	const char *const *keys;
	const struct assay_text *values; /* one a key */
	size_t n;
	struct assay_strings tags;
};

/* Append @text to @out, filled in. A key without a value is ASSAY_EINTERNAL. */
int assay_template_fill(const char *text, const struct assay_template_values *values, struct assay_text *out,
			struct assay_err *err);
/* The template "op.c" of the file op.c.in; NULL: there is none of this name. */
const char *assay_template_text(const char *name);

#endif
