/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles in and out. A stack is a blob of varints: as many frames as it has, and their places. Profiles of the heap,
 * of GPUs, threads and traces have a row for each stack with its numbers beside it.
 */
#include "store/profile.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/blobs.h"
#include "store/rows.h"

/* ---- out -------------------------------------------------------------------------------------------------------- */

static const struct assay_store_part heap_totals = { "totals of a heap", "profile_heap", "profile",
						     &assay_store_profile_heap_columns, 0 };
static const struct assay_store_part gpu_totals = { "totals of GPUs", "profile_gpu", "profile",
						    &assay_store_profile_gpu_columns, 0 };
static const struct assay_store_part devices = { "GPU", "profile_gpu_device", "profile",
						 &assay_store_profile_gpu_device_columns,
						 sizeof(struct assay_profile_gpu_device) };
static const struct assay_store_part threads = { "thread", "profile_thread", "profile",
						 &assay_store_profile_thread_columns,
						 sizeof(struct assay_profile_thread) };

struct reading {
	struct assay_profile *p;
	uint32_t *frames; /* of a stack */
	size_t cap;
	struct assay_err *err;
};

/* The next column, which is a stack, into r->frames; *n: how many it has. A damaged one sets row->bad. */
static int read_frames(struct reading *r, struct assay_row *row, uint32_t *out)
{
	struct assay_blob_reader b;
	size_t len = 0;
	uint32_t n;

	b.p = assay_store_row_blob(row, &len);
	b.end = b.p ? b.p + len : NULL;
	b.bad = !b.p;
	n = b.bad ? 0 : (uint32_t)assay_blob_get_varint(&b, len);
	if (n > r->cap) {
		uint32_t *grown = realloc(r->frames, n * sizeof(*grown));

		if (!grown)
			return assay_err_set(r->err, ASSAY_ENOMEM, "out of memory");
		r->frames = grown;
		r->cap = n;
	}
	for (uint32_t i = 0; i < n && !b.bad; i++) {
		r->frames[i] = (uint32_t)assay_blob_get_varint(&b, UINT32_MAX);
		b.bad |= r->frames[i] >= r->p->stacks.n_frames;
	}
	row->bad |= b.bad;
	*out = n;
	return 0;
}

static int read_head(void *to, struct assay_row *row)
{
	struct reading *r = to;

	r->p->id = assay_store_row_int(row);
	assay_store_row_text(row, r->p->machine.label, sizeof(r->p->machine.label));
	assay_store_row_columns(row, &assay_store_profile_columns, r->p);
	if (sqlite3_column_type(row->st, row->column) != SQLITE_NULL)
		assay_store_row_columns(row, &assay_store_build_columns, &r->p->build);
	return 0;
}

static int read_frame(void *to, struct assay_row *row)
{
	struct reading *r = to;
	struct assay_frame f = { .kind = ASSAY_FRAME_CODE };
	const size_t place = r->p->stacks.n_frames;
	uint32_t at = 0;
	int rc = 0;

	assay_store_row_columns(row, &assay_store_profile_frame_columns, &f);
	if (!row->no_memory)
		rc = assay_stack_table_frame(&r->p->stacks, &f, &at, r->err);
	row->bad |= !rc && at != place; /* one that stands there twice */
	free((char *)f.name);
	free((char *)f.object);
	free((char *)f.file);
	return rc;
}

/* ---- kinds: out ---- */

/* The stack of a row at the next place; what is there twice is damaged. */
static int next_stack(struct reading *r, struct assay_row *row)
{
	const size_t place = r->p->stacks.n_stacks;
	uint32_t n = 0;
	size_t at = 0;
	int rc = read_frames(r, row, &n);

	if (!rc && !row->bad)
		rc = assay_stack_table_put(&r->p->stacks, r->frames, n, &at, r->err);
	row->bad |= !rc && at != place;
	return rc;
}

/* The same of a row that has the weight of its stack, too. */
static int next_weighed_stack(void *to, struct assay_row *row)
{
	struct reading *r = to;
	struct assay_stack_table *t = &r->p->stacks;
	const size_t place = t->n_stacks;
	int rc = next_stack(r, row);

	if (rc || row->bad)
		return rc;
	t->stacks[place].weight = (uint64_t)assay_store_row_int(row);
	t->weight += t->stacks[place].weight;
	return 0;
}

/* A site weighs what it allocated. */
static int read_site(void *to, struct assay_row *row)
{
	struct reading *r = to;
	struct assay_profile *p = r->p;
	const size_t place = p->stacks.n_stacks;
	int rc = assay_store_grow(&p->heap.sites, place, sizeof(*p->heap.sites), r->err);

	if (!rc)
		rc = next_stack(r, row);
	if (rc || row->bad)
		return rc;
	p->heap.sites[place] = (struct assay_profile_site){ .blocks = 0 };
	assay_store_row_columns(row, &assay_store_profile_site_columns, &p->heap.sites[place]);
	assay_profile_site_weigh(p, place);
	return 0;
}

static int read_work(void *to, struct assay_row *row)
{
	struct reading *r = to;
	struct assay_profile *p = r->p;
	const size_t place = p->stacks.n_stacks;
	int rc = assay_store_grow(&p->gpu.work, place, sizeof(*p->gpu.work), r->err);

	if (!rc)
		rc = next_weighed_stack(r, row);
	if (rc || row->bad)
		return rc;
	p->gpu.work[place] = (struct assay_profile_gpu_work){ .calls = 0 };
	assay_store_row_columns(row, &assay_store_profile_gpu_work_columns, &p->gpu.work[place]);
	return 0;
}

static int read_wait(void *to, struct assay_row *row)
{
	struct reading *r = to;
	struct assay_profile *p = r->p;
	const size_t place = p->stacks.n_stacks;
	int rc = assay_store_grow(&p->waits, place, sizeof(*p->waits), r->err);

	if (!rc)
		rc = next_weighed_stack(r, row);
	if (rc || row->bad)
		return rc;
	p->waits[place] = (struct assay_wait_count){ .waits = 0 };
	assay_store_row_columns(row, &assay_store_profile_wait_columns, &p->waits[place]);
	return 0;
}

static int read_kind(struct assay_store *s, struct assay_store_whole whole, struct reading *r)
{
	static const struct assay_store_query parts[] = {
		{ "profile_site",
		  "SELECT frames, {s} FROM profile_site s WHERE s.profile = ? ORDER BY s.place",
		  { &assay_store_profile_site_columns },
		  read_site },
		{ "profile_gpu_work",
		  "SELECT frames, weight, {w} FROM profile_gpu_work w WHERE w.profile = ? ORDER BY w.place",
		  { &assay_store_profile_gpu_work_columns },
		  read_work },
		{ "profile_wait",
		  "SELECT frames, weight, {w} FROM profile_wait w WHERE w.profile = ? ORDER BY w.place",
		  { &assay_store_profile_wait_columns },
		  read_wait },
	};
	struct assay_profile_gpu *g = &r->p->gpu;
	bool found = false; /* or not: most profiles have none */
	int rc = assay_store_get_row(s, &heap_totals, whole.id, &r->p->heap, &found, r->err);

	if (!rc)
		rc = assay_store_get_row(s, &gpu_totals, whole.id, g, &found, r->err);
	if (!rc)
		rc = assay_store_get_part(s, &devices, whole.id, &g->devices, &g->n_devices, r->err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++)
		rc = assay_store_for_each(s, whole, &parts[i], r, r->err);
	return rc;
}

static int read_profile(struct assay_store *s, int64_t id, struct reading *r)
{
	static const struct assay_store_query head = {
		"profile",
		"SELECT p.id, m.label, {p}, {b} FROM profile p JOIN machine m ON m.id = p.machine"
		" LEFT JOIN build b ON b.id = p.build WHERE p.id = ?",
		{ &assay_store_profile_columns, &assay_store_build_columns },
		read_head
	};
	static const struct assay_store_query parts[] = {
		{ "profile_frame",
		  "SELECT {f} FROM profile_frame f WHERE f.profile = ? ORDER BY f.place",
		  { &assay_store_profile_frame_columns },
		  read_frame },
		{ "profile_stack",
		  "SELECT frames, weight FROM profile_stack WHERE profile = ? ORDER BY place",
		  { NULL },
		  next_weighed_stack },
	};
	const struct assay_store_whole whole = { "profile", id };
	int rc = assay_store_for_each(s, whole, &head, r, r->err);

	if (!rc && !r->p->id)
		return assay_err_set(r->err, ASSAY_ENOTFOUND, "no profile %lld in '%.200s'", (long long)id, s->path);
	if (!rc)
		rc = assay_store_get_part(s, &threads, id, &r->p->threads, &r->p->n_threads, r->err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++)
		rc = assay_store_for_each(s, whole, &parts[i], r, r->err);
	if (!rc)
		rc = read_kind(s, whole, r);
	free(r->frames);
	r->frames = NULL;
	return rc;
}

int assay_store_profile_load(struct assay_store *s, int64_t id, struct assay_profile *out, struct assay_err *err)
{
	struct assay_profile p = { 0 };
	struct reading r = { .p = &p, .err = err };
	int rc = read_profile(s, id, &r);

	if (rc)
		assay_profile_release(&p);
	else
		*out = p;
	return rc;
}

static const struct assay_column info_list[] = {
	ASSAY_COLUMN(struct assay_profile_info, id, "id"),
	ASSAY_COLUMN(struct assay_profile_info, kind, "kind"),
	ASSAY_COLUMN(struct assay_profile_info, name, "name"),
	ASSAY_COLUMN(struct assay_profile_info, what, "what"),
	ASSAY_COLUMN(struct assay_profile_info, started_ns, "started_ns"),
};
static const struct assay_columns info_columns = ASSAY_COLUMNS(info_list);
static const struct assay_columns *const info_lists[] = { &info_columns };
static const struct assay_store_rows infos = { "'profile'", sizeof(struct assay_profile_info), &info_columns, NULL };

int assay_store_profiles(struct assay_store *s, struct assay_profile_info **out, size_t *n, struct assay_err *err)
{
	static const char sql[] = "SELECT {} FROM profile ORDER BY started_ns DESC, id DESC";
	struct assay_binder b = assay_store_ask(s, err, sql, info_lists, "");

	return assay_store_collect(s, &b, &infos, out, n, err);
}

int assay_store_profiles_of_build(struct assay_store *s, const char *build, struct assay_profile_info **out, size_t *n,
				  struct assay_err *err)
{
	static const char sql[] =
		"SELECT {} FROM profile p WHERE build = ?1 AND is_case = 1 AND NOT EXISTS"
		" (SELECT 1 FROM profile o WHERE o.build = ?1 AND o.kind = p.kind AND o.what = p.what AND"
		" (o.started_ns > p.started_ns OR (o.started_ns = p.started_ns AND o.id > p.id)))"
		" ORDER BY started_ns DESC, id DESC";
	struct assay_binder b = assay_store_ask(s, err, sql, info_lists, "t", build);

	return assay_store_collect(s, &b, &infos, out, n, err);
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* The frames of stack @i as a blob, which the caller frees; NULL: out of memory. */
static unsigned char *blob_of_stack(const struct assay_stack_table *t, size_t i, size_t *len)
{
	const struct assay_stack *k = &t->stacks[i];
	unsigned char *blob = malloc(((size_t)k->n + 1) * ASSAY_VARINT_MAX), *end;

	if (!blob)
		return NULL;
	end = assay_blob_put_varint(blob, k->n);
	for (uint32_t f = 0; f < k->n; f++)
		end = assay_blob_put_varint(end, t->order[k->first + f]);
	*len = (size_t)(end - blob);
	return blob;
}

static int put_head(struct assay_store *s, const struct assay_profile *p, int64_t *id, struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, "INSERT INTO profile ({}, build) VALUES ({?}, ?)", NULL, "ct",
						&assay_store_profile_columns, p, p->build.id[0] ? p->build.id : NULL);
	int rc = assay_store_done(s, assay_store_step_once(&b), err, "the profile of", p->what);

	*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

/* ---- kinds: in ---- */

/* Of a row with a stack: @sql has its profile, place and frames, with @weighed its weight, then the columns. */
struct stack_row {
	const char *sql, *what;
	const struct assay_columns *columns; /* NULL: none */
	bool weighed;
};

static int put_stack_row(struct assay_store *s, const struct assay_profile *p, size_t i, int64_t id,
			 const struct stack_row *r, const void *of, struct assay_err *err)
{
	const struct assay_columns *const lists[] = { r->columns };
	size_t len = 0;
	unsigned char *blob = blob_of_stack(&p->stacks, i, &len);
	struct assay_binder b;
	int rc;

	if (!blob)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	b = assay_store_ask(s, err, r->sql, lists, "isb", id, i, blob, len);
	if (r->weighed)
		assay_store_bind_size(&b, p->stacks.stacks[i].weight);
	if (r->columns)
		assay_store_bind_columns(&b, r->columns, of);
	rc = assay_store_done(s, assay_store_step_once(&b), err, r->what, "a profile");
	free(blob);
	return rc;
}

static int put_heap(struct assay_store *s, const struct assay_profile *p, int64_t id, struct assay_err *err)
{
	static const struct stack_row site = {
		"INSERT INTO profile_site (profile, place, frames, {}) VALUES (?, ?, ?, {?})", "a call site of",
		&assay_store_profile_site_columns, false
	};
	int rc = assay_store_put_row(s, &heap_totals, id, &p->heap, err);

	for (size_t i = 0; i < p->stacks.n_stacks && !rc; i++)
		rc = put_stack_row(s, p, i, id, &site, &p->heap.sites[i], err);
	return rc;
}

static int put_gpu(struct assay_store *s, const struct assay_profile *p, int64_t id, struct assay_err *err)
{
	static const struct stack_row work = {
		"INSERT INTO profile_gpu_work (profile, place, frames, weight, {}) VALUES (?, ?, ?, ?, {?})",
		"a kernel of", &assay_store_profile_gpu_work_columns, true
	};
	int rc = assay_store_put_row(s, &gpu_totals, id, &p->gpu, err);

	if (!rc)
		rc = assay_store_put_part(s, &devices, id, p->gpu.devices, p->gpu.n_devices, err);
	for (size_t i = 0; i < p->stacks.n_stacks && !rc; i++)
		rc = put_stack_row(s, p, i, id, &work, &p->gpu.work[i], err);
	return rc;
}

static int put_waits(struct assay_store *s, const struct assay_profile *p, int64_t id, struct assay_err *err)
{
	static const struct stack_row wait = {
		"INSERT INTO profile_wait (profile, place, frames, weight, {}) VALUES (?, ?, ?, ?, {?})", "a wait of",
		&assay_store_profile_wait_columns, true
	};
	int rc = 0;

	for (size_t i = 0; i < p->stacks.n_stacks && !rc; i++)
		rc = put_stack_row(s, p, i, id, &wait, &p->waits[i], err);
	return rc;
}

/* *stacks: those are stored by it, too. */
static int put_kind(struct assay_store *s, const struct assay_profile *p, int64_t id, bool *stacks,
		    struct assay_err *err)
{
	*stacks = p->heap.processes || p->gpu.n_devices || p->waits;
	return p->heap.processes  ? put_heap(s, p, id, err)
	       : p->gpu.n_devices ? put_gpu(s, p, id, err)
	       : p->waits         ? put_waits(s, p, id, err)
				  : 0;
}

/* Inside a transaction. */
static int put(struct assay_store *s, const struct assay_profile *p, int64_t *id, struct assay_err *err)
{
	static const struct assay_store_part frames = { "frame", "profile_frame", "profile",
							&assay_store_profile_frame_columns, sizeof(*p->stacks.frames) };
	static const struct stack_row stack = {
		"INSERT INTO profile_stack (profile, place, frames, weight) VALUES (?, ?, ?, ?)", "a stack of", NULL,
		true
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
		rc = assay_store_put_part(s, &frames, *id, p->stacks.frames, p->stacks.n_frames, err);
	if (!rc)
		rc = put_kind(s, p, *id, &whole, err);
	for (size_t i = 0; i < p->stacks.n_stacks && !rc && !whole; i++)
		if (p->stacks.stacks[i].weight)
			rc = put_stack_row(s, p, i, *id, &stack, NULL, err);
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
	struct assay_binder b = assay_store_ask(s, err, rule->dry ? "SELECT count(*)" GOING : "DELETE" GOING, NULL,
						"sst", rule->keep ? rule->keep : 1,
						rule->older_ns < INT64_MAX ? rule->older_ns : INT64_MAX, rule->name);
	int rc;

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
