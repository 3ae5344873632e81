/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head's bench files plan both sides, so what they no longer name is missing on both, and only a manifest remembers
 * it.
 */
#include "drive/compare_manifest.h"

#include <stdio.h>
#include <string.h>

#include "drive/installed.h"
#include "judge/manifest.h"

static bool planned(const struct assay_session *s, const struct assay_manifest_entry *e)
{
	/* on one core t=all and t=1 are one case, planned as t=1 */
	if (s->all_threads == 1 && strstr(e->key, "/t=all/"))
		return true;
	for (size_t i = 0; i < s->plan.n_cases; i++)
		if (assay_manifest_matches(e, &s->plan.cases[i]))
			return true;
	return false;
}

/* @dir/baselines/SUITE.manifest of the checkout that the base's plugins were built in: build/plugins/x.so, three up. */
static bool base_manifest(const struct assay_compare_plan *p, char *path, size_t size)
{
	const struct assay_side_source *base = &p->source[ASSAY_BASE];
	size_t len = base->plugins.n ? strlen(base->plugins.v[0]) : 0;
	int n;

	for (int up = 0; up < 3; up++) {
		while (len && base->plugins.v[0][len - 1] != '/')
			len--;
		if (!len)
			return false;
		len--;
	}
	n = snprintf(path, size, "%.*s/baselines/%s.manifest", (int)len, base->plugins.v[0], p->session.plan.suite);
	return n > 0 && (size_t)n < size;
}

static bool has_case(const struct assay_comparison *cmp, const char *key)
{
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (!strcmp(cmp->cases[i].c.key, key))
			return true;
	return false;
}

int assay_compare_manifest_check(struct assay_compare_plan *p, const struct assay_request *r,
				 int (*lost)(struct assay_compare_plan *p, const char *key, struct assay_err *err),
				 struct assay_err *err)
{
	char paths[2][ASSAY_INSTALLED_PATH_MAX + 128] = { "", "" }, dir[ASSAY_INSTALLED_PATH_MAX];
	int rc = 0;

	if (!p->source[ASSAY_BASE].from_git || r->only.n || r->bench_dir || r->threads || r->batch_size)
		return 0;
	if (!assay_installed_baseline_dir(dir, sizeof(dir), NULL))
		snprintf(paths[0], sizeof(paths[0]), "%s/%s.manifest", dir, p->session.plan.suite);
	if (!base_manifest(p, paths[1], sizeof(paths[1])))
		paths[1][0] = '\0';
	for (int k = 0; k < 2 && !rc; k++) {
		struct assay_manifest m = { 0 };

		/* a manifest that is not there demands nothing; one of another time may not be readable */
		if (!paths[k][0] || assay_manifest_load(&m, paths[k], NULL))
			continue;
		for (size_t i = 0; i < m.n_entries && !rc; i++)
			if (m.entries[i].demand != ASSAY_MANIFEST_OPTIONAL && !planned(&p->session, &m.entries[i]) &&
			    !has_case(&p->cmp, m.entries[i].key))
				rc = lost(p, m.entries[i].key, err);
		assay_manifest_release(&m);
	}
	return rc;
}
