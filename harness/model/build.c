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
