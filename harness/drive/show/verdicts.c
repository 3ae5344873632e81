/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/verdicts.h"

#include <inttypes.h>
#include <stdio.h>

#include "drive/hints.h"
#include "drive/installed.h"

static int no_case(const struct assay_compare_outcome *out, const char *only, const char *db, struct assay_err *err)
{
	char what[64], show[ASSAY_INSTALLED_PATH_MAX], hint[ASSAY_INSTALLED_PATH_MAX + 32];
	struct assay_strings names = { 0 };
	int rc = 0;

	snprintf(what, sizeof(what), "show c%" PRId64, out->id);
	assay_command_text(show, sizeof(show), what, NULL, db);
	snprintf(hint, sizeof(hint), "'%s' lists them", show);
	snprintf(what, sizeof(what), "case of comparison %" PRId64, out->id);
	for (size_t i = 0; i < out->report.n_cases && !rc; i++)
		rc = assay_strings_add(&names, out->report.cases[i].key, err);
	if (!rc)
		rc = assay_hint_no_case(&names, what, only, hint, err);
	assay_strings_release(&names);
	return rc;
}

int assay_stored_verdicts(const char *db, int64_t id, const char *only, const struct assay_watch *w,
			  struct assay_compare_outcome *out, struct assay_err *err)
{
	const struct assay_replay_request q = { .db = db, .id = id };
	struct assay_gate_report *r = &out->report;
	int rc = assay_compare_replay(&q, w, out, err);
	size_t kept = 0;

	for (size_t i = 0; i < r->n_cases && !rc && only; i++)
		kept += assay_glob_match(only, r->cases[i].key);
	if (rc || !only)
		return rc;
	if (!kept)
		return no_case(out, only, db, err);
	kept = 0;
	for (size_t i = 0; i < r->n_cases; i++)
		if (assay_glob_match(only, r->cases[i].key))
			r->cases[kept++] = r->cases[i];
	r->n_cases = kept;
	return 0;
}
