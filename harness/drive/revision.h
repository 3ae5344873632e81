/* SPDX-License-Identifier: Apache-2.0 */
/* A side of a comparison: a plugin, a folder of plugins, a git revision that is built for it, or the working tree. */
#ifndef ASSAY_DRIVE_REVISION_H
#define ASSAY_DRIVE_REVISION_H

#include <signal.h>

#include "base/file.h"
#include "base/text.h"
#include "drive/watch.h"
#include "model/result.h"

struct assay_side_source {
	char name[256];               /* as the user named it; "working tree" */
	bool from_git;                /* it was built from the commit, and from changes, that build says */
	char *top;                    /* then: of the checkout that the plugins were built in, malloc'ed; else NULL */
	struct assay_strings plugins; /* sorted by path; none of a repository that has programs alone */
	struct assay_strings digests; /* of their files, as they were right after the build */
	/* Once they are copied: the folder that `plugins` lie in since, and where they were built. */
	struct assay_temporary copies;
	struct assay_strings originals;
	/* commit and dirty, "" where that is not known; the catalog of the plugins tells compiler, flags and plugins */
	struct assay_build build;
};

struct assay_revision_options {
	const char *cache_dir; /* NULL: $XDG_CACHE_HOME/assay, ~/.cache/assay */
	bool passing;          /* the caller removes cache_dir: no message names a file in it */
	/* Called before a build that was not found in the cache. NULL: nothing. */
	void (*building)(void *arg, const char *name, const char *command);
	void *arg;
	/*
	 * The revision that plain files were built from. NULL: whatever the repository that they lie in says, if
	 * any.
	 */
	const struct assay_commit *stated;
	const volatile sig_atomic_t *interrupted; /* NULL: never */
};

/*
 * Find out what @arg names and make its plugins ready. A file NAME.so and a folder with such files stand for
 * themselves; anything else is a revision of the repository around the current folder. It is checked out into a
 * worktree in the cache folder and built there with the command that `assay.conf` names (of the working tree, for all
 * revisions), once for each commit, command and compiler. NULL is the working tree as it is, built in place by the same
 * command, so that what is measured is what its files say; it has changes when `git status` lists any.
 *
 * In double quotes `assay.conf` replaces ${NAME} as it is read; $NAME, and all within single quotes, is left to the
 * shell.
 *
 * ASSAY_EUSAGE for an unknown revision, a missing or bad assay.conf, and a build that fails: @log (may be NULL) then
 * gets its last lines, without a newline at the end. ASSAY_EINTERRUPTED. Several programs may ask for the same revision
 * at once; one builds, the others wait. On error @out is empty.
 */
int assay_revision_resolve(const char *arg, const struct assay_revision_options *o, struct assay_side_source *out,
			   struct assay_text *log, struct assay_err *err);
/* "8c1f0aa", or "8c1f0aa+" where files differed from it. ASSAY_EUSAGE; then @out is unchanged. */
int assay_revision_read(const char *text, struct assay_commit *out, struct assay_err *err);
/* "REV..REV" or "REV" into those of base and head; a base that is not named is unchanged. */
int assay_revision_read_sides(const char *text, struct assay_commit sides[2], struct assay_err *err);
/*
 * Make @c, which was stated of @plugins, the full hash that the repository around the first of them gives it, or that
 * around the current folder. It stays as it is where neither is in a repository. ASSAY_EUSAGE for a revision that they
 * do not have; ASSAY_EINTERRUPTED.
 */
int assay_revision_check(const struct assay_strings *plugins, const volatile sig_atomic_t *interrupted,
			 struct assay_commit *c, struct assay_err *err);
/*
 * The commit checked out in the repository around the folder of the first of @plugins. Empty where there is none. 0 or
 * ASSAY_EINTERRUPTED.
 */
int assay_revision_of_plugins(const struct assay_strings *plugins, const volatile sig_atomic_t *interrupted,
			      struct assay_commit *out, struct assay_err *err);
/*
 * The same in @cache_dir (NULL: as above), which the caller removes, with @stated unless it is NULL or of no commit.
 * @w hears of what is built and reads the last lines of a build that failed.
 */
int assay_revision_resolve_watched(const char *arg, const char *cache_dir, const struct assay_commit *stated,
				   const struct assay_watch *w, struct assay_side_source *out, struct assay_err *err);
/*
 * Let @s have copies of the plugins that were built for it, which nobody else writes to; files that were not built stay
 * where they are. A plugin may not look for libraries beside itself ($ORIGIN). On error @s is as before.
 */
int assay_side_source_copy(struct assay_side_source *s, struct assay_err *err);
/*
 * Are the plugins of @s still as they were when it was resolved? The build of the other side may have overwritten them
 * where they were built, or, while they were @measured, somebody those that are loaded. ASSAY_EUSAGE names the first
 * that is not.
 */
int assay_side_source_unchanged(const struct assay_side_source *s, bool measured, struct assay_err *err);
void assay_side_source_release(struct assay_side_source *s);

#endif
