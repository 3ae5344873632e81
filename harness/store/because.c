/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence in and out. Samples of a function are a blob of varints: base and head of each process pair. */
#include "store/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/blobs.h"
#include "store/rows.h"

/* ---- out -------------------------------------------------------------------------------------------------------- */

static const struct assay_store_part heads = { "what explains", "because", "comparison_case",
					       &assay_store_because_columns, 0 };
static const struct assay_store_part pairs = { "pair", "because_pair", "comparison_case",
					       &assay_store_because_pair_columns, sizeof(struct assay_because_pair) };

struct reading {
	struct assay_because_evidence *e;
	bool found;
	struct assay_err *err;
};

static int read_function(void *to, struct assay_row *row)
{
	struct reading *r = to;
	struct assay_because_function *f;
	struct assay_blob_reader b;
	size_t len = 0;
	int rc = assay_store_grow(&r->e->functions, r->e->n, sizeof(*f), r->err);

	if (rc)
		return rc;
	f = &r->e->functions[r->e->n++];
	memset(f, 0, sizeof(*f));
	assay_store_row_columns(row, &assay_store_because_function_columns, f);
	b.p = assay_store_row_blob(row, &len);
	b.end = b.p ? b.p + len : NULL;
	b.bad = !b.p && r->e->n_pairs;
	for (size_t k = 0; k < r->e->n_pairs && k < ASSAY_BECAUSE_PAIRS_MAX && !b.bad; k++)
		for (unsigned side = 0; side < 2; side++)
			f->weight[side][k] = assay_blob_get_varint(&b, INT64_MAX);
	row->bad |= b.bad;
	return 0;
}

static int read_evidence(struct assay_store *s, int64_t case_id, struct reading *r)
{
	static const struct assay_store_query functions = {
		"because_function",
		"SELECT {f}, f.weights FROM because_function f WHERE f.comparison_case = ? ORDER BY f.place",
		{ &assay_store_because_function_columns },
		read_function
	};
	const struct assay_store_whole whole = { "the case of a comparison", case_id };
	int rc = assay_store_get_row(s, &heads, case_id, r->e, &r->found, r->err);

	if (!rc && r->found)
		rc = assay_store_get_part(s, &pairs, case_id, &r->e->pairs, &r->e->n_pairs, r->err);
	if (!rc && r->e->n_pairs > ASSAY_BECAUSE_PAIRS_MAX)
		rc = assay_store_part_damaged(s, whole, "because_pair", r->err);
	return rc || !r->found ? rc : assay_store_for_each(s, whole, &functions, r, r->err);
}

int assay_store_because_load(struct assay_store *s, int64_t case_id, struct assay_because_evidence **out,
			     struct assay_err *err)
{
	struct reading r = { .e = calloc(1, sizeof(*r.e)), .err = err };
	int rc = r.e ? read_evidence(s, case_id, &r) : assay_err_set(err, ASSAY_ENOMEM, "out of memory");

	if (!rc && r.found) {
		*out = r.e;
		return 0;
	}
	assay_because_evidence_free(r.e);
	if (!rc)
		*out = NULL;
	return rc;
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

static int put_head(struct assay_store *s, int64_t case_id, const struct assay_because_evidence *e,
		    struct assay_err *err)
{
	struct assay_binder b = assay_store_ask(s, err, "INSERT INTO because (comparison_case, {}) VALUES (?, {?})",
						NULL, "ic", case_id, &assay_store_because_columns, e);
	int rc = assay_store_step_once(&b);

	if (rc == SQLITE_CONSTRAINT_FOREIGNKEY)
		return assay_err_set(err, ASSAY_ENOTFOUND, "no case %lld of a comparison in '%.200s'",
				     (long long)case_id, s->path);
	return assay_store_done(s, rc, err, "what explains", "a case");
}

static int put_function(struct assay_store *s, int64_t case_id, size_t place, const struct assay_because_evidence *e,
			struct assay_err *err)
{
	unsigned char blob[2 * ASSAY_BECAUSE_PAIRS_MAX * ASSAY_VARINT_MAX], *end = blob;
	const struct assay_because_function *f = &e->functions[place];
	struct assay_binder b;

	for (size_t k = 0; k < e->n_pairs; k++)
		for (unsigned side = 0; side < 2; side++)
			end = assay_blob_put_varint(end, f->weight[side][k]);
	b = assay_store_ask(
		s, err, "INSERT INTO because_function (comparison_case, place, {}, weights) VALUES (?, ?, {?}, ?)",
		NULL, "iscb", case_id, place, &assay_store_because_function_columns, f, blob, (size_t)(end - blob));
	return assay_store_done(s, assay_store_step_once(&b), err, "the function", f->name);
}

int assay_store_because_add(struct assay_store *s, int64_t case_id, const struct assay_because_evidence *e,
			    struct assay_err *err)
{
	int rc = assay_store_begin(s, err);

	if (rc)
		return rc;
	rc = put_head(s, case_id, e, err);
	if (!rc && !e->unknown[0])
		rc = assay_store_put_part(s, &pairs, case_id, e->pairs, e->n_pairs, err);
	for (size_t i = 0; i < e->n && !rc && !e->unknown[0]; i++)
		rc = put_function(s, case_id, i, e, err);
	return assay_store_finish(s, rc, err);
}
