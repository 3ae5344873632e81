/* SPDX-License-Identifier: Apache-2.0 */
/* Adding comparisons, their cases and pairs. A pair is one transaction: a kill loses at most the one in flight. */
#include "store/store_comparison.h"

#include <math.h>
#include <stdlib.h>

#include "store/sample_blob.h"
#include "store/store_comparison_names.h"
#include "store/store_db.h"
#include "store/store_rows.h"

const char *const assay_store_control_names[ASSAY_STORE_N_CONTROLS] = {
	[ASSAY_CONTROL_NONE] = "none",
	[ASSAY_CONTROL_AA] = "aa",
	[ASSAY_CONTROL_SLOWER] = "slower",
};
const char *const assay_store_side_names[2] = { [ASSAY_BASE] = "base", [ASSAY_HEAD] = "head" };

static int insert_comparison(struct assay_store *s, const struct assay_comparison *cmp, int64_t *id,
			     struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO comparison (base, head, suite, seed, started_ns, machine, base_build, head_build,"
		" alpha, budget_ns, max_pairs, family, policy, rule) VALUES (?,?,?,?,?,?,?,?, ?,?,?,?,?, nullif(?, 0))";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, cmp->base);
	assay_store_bind_text(&b, cmp->head);
	assay_store_bind_text(&b, cmp->suite);
	assay_store_bind_int(&b, (int64_t)cmp->seed);
	assay_store_bind_size(&b, cmp->started_ns);
	assay_store_bind_text(&b, cmp->machine.id);
	assay_store_bind_text(&b, cmp->build[ASSAY_BASE].id);
	assay_store_bind_text(&b, cmp->build[ASSAY_HEAD].id);
	assay_store_bind_real(&b, cmp->alpha);
	assay_store_bind_size(&b, cmp->budget_ns);
	assay_store_bind_int(&b, cmp->max_pairs);
	assay_store_bind_int(&b, cmp->family);
	assay_store_bind_text(&b, cmp->policy ? cmp->policy : "");
	assay_store_bind_int(&b, cmp->rule);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "comparison with", cmp->base);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int assay_store_comparison_begin(struct assay_store *s, struct assay_comparison *cmp, struct assay_err *err)
{
	int64_t id = 0;
	int rc;

	if (!(cmp->alpha > 0 && cmp->alpha < 1))
		return assay_err_set(err, ASSAY_ELIMIT,
				     "cannot store the comparison with '%.200s': alpha is %g, not between 0 and 1",
				     cmp->base, cmp->alpha);
	rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = assay_store_put_machine(s, &cmp->machine, err);
	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = assay_store_put_build(s, &cmp->build[i], err);
	if (!rc)
		rc = insert_comparison(s, cmp, &id, err);
	rc = assay_store_finish(s, rc, err);
	if (!rc)
		cmp->id = id;
	return rc;
}

static int insert_case(struct assay_store *s, int64_t comparison_id, int64_t bench_case,
		       const struct assay_comparison_case *c, int64_t *id, struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO comparison_case (comparison, bench_case, all_threads, budget_ns, timeout_ns, memory_bytes,"
		" control, injected_frac, in_base, in_head, reason, difference) VALUES (?,?,?,?,?,?, ?,?,?,?,?,?)";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_int(&b, comparison_id);
	assay_store_bind_int(&b, bench_case);
	assay_store_bind_int(&b, c->c.all_threads);
	assay_store_bind_size(&b, c->c.budget_ns);
	assay_store_bind_size(&b, c->c.timeout_ns);
	assay_store_bind_size(&b, c->c.memory_bytes);
	assay_store_bind_text(&b, assay_store_control_names[c->control]);
	assay_store_bind_real(&b, c->injected_frac);
	assay_store_bind_int(&b, c->in_base);
	assay_store_bind_int(&b, c->in_head);
	assay_store_bind_text(&b, c->reason);
	assay_store_bind_text(&b, c->difference);
	rc = assay_store_step_once(&b);
	if (rc == SQLITE_CONSTRAINT_UNIQUE)
		return assay_err_set(err, ASSAY_ESTORE, "comparison %lld already has the case '%.255s'",
				     (long long)comparison_id, c->c.key);
	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return assay_err_set(err, ASSAY_ENOTFOUND, "no comparison %lld in '%.200s'", (long long)comparison_id,
				     s->path);
	rc = assay_store_done(s, rc, err, "case", c->c.key);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int assay_store_comparison_case_add(struct assay_store *s, int64_t comparison_id, const struct assay_comparison_case *c,
				    int64_t *case_id, struct assay_err *err)
{
	int64_t bench_case = 0, id = 0;
	int rc;

	if (!isfinite(c->injected_frac))
		return assay_err_set(err, ASSAY_ELIMIT,
				     "cannot store '%.255s': injected_frac is %g, not a finite number", c->c.key,
				     c->injected_frac);
	rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = assay_store_put_case(s, &c->c, &bench_case, err);
	if (!rc)
		rc = insert_case(s, comparison_id, bench_case, c, &id, err);
	rc = assay_store_finish(s, rc, err);
	if (!rc)
		*case_id = id;
	return rc;
}

int assay_store_comparison_case_update(struct assay_store *s, int64_t case_id, const struct assay_comparison_case *c,
				       struct assay_err *err)
{
	static const char sql[] =
		"UPDATE comparison_case SET in_base = ?, in_head = ?, reason = ?, difference = ? WHERE id = ?"
		" AND EXISTS (SELECT 1 FROM comparison WHERE id = comparison_case.comparison AND ended_ns IS NULL)";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_int(&b, c->in_base);
	assay_store_bind_int(&b, c->in_head);
	assay_store_bind_text(&b, c->reason);
	assay_store_bind_text(&b, c->difference);
	assay_store_bind_int(&b, case_id);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "case", c->c.key);
	if (!rc && !sqlite3_changes(s->db))
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no case %lld of an open comparison in '%.200s'",
				   (long long)case_id, s->path);
	return rc;
}

/* Numbers that are none, and samples that are missing or too many, get a message that names them. */
static int check_pair(const struct assay_pair *p, struct assay_err *err)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct assay_pair_side *side = &p->side[i];
		const char *name = assay_store_side_names[i];
		char what[160];

		if (p->n_blocks && !side->samples)
			return assay_err_set(err, ASSAY_ESTORE, "cannot store a pair: %zu blocks, but no samples of %s",
					     p->n_blocks, name);
		if (p->n_blocks > SIZE_MAX / 2)
			return assay_err_set(err, ASSAY_ELIMIT, "cannot store a pair of %zu blocks", p->n_blocks);
		if (side->status == ASSAY_STATUS_OK && !isfinite(side->max_rel_err))
			return assay_err_set(err, ASSAY_ELIMIT,
					     "cannot store a pair: max_rel_err of %s is %g, not a finite number", name,
					     side->max_rel_err);
		if (assay_store_not_finite(side->metrics, side->n_metrics, &side->counters, what, sizeof(what)))
			return assay_err_set(err, ASSAY_ELIMIT,
					     "cannot store a pair: %s on the side of %s, not a finite number", what,
					     name);
	}
	return 0;
}

static int insert_pair(struct assay_store *s, int64_t case_id, const struct assay_pair *p, int64_t *id,
		       struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO pair (comparison_case, seed, iterations, base_extra_iterations, head_extra_iterations,"
		" n_blocks, steady, wall_ns) VALUES (?,?,?,?,?,?,?,?)";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_int(&b, case_id);
	assay_store_bind_int(&b, (int64_t)p->seed);
	assay_store_bind_size(&b, p->iterations);
	assay_store_bind_size(&b, p->extra_iterations[ASSAY_BASE]);
	assay_store_bind_size(&b, p->extra_iterations[ASSAY_HEAD]);
	assay_store_bind_size(&b, p->n_blocks);
	assay_store_bind_int(&b, p->steady);
	assay_store_bind_size(&b, p->wall_ns);
	rc = assay_store_step_once(&b);
	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return assay_err_set(err, ASSAY_ENOTFOUND, "no case %lld of a comparison in '%.200s'",
				     (long long)case_id, s->path);
	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot store a pair of case %lld", (long long)case_id);
	*id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

static int insert_side(struct assay_store *s, int64_t pair, const struct assay_pair *p, unsigned which, int64_t *id,
		       struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO pair_side (pair, side, status, reason, digest, max_rel_err, code_hash, samples)"
		" VALUES (?,?,?,?,?,?,?,?)";
	const struct assay_pair_side *side = &p->side[which];
	unsigned char *blob = NULL;
	struct assay_binder b;
	sqlite3_stmt *st;
	size_t len = 0;
	int rc;

	rc = assay_store_prepare(s, sql, &st, err);
	if (!rc && p->n_blocks)
		rc = assay_sample_blob_encode(side->samples, 2 * p->n_blocks, &blob, &len, err);
	if (rc)
		return rc;
	b = assay_store_bind(st);
	assay_store_bind_int(&b, pair);
	assay_store_bind_text(&b, assay_store_side_names[which]);
	assay_store_bind_text(&b, assay_status_name(side->status));
	assay_store_bind_text(&b, side->reason);
	assay_store_bind_text(&b, side->digest);
	if (isfinite(side->max_rel_err) && side->max_rel_err >= 0)
		assay_store_bind_real(&b, side->max_rel_err);
	else
		assay_store_bind_null(&b);
	assay_store_bind_text(&b, side->code_hash);
	assay_store_bind_blob(&b, blob, len);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "side", assay_store_side_names[which]);
	free(blob);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int assay_store_pair_add(struct assay_store *s, int64_t case_id, const struct assay_pair *p, struct assay_err *err)
{
	int64_t pair = 0, side = 0;
	int rc;

	rc = check_pair(p, err);
	if (!rc)
		rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = insert_pair(s, case_id, p, &pair, err);
	for (unsigned i = 0; i < 2 && !rc; i++) {
		rc = insert_side(s, pair, p, i, &side, err);
		if (!rc)
			rc = assay_store_put_metrics(s, ASSAY_STORE_PAIR_SIDE, side, p->side[i].metrics,
						     p->side[i].n_metrics, err);
		if (!rc)
			rc = assay_store_put_counters(s, ASSAY_STORE_PAIR_SIDE, side, &p->side[i].counters, err);
	}
	return assay_store_finish(s, rc, err);
}

int assay_store_comparison_end(struct assay_store *s, int64_t id, uint64_t ended_ns, const char *verdict, int exit_code,
			       struct assay_err *err)
{
	static const char sql[] =
		"UPDATE comparison SET ended_ns = ?, verdict = ?, exit_code = ? WHERE id = ? AND ended_ns IS NULL";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_size(&b, ended_ns);
	assay_store_bind_text(&b, verdict);
	assay_store_bind_int(&b, exit_code);
	assay_store_bind_int(&b, id);
	rc = assay_store_step_once(&b);
	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot end comparison %lld", (long long)id);
	if (!sqlite3_changes(s->db))
		return assay_err_set(err, ASSAY_ENOTFOUND, "no open comparison %lld in '%.200s'", (long long)id,
				     s->path);
	return 0;
}
