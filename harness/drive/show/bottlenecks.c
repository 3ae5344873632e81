/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/show.h"

#include <stdlib.h>
#include <string.h>

#include "judge/advice.h"
#include "judge/policy.h"
#include "model/build.h"
#include "model/profile.h"
#include "store/store.h"

int assay_bottlenecks_find(const char *db, int64_t *id, const char *only, struct assay_bottleneck **out, size_t *n,
			   struct assay_err *err)
{
	struct assay_run run = { 0 }, selected = { 0 };
	int rc = 0;

	*out = NULL;
	*n = 0;
	if (only) /* says what else there is where it selects nothing */
		rc = assay_stored_run(db, *id, only, &selected, err);
	assay_run_release(&selected);
	if (!rc)
		rc = assay_stored_run(db, *id, NULL, &run, err);
	if (!rc) {
		*id = run.id;
		*out = calloc(run.n_results + 1, sizeof(**out));
		if (!*out)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < run.n_results && !rc; i++) {
		const struct assay_result *r = &run.results[i];
		struct assay_case_evidence e;

		if (assay_case_is_limit(&r->c) || (only && !assay_policy_selects(only, &r->c)) ||
		    !assay_result_is_right(r) || !r->n_samples || !(r->median_ns > 0))
			continue;
		assay_case_evidence_read(&run, i, true, &e);
		assay_bottleneck_find(&e, &(*out)[(*n)++]);
	}
	assay_run_release(&run);
	return rc;
}

/* The run that says what bounds the case of @p; 0: none has it. */
static int find_run(const char *db, const struct assay_profile *p, int64_t *run, struct assay_err *err)
{
	const struct assay_commit revision = assay_build_revision(&p->build);
	struct assay_trend_point *v = NULL;
	struct assay_store *store = NULL;
	size_t n = 0;
	bool same = false;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*run = 0;
	if (!rc)
		rc = assay_store_trend(store, p->what, p->machine.id, &v, &n, err);
	if (rc == ASSAY_ENOTFOUND) /* there was never such a case */
		rc = 0;
	for (size_t i = 0; i < n && !rc; i++) { /* the oldest first */
		bool dirty;
		const char *commit = assay_trend_commit(&v[i], &dirty);
		const bool its = dirty == revision.dirty && !strcmp(commit, revision.hash);

		if (its || !same)
			*run = v[i].run_id;
		same |= its;
	}
	free(v);
	assay_store_close(store);
	return rc;
}

int assay_bottleneck_of_profile(const char *db, const struct assay_profile *p, int64_t *id,
				struct assay_bottleneck *out, struct assay_err *err)
{
	struct assay_case_evidence e;
	struct assay_run run = { 0 };
	bool found = false;
	int rc;

	if (!p->is_case)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "--bottlenecks needs the profile of a case, and this one is of a program");
	rc = find_run(db, p, id, err);
	if (!rc && *id)
		rc = assay_stored_run(db, *id, NULL, &run, err);
	for (size_t i = 0; i < run.n_results && !rc && !found; i++) {
		const struct assay_result *r = &run.results[i];

		found = !strcmp(r->c.key, p->what) && assay_result_is_right(r) && r->n_samples && r->median_ns > 0;
		if (!found)
			continue;
		assay_case_evidence_read(&run, i, true, &e);
		e.allocation_frac = assay_profile_allocation_frac(p);
		assay_bottleneck_find(&e, out);
	}
	assay_run_release(&run);
	if (!rc && !found)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "nothing is known of what bounds '%.200s': 'assay run' has to measure it first",
				   p->what);
	return rc;
}
