/* SPDX-License-Identifier: Apache-2.0 */
/* Named baselines: sets of finished runs of one suite on one machine. */
#include "store/db.h"
#include "store/rows.h"

#include <stdlib.h>
#include <string.h>

/* The machine and suite that a run or a baseline is bound to. */
struct binding {
	int64_t id;
	char suite[ASSAY_NAME_MAX];
	char machine_id[ASSAY_DIGEST_LEN + 1];
	char machine_label[128];
	bool finished; /* runs only */
};

/* The one row of a statement that is bound: id, suite, machine id and label, finished. ASSAY_ENOTFOUND without a
 * message. */
static int read_binding(struct assay_store *s, struct assay_binder *b, struct binding *out, struct assay_err *err)
{
	struct assay_row row = assay_store_row(b->st);
	int rc = assay_store_step(b);

	if (rc == SQLITE_ROW) {
		out->id = assay_store_row_int(&row);
		assay_store_row_text(&row, out->suite, sizeof(out->suite));
		assay_store_row_text(&row, out->machine_id, sizeof(out->machine_id));
		assay_store_row_text(&row, out->machine_label, sizeof(out->machine_label));
		out->finished = assay_store_row_bool(&row);
	}
	sqlite3_reset(b->st);
	if (rc == SQLITE_DONE)
		return ASSAY_ENOTFOUND;
	return rc == SQLITE_ROW ? 0 : assay_store_fail(s, rc, err, "cannot read baselines");
}

static int find_run(struct assay_store *s, int64_t id, struct binding *out, struct assay_err *err)
{
	static const char sql[] = "SELECT run.id, run.suite, m.id, m.label, run.ended_ns IS NOT NULL"
				  " FROM run JOIN machine m ON m.id = run.machine WHERE run.id = ?";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "i", id);
	int rc = read_binding(s, &b, out, err);

	if (rc == ASSAY_ENOTFOUND)
		return assay_store_no_number(s, "run", id, err);
	if (!rc && !out->finished)
		return assay_err_set(err, ASSAY_EUSAGE, "run %lld did not finish and cannot be a baseline",
				     (long long)id);
	return rc;
}

static int put_baseline(struct assay_store *s, const char *name, const struct binding *run, uint64_t now_ns,
			struct assay_err *err)
{
	static const char sql[] = "INSERT INTO baseline (name, suite, machine, saved_ns) VALUES (?, ?, ?, ?)"
				  " ON CONFLICT (name) DO UPDATE SET saved_ns = excluded.saved_ns";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "ttts", name, run->suite, run->machine_id, now_ns);
	int rc = assay_store_step_once(&b);

	return rc == SQLITE_DONE ? 0 : assay_store_fail(s, rc, err, "cannot save baseline '%.100s'", name);
}

static int find_baseline(struct assay_store *s, const char *name, struct binding *out, struct assay_err *err)
{
	static const char sql[] = "SELECT b.id, b.suite, m.id, m.label, 1"
				  " FROM baseline b JOIN machine m ON m.id = b.machine WHERE b.name = ?";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "t", name);

	return read_binding(s, &b, out, err);
}

static int same_binding(const char *name, const struct binding *base, const struct binding *run, struct assay_err *err)
{
	if (strcmp(base->machine_id, run->machine_id) != 0)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "baseline '%.64s' is of another machine (%s), run %lld is of %s; use another name",
				     name, base->machine_label, (long long)run->id, run->machine_label);
	if (strcmp(base->suite, run->suite) != 0)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "baseline '%.64s' is of suite '%s', run %lld is of '%s'; use another name", name,
				     base->suite, (long long)run->id, run->suite);
	return 0;
}

static int save(struct assay_store *s, const char *name, int64_t run_id, uint64_t now_ns, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO baseline_run (baseline, run) VALUES (?, ?) ON CONFLICT DO NOTHING";
	struct binding run, base;
	struct assay_binder b;
	int rc = find_run(s, run_id, &run, err);

	if (rc)
		return rc;
	rc = find_baseline(s, name, &base, err);
	if (!rc)
		rc = same_binding(name, &base, &run, err);
	if (!rc || rc == ASSAY_ENOTFOUND)
		rc = put_baseline(s, name, &run, now_ns, err);
	if (!rc)
		rc = find_baseline(s, name, &base, err);
	if (rc)
		return rc;
	b = assay_store_ask(s, err, sql, NULL, "ii", base.id, run_id);
	rc = assay_store_step_once(&b);
	return rc == SQLITE_DONE ? 0 : assay_store_fail(s, rc, err, "cannot save baseline '%.100s'", name);
}

int assay_store_baseline_save(struct assay_store *s, const char *name, int64_t run_id, uint64_t now_ns,
			      struct assay_err *err)
{
	size_t len = strlen(name);
	int rc;

	if (!len || len >= ASSAY_NAME_MAX)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad name of a baseline '%.80s': 1 to %d characters are allowed", name,
				     ASSAY_NAME_MAX - 1);
	rc = assay_store_begin(s, err);
	if (rc)
		return rc;
	return assay_store_finish(s, save(s, name, run_id, now_ns, err), err);
}

/* A row is one run of one baseline; those of one baseline follow each other. */
static int add_row(struct assay_row *row, struct assay_baseline_info **v, size_t *n, struct assay_err *err)
{
	char name[ASSAY_NAME_MAX];
	struct assay_baseline_info *b;
	int rc;

	assay_store_row_text(row, name, sizeof(name));
	if (!*n || strcmp((*v)[*n - 1].name, name) != 0) {
		rc = assay_store_grow(v, *n, sizeof(**v), err);
		if (rc)
			return rc;
		b = &(*v)[(*n)++];
		memset(b, 0, sizeof(*b));
		memcpy(b->name, name, sizeof(name));
	}
	b = &(*v)[*n - 1];
	assay_store_row_text(row, b->suite, sizeof(b->suite));
	assay_store_row_text(row, b->machine_id, sizeof(b->machine_id));
	assay_store_row_text(row, b->machine_label, sizeof(b->machine_label));
	b->saved_ns = (uint64_t)assay_store_row_int(row);
	rc = assay_store_grow(&b->runs, b->n_runs, sizeof(*b->runs), err);
	if (rc)
		return rc;
	b->runs[b->n_runs++] = assay_store_row_int(row);
	return 0;
}

int assay_store_baselines(struct assay_store *s, const char *suite, const char *machine_id,
			  struct assay_baseline_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT b.name, b.suite, m.id, m.label, b.saved_ns, r.run"
		" FROM baseline b JOIN machine m ON m.id = b.machine JOIN baseline_run r ON r.baseline = b.id"
		" WHERE (?1 IS NULL OR b.suite = ?1) AND (?2 IS NULL OR b.machine = ?2) ORDER BY b.name, r.run";
	struct assay_baseline_info *v = NULL;
	struct assay_row row = { 0 };
	size_t count = 0;
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "tt", suite, machine_id);
	int rc = 0;

	while (assay_store_next(s, &b, &row, "'baseline'", &rc, err))
		rc = add_row(&row, &v, &count, err);
	if (rc) {
		assay_baseline_infos_release(v, count);
		return rc;
	}
	*out = v;
	*n = count;
	return 0;
}

int assay_store_baseline_drop(struct assay_store *s, const char *name, struct assay_err *err)
{
	static const char sql[] = "DELETE FROM baseline WHERE name = ?";
	struct assay_binder b = assay_store_ask(s, err, sql, NULL, "t", name);
	int rc = assay_store_step_once(&b);

	if (rc != SQLITE_DONE)
		return assay_store_fail(s, rc, err, "cannot drop baseline '%.100s'", name);
	if (!sqlite3_changes(s->db))
		return assay_err_set(err, ASSAY_ENOTFOUND, "no baseline '%.64s' in '%.200s'", name, s->path);
	return 0;
}
