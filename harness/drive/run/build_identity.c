/* SPDX-License-Identifier: Apache-2.0 */
/* The sources that this program was built from; the only place that sees the header make writes. */
#include "drive/run/build_identity.h"

#include <stdio.h>

#include "build_info.h"
#include "drive/repository.h"
#include "drive/revision.h"

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
	/* only then, so that builds without have the ids that they always had */
	if (assay_commit_is_own(&b->plugin)) {
		add(h, b->plugin.hash);
		add(h, b->plugin.dirty ? "dirty" : "clean");
	}
	d = assay_hasher_finish(h);
	snprintf(b->id, sizeof(b->id), "%s", d.hex);
}

struct assay_commit assay_build_identity_program(void)
{
	struct assay_commit c = { .dirty = ASSAY_BUILD_DIRTY };

	snprintf(c.hash, sizeof(c.hash), "%s", ASSAY_BUILD_COMMIT);
	return c;
}

static bool runs_programs(const struct assay_session *s)
{
	bool any = !s->catalog->n_plugins;

	for (size_t i = 0; i < s->plan.n_cases; i++)
		any |= s->plan.cases[i].cache == ASSAY_CACHE_NONE;
	return any;
}

/* The commit checked out where programs run; "" where that is no repository. 0 or ASSAY_EINTERRUPTED. */
static int folder_revision(const char *folder, const struct assay_watch *w, struct assay_commit *out,
			   struct assay_err *err)
{
	struct assay_repository r;
	int rc = assay_repository_open(&r, folder[0] ? folder : ".", w->interrupted, err);

	if (!rc)
		rc = assay_repository_head(&r, out->hash, &out->dirty, err);
	if (rc && rc != ASSAY_EINTERRUPTED)
		*out = (struct assay_commit){ 0 };
	return rc == ASSAY_EINTERRUPTED ? rc : 0;
}

/* Where the plugins come from that are not the program's own, whatever loaded them. */
static int plugin_revision(const struct assay_session *s, const struct assay_request *q, const struct assay_watch *w,
			   struct assay_commit *out, struct assay_err *err)
{
	/* built ones are not among the own ones where they are the program's, as in its own tree */
	const struct assay_strings *of = q->plugins.n ? &q->plugins : s->own.n ? &s->own : &s->built;
	int rc;

	if (q->revision.hash[0] && !of->n)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"--revision tells what plugins were built from, and only those of assay itself are "
			"loaded: name others with --plugin");
	if (!of->n)
		return runs_programs(s) ? folder_revision(s->folder, w, out, err) : 0;
	*out = q->revision;
	rc = q->revision.hash[0] ? assay_revision_check(of, w->interrupted, out, err)
				 : assay_revision_of_plugins(of, w->interrupted, out, err);
	/* the commit of the program would be a false one */
	out->dirty |= !out->hash[0];
	return rc;
}

int assay_build_identity(const struct assay_session *s, const struct assay_request *q, const struct assay_watch *w,
			 struct assay_build *out, struct assay_err *err)
{
	const struct assay_catalog *cat = s->catalog;
	int rc;

	*out = (struct assay_build){ .dirty = ASSAY_BUILD_DIRTY };
	snprintf(out->commit, sizeof(out->commit), "%s", ASSAY_BUILD_COMMIT);
	snprintf(out->compiler, sizeof(out->compiler), "%s", ASSAY_BUILD_COMPILER);
	snprintf(out->flags, sizeof(out->flags), "%s", ASSAY_BUILD_FLAGS);
	rc = plugin_revision(s, q, w, &out->plugin, err);
	assay_build_identity_of(cat, 0, cat->n_plugins, out);
	return rc;
}

void assay_build_identity_text(char *buf, size_t size)
{
	snprintf(buf, size, "assay %s (%.12s%s, %s)", ASSAY_BUILD_VERSION,
		 ASSAY_BUILD_COMMIT[0] ? ASSAY_BUILD_COMMIT : "no commit", ASSAY_BUILD_DIRTY ? " with changes" : "",
		 ASSAY_BUILD_COMPILER);
}
