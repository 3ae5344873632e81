/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/read_back.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "store/comparison.h"
#include "store/exact.h"
#include "store/store.h"

/* The record to be found; one of them, or none. */
struct wanted {
	const struct assay_run *run;
	const struct assay_exact_run *counts;
	const struct assay_comparison *cmp;
};

static int differs(struct assay_err *err, const char *what)
{
	return assay_err_set(err, ASSAY_ESTORE, "%.300s is not as it was written", what);
}

struct reading {
	const struct assay_run *want;
	struct assay_name_index keys;
	size_t n; /* read so far, and the first that is not as it was written */
	char differs[ASSAY_KEY_MAX];
};

static void compare(void *reading, const struct assay_result *is)
{
	struct reading *r = reading;
	size_t i;

	r->n++;
	if (!r->differs[0] &&
	    (!assay_name_index_find(&r->keys, is->c.key, &i) || r->want->results[i].status != is->status ||
	     r->want->results[i].median_ns != is->median_ns))
		snprintf(r->differs, sizeof(r->differs), "%s", is->c.key);
}

/*
 * Row by row, since a run may be larger than what this program should take. @earlier, here and below: the last write
 * failed, so that an earlier state is there, which only has to be readable.
 */
static int same_run(struct assay_store *s, const struct assay_run *want, bool earlier, struct assay_err *err)
{
	struct reading r = { .want = want };
	size_t n = 0, at;
	int rc = 0;

	for (size_t i = 0; i < want->n_results && !rc; i++) {
		rc = assay_name_index_put(&r.keys, want->results[i].c.key, i, &at, NULL, err);
		n += want->results[i].status == ASSAY_STATUS_OK;
	}
	if (!rc)
		rc = assay_store_each_time(s, want->id, compare, &r, err);
	if (!rc && !earlier && (r.differs[0] || r.n != n))
		rc = differs(err, r.differs[0] ? r.differs : "the number of its results");
	assay_name_index_release(&r.keys);
	return rc;
}

static int same_counts(struct assay_store *s, const struct assay_exact_run *want, bool earlier, struct assay_err *err)
{
	struct assay_exact_run is = { 0 };
	int rc = assay_store_exact_load(s, want->id, &is, err);

	if (!rc && !earlier && is.n_cases != want->n_cases)
		rc = differs(err, "the number of its cases");
	for (size_t i = 0; i < want->n_cases && !rc && !earlier; i++)
		if (strcmp(want->cases[i].key, is.cases[i].key) || want->cases[i].status != is.cases[i].status)
			rc = differs(err, want->cases[i].key);
	assay_exact_run_release(&is);
	return rc;
}

static int same_comparison(struct assay_store *s, const struct assay_comparison *want, bool earlier,
			   struct assay_err *err)
{
	struct assay_comparison is = { 0 };
	int rc = assay_store_comparison_load(s, want->id, &is, NULL, NULL, err);

	if (!rc && !earlier && is.n_cases != want->n_cases)
		rc = differs(err, "the number of its cases");
	for (size_t i = 0; i < want->n_cases && !rc && !earlier; i++)
		if (strcmp(want->cases[i].c.key, is.cases[i].c.key) || want->cases[i].n_pairs != is.cases[i].n_pairs)
			rc = differs(err, want->cases[i].c.key);
	assay_comparison_release(&is);
	return rc;
}

static int check(int rc, const char *db, const struct wanted *want, const char *last, struct assay_err *err)
{
	struct assay_store *s = NULL;
	const struct assay_err first = err ? *err : (struct assay_err){ 0 };
	struct assay_err why = { 0 };
	int bad;

	if (rc && rc != ASSAY_ESTORE)
		return rc;
	bad = assay_store_open(&s, db, ASSAY_STORE_READ, &why);
	if (!bad && want->run)
		bad = same_run(s, want->run, rc != 0, &why);
	else if (!bad && want->counts)
		bad = same_counts(s, want->counts, rc != 0, &why);
	else if (!bad && want->cmp)
		bad = same_comparison(s, want->cmp, rc != 0, &why);
	assay_store_close(s);
	if (!bad)
		return rc;
	if (bad == ASSAY_ENOMEM || bad == ASSAY_EINTERRUPTED)
		return rc ? rc : assay_err_set(err, bad, "%s", why.text);
	return assay_err_set(err, ASSAY_EINTERNAL,
			     "what was stored in '%.200s' does not read back, and nothing of it counts: a plugin may "
			     "have written over the file; the last case measured was '%.255s': %.300s",
			     db, last, rc && err ? first.text : why.text);
}

int assay_read_back_run(int rc, const char *db, const struct assay_run *run, const char *last, struct assay_err *err)
{
	return check(rc, db, &(struct wanted){ .run = run->id ? run : NULL }, last, err);
}

int assay_read_back_counts(int rc, const char *db, const struct assay_exact_run *run, struct assay_err *err)
{
	return check(rc, db, &(struct wanted){ .counts = run->id ? run : NULL },
		     run->n_cases ? run->cases[run->n_cases - 1].key : "", err);
}

int assay_read_back_comparison(int rc, const char *db, const struct assay_comparison *cmp, const char *last,
			       struct assay_err *err)
{
	return check(rc, db, &(struct wanted){ .cmp = cmp->id ? cmp : NULL }, last, err);
}

int assay_read_back(int rc, const char *db, const char *last, struct assay_err *err)
{
	return check(rc, db, &(struct wanted){ 0 }, last, err);
}
