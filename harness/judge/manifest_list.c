/* SPDX-License-Identifier: Apache-2.0 */
/* Reads every manifest of a folder. */
#include <errno.h>
#include <fnmatch.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/manifest.h"

static int is_manifest(const struct dirent *e)
{
	return !fnmatch("?*.manifest", e->d_name, FNM_PERIOD);
}

static int add(struct assay_manifest_list *l, const char *dir, const char *name, struct assay_err *err)
{
	struct assay_manifest **v = realloc(l->v, (l->n + 1) * sizeof(*v));
	struct assay_manifest *m = calloc(1, sizeof(*m));
	char path[4096];
	int rc;

	if (v)
		l->v = v;
	if (!v || !m) {
		free(m);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory reading '%s'", dir);
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	rc = assay_manifest_load(m, path, err);
	if (rc) {
		free(m);
		return rc;
	}
	l->v[l->n++] = m;
	return 0;
}

int assay_manifest_list_load(struct assay_manifest_list *out, const char *dir, struct assay_err *err)
{
	struct assay_manifest_list l = { 0 };
	struct dirent **names = NULL;
	int n, rc = 0;

	n = scandir(dir, &names, is_manifest, alphasort);
	if (n < 0 && errno != ENOENT)
		return assay_err_set(err, ASSAY_EIO, "cannot read the folder '%s': %s", dir, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (!rc)
			rc = add(&l, dir, names[i]->d_name, err);
		free(names[i]);
	}
	free(names);
	if (rc)
		assay_manifest_list_release(&l);
	else
		*out = l;
	return rc;
}

void assay_manifest_list_release(struct assay_manifest_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		assay_manifest_release(l->v[i]);
		free(l->v[i]);
	}
	free(l->v);
	memset(l, 0, sizeof(*l));
}
