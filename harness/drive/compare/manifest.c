/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head's bench files plan both sides, so what they no longer name is missing on both, and only a manifest remembers
 * it.
 */
#include "drive/compare/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "drive/installed.h"
#include "drive/project.h"
#include "judge/manifest.h"

/* Is @c the case of the entry; with @any, any of its variant? */
static bool is_it(const struct assay_manifest_entry *e, const struct assay_case *c, unsigned all_threads, bool any)
{
	return any ? assay_manifest_of_variant(e, c) : assay_manifest_names(e, c, all_threads);
}

/* Does the head plan the case, or has the base it; with @any, any case of its variant? */
static bool has(const struct assay_compare_plan *p, const struct assay_manifest_entry *e, bool any)
{
	for (size_t i = 0; i < p->session.plan.n_cases; i++)
		if (is_it(e, &p->session.plan.cases[i], p->session.all_threads, any))
			return true;
	for (size_t i = 0; i < p->cmp.n_cases; i++)
		if (is_it(e, &p->cmp.cases[i].c, p->session.all_threads, any))
			return true;
	return false;
}

static int check(struct assay_compare_plan *p, const char *path, const struct assay_watch *w,
		 int (*lost)(struct assay_compare_plan *p, const char *key, struct assay_err *err),
		 struct assay_err *err)
{
	struct assay_manifest m = { 0 };
	struct assay_err why = { 0 };
	int rc = assay_manifest_load(&m, path, &why);

	/* a manifest that is not there demands nothing */
	if (rc == ASSAY_ENOTFOUND)
		return 0;
	if (rc == ASSAY_ENOMEM)
		return assay_err_set(err, rc, "%s", why.text);
	/* one of another time may have another syntax */
	if (rc) {
		assay_watch_warn(w, "the comparison is not checked against a manifest: %s", why.text);
		return 0;
	}
	for (size_t i = 0; i < m.n_entries && !rc; i++) {
		const struct assay_manifest_entry *e = &m.entries[i];

		if (!has(p, e, false) && (e->demand != ASSAY_MANIFEST_OPTIONAL || has(p, e, true)))
			rc = lost(p, e->key, err);
	}
	assay_manifest_release(&m);
	return rc;
}

int assay_compare_manifest_check(struct assay_compare_plan *p, const struct assay_request *r,
				 const struct assay_watch *w,
				 int (*lost)(struct assay_compare_plan *p, const char *key, struct assay_err *err),
				 struct assay_err *err)
{
	const struct assay_side_source *base = &p->source[ASSAY_BASE];
	struct assay_project_conf of_base;
	char dir[ASSAY_INSTALLED_PATH_MAX];
	char *path = NULL;
	int rc = 0;

	if (!base->from_git || r->plan.only.n || r->plan.bench_dir || r->plan.threads || r->plan.batch_size)
		return 0;
	for (int k = 0; k < 2 && !rc; k++) {
		if (!k && assay_project_baseline_dir(dir, sizeof(dir), NULL))
			continue;
		/* the base's own assay.conf, where it has a good one, says where its manifests were */
		if (k) {
			rc = assay_project_conf_read(&of_base, base->top, NULL);
			snprintf(dir, sizeof(dir), "%.2000s/%.2000s", base->top,
				 !rc && of_base.baselines ? of_base.baselines : "baselines");
			assay_project_conf_release(&of_base);
		}
		if (asprintf(&path, "%s/%s.manifest", dir, p->session.plan.suite) < 0)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		rc = check(p, path, w, lost, err);
		free(path);
	}
	return rc;
}
