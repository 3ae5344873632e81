/* SPDX-License-Identifier: Apache-2.0 */
/* What a comparison is asked for, and what the parts of planning it share. */
#ifndef ASSAY_DRIVE_COMPARE_STATE_H
#define ASSAY_DRIVE_COMPARE_STATE_H

#include "drive/compare/pair_loop.h"
#include "drive/revision.h"
#include "drive/session.h"
#include "judge/limits.h"

/* Which cases are profiled after the verdict, on both sides. */
enum assay_profile_cases {
	ASSAY_PROFILE_NO,
	ASSAY_PROFILE_CHANGED, /* REGRESSED and IMPROVED, the five that changed most */
	ASSAY_PROFILE_ALL,
};

/* All-zero but for `what` and `base` is the default. Strings are borrowed. */
struct assay_compare_request {
	const struct assay_request *what;
	const char *base, *head; /* revision, plugin or folder; head NULL: what lies in the working tree */
	const char *cache_dir;   /* where revisions are built; NULL: in the cache of the user */
	bool variants;           /* instead, both are variants of one op, "OP/NAME", of the loaded plugins */
	/* What plugin files of base and head were built from; "": as the repository is that they lie in. */
	struct assay_commit revision[2];
	const char *policy;        /* file; NULL: baselines/policy.conf */
	double margin_frac, alpha; /* win over the policy; 0: as it says */
	uint64_t budget_ns;        /* a case; 0: as the policy says */
	double injected_frac;      /* of the control; 0: 2 %, or four margins where that is more */
	bool no_controls;
	bool strict;        /* INCONCLUSIVE fails, too */
	bool suspects_fail; /* of those, what is likely slower than its margin does */
	enum assay_profile_cases profile;
	uint64_t profile_for_ns; /* each of them; 0: 4 s */
	bool same_code;          /* take times also of cases whose machine code is the same */
	const char *places;      /* of a stored comparison, in commands that name it; NULL: those of @what */
};

/* All-zero is empty. */
struct assay_compare_plan {
	struct assay_side_source source[2];
	struct assay_compare_side side[2];
	struct assay_session session;   /* the head's: its catalog, topology and suite */
	struct assay_session base;      /* what the base's workers load, and the head's variants beyond */
	struct assay_case_facts *facts; /* one a case of cmp, controls included */
	bool *exact;                    /* the same: does the suite name it for exact counts? */
	struct assay_comparison cmp;    /* cases without pairs */
	struct assay_policy policy;
	struct assay_countable countable; /* what the groups of counters here may bring, and --events */
};

#endif
