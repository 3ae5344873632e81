/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "base/text.h"
#include "drive/profile/kinds.h"
#include "drive/show/name.h"
#include "machine/clock.h"
#include "machine/environment.h"
#include "store/profile.h"

#define DAY_NS UINT64_C(86400000000000)

int assay_profile_name_check(const char *name, struct assay_err *err)
{
	char printable[sizeof(((struct assay_profile *)0)->name)];

	if (!name[0] || strlen(name) >= sizeof(printable))
		return assay_err_set(err, ASSAY_EUSAGE, "bad --name '%.80s': 1 to %zu characters are allowed", name,
				     sizeof(printable) - 1);
	snprintf(printable, sizeof(printable), "%s", name);
	assay_printable_line(printable, sizeof(printable));
	if (strcmp(printable, name))
		return assay_err_set(err, ASSAY_EUSAGE, "bad --name '%s': only characters that can be printed",
				     printable);
	if (assay_stored_name_is(name))
		return assay_err_set(err, ASSAY_EUSAGE, "bad --name '%s': 'last', numbers, r3, c3 and p3 are taken",
				     name);
	return 0;
}

int assay_profile_store_open(struct assay_store **store, const struct assay_profile_request *q, struct assay_err *err)
{
	int rc = assay_profile_name_check(q->name, err);

	return rc ? rc : assay_store_open(store, q->what->db, ASSAY_STORE_WRITE, err);
}

void assay_profile_store_close(struct assay_store *store)
{
	assay_store_close(store);
}

static uint64_t days_ago(unsigned days)
{
	const uint64_t ns = days * DAY_NS, now_ns = assay_clock_unix_ns();

	return days && ns < now_ns ? now_ns - ns : 0;
}

int assay_profiles_prune(const char *db, size_t keep, unsigned days, size_t *removed, struct assay_err *err)
{
	struct assay_store_profile_rule rule = { .keep = keep, .older_ns = days_ago(days), .dry = true };
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*removed = 0;
	if (rc == ASSAY_ENOTFOUND)
		return 0;
	if (!rc)
		rc = assay_store_profiles_prune(store, &rule, removed, err);
	assay_store_close(store);
	if (rc || !*removed)
		return rc;
	rule.dry = false;
	store = NULL;
	rc = assay_store_open(&store, db, ASSAY_STORE_WRITE, err);
	if (!rc)
		rc = assay_store_profiles_prune(store, &rule, removed, err);
	assay_store_close(store);
	return rc;
}

int assay_profile_store_keep(struct assay_store *store, const struct assay_profile_request *q, struct assay_profile *p,
			     struct assay_err *err)
{
	const struct assay_store_profile_rule rule = { .name = q->name,
						       .keep = q->keep,
						       .older_ns = days_ago(q->keep_days) };
	struct assay_topology *t = NULL;
	size_t removed;
	int rc = assay_topology_open(&t, NULL, err);

	if (!rc)
		rc = assay_fingerprint_take(t, &p->machine, err);
	assay_topology_close(t);
	snprintf(p->name, sizeof(p->name), "%s", q->name);
	if (!rc)
		rc = assay_store_profile_add(store, p, err);
	return rc || (!rule.keep && !rule.older_ns) ? rc : assay_store_profiles_prune(store, &rule, &removed, err);
}

/* The list is the newest first. @kind NULL: any. 0: none. */
static int64_t id_of(const struct assay_profile_info *v, size_t n, const char *name, const char *kind)
{
	const bool newest = !strcmp(name, "last");
	struct assay_stored_name n_th = { .id = 0 };
	struct assay_err none = { 0 };

	if (!newest && assay_stored_name_is(name))
		assay_stored_name_read(name, &(struct assay_name_wanted){ .kinds = ASSAY_STORED_PROFILE }, &n_th,
				       &none);
	for (size_t i = 0; i < n; i++)
		if ((!kind || !strcmp(v[i].kind, kind)) && (newest || v[i].id == n_th.id || !strcmp(v[i].name, name)))
			return v[i].id;
	return 0;
}

static int no_profile(const struct assay_profile_info *v, size_t n, const char *name, const char *kind, const char *db,
		      struct assay_err *err)
{
	const char **names = calloc(n + 1, sizeof(*names));
	char hint[512];
	int rc;

	if (!names)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (kind && id_of(v, n, name, NULL)) {
		free(names);
		return assay_err_set(err, ASSAY_EUSAGE, "'%.80s' has no profile of the kind '%.15s'", name, kind);
	}
	for (size_t i = 0; i < n; i++)
		names[i] = v[i].name;
	if (n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "no profile '%.80s'%s", name,
				   assay_conf_hint(name, names, n, hint, sizeof(hint)));
	else
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "no profiles in '%.200s': 'assay profile cpu CASE --name NAME' stores one", db);
	free(names);
	return rc;
}

int assay_profile_find(const char *db, const char *name, const char *kind, struct assay_profile *out,
		       struct assay_err *err)
{
	struct assay_profile_info *v = NULL;
	struct assay_store *store = NULL;
	size_t n = 0;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);
	int64_t id = 0;

	*out = (struct assay_profile){ 0 };
	if (!rc)
		rc = assay_store_profiles(store, &v, &n, err);
	if (!rc)
		id = id_of(v, n, name, kind);
	if (!rc && !id)
		rc = no_profile(v, n, name, kind, db, err);
	if (!rc)
		rc = assay_store_profile_load(store, id, out, err);
	free(v);
	assay_store_close(store);
	return rc;
}

int assay_profiles_stored(const char *db, struct assay_profile_info **out, size_t *n, struct assay_err *err)
{
	struct assay_store *store = NULL;
	int rc = assay_store_open(&store, db, ASSAY_STORE_READ, err);

	*out = NULL;
	*n = 0;
	if (!rc)
		rc = assay_store_profiles(store, out, n, err);
	assay_store_close(store);
	return rc;
}

bool assay_profile_is_name(const char *db, const char *name)
{
	struct assay_baseline_info *baselines = NULL;
	struct assay_profile_info *v = NULL;
	struct assay_store *store = NULL;
	struct assay_err none = { 0 };
	size_t n = 0, n_baselines = 0;
	bool found = name[0] == 'p' && assay_stored_name_is(name);

	if (!found && !assay_store_open(&store, db, ASSAY_STORE_READ, &none) &&
	    !assay_store_profiles(store, &v, &n, &none) &&
	    !assay_store_baselines(store, NULL, NULL, &baselines, &n_baselines, &none)) {
		for (size_t i = 0; i < n; i++)
			found |= !strcmp(v[i].name, name);
		for (size_t i = 0; i < n_baselines; i++)
			found &= strcmp(baselines[i].name, name) != 0;
	}
	assay_baseline_infos_release(baselines, n_baselines);
	free(v);
	assay_store_close(store);
	return found;
}

/* The head's newest says which kind is meant, where the base has one of it; otherwise the base's newest does. */
static int find_sides(const char *db, const char *const names[2], const char *kind, struct assay_profile side[2],
		      struct assay_err *err)
{
	struct assay_err none = { 0 };
	int rc = assay_profile_find(db, names[1], kind, &side[1], err);

	if (rc)
		return rc;
	if (kind || !assay_profile_find(db, names[0], side[1].kind, &side[0], &none))
		return kind ? assay_profile_find(db, names[0], kind, &side[0], err) : 0;
	rc = assay_profile_find(db, names[0], NULL, &side[0], err);
	if (rc)
		return rc;
	assay_profile_release(&side[1]);
	if (assay_profile_find(db, names[1], side[0].kind, &side[1], &none))
		rc = assay_profile_find(db, names[1], NULL, &side[1], err); /* which is told to be another kind */
	return rc;
}

int assay_profile_diff_find(const char *db, const char *const names[2], const char *kind, bool sanitize,
			    struct assay_profile side[2], struct assay_profile_diff *out, struct assay_err *err)
{
	int rc;

	*out = (struct assay_profile_diff){ .n = 0 };
	for (unsigned i = 0; i < 2; i++)
		side[i] = (struct assay_profile){ 0 };
	rc = find_sides(db, names, kind, side, err);
	for (unsigned i = 0; i < 2 && !rc && sanitize; i++)
		rc = assay_profile_sanitize(&side[i], err);
	if (!rc && side[0].id == side[1].id)
		rc = assay_err_set(err, ASSAY_EUSAGE, "both sides are profile %lld: name two", (long long)side[0].id);
	return rc ? rc : assay_profile_diff_make(out, &side[0], &side[1], err);
}
