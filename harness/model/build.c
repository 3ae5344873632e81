/* SPDX-License-Identifier: Apache-2.0 */
#include "model/build.h"

#include <stdio.h>
#include <string.h>

void assay_build_text(const struct assay_build *b, char *buf, size_t size)
{
	const char *own = b->commit[0] ? b->commit : "no commit", *mark = b->dirty ? "+" : "";

	if (assay_commit_is_own(&b->plugin))
		snprintf(buf, size, "plugins %.12s%s, assay %.12s%s", b->plugin.hash[0] ? b->plugin.hash : "no commit",
			 b->plugin.hash[0] && b->plugin.dirty ? "+" : "", own, mark);
	else
		snprintf(buf, size, "%.12s%s", own, mark);
}

/* ---- revision ---- */

struct assay_commit assay_build_revision(const struct assay_build *b)
{
	struct assay_commit c = b->plugin;

	if (!assay_commit_is_own(&c)) {
		c.dirty = b->dirty;
		memcpy(c.hash, b->commit, sizeof(c.hash));
	}
	return c;
}

void assay_commit_text(const struct assay_commit *c, char *buf, size_t size)
{
	if (c->hash[0])
		snprintf(buf, size, "%.12s%s", c->hash, c->dirty ? " with changes" : "");
	else
		snprintf(buf, size, "unknown");
}

bool assay_case_is_limit(const struct assay_case *c)
{
	static const char *const families[] = { "stream.", "peak.", "overhead." };

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (!strncmp(c->op, families[i], strlen(families[i])))
			return true;
	return false;
}
