/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that belongs to a run goes with it, by the references of the schema. */
#include "store/merge.h"

#include <string.h>

#include "store/columns.h"

static int ask(struct assay_store *s, const char *sql, int64_t number, int64_t *out, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, strchr(sql, '?') ? "i" : "", number);

	return assay_store_read_number(s, &b, "the size of the database", out, err);
}

static int file_bytes(struct assay_store *s, uint64_t *out, struct assay_err *err)
{
	int64_t n = 0;
	int rc = ask(s, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", 0, &n, err);

	*out = (uint64_t)n;
	return rc;
}

/* Run @sql with @number, and add to *n how many rows it changed. */
static int change(struct assay_store *s, const char *sql, int64_t number, size_t *n, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, strchr(sql, '?') ? "i" : "", number);
	const int rc = assay_store_step_once(&b);

	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return assay_err_set(err, ASSAY_ESTORE,
				     "cannot remove run %lld: a baseline holds it; 'assay baseline list' names it",
				     (long long)number);
	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot prune");
	if (n)
		*n += (size_t)sqlite3_changes(s->db);
	return 0;
}

#define UNFINISHED "comparison WHERE ended_ns IS NULL AND started_ns < ?"

/* Inside a transaction. */
static int count(struct assay_store *s, const struct assay_store_prune_rule *rule, struct assay_store_pruned *out,
		 struct assay_err *err)
{
	int64_t v = 0;
	int rc = ask(s, "SELECT count(*) FROM " UNFINISHED, (int64_t)rule->older_ns, &v, err);

	out->comparisons = (size_t)v;
	out->runs = rule->n;
	for (size_t i = 0; i < rule->n && !rc; i++) {
		rc = ask(s, "SELECT count(*) FROM result WHERE run = ?", rule->ids[i], &v, err);
		out->results += (size_t)v;
	}
	return rc ? rc : file_bytes(s, &out->before_bytes, err);
}

/* Inside a transaction. Cases and names of numbers stay: they are small, and others may come to refer to them. */
static int remove_all(struct assay_store *s, const struct assay_store_prune_rule *rule, struct assay_err *err)
{
	static const char *const unused[] = {
		"DELETE FROM series WHERE NOT EXISTS (SELECT 1 FROM result WHERE series = series.id)",
		"DELETE FROM build WHERE NOT EXISTS (SELECT 1 FROM run WHERE build = build.id)"
		" AND NOT EXISTS (SELECT 1 FROM comparison WHERE base_build = build.id)"
		" AND NOT EXISTS (SELECT 1 FROM comparison WHERE head_build = build.id)"
		" AND NOT EXISTS (SELECT 1 FROM exact_run WHERE build = build.id)"
		" AND NOT EXISTS (SELECT 1 FROM profile WHERE build = build.id)",
	};
	int rc = change(s, "DELETE FROM " UNFINISHED, (int64_t)rule->older_ns, NULL, err);

	for (size_t i = 0; i < rule->n && !rc; i++)
		rc = change(s, "DELETE FROM run WHERE id = ?", rule->ids[i], NULL, err);
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]) && !rc; i++)
		rc = change(s, unused[i], 0, NULL, err);
	return rc;
}

/* The share of the results that stay, of what the file has. */
static int estimate(struct assay_store *s, struct assay_store_pruned *out, struct assay_err *err)
{
	int64_t all = 0;
	int rc = ask(s, "SELECT count(*) FROM result", 0, &all, err);

	out->after_bytes = out->before_bytes;
	if (!rc && all > 0)
		out->after_bytes -= (uint64_t)((double)out->before_bytes * (double)out->results / (double)all);
	return rc;
}

static int shrink(struct assay_store *s, struct assay_store_pruned *out, struct assay_err *err)
{
	int rc = sqlite3_exec(s->db, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);

	if (rc != SQLITE_OK)
		return assay_store_fail(s, rc, err, "removed %zu runs, but cannot make the file smaller", out->runs);
	return file_bytes(s, &out->after_bytes, err);
}

int assay_store_prune(struct assay_store *s, const struct assay_store_prune_rule *asked, struct assay_store_pruned *out,
		      struct assay_err *err)
{
	struct assay_store_prune_rule rule = *asked;
	int rc = rule.dry ? assay_store_begin_read(s, err) : assay_store_begin(s, err);

	/* dates go further than the times that can be stored */
	rule.older_ns = rule.older_ns < INT64_MAX ? rule.older_ns : INT64_MAX;
	*out = (struct assay_store_pruned){ 0 };
	if (rc)
		return rc;
	rc = count(s, &rule, out, err);
	if (!rc)
		rc = rule.dry ? estimate(s, out, err) : remove_all(s, &rule, err);
	rc = assay_store_finish(s, rc, err);
	if (!rc && !rule.dry)
		rc = shrink(s, out, err);
	return rc;
}
