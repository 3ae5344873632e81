/* SPDX-License-Identifier: Apache-2.0 */
/* What this program was built from; the only place that sees the header make writes. */
#include "drive/build_identity.h"

#include <stdio.h>

#include "build_info.h"

static void add(struct assay_hasher *h, const char *s)
{
	for (; *s; s++)
		assay_hasher_add(h, s, 1);
	assay_hasher_add(h, "", 1); /* so that "ab","c" differs from "a","bc" */
}

static void digest_plugins(const struct assay_catalog *cat, size_t first, size_t n, char *hex, size_t size)
{
	struct assay_hasher *h = assay_hasher_new();
	struct assay_digest d;

	if (!h)
		return;
	for (size_t i = first; i < first + n && i < cat->n_plugins; i++)
		if (!cat->plugins[i].error)
			add(h, cat->plugins[i].build_id);
	d = assay_hasher_finish(h);
	snprintf(hex, size, "%s", d.hex);
}

void assay_build_identity_of(const struct assay_catalog *cat, size_t first, size_t n, struct assay_build *b)
{
	struct assay_hasher *h;
	struct assay_digest d;

	digest_plugins(cat, first, n, b->plugins, sizeof(b->plugins));
	h = assay_hasher_new();
	if (!h)
		return;
	add(h, b->commit);
	add(h, b->dirty ? "dirty" : "clean");
	add(h, b->compiler);
	add(h, b->flags);
	add(h, b->plugins);
	d = assay_hasher_finish(h);
	snprintf(b->id, sizeof(b->id), "%s", d.hex);
}

void assay_build_identity(const struct assay_catalog *cat, struct assay_build *out)
{
	*out = (struct assay_build){ .dirty = ASSAY_BUILD_DIRTY };
	snprintf(out->commit, sizeof(out->commit), "%s", ASSAY_BUILD_COMMIT);
	snprintf(out->compiler, sizeof(out->compiler), "%s", ASSAY_BUILD_COMPILER);
	snprintf(out->flags, sizeof(out->flags), "%s", ASSAY_BUILD_FLAGS);
	assay_build_identity_of(cat, 0, cat->n_plugins, out);
}

void assay_build_identity_text(char *buf, size_t size)
{
	snprintf(buf, size, "assay %s (%.12s%s, %s)", ASSAY_BUILD_VERSION,
		 ASSAY_BUILD_COMMIT[0] ? ASSAY_BUILD_COMMIT : "no commit", ASSAY_BUILD_DIRTY ? " with changes" : "",
		 ASSAY_BUILD_COMPILER);
}
