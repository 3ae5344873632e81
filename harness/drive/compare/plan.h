/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a comparison: the two sides, what their workers load, the cases they share, the controls. */
#ifndef ASSAY_DRIVE_COMPARE_PLAN_H
#define ASSAY_DRIVE_COMPARE_PLAN_H

#include "drive/compare/pair_loop.h"
#include "drive/revision.h"
#include "drive/session.h"
#include "judge/limits.h"

/* ---- state ---- */

/* The request for a comparison, and the state that the parts of its planning share. */

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
	/* The commits that plugin files of base and head were built from; "": that of the repository around them. */
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

/*
 * Resolve, build where needed, load, plan. ASSAY_EUSAGE before anything is measured: unknown revision, one that does
 * not build, a plugin that cannot be used, nothing to compare. A base whose plugins have another ABI is no error: its
 * cases say so. Release in either case.
 */
int assay_compare_plan_make(struct assay_compare_plan *p, const struct assay_compare_request *q,
			    const struct assay_watch *w, struct assay_err *err);
/* The same for unchanged code: q->base (NULL: the installed plugins) against itself, without controls. */
int assay_compare_plan_make_same(struct assay_compare_plan *p, const struct assay_compare_request *q,
				 const struct assay_watch *w, struct assay_err *err);
void assay_compare_plan_release(struct assay_compare_plan *p);

/* Parts of making a plan. Append a case that both sides have; @f NULL: nothing is known of it. NULL: out of memory. */
struct assay_comparison_case *assay_compare_plan_add(struct assay_compare_plan *p, const struct assay_case *c,
						     const struct assay_case_facts *f, bool exact);
/* Why a side that has the variant does not run case @i of its plan; NULL: it does. */
const char *assay_compare_plan_refusal(const struct assay_session *s, size_t i);
/* When all cases are there: controls, the check of the policy, the machine, the names. */
int assay_compare_plan_complete(struct assay_compare_plan *p, const struct assay_compare_request *q,
				struct assay_err *err);

/*
 * The loop over the cases of @p, which was made from @r; whoever runs it adds what it should tell. All pointers stay
 * the callers'.
 */
struct assay_pair_loop assay_compare_plan_loop(struct assay_compare_plan *p, const struct assay_request *r,
					       const struct assay_clock *clock, const struct assay_watch *w);

/* ---- policy ---- */

/* The policy of a comparison: read, with what the request says on top, and checked against what there is. */

/* Fill p->policy, and of p->cmp the text that a replay judges by, alpha, budget and number of pairs. ASSAY_EUSAGE. */
int assay_compare_policy_load(struct assay_compare_plan *p, const struct assay_compare_request *q,
			      struct assay_err *err);

/*
 * ASSAY_EUSAGE with "file:line: …" when the policy names a case that neither any suite nor the comparison nor a
 * manifest has, or a metric that its cases lack: a limit with a typing error guards nothing. After the cases are
 * planned.
 */
int assay_compare_policy_check(struct assay_compare_plan *p, const struct assay_strings *events, struct assay_err *err);

/* ---- manifest ---- */

/*
 * Cases that a comparison of two revisions must have: a benchmark that silently disappears from both is found by the
 * manifests.
 */

/*
 * Call @lost for each key that the suite's manifest, as the program has it or as the base's checkout had it, demands
 * and neither the suite plans nor the base has.
 * - An `optional` key is demanded where any case of its variant takes part.
 * - Only whole suites of revisions are held to it: nothing is called where the base is a plugin or options choose
 *   cases.
 * - A manifest that is not there demands nothing; one that cannot be read is a warning to @w.
 * A non-zero return of @lost stops and is returned. ASSAY_ENOMEM.
 */
int assay_compare_manifest_check(struct assay_compare_plan *p, const struct assay_request *r,
				 const struct assay_watch *w,
				 int (*lost)(struct assay_compare_plan *p, const char *key, struct assay_err *err),
				 struct assay_err *err);

#endif
