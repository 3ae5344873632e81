/* SPDX-License-Identifier: Apache-2.0 */
/* The git repository of a folder, asked through the git program. Never writes to its working tree or index. */
#ifndef ASSAY_DRIVE_REPOSITORY_H
#define ASSAY_DRIVE_REPOSITORY_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/text.h"

struct assay_repository {
	char top[PATH_MAX]; /* of the working tree */
	char git[PATH_MAX]; /* its .git, which its worktrees share */
	char id[64];        /* its name and a digest of where that is: the same from all its worktrees */
	const volatile sig_atomic_t *interrupted; /* then git is stopped, with ASSAY_EINTERRUPTED; NULL: never */
};

/* The repository around the folder @at, NULL: the current one. ASSAY_EUSAGE when there is none, or no git. */
int assay_repository_open(struct assay_repository *r, const char *at, const volatile sig_atomic_t *interrupted,
			  struct assay_err *err);

/* Run the git command @argv at the top of @r. *out: its output, malloc'ed, without the last newline. */
int assay_repository_ask(const struct assay_repository *r, const char *const *argv, char **out, struct assay_err *err);

/* The full hash of what @revision names; ASSAY_EUSAGE "unknown revision" with the nearest branch or tag. */
int assay_repository_commit(const struct assay_repository *r, const char *revision, char commit[65],
			    struct assay_err *err);

/* The commit of the working tree ("" before the first) and whether files differ from it. */
int assay_repository_head(const struct assay_repository *r, char commit[65], bool *dirty, struct assay_err *err);

/*
 * The commits after @good up to @bad, oldest first, by first parents: a merge stands for all that it brought.
 * ASSAY_EUSAGE where @good is no ancestor of @bad, or the same. Both are full hashes.
 */
int assay_repository_line(const struct assay_repository *r, const char *good, const char *bad,
			  struct assay_strings *out, struct assay_err *err);
/* The first line of the commit's message: "quantize: unroll twice (Ada, 2026-01-31)"; "" if git does not say. */
void assay_repository_subject(const struct assay_repository *r, const char *commit, char *buf, size_t size);
/* Append the commit and the name of each tag, oldest release first. */
int assay_repository_tags(const struct assay_repository *r, struct assay_strings *out, struct assay_err *err);

/*
 * Check out @commit into the new folder @path, as a worktree with no branch, and its submodules from what @r has of
 * them, without a network. Hooks do not run. ASSAY_EUSAGE where @r has a submodule, but not its commit; one of which it
 * has nothing is left out.
 */
int assay_repository_checkout(const struct assay_repository *r, const char *commit, const char *path,
			      struct assay_err *err);

/* Append the submodules of what is checked out at @path that are not there. */
int assay_repository_lacks(const char *path, struct assay_strings *out, struct assay_err *err);

/* Remove a folder made by checkout, complete or not. */
int assay_repository_discard(const struct assay_repository *r, const char *path, struct assay_err *err);

/*
 * @argv behind "env -u …", without what git and make hand down to their children: those variables point to another
 * repository and to another make. Free with assay_strings_release; v is NULL-terminated.
 */
int assay_repository_command(const char *const *argv, struct assay_strings *out, struct assay_err *err);

#endif
