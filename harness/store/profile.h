/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in the store. The same handle, errors and promises as store.h. */
#ifndef ASSAY_STORE_PROFILE_H
#define ASSAY_STORE_PROFILE_H

#include "model/profile.h"
#include "store/store.h"

/* Keep @p in one transaction and set p->id. It needs its machine, and the time that it began. */
int assay_store_profile_add(struct assay_store *s, struct assay_profile *p, struct assay_err *err);
/* ASSAY_ENOTFOUND where there is none, ASSAY_ESTORE where it is not what was stored; @out is untouched then. */
int assay_store_profile_load(struct assay_store *s, int64_t id, struct assay_profile *out, struct assay_err *err);
/* All profiles, newest first. The caller frees *out. */
int assay_store_profiles(struct assay_store *s, struct assay_profile_info **out, size_t *n, struct assay_err *err);

/* The newest profile of each kind and case of the build @build, newest first. The caller frees *out. */
int assay_store_profiles_of_build(struct assay_store *s, const char *build, struct assay_profile_info **out, size_t *n,
				  struct assay_err *err);

/* Which profiles may go; where both are said, those that both let go. */
struct assay_store_profile_rule {
	const char *name;  /* of these alone; NULL: of any name */
	size_t keep;       /* the newest of each name that stay; 0: the newest one */
	uint64_t older_ns; /* what began later stays; 0: nothing is said */
	bool dry;          /* count only */
};
/*
 * *removed: how many went. Never the newest of a name and kind, nor the newest of these and a case that is of the build
 * of a named baseline.
 */
int assay_store_profiles_prune(struct assay_store *s, const struct assay_store_profile_rule *rule, size_t *removed,
			       struct assay_err *err);

#endif
