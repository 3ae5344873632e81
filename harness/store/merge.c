/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole things are merged: a run, a comparison, counts that stand alone, a certification, a profile, a baseline. Each
 * is known by when it began, what of, where and of which build. Two that agree in that are one where one of them holds
 * all that the other does.
 */
#include "store/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "store/comparison.h"
#include "store/copy.h"
#include "store/exact.h"
#include "store/profile.h"
#include "store/rows.h"
#include "store/store.h"

/* ---- merge kinds ---- */

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

struct merging {
	struct assay_store *to, *from;
	struct assay_store_copier *copier;
	struct assay_store_merged *m;
	struct assay_err *err;
};

void assay_store_merged_release(struct assay_store_merged *m)
{
	assay_strings_release(&m->notes);
	*m = (struct assay_store_merged){ 0 };
}

static int note(struct merging *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int note(struct merging *g, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return assay_strings_add(&g->m->notes, text, g->err);
}

static void read_id(struct assay_row *row, void *element)
{
	*(int64_t *)element = assay_store_row_int(row);
}

/* Two numbers of row @id; the second may be missing. */
static int ask(struct assay_store *s, const char *sql, int64_t id, int64_t *first, int64_t *second,
	       struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_statement(s, sql, err);
	int rc = 0;

	assay_store_bind_int(&b, id);
	while (assay_store_next(s, &b, &row, "what is merged", &rc, err)) {
		*first = assay_store_row_int(&row);
		if (second)
			*second = assay_store_row_int(&row);
	}
	return rc;
}

/* The lines of row @id; each that stands in @known is counted in *common, and @all (unless NULL) gets them. */
static int read_lines(struct assay_store *s, const struct assay_merge_kind *k, int64_t id,
		      const struct assay_name_index *known, size_t *common, struct assay_name_index *all,
		      struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_statement(s, k->contents, err);
	size_t at, n = 0;
	int rc = 0;

	assay_store_bind_int(&b, id);
	while (assay_store_next(s, &b, &row, "what is merged", &rc, err)) {
		const char *text = (const char *)sqlite3_column_text(row.st, 0);

		if (!text)
			row.bad = true;
		else if (known && assay_name_index_find(known, text, &at))
			++*common;
		if (text && all)
			rc = assay_name_index_put(all, text, n++, &at, NULL, err);
	}
	return rc;
}

enum relation { OTHER, PART, WHOLE }; /* theirs is something else, in ours, or has ours in it */

static int relate(struct merging *g, const struct assay_merge_kind *k, int64_t theirs, int64_t ours, enum relation *out)
{
	struct assay_name_index here = { 0 }, there = { 0 };
	size_t common = 0;
	int rc = read_lines(g->to, k, ours, NULL, NULL, &here, g->err);

	if (!rc)
		rc = read_lines(g->from, k, theirs, NULL, NULL, &there, g->err);
	if (!rc)
		rc = read_lines(g->to, k, ours, &there, &common, NULL, g->err);
	*out = common == there.n ? PART : common == here.n ? WHOLE : OTHER;
	assay_name_index_release(&here);
	assay_name_index_release(&there);
	return rc;
}

/* Those of the other database that the row @id of this one may be. */
static int find_candidates(struct merging *g, const struct assay_merge_kind *k, int64_t id, int64_t **ids, size_t *n)
{
	struct assay_binder from = assay_store_statement(g->from, k->head, g->err);
	struct assay_binder b = assay_store_statement(g->to, k->same, g->err);
	int64_t began = 0;
	int step, rc = ask(g->from, k->began, id, &began, NULL, g->err);

	if (rc)
		return rc;
	assay_store_bind_int(&from, id);
	step = assay_store_step(&from);
	if (step != SQLITE_ROW)
		return assay_store_fail(g->from, step, g->err, "cannot read '%s'", k->tree->table);
	assay_store_bind_text(&b, (const char *)sqlite3_column_text(from.st, 0));
	sqlite3_reset(from.st);
	assay_store_bind_int(&b, began);
	return assay_store_collect(g->to, &b, "what is merged", sizeof(**ids), read_id, ids, n, g->err);
}

/* *at becomes the id of the same thing here, 0 where there is none; *less says that it is there in part. */
static int find_here(struct merging *g, const struct assay_merge_kind *k, int64_t id, int64_t *at, bool *less)
{
	int64_t *ids = NULL, ended = 1, held = 0, here_ended = 1, here_held = 0;
	enum relation relation = OTHER;
	size_t n = 0;
	int rc = find_candidates(g, k, id, &ids, &n);

	*at = 0;
	*less = false;
	if (!rc && n && k->finished)
		rc = ask(g->from, k->finished, id, &ended, &held, g->err);
	for (size_t i = 0; i < n && !rc && !*at; i++) {
		rc = relate(g, k, id, ids[i], &relation);
		if (!rc && k->finished)
			rc = ask(g->to, k->finished, ids[i], &here_ended, &here_held, g->err);
		if (rc)
			break;
		/* one of them may be a copy that was made while it was measured, or hold some cases only */
		*less = k->finished &&
			(relation == WHOLE || (!here_ended && (ended ? held >= here_held : held > here_held)));
		if (*less || relation == PART || (!ended && here_held >= held))
			*at = ids[i];
	}
	free(ids);
	return rc;
}

static int clear(struct merging *g, const struct assay_merge_kind *k, int64_t id)
{
	int rc = SQLITE_OK;

	for (const char *sql = k->clear, *rest = NULL; rc == SQLITE_OK && *sql; sql = rest) {
		sqlite3_stmt *st = NULL;

		rc = sqlite3_prepare_v2(g->to->db, sql, -1, &st, &rest);
		if (rc == SQLITE_OK)
			sqlite3_bind_int64(st, 1, id);
		if (rc == SQLITE_OK && sqlite3_step(st) != SQLITE_DONE)
			rc = sqlite3_extended_errcode(g->to->db);
		sqlite3_finalize(st);
	}
	return rc == SQLITE_OK ? 0 : assay_store_fail(g->to, rc, g->err, "cannot replace '%s'", k->tree->table);
}

/* The end of row @id is that of the other database's row @from, whose columns are those that take_end sets. */
static int take_end(struct merging *g, const struct assay_merge_kind *k, int64_t from, int64_t id)
{
	static const char run[] = "SELECT ended_ns FROM run WHERE id = ?";
	static const char comparison[] = "SELECT ended_ns, verdict, exit_code FROM comparison WHERE id = ?";
	struct assay_binder b =
		assay_store_statement(g->from, k->tree == &assay_store_run_tree ? run : comparison, g->err);
	struct assay_binder set = assay_store_statement(g->to, k->take_end, g->err);
	int step;

	assay_store_bind_int(&b, from);
	step = assay_store_step(&b);
	if (step != SQLITE_ROW)
		return assay_store_fail(g->from, step, g->err, "cannot read '%s'", k->tree->table);
	assay_store_bind_int(&set, id);
	for (int i = 0; i < sqlite3_column_count(b.st) && !set.rc; i++)
		set.rc = sqlite3_bind_value(set.st, ++set.column, sqlite3_column_value(b.st, i));
	sqlite3_reset(b.st);
	return assay_store_done(g->to, assay_store_step_once(&set), g->err, "the end of a", k->tree->table);
}

static size_t *added(struct assay_store_merged *m, const struct assay_merge_kind *k)
{
	size_t *const counts[ASSAY_N_MERGE] = {
		[ASSAY_MERGE_RUN] = &m->runs,         [ASSAY_MERGE_COMPARISON] = &m->comparisons,
		[ASSAY_MERGE_COUNTS] = &m->counts,    [ASSAY_MERGE_CERTIFICATION] = &m->certifications,
		[ASSAY_MERGE_PROFILE] = &m->profiles,
	};

	return counts[k - assay_merge_kinds];
}

static int merge_one(struct merging *g, const struct assay_merge_kind *k, int64_t id)
{
	int64_t at = 0;
	bool less = false;
	int rc = find_here(g, k, id, &at, &less);

	if (!rc && at && !less) {
		g->m->known++;
		return 0;
	}
	if (!rc && k->verify)
		rc = k->verify(g->from, id, g->err);
	if (!rc && at)
		rc = clear(g, k, at);
	if (!rc)
		rc = assay_store_copy(g->copier, k->tree, id, &at, g->err);
	if (!rc && less)
		rc = take_end(g, k, id, at);
	if (!rc && less)
		g->m->completed++;
	else if (!rc)
		++*added(g->m, k);
	return rc;
}

static int merge_kind(struct merging *g, const struct assay_merge_kind *k)
{
	struct assay_binder b = assay_store_statement(g->from, k->list, g->err);
	int64_t *ids = NULL;
	size_t n = 0;
	int rc;

	rc = assay_store_collect(g->from, &b, "what is merged", sizeof(*ids), read_id, &ids, &n, g->err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = merge_one(g, k, ids[i]);
	free(ids);
	return rc;
}

/* ---- baselines -------------------------------------------------------------------------------------------------- */

static const struct assay_baseline_info *find_baseline(const struct assay_baseline_info *v, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(v[i].name, name))
			return &v[i];
	return NULL;
}

/* The run @id of the other database here; 0 where it was not selected. */
static int run_here(struct merging *g, int64_t id, int64_t *at)
{
	bool less;

	return find_here(g, &assay_merge_kinds[ASSAY_MERGE_RUN], id, at, &less);
}

static int merge_baseline(struct merging *g, const struct assay_baseline_info *b,
			  const struct assay_baseline_info *here)
{
	size_t added = 0;
	int rc = 0;

	if (here && (strcmp(here->suite, b->suite) || strcmp(here->machine_id, b->machine_id)))
		return note(g,
			    "baseline '%s' of '%.120s' was left out: here that name is of suite '%s' on %s; "
			    "save it under another name there",
			    b->name, g->from->path, here->suite, here->machine_label);
	for (size_t i = 0; i < b->n_runs && !rc; i++) {
		int64_t at = 0;
		bool has = false;

		rc = run_here(g, b->runs[i], &at);
		for (size_t k = 0; here && k < here->n_runs; k++)
			has |= here->runs[k] == at;
		if (!rc && at && !has) {
			rc = assay_store_baseline_save(
				g->to, b->name, at, here && here->saved_ns > b->saved_ns ? here->saved_ns : b->saved_ns,
				g->err);
			added++;
		}
	}
	if (rc || !added)
		return rc;
	g->m->baselines++;
	return here ? note(g, "baseline '%s' got %zu run%s of '%.160s'", b->name, added, added == 1 ? "" : "s",
			   g->from->path)
		    : 0;
}

static int merge_baselines(struct merging *g)
{
	struct assay_baseline_info *theirs = NULL, *ours = NULL;
	size_t n = 0, n_ours = 0;
	int rc = assay_store_baselines(g->from, NULL, NULL, &theirs, &n, g->err);

	if (!rc)
		rc = assay_store_baselines(g->to, NULL, NULL, &ours, &n_ours, g->err);
	for (size_t i = 0; i < n && !rc; i++)
		rc = merge_baseline(g, &theirs[i], find_baseline(ours, n_ours, theirs[i].name));
	assay_baseline_infos_release(theirs, n);
	assay_baseline_infos_release(ours, n_ours);
	return rc;
}

/* ---- answers about changes -------------------------------------------------------------------------------------- */

/* The later answer to a question stays. */
static int merge_change(struct merging *g, const struct assay_stored_change *c)
{
	struct assay_change_answer here = c->answer, a = c->answer;
	bool found, less;
	int rc = assay_store_change_find(g->to, c->key, c->machine_id, &here, &found, g->err);

	if (rc || (found && here.asked_ns >= a.asked_ns))
		return rc;
	if (a.comparison_id)
		rc = find_here(g, &assay_merge_kinds[ASSAY_MERGE_COMPARISON], c->answer.comparison_id, &a.comparison_id,
			       &less);
	return rc ? rc : assay_store_change_put(g->to, c->key, c->machine_id, &a, g->err);
}

static int merge_changes(struct merging *g)
{
	struct assay_stored_change *v = NULL;
	size_t n = 0;
	int rc = assay_store_changes(g->from, &v, &n, g->err);

	for (size_t i = 0; i < n && !rc; i++)
		rc = merge_change(g, &v[i]);
	free(v);
	return rc;
}

/* ---- all -------------------------------------------------------------------------------------------------------- */

static int merge(struct merging *g)
{
	int rc = assay_store_copier_new(&g->copier, g->to, g->from, g->err);

	for (size_t i = 0; i < ASSAY_N_MERGE && !rc; i++)
		rc = merge_kind(g, &assay_merge_kinds[i]);
	if (!rc)
		rc = merge_baselines(g);
	if (!rc)
		rc = merge_changes(g);
	if (!rc)
		g->m->results += assay_store_copied_results(g->copier);
	assay_store_copier_free(g->copier);
	return rc;
}

int assay_store_merge(struct assay_store *to, struct assay_store *from, struct assay_store_merged *m,
		      struct assay_err *err)
{
	struct merging g = { .to = to, .from = from, .m = m, .err = err };
	int rc = assay_store_begin_read(from, err);

	if (rc)
		return rc;
	rc = assay_store_copy_begin(to, err);
	if (!rc) {
		/* one state of the other for all of it, through functions that would begin a transaction each */
		from->bulk = true;
		assay_store_heed(to, true);
		rc = merge(&g);
		assay_store_heed(to, false);
		rc = assay_store_bulk_end(to, rc, err);
		from->bulk = false;
	}
	return assay_store_finish(from, rc, err);
}
