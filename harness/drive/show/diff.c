/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "drive/show/name.h"
#include "drive/user_text.h"
#include "judge/policy.h"
#include "judge/run_diff.h"
#include "store/store.h"

/* One side with its runs in memory; all-zero is empty. */
struct side {
	char name[160];
	struct assay_run *runs;
	const struct assay_run **list; /* pointers into runs, as the judge takes them */
	size_t n;
};

static void side_release(struct side *s)
{
	for (size_t i = 0; i < s->n; i++)
		assay_run_release(&s->runs[i]);
	free(s->runs);
	free(s->list);
}

static int load(struct side *s, struct assay_store *store, const int64_t *ids, size_t n, struct assay_err *err)
{
	s->runs = calloc(n, sizeof(*s->runs));
	s->list = calloc(n, sizeof(*s->list));
	if (!s->runs || !s->list)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		int rc = assay_store_run_load(store, ids[i], &s->runs[i], err);

		if (rc)
			return rc;
		s->list[i] = &s->runs[i];
		s->n++;
	}
	return 0;
}

/* *is: there is such a baseline. */
static int load_baseline(struct side *s, struct assay_store *store, const char *name, bool *is, struct assay_err *err)
{
	struct assay_baseline_info *v = NULL;
	const struct assay_baseline_info *found = NULL;
	size_t n = 0;
	int rc = assay_store_baselines(store, NULL, NULL, &v, &n, err);

	for (size_t i = 0; i < n && !rc && !found; i++)
		if (!strcmp(v[i].name, name))
			found = &v[i];
	*is = found;
	if (!rc && found) {
		snprintf(s->name, sizeof(s->name), "baseline '%s' (%zu run%s)", name, found->n_runs,
			 found->n_runs == 1 ? "" : "s");
		rc = load(s, store, found->runs, found->n_runs, err);
	}
	assay_baseline_infos_release(v, n);
	return rc;
}

/* A baseline is all of its runs; any other name is one run. */
static int side_load(struct side *s, struct assay_store *store, const char *db, const char *name, struct assay_err *err)
{
	bool is = false;
	int64_t id;
	int rc = load_baseline(s, store, name, &is, err);

	if (rc || is)
		return rc;
	rc = assay_stored_run_read(db, name, "a side", &id, err);
	if (!rc)
		rc = load(s, store, &id, 1, err);
	if (!rc)
		snprintf(s->name, sizeof(s->name), "run %" PRId64, s->runs[0].id);
	return rc;
}

/* A metric that any of the runs has. */
static int check_metric(const struct side *side, size_t n, const char *metric, struct assay_err *err)
{
	int rc = 0;

	for (size_t s = 0; s < n && metric; s++)
		for (size_t i = 0; i < side[s].n; i++) {
			rc = assay_stored_metric_known(&side[s].runs[i], metric, err);
			if (rc != ASSAY_EUSAGE)
				return rc;
		}
	return rc;
}

/* Keep the selected cases. */
static int narrow(struct assay_diff *d, const char *only, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < d->n_cases && only && !rc; i++)
		rc = assay_case_names_add(&names, &d->cases[i].c, err);
	for (size_t i = 0; i < d->n_cases && only && !rc; i++) {
		if (assay_policy_selects(only, &d->cases[i].c))
			d->cases[kept++] = d->cases[i];
		else
			free(d->cases[i].numbers);
	}
	if (only && !rc)
		d->n_cases = kept;
	if (only && !rc && !kept)
		rc = assay_no_such_case(&names, "case of the two sides", only, "leave out --only to see all", err);
	assay_strings_release(&names);
	return rc;
}

/* The command that measures both in turn, where there is one. */
static void add_command(struct assay_diff *d)
{
	const struct assay_build *b = &d->side[ASSAY_DIFF_BASE].build, *h = &d->side[ASSAY_DIFF_HEAD].build;
	struct assay_text t = { 0 };

	if (d->by_variant)
		assay_text_add(&t, "assay compare --variants OP/BASE OP/HEAD");
	else if (b->commit[0] && h->commit[0] && !b->dirty && strcmp(b->commit, h->commit))
		assay_text_addf(&t, "assay compare %.12s%s%.12s", b->commit, h->dirty ? "" : " ",
				h->dirty ? "" : h->commit);
	else
		return;
	d->measure = assay_text_take(&t);
}

static int diff_variants(const struct assay_diff_request *q, struct assay_store *store, struct assay_diff *out,
			 struct assay_err *err)
{
	struct side s = { 0 };
	int rc = side_load(&s, store, q->db, q->head ? q->head : "last", err);

	if (!rc && s.n > 1)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s has several: name one of them", s.name);
	if (!rc)
		rc = check_metric(&s, 1, q->metric, err);
	if (!rc)
		rc = assay_diff_variants_compare(&s.runs[0], q->metric, out, err);
	side_release(&s);
	return rc;
}

static int diff_runs(const struct assay_diff_request *q, struct assay_store *store, struct assay_diff *out,
		     struct assay_err *err)
{
	struct side s[2] = { { .n = 0 } };
	int rc = side_load(&s[ASSAY_DIFF_BASE], store, q->db, q->base, err);

	if (!rc)
		rc = side_load(&s[ASSAY_DIFF_HEAD], store, q->db, q->head, err);
	if (!rc && s[0].n == 1 && s[1].n == 1 && s[0].runs[0].id == s[1].runs[0].id)
		rc = assay_err_set(err, ASSAY_EUSAGE, "both sides are run %" PRId64 ": name two", s[0].runs[0].id);
	if (!rc)
		rc = check_metric(s, 2, q->metric, err);
	if (!rc) {
		const struct assay_diff_runs base = { s[0].list, s[0].n, s[0].name };
		const struct assay_diff_runs head = { s[1].list, s[1].n, s[1].name };

		rc = assay_diff_runs_compare(&base, &head, q->metric, out, err);
	}
	side_release(&s[0]);
	side_release(&s[1]);
	return rc;
}

int assay_diff_make(const struct assay_diff_request *q, struct assay_diff *out, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, q->db, ASSAY_STORE_READ, err);

	*out = (struct assay_diff){ 0 };
	if (!rc)
		rc = q->by_variant ? diff_variants(q, store, out, err) : diff_runs(q, store, out, err);
	if (!rc)
		rc = narrow(out, q->only, err);
	if (!rc) {
		add_command(out);
		assay_diff_sort(out, q->metric);
	}
	assay_store_close(store);
	return rc;
}
