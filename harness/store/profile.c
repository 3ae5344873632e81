/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in and out. A stack is a blob of varints: as many frames as it has, and their places. */
#include "store/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/profile_kinds.h"

/* ---- out -------------------------------------------------------------------------------------------------------- */

static double or_nan(double v)
{
	return v < 0 ? NAN : v;
}

static int read_head(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;

	r->p->id = assay_store_row_int(row);
	assay_store_row_text(row, r->p->machine.label, sizeof(r->p->machine.label));
	assay_store_row_columns(row, &assay_store_profile_columns, r->p);
	r->p->overhead_frac = or_nan(r->p->overhead_frac);
	r->p->iteration_ns = or_nan(r->p->iteration_ns);
	if (sqlite3_column_type(row->st, row->column) != SQLITE_NULL)
		assay_store_row_columns(row, &assay_store_build_columns, &r->p->build);
	return 0;
}

static int read_thread(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;
	int rc = assay_store_grow(&r->p->threads, r->p->n_threads, sizeof(*r->p->threads), r->err);

	if (rc)
		return rc;
	r->p->threads[r->p->n_threads] = (struct assay_profile_thread){ .weight = 0 };
	assay_store_row_columns(row, &assay_store_profile_thread_columns, &r->p->threads[r->p->n_threads++]);
	return 0;
}

static int read_frame(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;
	struct assay_store_frame f = { .kind = ASSAY_FRAME_CODE };
	const size_t place = r->p->stacks.n_frames;
	uint32_t at = 0;
	int rc = 0;

	assay_store_row_columns(row, &assay_store_profile_frame_columns, &f);
	if (!row->no_memory)
		rc = assay_stack_table_frame(
			&r->p->stacks, &(struct assay_frame){ f.kind, f.name, f.object, f.file, f.line, f.offset }, &at,
			r->err);
	row->bad |= !rc && at != place; /* one that stands there twice */
	free(f.name);
	free(f.object);
	free(f.file);
	return rc;
}

static int read_stack(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;
	uint64_t weight;
	uint32_t n = 0;
	int rc;

	weight = (uint64_t)assay_store_row_int(row);
	rc = assay_store_profile_frames(r, row, &n);
	return rc || row->bad ? rc : assay_stack_table_add(&r->p->stacks, r->frames, n, weight, r->err);
}

static int read_profile(struct assay_store *s, int64_t id, struct assay_profile_reading *r)
{
	static const struct assay_store_query head = {
		"profile",
		"SELECT p.id, m.label, {p}, {b} FROM profile p JOIN machine m ON m.id = p.machine"
		" LEFT JOIN build b ON b.id = p.build WHERE p.id = ?",
		{ &assay_store_profile_columns, &assay_store_build_columns },
		read_head
	};
	static const struct assay_store_query parts[] = {
		{ "profile_thread",
		  "SELECT {t} FROM profile_thread t WHERE t.profile = ? ORDER BY t.place",
		  { &assay_store_profile_thread_columns },
		  read_thread },
		{ "profile_frame",
		  "SELECT {f} FROM profile_frame f WHERE f.profile = ? ORDER BY f.place",
		  { &assay_store_profile_frame_columns },
		  read_frame },
		{ "profile_stack",
		  "SELECT weight, frames FROM profile_stack WHERE profile = ? ORDER BY place",
		  { NULL },
		  read_stack },
	};
	const struct assay_store_whole whole = { "profile", id };
	int rc = assay_store_for_each(s, whole, &head, r, r->err);

	if (!rc && !r->p->id)
		return assay_err_set(r->err, ASSAY_ENOTFOUND, "no profile %lld in '%.200s'", (long long)id, s->path);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++)
		rc = assay_store_for_each(s, whole, &parts[i], r, r->err);
	if (!rc)
		rc = assay_store_profile_kind_read(s, whole, r);
	free(r->frames);
	r->frames = NULL;
	return rc;
}

int assay_store_profile_load(struct assay_store *s, int64_t id, struct assay_profile *out, struct assay_err *err)
{
	struct assay_profile p = { 0 };
	struct assay_profile_reading r = { .p = &p, .err = err };
	int rc = read_profile(s, id, &r);

	if (rc)
		assay_profile_release(&p);
	else
		*out = p;
	return rc;
}

static void read_info(struct assay_row *row, void *element)
{
	struct assay_profile_info *i = element;

	i->id = assay_store_row_int(row);
	assay_store_row_text(row, i->kind, sizeof(i->kind));
	assay_store_row_text(row, i->name, sizeof(i->name));
	assay_store_row_text(row, i->what, sizeof(i->what));
	i->started_ns = (uint64_t)assay_store_row_int(row);
}

int assay_store_profiles(struct assay_store *s, struct assay_profile_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] =
		"SELECT id, kind, name, what, started_ns FROM profile ORDER BY started_ns DESC, id DESC";
	struct assay_binder b = assay_store_statement(s, sql, err);

	return assay_store_collect(s, &b, "'profile'", sizeof(**out), read_info, out, n, err);
}

int assay_store_profiles_of_build(struct assay_store *s, const char *build, struct assay_profile_info **out, size_t *n,
				  struct assay_err *err)
{
	static const char sql[] =
		"SELECT id, kind, name, what, started_ns FROM profile p WHERE build = ?1 AND is_case = 1 AND NOT EXISTS"
		" (SELECT 1 FROM profile o WHERE o.build = ?1 AND o.kind = p.kind AND o.what = p.what AND"
		" (o.started_ns > p.started_ns OR (o.started_ns = p.started_ns AND o.id > p.id)))"
		" ORDER BY started_ns DESC, id DESC";
	struct assay_binder b = assay_store_statement(s, sql, err);

	assay_store_bind_text(&b, build);
	return assay_store_collect(s, &b, "'profile'", sizeof(**out), read_info, out, n, err);
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

static int put_head(struct assay_store *s, const struct assay_profile *p, int64_t *id, struct assay_err *err)
{
	static const struct assay_columns *const lists[] = { &assay_store_profile_columns };
	struct assay_binder b =
		assay_store_statement_of(s, "INSERT INTO profile ({}, build) VALUES ({?}, ?)", lists, err);
	int rc;

	assay_store_bind_columns(&b, &assay_store_profile_columns, p);
	assay_store_bind_text(&b, p->build.id[0] ? p->build.id : NULL);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "the profile of", p->what);
	*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

static int put_frames(struct assay_store *s, const struct assay_stack_table *t, int64_t id, struct assay_err *err)
{
	static const struct assay_columns *const lists[] = { &assay_store_profile_frame_columns };
	int rc = 0;

	for (size_t i = 0; i < t->n_frames && !rc; i++) {
		const struct assay_frame *f = &t->frames[i];
		const struct assay_store_frame row = { .kind = f->kind,
						       .name = (char *)f->name,
						       .object = (char *)f->object,
						       .file = (char *)f->file,
						       .line = f->line,
						       .offset = f->offset };
		struct assay_binder b = assay_store_statement_of(
			s, "INSERT INTO profile_frame (profile, place, {}) VALUES (?, ?, {?})", lists, err);

		assay_store_bind_int(&b, id);
		assay_store_bind_size(&b, i);
		assay_store_bind_columns(&b, &assay_store_profile_frame_columns, &row);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "the frame", f->name);
	}
	return rc;
}

static int put_stack(struct assay_store *s, const struct assay_stack_table *t, size_t i, int64_t id,
		     struct assay_err *err)
{
	size_t len = 0;
	unsigned char *blob = assay_store_profile_blob(t, i, &len);
	struct assay_binder b;
	int rc;

	if (!blob)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	b = assay_store_statement(s, "INSERT INTO profile_stack (profile, place, weight, frames) VALUES (?, ?, ?, ?)",
				  err);
	assay_store_bind_int(&b, id);
	assay_store_bind_size(&b, i);
	assay_store_bind_size(&b, t->stacks[i].weight);
	assay_store_bind_blob(&b, blob, len);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "a stack of", "a profile");
	free(blob);
	return rc;
}

/* Inside a transaction. */
static int put(struct assay_store *s, const struct assay_profile *p, int64_t *id, struct assay_err *err)
{
	static const struct assay_store_part threads = {
		"thread", "INSERT INTO profile_thread (profile, place, {}) VALUES (?, ?, {?})",
		&assay_store_profile_thread_columns, sizeof(*p->threads)
	};
	bool whole = false; /* stacks are stored, too */
	int rc = assay_store_put_machine(s, &p->machine, err);

	if (!rc && p->build.id[0])
		rc = assay_store_put_build(s, &p->build, err);
	if (!rc)
		rc = put_head(s, p, id, err);
	if (!rc)
		rc = assay_store_put_part(s, &threads, *id, p->threads, p->n_threads, err);
	if (!rc)
		rc = put_frames(s, &p->stacks, *id, err);
	if (!rc)
		rc = assay_store_profile_kind_put(s, p, *id, &whole, err);
	for (size_t i = 0; i < p->stacks.n_stacks && !rc && !whole; i++)
		if (p->stacks.stacks[i].weight)
			rc = put_stack(s, &p->stacks, i, *id, err);
	return rc;
}

int assay_store_profile_add(struct assay_store *s, struct assay_profile *p, struct assay_err *err)
{
	int64_t id = 0;
	int rc = assay_store_begin(s, err);

	if (rc)
		return rc;
	rc = assay_store_finish(s, put(s, p, &id, err), err);
	if (!rc)
		p->id = id;
	return rc;
}

/* ---- retention -------------------------------------------------------------------------------------------------- */

#define GOING                                                                                                          \
	" FROM profile WHERE id IN (SELECT id FROM (SELECT id, name, started_ns, build, row_number() OVER (PARTITION " \
	"BY name, kind ORDER BY started_ns DESC, id DESC) AS newer, row_number() OVER (PARTITION BY name, kind, "      \
	"what, build ORDER BY started_ns DESC, id DESC) AS of_build FROM profile) WHERE newer > ?1 AND (?2 = 0 OR "    \
	"started_ns < ?2) AND (?3 IS NULL OR name = ?3) AND NOT (of_build = 1 AND build IS NOT NULL AND build IN "     \
	"(SELECT r.build FROM baseline_run b JOIN run r ON r.id = b.run)))"

int assay_store_profiles_prune(struct assay_store *s, const struct assay_store_profile_rule *rule, size_t *removed,
			       struct assay_err *err)
{
	struct assay_binder b = assay_store_statement(s, rule->dry ? "SELECT count(*)" GOING : "DELETE" GOING, err);
	int rc;

	assay_store_bind_size(&b, rule->keep ? rule->keep : 1);
	assay_store_bind_size(&b, rule->older_ns < INT64_MAX ? rule->older_ns : INT64_MAX);
	assay_store_bind_text(&b, rule->name);
	if (!rule->dry) {
		rc = assay_store_step_once(&b);
		*removed = (size_t)sqlite3_changes(s->db);
		return rc == SQLITE_DONE ? 0 : assay_store_fail(s, rc, err, "cannot remove profiles");
	}
	rc = assay_store_step(&b);
	if (rc != SQLITE_ROW)
		return assay_store_fail(s, rc, err, "cannot count profiles");
	*removed = (size_t)sqlite3_column_int64(b.st, 0);
	sqlite3_reset(b.st);
	return 0;
}
