/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy.h"

#include "store/comparison.h"
#include "store/exact.h"
#include "store/profile.h"
#include "store/store.h"

static int verify_run(struct assay_store *s, int64_t id, struct assay_err *err)
{
	struct assay_run run;
	int rc = assay_store_run_load(s, id, &run, err);

	if (!rc)
		assay_run_release(&run);
	return rc;
}

static int verify_comparison(struct assay_store *s, int64_t id, struct assay_err *err)
{
	struct assay_comparison cmp;
	int rc = assay_store_comparison_load(s, id, &cmp, NULL, NULL, err);

	if (!rc)
		assay_comparison_release(&cmp);
	return rc;
}

static int verify_exact(struct assay_store *s, int64_t id, struct assay_err *err)
{
	struct assay_exact_run run;
	int rc = assay_store_exact_load(s, id, &run, err);

	if (!rc)
		assay_exact_run_release(&run);
	return rc;
}

static int verify_profile(struct assay_store *s, int64_t id, struct assay_err *err)
{
	struct assay_profile p;
	int rc = assay_store_profile_load(s, id, &p, err);

	if (!rc)
		assay_profile_release(&p);
	return rc;
}

#define RUN_HEAD "suite || ' ' || seed || ' ' || machine || ' ' || build"
#define COMPARISON_HEAD                                                                                                \
	"suite || ' ' || seed || ' ' || machine || ' ' || base_build || ' ' || head_build || ' ' || base || ' ' || "   \
	"head"
#define EXACT_HEAD   "suite || ' ' || seed || ' ' || build || ' ' || tool || ' ' || environment || ' ' || features"
#define CERTIFY_HEAD "machine || ' ' || ended_ns || ' ' || settings || ' ' || result"
#define PROFILE_HEAD "kind || ' ' || name || ' ' || machine || ' ' || coalesce(build, '') || ' ' || what"

#define LIST(table, where)      "SELECT id FROM " table where " ORDER BY started_ns, id"
#define HEAD(table, text)       "SELECT " text " FROM " table " WHERE id = ?"
#define SAME(table, text, more) "SELECT id FROM " table " WHERE started_ns = ?2 AND " text " = ?1" more " ORDER BY id"
#define BEGAN(table)            "SELECT started_ns FROM " table " WHERE id = ?"

const struct assay_merge_kind assay_merge_kinds[ASSAY_N_MERGE] = {
	[ASSAY_MERGE_RUN] = { .tree = &assay_store_run_tree,
			      .list = LIST("run", ""),
			      .head = HEAD("run", RUN_HEAD),
			      .same = SAME("run", RUN_HEAD, ""),
			      .began = BEGAN("run"),
			      .contents =
				      "SELECT c.key || ' ' || r.n_samples || ' ' || r.status || ' ' || r.median_ns || "
				      "' "
				      "' || r.started_ns"
				      " FROM result r JOIN bench_case c ON c.id = r.bench_case WHERE r.run = ?1 UNION "
				      "ALL"
				      " SELECT 'exact ' || c.key || ' ' || c.digest || ' ' || c.status FROM exact_run e"
				      " JOIN exact_case c ON c.exact_run = e.id WHERE e.run = ?1",
			      .finished = "SELECT ended_ns IS NOT NULL, (SELECT count(*) FROM result WHERE run = "
					  "run.id) FROM run WHERE id = ?",
			      .clear = "DELETE FROM result WHERE run = ?1; DELETE FROM environment WHERE run = ?1;"
				       " DELETE FROM exact_run WHERE run = ?1",
			      .take_end = "UPDATE run SET ended_ns = ?2 WHERE id = ?1",
			      .verify = verify_run },
	[ASSAY_MERGE_COMPARISON] = { .tree = &assay_store_comparison_tree,
				     .list = LIST("comparison", ""),
				     .head = HEAD("comparison", COMPARISON_HEAD),
				     .same = SAME("comparison", COMPARISON_HEAD, ""),
				     .began = BEGAN("comparison"),
				     .contents = "SELECT c.key || ' ' || k.control || ' ' || coalesce(p.seed, '') "
						 "|| ' ' ||"
						 " coalesce(p.wall_ns, '') FROM comparison_case k JOIN bench_case c ON "
						 "c.id = k.bench_case"
						 " LEFT JOIN pair p ON p.comparison_case = k.id WHERE k.comparison = ?",
				     .finished = "SELECT ended_ns IS NOT NULL, (SELECT count(*) FROM comparison_case c "
						 "JOIN pair p"
						 " ON p.comparison_case = c.id WHERE c.comparison = k.id) FROM "
						 "comparison k WHERE k.id = ?",
				     .clear = "DELETE FROM comparison_case WHERE comparison = ?1; DELETE FROM "
					      "exact_run WHERE comparison = ?1",
				     .take_end = "UPDATE comparison SET ended_ns = ?2, verdict = ?3, exit_code = ?4 "
						 "WHERE id = ?1",
				     .verify = verify_comparison },
	[ASSAY_MERGE_COUNTS] = { .tree = &assay_store_exact_tree,
				 .list = LIST("exact_run", " WHERE run IS NULL AND comparison IS NULL"),
				 .head = HEAD("exact_run", EXACT_HEAD),
				 .same = SAME("exact_run", EXACT_HEAD, " AND run IS NULL AND comparison IS NULL"),
				 .began = BEGAN("exact_run"),
				 .contents = "SELECT key || ' ' || digest || ' ' || status FROM exact_case WHERE "
					     "exact_run = ?",
				 .verify = verify_exact },
	[ASSAY_MERGE_CERTIFICATION] = { .tree = &assay_store_certify_tree,
					.list = LIST("certify", ""),
					.head = HEAD("certify", CERTIFY_HEAD),
					.same = SAME("certify", CERTIFY_HEAD, ""),
					.began = BEGAN("certify"),
					.contents = "SELECT gates FROM certify WHERE id = ?" },
	[ASSAY_MERGE_PROFILE] = { .tree = &assay_store_profile_tree,
				  .list = LIST("profile", ""),
				  .head = HEAD("profile", PROFILE_HEAD),
				  .same = SAME("profile", PROFILE_HEAD, ""),
				  .began = BEGAN("profile"),
				  .contents = "SELECT seconds || ' ' || timed_weight FROM profile WHERE id = ?",
				  .verify = verify_profile },
};
