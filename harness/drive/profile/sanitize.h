/* SPDX-License-Identifier: Apache-2.0 */
/* Removes from a profile what strangers should not see. */
#ifndef ASSAY_DRIVE_PROFILE_SANITIZE_H
#define ASSAY_DRIVE_PROFILE_SANITIZE_H

#include "model/profile.h"

/*
 * Remove paths from all texts of @p, of which the last part stays ("/home/me/x/server" becomes "server"), and write
 * HOST and USER for the names of this machine and of its user. Numbers, functions and files of sources stay as they
 * are.
 */
int assay_profile_sanitize(struct assay_profile *p, struct assay_err *err);
/*
 * The same for one text, which lies in @size bytes, with these names; "" is none. @command: any word with a slash is a
 * path; otherwise only one that begins with a slash, "./", "../" or '~'.
 */
void assay_text_sanitize(char *text, size_t size, bool command, const char *host, const char *user);

#endif
