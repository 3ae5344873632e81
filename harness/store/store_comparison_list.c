/* SPDX-License-Identifier: Apache-2.0 */
/* The list of comparisons: what each was about and what came of it, without its pairs. */
#include "store/store_comparison.h"

#include "store/store_rows.h"

static void read_info(struct assay_row *row, void *element)
{
	struct assay_comparison_info *i = element;

	i->id = assay_store_row_int(row);
	assay_store_row_text(row, i->base, sizeof(i->base));
	assay_store_row_text(row, i->head, sizeof(i->head));
	assay_store_row_text(row, i->suite, sizeof(i->suite));
	i->seed = (uint64_t)assay_store_row_int(row);
	i->started_ns = (uint64_t)assay_store_row_int(row);
	i->ended_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_text(row, i->machine_id, sizeof(i->machine_id));
	assay_store_row_text(row, i->machine_label, sizeof(i->machine_label));
	assay_store_row_text(row, i->verdict, sizeof(i->verdict));
	i->exit_code = (int)assay_store_row_int(row);
	if (!i->verdict[0])
		i->exit_code = -1;
	i->n_cases = (size_t)assay_store_row_int(row);
	i->n_controls = (size_t)assay_store_row_int(row);
	i->n_pairs = (size_t)assay_store_row_int(row);
	i->n_counted = (size_t)assay_store_row_int(row);
}

int assay_store_comparisons(struct assay_store *s, const char *machine_id, size_t limit,
			    struct assay_comparison_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT k.id, k.base, k.head, k.suite, k.seed, k.started_ns, k.ended_ns, m.id, m.label,"
		" k.verdict, k.exit_code,"
		" (SELECT count(*) FROM comparison_case WHERE comparison = k.id AND control = 'none'),"
		" (SELECT count(*) FROM comparison_case WHERE comparison = k.id AND control <> 'none'),"
		" (SELECT count(*) FROM comparison_case c JOIN pair p ON p.comparison_case = c.id"
		"  WHERE c.comparison = k.id),"
		" (SELECT count(*) FROM exact_run e JOIN exact_case c ON c.exact_run = e.id"
		"  WHERE e.comparison = k.id AND e.side = 'head' AND c.status = 'ok')"
		" FROM comparison k JOIN machine m ON m.id = k.machine"
		" WHERE ?1 IS NULL OR k.machine = ?1 ORDER BY k.id DESC LIMIT ?2";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, machine_id);
	assay_store_bind_int(&b, limit && limit <= INT64_MAX ? (int64_t)limit : -1);
	return assay_store_collect(s, &b, "the list of comparisons", sizeof(**out), read_info, out, n, err);
}
