/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of the heap, of GPUs, threads and traces: a row a stack, with its numbers beside it. */
#include "store/blobs.h"
#include "store/profile_kinds.h"

#include <math.h>
#include <stdlib.h>

int assay_store_profile_frames(struct assay_profile_reading *r, struct assay_row *row, uint32_t *out)
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

unsigned char *assay_store_profile_blob(const struct assay_stack_table *t, size_t i, size_t *len)
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

/* ---- out -------------------------------------------------------------------------------------------------------- */

/* The stack of a row at the next place; what is there twice is damaged. */
static int next_stack(struct assay_profile_reading *r, struct assay_row *row)
{
	const size_t place = r->p->stacks.n_stacks;
	uint32_t n = 0;
	size_t at = 0;
	int rc;

	rc = assay_store_profile_frames(r, row, &n);
	if (!rc && !row->bad)
		rc = assay_stack_table_put(&r->p->stacks, r->frames, n, &at, r->err);
	row->bad |= !rc && at != place;
	return rc;
}

/* The same of a row that has the weight of its stack, too. */
static int next_weighed_stack(struct assay_profile_reading *r, struct assay_row *row)
{
	struct assay_stack_table *t = &r->p->stacks;
	const size_t place = t->n_stacks;
	int rc = next_stack(r, row);

	if (rc || row->bad)
		return rc;
	t->stacks[place].weight = (uint64_t)assay_store_row_int(row);
	t->weight += t->stacks[place].weight;
	return 0;
}

static int read_heap(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;

	assay_store_row_columns(row, &assay_store_profile_heap_columns, &r->p->heap);
	return 0;
}

/* A site weighs what it allocated. */
static int read_site(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;
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

static int read_gpu(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;

	assay_store_row_columns(row, &assay_store_profile_gpu_columns, &r->p->gpu);
	return 0;
}

static int read_device(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;
	struct assay_profile_gpu *g = &r->p->gpu;
	struct assay_profile_gpu_device *d;
	int rc = assay_store_grow(&g->devices, g->n_devices, sizeof(*g->devices), r->err);

	if (rc)
		return rc;
	d = &g->devices[g->n_devices++];
	*d = (struct assay_profile_gpu_device){ .index = 0 };
	assay_store_row_columns(row, &assay_store_profile_gpu_device_columns, d);
	for (size_t i = 0; i < 6; i++) {
		double *v[] = { &d->busy_frac,  &d->memory_busy_frac, &d->mean_watts,
				&d->most_watts, &d->joules,           &d->most_celsius };

		if (*v[i] < 0)
			*v[i] = NAN;
	}
	return 0;
}

static int read_work(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;
	struct assay_profile *p = r->p;
	const size_t place = p->stacks.n_stacks;
	int rc = assay_store_grow(&p->gpu.work, place, sizeof(*p->gpu.work), r->err);

	if (!rc)
		rc = next_weighed_stack(r, row);
	if (rc || row->bad)
		return rc;
	p->gpu.work[place] = (struct assay_profile_gpu_work){ .calls = 0 };
	assay_store_row_columns(row, &assay_store_profile_gpu_work_columns, &p->gpu.work[place]);
	if (p->gpu.work[place].occupancy_frac < 0)
		p->gpu.work[place].occupancy_frac = NAN;
	return 0;
}

static int read_wait(void *to, struct assay_row *row)
{
	struct assay_profile_reading *r = to;
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

int assay_store_profile_kind_read(struct assay_store *s, struct assay_store_whole whole,
				  struct assay_profile_reading *r)
{
	static const struct assay_store_query parts[] = {
		{ "profile_heap",
		  "SELECT {h} FROM profile_heap h WHERE h.profile = ?",
		  { &assay_store_profile_heap_columns },
		  read_heap },
		{ "profile_site",
		  "SELECT frames, {s} FROM profile_site s WHERE s.profile = ? ORDER BY s.place",
		  { &assay_store_profile_site_columns },
		  read_site },
		{ "profile_gpu",
		  "SELECT {g} FROM profile_gpu g WHERE g.profile = ?",
		  { &assay_store_profile_gpu_columns },
		  read_gpu },
		{ "profile_gpu_device",
		  "SELECT {d} FROM profile_gpu_device d WHERE d.profile = ? ORDER BY d.place",
		  { &assay_store_profile_gpu_device_columns },
		  read_device },
		{ "profile_gpu_work",
		  "SELECT frames, weight, {w} FROM profile_gpu_work w WHERE w.profile = ? ORDER BY w.place",
		  { &assay_store_profile_gpu_work_columns },
		  read_work },
		{ "profile_wait",
		  "SELECT frames, weight, {w} FROM profile_wait w WHERE w.profile = ? ORDER BY w.place",
		  { &assay_store_profile_wait_columns },
		  read_wait },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++)
		rc = assay_store_for_each(s, whole, &parts[i], r, r->err);
	return rc;
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* Of a row with a stack: @sql has its profile, place and frames, with @weighed its weight, then the columns. */
struct stack_row {
	const char *sql, *what;
	const struct assay_columns *columns;
	bool weighed;
};

static int put_stack_row(struct assay_store *s, const struct assay_profile *p, size_t i, int64_t id,
			 const struct stack_row *r, const void *of, struct assay_err *err)
{
	const struct assay_columns *const lists[] = { r->columns };
	size_t len = 0;
	unsigned char *blob = assay_store_profile_blob(&p->stacks, i, &len);
	struct assay_binder b;
	int rc;

	if (!blob)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	b = assay_store_statement_of(s, r->sql, lists, err);
	assay_store_bind_int(&b, id);
	assay_store_bind_size(&b, i);
	assay_store_bind_blob(&b, blob, len);
	if (r->weighed)
		assay_store_bind_size(&b, p->stacks.stacks[i].weight);
	assay_store_bind_columns(&b, r->columns, of);
	rc = assay_store_done(s, assay_store_step_once(&b), err, r->what, "a profile");
	free(blob);
	return rc;
}

/* The one row that a kind has: @sql has its profile, then the columns. */
static int put_one(struct assay_store *s, int64_t id, const char *sql, const struct assay_columns *columns,
		   const void *of, struct assay_err *err)
{
	const struct assay_columns *const lists[] = { columns };
	struct assay_binder b = assay_store_statement_of(s, sql, lists, err);

	assay_store_bind_int(&b, id);
	assay_store_bind_columns(&b, columns, of);
	return assay_store_done(s, assay_store_step_once(&b), err, "the totals of", "a profile");
}

static int put_heap(struct assay_store *s, const struct assay_profile *p, int64_t id, struct assay_err *err)
{
	static const struct stack_row site = {
		"INSERT INTO profile_site (profile, place, frames, {}) VALUES (?, ?, ?, {?})", "a call site of",
		&assay_store_profile_site_columns, false
	};
	int rc = put_one(s, id, "INSERT INTO profile_heap (profile, {}) VALUES (?, {?})",
			 &assay_store_profile_heap_columns, &p->heap, err);

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
	static const struct assay_store_part devices = {
		"GPU", "INSERT INTO profile_gpu_device (profile, place, {}) VALUES (?, ?, {?})",
		&assay_store_profile_gpu_device_columns, sizeof(*p->gpu.devices)
	};
	int rc = put_one(s, id, "INSERT INTO profile_gpu (profile, {}) VALUES (?, {?})",
			 &assay_store_profile_gpu_columns, &p->gpu, err);

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

int assay_store_profile_kind_put(struct assay_store *s, const struct assay_profile *p, int64_t id, bool *stacks,
				 struct assay_err *err)
{
	*stacks = p->heap.processes || p->gpu.n_devices || p->waits;
	return p->heap.processes  ? put_heap(s, p, id, err)
	       : p->gpu.n_devices ? put_gpu(s, p, id, err)
	       : p->waits         ? put_waits(s, p, id, err)
				  : 0;
}
