/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/show/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/text.h"
#include "store/comparison.h"
#include "store/profile.h"

static const struct {
	char letter;
	enum assay_stored_kind kind;
	const char *name;
} kinds[] = {
	{ 'r', ASSAY_STORED_RUN, "a run" },
	{ 'c', ASSAY_STORED_COMPARISON, "a comparison" },
	{ 'p', ASSAY_STORED_PROFILE, "a profile" },
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* r3, c3, p3, or 3 for the first of the kinds that are wanted. */
static bool is_number(const char *text, unsigned wanted, struct assay_stored_name *out)
{
	struct assay_err none;
	uint64_t id;

	for (size_t i = 0; i < N_KINDS; i++) {
		const bool lettered = text[0] == kinds[i].letter;

		if (!(wanted & kinds[i].kind) || !(lettered || (text[0] >= '0' && text[0] <= '9')))
			continue;
		if (assay_parse_u64(text + lettered, "number", 1, INT64_MAX, &id, &none))
			return false;
		*out = (struct assay_stored_name){ kinds[i].kind, (int64_t)id };
		return true;
	}
	return false;
}

bool assay_stored_name_is(const char *text)
{
	const char *digits = text + (text[0] && strchr("rcp", text[0]));

	return !strcmp(text, "last") || (digits[0] && !digits[strspn(digits, "0123456789")]);
}

/* All that is stored of the kinds that are wanted. */
struct stored {
	struct assay_run_info *runs;
	struct assay_baseline_info *baselines;
	struct assay_comparison_info *comparisons;
	struct assay_profile_info *profiles;
	size_t n_runs, n_baselines, n_comparisons, n_profiles;
};

static int stored_read(struct stored *s, const struct assay_name_wanted *w, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, w->db, ASSAY_STORE_READ, err);

	if (!rc && w->kinds & ASSAY_STORED_RUN)
		rc = assay_store_runs(store, NULL, 0, &s->runs, &s->n_runs, err);
	if (!rc && w->kinds & ASSAY_STORED_RUN)
		rc = assay_store_baselines(store, NULL, NULL, &s->baselines, &s->n_baselines, err);
	if (!rc && w->kinds & ASSAY_STORED_COMPARISON)
		rc = assay_store_comparisons(store, NULL, 0, &s->comparisons, &s->n_comparisons, err);
	if (!rc && w->kinds & ASSAY_STORED_PROFILE)
		rc = assay_store_profiles(store, &s->profiles, &s->n_profiles, err);
	assay_store_close(store);
	return rc;
}

static void stored_release(struct stored *s)
{
	free(s->runs);
	assay_baseline_infos_release(s->baselines, s->n_baselines);
	free(s->comparisons);
	free(s->profiles);
}

/* "r3 (a run), c3 (a comparison), a label or 'last'"; comparisons have no labels. */
static void expected(unsigned wanted, char *buf, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < N_KINDS; i++)
		if (wanted & kinds[i].kind)
			at += (size_t)snprintf(buf + at, size - at, "%s%c3 (%s)", at ? ", " : "", kinds[i].letter,
					       kinds[i].name);
	snprintf(buf + at, size - at, "%s or 'last'", wanted == ASSAY_STORED_COMPARISON ? "" : ", a label");
}

/* Lists begin with the newest. */
static int find_last(const struct stored *s, const struct assay_name_wanted *w, struct assay_stored_name *out,
		     struct assay_err *err)
{
	const struct {
		enum assay_stored_kind kind;
		uint64_t started_ns;
		int64_t id;
	} newest[] = {
		{ ASSAY_STORED_RUN, s->n_runs ? s->runs[0].started_ns : 0, s->n_runs ? s->runs[0].id : 0 },
		{ ASSAY_STORED_COMPARISON, s->n_comparisons ? s->comparisons[0].started_ns : 0,
		  s->n_comparisons ? s->comparisons[0].id : 0 },
		{ ASSAY_STORED_PROFILE, s->n_profiles ? s->profiles[0].started_ns : 0,
		  s->n_profiles ? s->profiles[0].id : 0 },
	};
	uint64_t at = 0;

	out->id = 0;
	for (size_t i = 0; i < N_KINDS; i++)
		if (newest[i].id && (!out->id || newest[i].started_ns > at)) {
			*out = (struct assay_stored_name){ newest[i].kind, newest[i].id };
			at = newest[i].started_ns;
		}
	if (out->id)
		return 0;
	/* whoever loads the newest run tells that there is none, or that there are counts alone */
	if (w->kinds & ASSAY_STORED_RUN) {
		*out = (struct assay_stored_name){ ASSAY_STORED_RUN, 0 };
		return 0;
	}
	return assay_err_set(err, ASSAY_EUSAGE, "nothing is stored in '%.200s' yet: 'assay run' makes a run", w->db);
}

static bool find_label(const struct stored *s, const char *text, struct assay_stored_name *out)
{
	for (size_t i = 0; i < s->n_baselines; i++)
		if (s->baselines[i].n_runs && !strcmp(s->baselines[i].name, text)) {
			*out = (struct assay_stored_name){ ASSAY_STORED_RUN,
							   s->baselines[i].runs[s->baselines[i].n_runs - 1] };
			return true;
		}
	for (size_t i = 0; i < s->n_runs; i++)
		if (!strcmp(s->runs[i].label, text)) {
			*out = (struct assay_stored_name){ ASSAY_STORED_RUN, s->runs[i].id };
			return true;
		}
	for (size_t i = 0; i < s->n_profiles; i++)
		if (!strcmp(s->profiles[i].name, text)) {
			*out = (struct assay_stored_name){ ASSAY_STORED_PROFILE, s->profiles[i].id };
			return true;
		}
	return false;
}

static int no_such(const struct stored *s, const char *text, const struct assay_name_wanted *w, struct assay_err *err)
{
	const char **labels = calloc(s->n_baselines + s->n_runs + s->n_profiles + 1, sizeof(*labels)), *near;
	char what[128];
	size_t n = 0;
	int rc;

	if (!labels)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < s->n_baselines; i++)
		labels[n++] = s->baselines[i].name;
	for (size_t i = 0; i < s->n_runs; i++)
		if (s->runs[i].label[0])
			labels[n++] = s->runs[i].label;
	for (size_t i = 0; i < s->n_profiles; i++)
		labels[n++] = s->profiles[i].name;
	near = assay_nearest(text, labels, n);
	expected(w->kinds, what, sizeof(what));
	if (near)
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s is '%.80s': did you mean '%s'? Expected %s", w->what, text,
				   near, what);
	else
		rc = assay_err_set(err, ASSAY_EUSAGE, "%s is '%.80s', expected %s; 'assay show%s' lists them", w->what,
				   text, what, w->kinds == ASSAY_STORED_COMPARISON ? " comparisons" : "");
	free(labels);
	return rc;
}

int assay_stored_name_read(const char *text, const struct assay_name_wanted *w, struct assay_stored_name *out,
			   struct assay_err *err)
{
	const bool one = !(w->kinds & (w->kinds - 1)), last = !strcmp(text, "last");
	struct stored s = { 0 };
	int rc = 0;

	if (is_number(text, w->kinds, out))
		return 0;
	if (last && one) {
		*out = (struct assay_stored_name){ w->kinds, 0 };
		return 0;
	}
	/* a number of another kind is refused without looking for it */
	if (last || !assay_stored_name_is(text))
		rc = stored_read(&s, w, err);
	if (!rc && last)
		rc = find_last(&s, w, out, err);
	else if (!rc && (!text[0] || !find_label(&s, text, out)))
		rc = no_such(&s, text, w, err);
	stored_release(&s);
	return rc;
}

int assay_stored_run_read(const char *db, const char *text, const char *what, int64_t *id, struct assay_err *err)
{
	struct assay_stored_name n;
	int rc = assay_stored_name_read(
		text, &(struct assay_name_wanted){ .db = db, .kinds = ASSAY_STORED_RUN, .what = what }, &n, err);

	if (!rc)
		*id = n.id;
	return rc;
}
