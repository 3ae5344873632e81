/* SPDX-License-Identifier: Apache-2.0 */
/* The advice in messages: commands that can be typed as they stand, and the name that the user perhaps meant. */
#ifndef ASSAY_DRIVE_USER_TEXT_H
#define ASSAY_DRIVE_USER_TEXT_H

#include <stddef.h>

#include "base/text.h"
#include "drive/request.h"
#include "model/case.h"
#include "model/result.h"

/*
 * "assay gate --suite smoke --db my.db": the start of a command that a person can type as it stands, with the options
 * that are not the defaults. @suite may be NULL.
 */
void assay_command_text(char *buf, size_t size, const char *command, const char *suite, const char *db);

/*
 * Append " --plugin other.so --bench-dir DIR --suite NAME": what a command needs to find the op and the cases of @q in
 * @bench_dir, NULL being the installed one, and of @suite.
 */
void assay_places_text(struct assay_text *t, const struct assay_request *q, const char *bench_dir, const char *suite);

/*
 * The options that repeat a measurement, without the suite, to be stored with it: places, @own (what the command adds,
 * such as " --margin 1%"; may be ""), then --isa, --threads, --budget, --rounds and --only. "" where they do not fit.
 */
void assay_options_keep(char options[ASSAY_PLACES_MAX], const struct assay_request *q, const char *own);
/* The length of stored options up to their first --only, for a command that names one case of its own. */
size_t assay_options_without_only(const char *options);

/*
 * Add the names that users may give a case: its key, the key with t=all if that differs, and parts of it: op and
 * family.
 */
int assay_case_names_add(struct assay_strings *names, const struct assay_case *c, struct assay_err *err);
/* ASSAY_EUSAGE "no @what matches '@pattern'", with the nearest of @names, or else @hint. */
int assay_no_such_case(const struct assay_strings *names, const char *what, const char *pattern, const char *hint,
		       struct assay_err *err);

/* Return @rc of something that was done with a path that the user named: if it cannot be used, that is ASSAY_EUSAGE. */
int assay_user_path_error(int rc, struct assay_err *err);

#endif
