/* SPDX-License-Identifier: Apache-2.0 */
/* Adding comparisons, their cases and pairs. A pair is one transaction: a kill loses at most the one in flight. */
#include "store/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/blobs.h"
#include "store/db.h"
#include "store/rows.h"

static int insert_case(struct assay_store *s, int64_t comparison_id, int64_t bench_case,
		       const struct assay_comparison_case *c, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(
		s, err, "INSERT INTO comparison_case (comparison, bench_case, {}, {}, {}) VALUES (?, ?, {?}, {?}, {?})",
		NULL, "iiccc", comparison_id, (int64_t)bench_case, &assay_store_limit_columns, &c->c,
		&assay_store_control_columns, c, &assay_store_presence_columns, c);
	int rc = assay_store_step_once(&b);

	if (rc == SQLITE_CONSTRAINT_UNIQUE)
		return assay_err_set(err, ASSAY_ESTORE, "comparison %lld already has the case '%.255s'",
				     (long long)comparison_id, c->c.key);
	return assay_store_done(s, rc, err, "case", c->c.key);
}

/* Inside a transaction. */
static int put_comparison(struct assay_store *s, const struct assay_comparison *cmp, int64_t *id, struct assay_err *err)
{
	struct assay_binder b;
	int rc = assay_store_put_machine(s, &cmp->machine, err);

	for (unsigned i = 0; i < 2 && !rc; i++)
		rc = assay_store_put_build(s, &cmp->build[i], err);
	if (!rc)
		b = assay_store_ask(s, err, "INSERT INTO comparison ({}) VALUES ({?})", NULL, "c",
				    &assay_store_comparison_columns, cmp);
	if (!rc)
		rc = assay_store_done(s, assay_store_step_once(&b), err, "comparison with", cmp->base);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

/* Inside a transaction. */
static int put_case(struct assay_store *s, int64_t comparison_id, const struct assay_comparison_case *c, int64_t *id,
		    struct assay_err *err)
{
	const struct assay_store_case *stored;
	int rc;

	if (!isfinite(c->injected_frac))
		return assay_err_set(err, ASSAY_ELIMIT,
				     "cannot store '%.255s': injected_frac is %g, not a finite number", c->c.key,
				     c->injected_frac);
	rc = assay_store_put_case(s, &c->c, &stored, err);
	if (!rc)
		rc = insert_case(s, comparison_id, stored->id, c, err);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

int assay_store_comparison_begin_with(struct assay_store *s, struct assay_comparison *cmp, int64_t *case_ids,
				      struct assay_err *err)
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
	rc = put_comparison(s, cmp, &id, err);
	for (size_t i = 0; i < cmp->n_cases && case_ids && !rc; i++)
		rc = put_case(s, id, &cmp->cases[i], &case_ids[i], err);
	rc = assay_store_finish(s, rc, err);
	if (!rc)
		cmp->id = id;
	return rc;
}

int assay_store_comparison_begin(struct assay_store *s, struct assay_comparison *cmp, struct assay_err *err)
{
	return assay_store_comparison_begin_with(s, cmp, NULL, err);
}

int assay_store_comparison_case_update(struct assay_store *s, int64_t case_id, const struct assay_comparison_case *c,
				       struct assay_err *err)
{
	static const char sql[] =
		"UPDATE comparison_case SET {=?} WHERE id = ?"
		" AND EXISTS (SELECT 1 FROM comparison WHERE id = comparison_case.comparison AND ended_ns IS NULL)";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "ci", &assay_store_presence_columns, c, case_id);
	int rc = assay_store_done(s, assay_store_step_once(&b), err, "case", c->c.key);

	if (!rc && !sqlite3_changes(s->db))
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no case %lld of an open comparison in '%.200s'",
				   (long long)case_id, s->path);
	return rc;
}

/* Numbers that are none, and samples that are missing or too many, get a message that names them. */
static int check_pair(const struct assay_pair *p, struct assay_err *err)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct assay_result *side = &p->side[i];
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
		if (assay_store_not_finite(side, what, sizeof(what)))
			return assay_err_set(err, ASSAY_ELIMIT,
					     "cannot store a pair: %s on the side of %s, not a finite number", what,
					     name);
	}
	return 0;
}

int assay_store_comparison_is_open(struct assay_store *s, const char *sql, int64_t id, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "i", id);
	int64_t ended = 0;
	int rc = assay_store_read_number(s, &b, "'comparison'", &ended, err);

	return !rc && ended
		       ? assay_err_set(err, ASSAY_ESTORE, "cannot add to '%.200s': the comparison has ended", s->path)
		       : rc;
}

static int insert_pair(struct assay_store *s, int64_t case_id, const struct assay_pair *p, int64_t *id,
		       struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, "INSERT INTO pair (comparison_case, {}) VALUES (?, {?})", NULL,
						"ic", case_id, &assay_store_pair_columns, p);
	int rc = assay_store_step_once(&b);

	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return assay_err_set(err, ASSAY_ENOTFOUND, "no case %lld of a comparison in '%.200s'",
				     (long long)case_id, s->path);
	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot store a pair of case %lld", (long long)case_id);
	*id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

static int insert_side(struct assay_store *s, int64_t pair, const struct assay_pair *p, unsigned which,
		       struct assay_err *err)
{
	const struct assay_result *side = &p->side[which];
	unsigned char *blob = NULL;
	struct assay_binder b;
	size_t len = 0;
	int rc = p->n_blocks ? assay_sample_blob_encode(side->samples, 2 * p->n_blocks, &blob, &len, err) : 0;

	if (rc)
		return rc;
	b = assay_store_ask(s, err, "INSERT INTO pair_side (pair, side, {}, samples) VALUES (?, ?, {?}, ?)", NULL,
			    "itcb", pair, assay_store_side_names[which], &assay_store_side_columns, side, blob, len);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "side", assay_store_side_names[which]);
	free(blob);
	return rc;
}

int assay_store_pair_add(struct assay_store *s, int64_t case_id, const struct assay_pair *p, struct assay_err *err)
{
	static const char of_case[] = "SELECT c.ended_ns IS NOT NULL FROM comparison_case k JOIN comparison c ON"
				      " c.id = k.comparison WHERE k.id = ?";
	int64_t pair = 0;
	int rc = check_pair(p, err);

	if (!rc)
		rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	rc = assay_store_comparison_is_open(s, of_case, case_id, err);
	if (!rc)
		rc = insert_pair(s, case_id, p, &pair, err);
	for (unsigned i = 0; i < 2 && !rc; i++) {
		rc = insert_side(s, pair, p, i, err);
		if (!rc)
			rc = assay_store_put_numbers(s, sqlite3_last_insert_rowid(s->db), &p->side[i], err);
	}
	return assay_store_finish(s, rc, err);
}

int assay_store_comparison_end(struct assay_store *s, int64_t id, uint64_t ended_ns, const char *verdict, int exit_code,
			       struct assay_err *err)
{
	static const char sql[] =
		"UPDATE comparison SET ended_ns = ?, verdict = ?, exit_code = ? WHERE id = ? AND ended_ns IS NULL";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "stii", ended_ns, verdict, (int64_t)exit_code, id);
	int rc = assay_store_step_once(&b);

	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot end comparison %lld", (long long)id);
	if (!sqlite3_changes(s->db))
		return assay_err_set(err, ASSAY_ENOTFOUND, "no open comparison %lld in '%.200s'", (long long)id,
				     s->path);
	return 0;
}

/* ---- change ---- */

/* The verdicts of comparisons on the changes of histories. */

static const struct assay_column change_list[] = {
	ASSAY_COLUMN(struct assay_change_answer, from_commit, "from_commit"),
	ASSAY_COLUMN(struct assay_change_answer, to_commit, "to_commit"),
	ASSAY_COLUMN(struct assay_change_answer, slower, "slower"),
	ASSAY_COLUMN(struct assay_change_answer, confirmed, "confirmed"),
	ASSAY_COLUMN(struct assay_change_answer, decided, "decided"),
	ASSAY_COLUMN(struct assay_change_answer, reason, "reason"),
	ASSAY_COLUMN(struct assay_change_answer, budget_ns, "budget_ns"),
	ASSAY_COLUMN(struct assay_change_answer, asked_ns, "asked_ns"),
	ASSAY_COLUMN_NULL(struct assay_change_answer, comparison_id, "comparison"),
};
static const struct assay_columns change_columns = ASSAY_COLUMNS(change_list);
static const struct assay_columns *const change_lists[] = { &change_columns };

int assay_store_change_put(struct assay_store *s, const char *key, const char *machine_id,
			   const struct assay_change_answer *a, struct assay_err *err)
{
	struct assay_binder b =
		assay_store_ask(s, err,
				"INSERT OR REPLACE INTO change_answer (bench_case, machine, {}) SELECT c.id, m.id, {?}"
				" FROM bench_case c, machine m WHERE c.key = ? AND m.id = ?",
				change_lists, "ctt", &change_columns, a, key, machine_id);
	int rc = assay_store_step_once(&b);

	return rc == SQLITE_DONE ? 0 : assay_store_fail(s, rc, err, "cannot keep what was said of a change");
}

#define CHANGES(what) "SELECT " what "{a} FROM change_answer a JOIN bench_case c ON c.id = a.bench_case"

int assay_store_change_find(struct assay_store *s, const char *key, const char *machine_id,
			    struct assay_change_answer *a, bool *found, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(
		s, err,
		CHANGES("") " WHERE c.key = ? AND a.machine = ? AND a.from_commit = ? AND "
			    "a.to_commit = ? AND a.slower = ?",
		change_lists, "tttti", key, machine_id, a->from_commit, a->to_commit, (int64_t)a->slower);
	struct assay_row row = { 0 };
	int rc = 0;

	*found = false;
	while (assay_store_next(s, &b, &row, "'change_answer'", &rc, err)) {
		*found = true;
		assay_store_row_columns(&row, &change_columns, a);
	}
	return rc;
}

static const struct assay_column asked_list[] = {
	ASSAY_COLUMN(struct assay_stored_change, key, "c.key"),
	ASSAY_COLUMN(struct assay_stored_change, machine_id, "a.machine"),
};
static const struct assay_columns asked_columns = ASSAY_COLUMNS(asked_list);

static void read_answer(struct assay_row *row, void *element)
{
	assay_store_row_columns(row, &change_columns, &((struct assay_stored_change *)element)->answer);
}

int assay_store_changes(struct assay_store *s, struct assay_stored_change **out, size_t *n, struct assay_err *err)
{
	static const struct assay_store_rows rows = { "'change_answer'", sizeof(**out), &asked_columns, read_answer };
	struct assay_binder b =
		assay_store_ask(s, err, CHANGES("{}, "), ASSAY_LISTS(&asked_columns, &change_columns), "");

	return assay_store_collect(s, &b, &rows, out, n, err);
}
