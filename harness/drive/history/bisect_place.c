/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/history/bisect_place.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "drive/revision.h"

int assay_bisect_place_open(struct assay_bisect_place *p, const volatile sig_atomic_t *interrupted,
			    struct assay_err *err)
{
	int rc = assay_repository_open(&p->repo, NULL, interrupted, err);

	return rc ? rc : assay_temporary_make(&p->folder, "bisect", err);
}

/* Git knows of the worktrees, so they are not merely removed. */
static void discard_all(const struct assay_repository *repo, const char *dir)
{
	char path[PATH_MAX + 512];
	const struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		assay_repository_discard(repo, path, NULL);
	}
	if (d)
		closedir(d);
}

void assay_bisect_place_close(struct assay_bisect_place *p)
{
	struct assay_repository repo = p->repo;
	char dir[PATH_MAX + 64];

	if (!p->folder.path[0])
		return;
	repo.interrupted = NULL;
	snprintf(dir, sizeof(dir), "%s/%s", p->folder.path, repo.id);
	discard_all(&repo, dir);
	/* locks and logs */
	assay_repository_discard(&repo, dir, NULL);
	assay_temporary_remove(&p->folder);
	*p = (struct assay_bisect_place){ 0 };
}

int assay_bisect_place_build(const struct assay_bisect_place *p, const char *commit, const struct assay_watch *w,
			     struct assay_err *err)
{
	struct assay_side_source built = { 0 };
	int rc = assay_revision_resolve_watched(commit, p->folder.path, NULL, w, &built, err);

	assay_side_source_release(&built);
	return rc;
}
