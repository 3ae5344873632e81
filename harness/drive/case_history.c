/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/case_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/hints.h"
#include "drive/installed.h"
#include "judge/policy.h"
#include "store/store.h"

int assay_history_open(struct assay_history *h, const char *db, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	char measure[ASSAY_INSTALLED_PATH_MAX];
	size_t n = 0;
	int rc = assay_store_open(&h->store, db, ASSAY_STORE_READ, err);

	if (!rc)
		rc = assay_store_runs(h->store, NULL, 1, &runs, &n, err);
	if (!rc && !n) {
		assay_command_text(measure, sizeof(measure), "run", NULL, db);
		rc = assay_err_set(err, ASSAY_EUSAGE, "no run is stored in '%s': '%s' makes one", db, measure);
	}
	h->db = db;
	if (!rc)
		h->newest = runs[0];
	free(runs);
	return rc ? rc : assay_store_cases(h->store, h->newest.machine_id, &h->cases, &h->n, err);
}

void assay_history_close(struct assay_history *h)
{
	free(h->cases);
	assay_store_close(h->store);
	*h = (struct assay_history){ 0 };
}

/* Its key, or the key as manifests write it. */
static bool has_name(const struct assay_case *c, const char *name)
{
	char portable[ASSAY_KEY_MAX];

	assay_case_portable_key(c, portable);
	return !strcmp(c->key, name) || !strcmp(portable, name);
}

static int no_case(const struct assay_history *h, const char *pattern, struct assay_err *err)
{
	char show[ASSAY_INSTALLED_PATH_MAX], hint[ASSAY_INSTALLED_PATH_MAX + 48];
	struct assay_strings names = { 0 };
	int rc = 0;

	assay_command_text(show, sizeof(show), "show last", NULL, h->db);
	snprintf(hint, sizeof(hint), "'%s' lists those of the last run", show);
	for (size_t i = 0; i < h->n && !rc; i++)
		rc = assay_hint_case_names(&names, &h->cases[i], err);
	if (!rc)
		rc = assay_hint_no_case(&names, "stored case", pattern, hint, err);
	assay_strings_release(&names);
	return rc;
}

int assay_history_find(const struct assay_history *h, const char *pattern, const struct assay_case **out,
		       struct assay_err *err)
{
	const struct assay_case *first = NULL;
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++) {
		if (has_name(&h->cases[i], pattern)) {
			*out = &h->cases[i];
			return 0;
		}
		if (assay_policy_selects(pattern, &h->cases[i]) && !n++)
			first = &h->cases[i];
	}
	if (!n)
		return no_case(h, pattern, err);
	if (n > 1)
		return assay_err_set(err, ASSAY_EUSAGE, "%zu stored cases match '%s', the first is '%s': name one", n,
				     pattern, first->key);
	*out = first;
	return 0;
}

int assay_history_points(const struct assay_history *h, const struct assay_case *c, struct assay_trend_point **out,
			 size_t *n, struct assay_err *err)
{
	return assay_store_trend(h->store, c->key, h->newest.machine_id, out, n, err);
}
