/* SPDX-License-Identifier: Apache-2.0 */
/* Runs in which a case has no number. */
#include "store/store.h"
#include "store/rows.h"

static void read_gap(struct assay_row *row, void *element)
{
	struct assay_trend_gap *g = element;
	g->run_id = assay_store_row_int(row);
	g->started_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_build(row, g->commit, &g->dirty, &g->plugin);
	g->missing = !assay_store_row_status(row, &g->status);
}

/*
 * A run that has no result of the case counts where it is of a suite that has the case, later than the first run with
 * it, and of at least half as many cases as the newest run that has it: others were asked for something else.
 */
int assay_store_trend_gaps(struct assay_store *s, const char *key, const char *machine_id, struct assay_trend_gap **out,
			   size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"WITH of_case AS (SELECT r.run AS run, r.status AS status FROM bench_case c JOIN result r ON "
		"r.bench_case = c.id JOIN run ON run.id = r.run WHERE c.key = ?1 AND run.machine = ?2),"
		" measured AS (SELECT run.suite AS suite, min(run.id) AS first, max(run.id) AS newest FROM of_case "
		"JOIN run ON run.id = of_case.run WHERE of_case.status = 'ok' GROUP BY run.suite),"
		" gaps AS (SELECT run AS id, status FROM of_case WHERE status <> 'ok'"
		" UNION ALL SELECT run.id, '' FROM measured m JOIN run ON run.suite = m.suite AND run.machine = ?2"
		" AND run.id > m.first AND run.id NOT IN (SELECT run FROM of_case)"
		" WHERE 2 * (SELECT count(*) FROM result x WHERE x.run = run.id) >="
		" (SELECT count(*) FROM result x WHERE x.run = m.newest))"
		" SELECT run.id, run.started_ns, b.commit_hash, b.dirty, b.plugin_commit, b.plugin_dirty, gaps.status"
		" FROM gaps JOIN run ON run.id = gaps.id JOIN build b ON b.id = run.build ORDER BY run.started_ns, "
		"run.id";
	struct assay_binder b = assay_store_statement(s, sql, err);

	assay_store_bind_text(&b, key);
	assay_store_bind_text(&b, machine_id);
	return assay_store_collect(s, &b, "the history", sizeof(**out), read_gap, out, n, err);
}
