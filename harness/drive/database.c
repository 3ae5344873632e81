/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/temporary.h"
#include "drive/database_lines.h"
#include "store/store_prune.h"

#define SLOW_NS 3e9 /* what is expected of something that nobody can tell */

static void tell_begun(const struct assay_watch *w)
{
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = SLOW_NS });
}

static void tell_share(const struct assay_watch *w, double done_frac, const char *text)
{
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE, .done_frac = done_frac, .text = text });
}

static void tell_done(const struct assay_watch *w)
{
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
}

/* ---- merge ------------------------------------------------------------------------------------------------------ */

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void report_merged(struct assay_database_report *out, struct assay_store_merged *m)
{
	assay_database_count_add(out, "runs_added", m->runs);
	assay_database_count_add(out, "results_added", m->results);
	assay_database_count_add(out, "comparisons_added", m->comparisons);
	assay_database_count_add(out, "counts_added", m->counts);
	assay_database_count_add(out, "certifications_added", m->certifications);
	assay_database_count_add(out, "profiles_added", m->profiles);
	assay_database_count_add(out, "baselines_added", m->baselines);
	assay_database_count_add(out, "completed", m->completed);
	assay_database_count_add(out, "known", m->known);
	out->notes = m->notes;
	m->notes = (struct assay_strings){ 0 };
	assay_store_merged_release(m);
}

/* @path into @to, which @select says of what. */
static int merge_file(struct assay_store *to, const char *path, const struct assay_store_selection *select,
		      struct assay_store_merged *m, struct assay_err *err)
{
	struct assay_temporary folder = { .path = "" };
	struct assay_store *from = NULL;
	int rc = assay_temporary_make(&folder, "db", err);

	if (rc)
		return rc;
	rc = assay_store_open_unchanged(&from, path, folder.path, err);
	if (!rc)
		rc = assay_store_merge(to, from, select, m, err);
	assay_store_close(from);
	assay_temporary_remove(&folder);
	return rc;
}

int assay_database_merge(const char *db, const struct assay_strings *others, const struct assay_watch *w,
			 struct assay_database_report *out, struct assay_err *err)
{
	const struct assay_store_selection all = { .run = 0 };
	struct assay_store_merged m = { 0 };
	struct assay_store *to = NULL;
	int rc = 0;

	*out = (struct assay_database_report){ .action = "merge", .db = db };
	for (size_t i = 0; i < others->n && !rc; i++) {
		if (is_same_file(db, others->v[i]))
			rc = assay_err_set(err, ASSAY_EUSAGE, "'%s' is the database itself: name another to merge",
					   others->v[i]);
		else if (!assay_file_exists(others->v[i]))
			rc = assay_err_set(err, ASSAY_ENOTFOUND, "no database '%s' to merge", others->v[i]);
	}
	if (!rc)
		rc = assay_store_open(&to, db, ASSAY_STORE_WRITE, err);
	tell_begun(w);
	for (size_t i = 0; i < others->n && !rc; i++) {
		tell_share(w, (double)i / (double)others->n, others->v[i]);
		rc = merge_file(to, others->v[i], &all, &m, err);
		if (!rc && i + 1 < others->n)
			rc = assay_watch_check(w, err);
	}
	tell_done(w);
	assay_store_close(to);
	report_merged(out, &m);
	return rc;
}

/* ---- check ------------------------------------------------------------------------------------------------------ */

static int on_progress(void *arg, double done_frac, struct assay_err *err)
{
	const struct assay_watch *w = arg;

	tell_share(w, done_frac, "checking");
	return assay_watch_check(w, err);
}

int assay_database_check(const char *db, const struct assay_watch *w, struct assay_database_report *out,
			 struct assay_err *err)
{
	struct assay_watch copy = *w;
	struct assay_store_checked c = { 0 };
	struct assay_store *s = NULL;
	int rc = assay_store_open(&s, db, ASSAY_STORE_READ, err);

	*out = (struct assay_database_report){ .action = "check", .db = db };
	if (rc)
		return rc;
	tell_begun(w);
	rc = assay_store_check(s, on_progress, &copy, &c, err);
	tell_done(w);
	assay_store_close(s);
	assay_database_count_add(out, "runs", c.runs);
	assay_database_count_add(out, "results", c.results);
	assay_database_count_add(out, "comparisons", c.comparisons);
	assay_database_count_add(out, "counts", c.counts);
	assay_database_count_add(out, "profiles", c.profiles);
	assay_database_count_add(out, "faults", c.faults.n);
	out->faults = c.faults;
	c.faults = (struct assay_strings){ 0 };
	assay_store_checked_release(&c);
	return rc;
}

/* ---- export and import ------------------------------------------------------------------------------------------ */

/* A database in @folder with what @select says of @from; the caller closes it. */
static int select_into(const char *folder, struct assay_store *from, const struct assay_store_selection *select,
		       struct assay_store **out, struct assay_err *err)
{
	char path[sizeof(((struct assay_temporary *)0)->path) + 16];
	struct assay_store_merged m = { 0 };
	int rc;

	snprintf(path, sizeof(path), "%s/part.db", folder);
	rc = assay_store_open(out, path, ASSAY_STORE_WRITE, err);
	if (!rc)
		rc = assay_store_merge(*out, from, select, &m, err);
	if (!rc && select->run && !m.runs)
		rc = assay_err_set(err, ASSAY_EUSAGE, "no run %lld is stored", (long long)select->run);
	else if (!rc && !m.runs && !m.comparisons && !m.counts)
		rc = assay_err_set(err, ASSAY_EUSAGE, "nothing that is stored was selected");
	else if (!rc && select->cases && !m.results)
		rc = assay_err_set(err, ASSAY_EUSAGE, "no stored case matches '%.200s'", select->cases);
	assay_store_merged_release(&m);
	return rc;
}

static int newest_run(struct assay_store *s, const char *db, int64_t *id, struct assay_err *err)
{
	struct assay_run_info *runs = NULL;
	size_t n = 0;
	int rc = assay_store_runs(s, NULL, 1, &runs, &n, err);

	if (!rc && !n)
		rc = assay_err_set(err, ASSAY_EUSAGE, "no run is stored in '%s'", db);
	if (!rc)
		*id = runs[0].id;
	free(runs);
	return rc;
}

/* Write what @select says of @s, unless that is all, by way of a database of its own. */
static int export_part(struct assay_store *s, const char *path, const struct assay_store_selection *select,
		       const struct assay_watch *w, size_t *rows, struct assay_err *err)
{
	struct assay_temporary folder = { .path = "" };
	struct assay_store *part = NULL;
	int rc;

	if (!select->run && !select->cases && !select->since_ns)
		return assay_database_write(s, path, w, rows, err);
	rc = assay_temporary_make(&folder, "db", err);
	if (rc)
		return rc;
	rc = select_into(folder.path, s, select, &part, err);
	if (!rc)
		rc = assay_database_write(part, path, w, rows, err);
	assay_store_close(part);
	assay_temporary_remove(&folder);
	return rc;
}

int assay_database_export(const struct assay_export_request *q, const struct assay_watch *w,
			  struct assay_database_report *out, struct assay_err *err)
{
	struct assay_store_selection select = q->select;
	struct assay_store *s = NULL;
	size_t rows = 0;
	int rc = assay_store_open(&s, q->db, ASSAY_STORE_READ, err);

	*out = (struct assay_database_report){ .action = "export", .db = q->db };
	if (!rc && q->newest)
		rc = newest_run(s, q->db, &select.run, err);
	if (!rc) {
		tell_begun(w);
		rc = export_part(s, q->path, &select, w, &rows, err);
		tell_done(w);
	}
	assay_store_close(s);
	assay_database_count_add(out, "rows", rows);
	return rc;
}

int assay_database_import(const char *db, const char *path, const struct assay_watch *w,
			  struct assay_database_report *out, struct assay_err *err)
{
	const struct assay_store_selection all = { .run = 0 };
	struct assay_temporary folder = { .path = "" };
	char part[sizeof(folder.path) + 16];
	struct assay_store_merged m = { 0 };
	struct assay_store *to = NULL;
	size_t rows = 0;
	int rc = assay_temporary_make(&folder, "db", err);

	*out = (struct assay_database_report){ .action = "import", .db = db };
	if (rc)
		return rc;
	snprintf(part, sizeof(part), "%s/part.db", folder.path);
	tell_begun(w);
	rc = assay_database_read(path, part, w, &rows, err);
	if (!rc)
		rc = assay_store_open(&to, db, ASSAY_STORE_WRITE, err);
	if (!rc)
		rc = merge_file(to, part, &all, &m, err);
	tell_done(w);
	assay_store_close(to);
	assay_temporary_remove(&folder);
	report_merged(out, &m);
	assay_database_count_add(out, "rows_read", rows);
	return rc;
}
