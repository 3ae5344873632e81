/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/exchange/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

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
	assay_database_count_add(out, "profiles_added", m->profiles);
	assay_database_count_add(out, "baselines_added", m->baselines);
	assay_database_count_add(out, "completed", m->completed);
	assay_database_count_add(out, "known", m->known);
	out->notes = m->notes;
	m->notes = (struct assay_strings){ 0 };
	assay_store_merged_release(m);
}

static int merge_file(struct assay_store *to, const char *path, struct assay_store_merged *m, struct assay_err *err)
{
	struct assay_store *from = NULL;
	int rc = assay_store_open(&from, path, ASSAY_STORE_READ, err);
	if (!rc)
		rc = assay_store_merge(to, from, m, err);
	assay_store_close(from);
	return rc;
}

int assay_database_merge(const char *db, const struct assay_strings *others, const struct assay_watch *w,
			 struct assay_database_report *out, struct assay_err *err)
{
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
	assay_store_interrupted_by(w->interrupted);
	if (!rc)
		rc = assay_store_open(&to, db, ASSAY_STORE_WRITE, err);
	tell_begun(w);
	for (size_t i = 0; i < others->n && !rc; i++) {
		tell_share(w, (double)i / (double)others->n, others->v[i]);
		rc = merge_file(to, others->v[i], &m, err);
		if (!rc && i + 1 < others->n)
			rc = assay_watch_check(w, err);
	}
	tell_done(w);
	assay_store_close(to);
	report_merged(out, &m);
	return rc;
}
