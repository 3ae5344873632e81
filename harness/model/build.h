/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured: sources, compiler and plugins. */
#ifndef ASSAY_MODEL_BUILD_H
#define ASSAY_MODEL_BUILD_H

#include <stdbool.h>

#include "base/hash.h"

/* Two of one id are the same. */
struct assay_build {
	char commit[65]; /* "" outside a repository */
	bool dirty;
	char compiler[128];
	char flags[512];
	char plugins[ASSAY_DIGEST_LEN + 1]; /* over the build-ids of all plugins that took part, in order of path */
	char id[ASSAY_DIGEST_LEN + 1];      /* digest of all the above */
};

#endif
