/* SPDX-License-Identifier: Apache-2.0 */
/* The build that was measured: sources, compiler and plugins. */
#ifndef ASSAY_MODEL_BUILD_H
#define ASSAY_MODEL_BUILD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"
#include "model/case.h"

/*
 * Of a repository: what is checked out, and whether files differ from it. No hash with changes is a commit that nobody
 * knows: of plugins in no repository, or before its first commit.
 */
struct assay_commit {
	char hash[65]; /* "" where there is no repository */
	bool dirty;
};

/* Is @c of plugins of their own, so that the commit of the program says nothing of them? */
static inline bool assay_commit_is_own(const struct assay_commit *c)
{
	return c->hash[0] || c->dirty;
}

/* Two of one id are the same. */
struct assay_build {
	char commit[65]; /* "" outside a repository */
	bool dirty;
	char compiler[128];
	char flags[512];
	char plugins[ASSAY_DIGEST_LEN + 1]; /* over the build-ids of all plugins that took part, in order of path */
	char id[ASSAY_DIGEST_LEN + 1];      /* digest of all of this */
	/* Where the plugins come from that are not the program's own; of runs and their counts. */
	struct assay_commit plugin;
};

/* "8c1f0aa49d21+", or "plugins 8c1f0aa49d21+, assay 29dd838f3c1e" where plugins are not the program's. */
void assay_build_text(const struct assay_build *b, char *buf, size_t size);

/* ---- revision ---- */

/* The measured code, as people and scripts name it: its commit, and whether it is a kernel at all. */

/* The revision of the measured code: of the plugins' repository, or of the program's where the plugins are its own. */
struct assay_commit assay_build_revision(const struct assay_build *b);
/* "8c1f0aa49d21 with changes", "unknown" */
void assay_commit_text(const struct assay_commit *c, char *buf, size_t size);
/* Does the op of a case measure the machine, and no kernel? Such ops are called stream.*, peak.* and overhead.*. */
bool assay_case_is_limit(const struct assay_case *c);

#endif
