/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some thirty numbers a result have a few hundred names in a whole database. So each name is stored once, and a blob
 * holds the values: a row for each number took three times the space and most of the time to store a result.
 */
#include "store/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hash.h"
#include "store/blobs.h"

enum kind { METRIC, COUNT, MISSING, N_KINDS };

static const char *kind_word(unsigned kind)
{
	static const char *const words[N_KINDS] = { "metric", "count", "missing" };

	return words[kind];
}

/* A row of number_name. */
struct name {
	int64_t id;
	enum kind kind;
	char name[ASSAY_NAME_MAX], source[ASSAY_SOURCE_MAX], unit[ASSAY_METRIC_UNIT_MAX], how[256];
	int better;
	bool estimated, per_iteration;
};

static const struct assay_column name_list[] = {
	ASSAY_COLUMN_ENUM(struct name, kind, "kind", kind_word, N_KINDS),
	ASSAY_COLUMN(struct name, name, "name"),
	ASSAY_COLUMN(struct name, source, "source"),
	ASSAY_COLUMN(struct name, unit, "unit"),
	ASSAY_COLUMN(struct name, better, "better"),
	ASSAY_COLUMN(struct name, estimated, "estimated"),
	ASSAY_COLUMN(struct name, how, "how"),
	ASSAY_COLUMN(struct name, per_iteration, "per_iteration"),
};
static const struct assay_columns name_columns = ASSAY_COLUMNS(name_list);
static const struct assay_columns *const name_lists[] = { &name_columns };

struct assay_store_names {
	struct assay_name_index ids; /* of what key_of() writes */
	struct name **v;             /* those that were read */
	size_t n;
	struct assay_name_index places; /* in @v, by id as text */
};

void assay_store_names_forget(struct assay_store *s)
{
	struct assay_store_names *names = s->names;

	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	assay_name_index_release(&names->ids);
	assay_name_index_release(&names->places);
	free(names);
	s->names = NULL;
}

static int names_of(struct assay_store *s, struct assay_store_names **out, struct assay_err *err)
{
	if (!s->names)
		s->names = calloc(1, sizeof(*s->names));
	s->forget_names = assay_store_names_forget;
	*out = s->names;
	return *out ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

/* ---- in --------------------------------------------------------------------------------------------------------- */

/* Most names differ in their first letter. */
static bool same(const char *a, const char *b)
{
	return *a == *b && !strcmp(a, b);
}

/*
 * The name and the value of number @i of a result: metrics come first, then counts, then those that are missing. Its
 * texts are shorter than those of a name.
 */
static struct name number_at(const struct assay_result *r, size_t i, struct assay_stored_number *v)
{
	const struct assay_counters *c = &r->counters;
	struct name name = { .kind = MISSING };

	v->running_frac = 1;
	if (i < r->n_metrics) {
		const struct assay_metric *m = &r->metrics[i];

		name = (struct name){ .kind = METRIC, .better = m->better, .estimated = m->estimated };
		strcpy(name.name, m->tag);
		strcpy(name.source, m->source);
		strcpy(name.unit, m->unit);
		v->value = m->value;
		return name;
	}
	i -= r->n_metrics;
	if (i < c->n) {
		name = (struct name){ .kind = COUNT, .per_iteration = c->v[i].per_iteration };
		strcpy(name.name, c->v[i].name);
		strcpy(name.source, c->v[i].source);
		strcpy(name.how, c->v[i].how);
		v->value = c->v[i].value;
		v->running_frac = c->v[i].running_frac;
		return name;
	}
	i -= c->n;
	strcpy(name.name, c->missing[i].name);
	strcpy(name.source, c->missing[i].source);
	strcpy(name.how, c->missing[i].reason);
	return name;
}

static int insert_name(struct assay_store *s, const struct name *name, int64_t *id, struct assay_err *err)
{
	static const char insert[] = "INSERT INTO number_name ({}) VALUES ({?})";
	static const char find[] = "SELECT id FROM number_name WHERE kind = ? AND name = ? AND source = ? AND unit = ?"
				   " AND better = ? AND estimated = ? AND how = ? AND per_iteration = ?";
	struct assay_binder b = assay_store_ask(s, err, find, NULL, "c", &name_columns, name);
	int rc;

	*id = 0;
	rc = assay_store_read_number(s, &b, "'number_name'", id, err);
	if (rc || *id)
		return rc;
	b = assay_store_ask(s, err, insert, name_lists, "c", &name_columns, name);
	rc = assay_store_done(s, assay_store_step_once(&b), err, kind_word(name->kind), name->name);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

static char *add_part(char *p, const char *s)
{
	const size_t n = strlen(s);

	memcpy(p, s, n);
	p[n] = '\x1f';
	return p + n + 1;
}

/* All of @name in one text. */
static void key_of(const struct name *name, char key[sizeof(struct name)])
{
	char *p = key;

	*p++ = (char)('0' + name->kind);
	*p++ = (char)('1' + name->better);
	*p++ = (char)('0' + name->estimated + 2 * name->per_iteration);
	p = add_part(p, name->name);
	p = add_part(p, name->source);
	p = add_part(p, name->unit);
	strcpy(p, name->how);
}

static int put_name(struct assay_store *s, const struct name *name, int64_t *id, struct assay_err *err)
{
	struct assay_store_names *names;
	char key[sizeof(struct name)];
	size_t at;
	int rc = names_of(s, &names, err);

	if (rc)
		return rc;
	key_of(name, key);
	if (assay_name_index_find(&names->ids, key, &at)) {
		*id = (int64_t)at;
		return 0;
	}
	rc = insert_name(s, name, id, err);
	return rc ? rc : assay_name_index_put(&names->ids, key, (size_t)*id, &at, NULL, err);
}

/* The first name that stands twice; NULL: none. */
static const char *find_twice(const struct assay_result *r)
{
	const struct assay_counters *c = &r->counters;

	for (size_t i = 1; i < r->n_metrics; i++)
		for (size_t k = 0; k < i; k++)
			if (same(r->metrics[i].tag, r->metrics[k].tag))
				return r->metrics[i].tag;
	for (size_t i = 1; i < c->n; i++)
		for (size_t k = 0; k < i; k++)
			if (same(c->v[i].name, c->v[k].name) && same(c->v[i].source, c->v[k].source))
				return c->v[i].name;
	return NULL;
}

static int insert_numbers(struct assay_store *s, int64_t id, const struct assay_stored_number *v, size_t n,
			  const char *key, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO result_numbers (result, encoded) VALUES (?, ?)";
	unsigned char *blob = NULL;
	struct assay_binder b;
	size_t len = 0;
	int rc = assay_number_blob_encode(v, n, &blob, &len, err);

	if (rc)
		return rc;
	b = assay_store_ask(s, err, sql, NULL, "ib", id, blob, len);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "numbers of", key);
	free(blob);
	return rc;
}

int assay_store_put_result_numbers(struct assay_store *s, int64_t id, const struct assay_result *r,
				   struct assay_err *err)
{
	const size_t n = r->n_metrics + r->counters.n + r->counters.n_missing;
	const char *twice = find_twice(r);
	struct assay_stored_number *v;
	int rc = 0;

	if (twice)
		return assay_err_set(err, ASSAY_ESTORE, "cannot store metric '%s' of '%.255s' twice", twice, r->c.key);
	if (!n)
		return 0;
	v = calloc(n, sizeof(*v));
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu numbers", n);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct name name = number_at(r, i, &v[i]);

		rc = put_name(s, &name, &v[i].name, err);
	}
	if (!rc)
		rc = insert_numbers(s, id, v, n, r->c.key, err);
	free(v);
	return rc;
}

/* ---- out -------------------------------------------------------------------------------------------------------- */

static int read_name(struct assay_store *s, int64_t id, struct name *out, struct assay_err *err)
{
	static const char sql[] = "SELECT {n} FROM number_name n WHERE n.id = ?";
	struct assay_row row = { 0 };
	struct assay_binder b = assay_store_ask(s, err, sql, name_lists, "i", id);
	int rc = 0;

	while (assay_store_next(s, &b, &row, "'number_name'", &rc, err)) {
		assay_store_row_columns(&row, &name_columns, out);
		out->id = id;
	}
	return rc || out->id ? rc : assay_store_damaged(s, "'result_numbers'", err);
}

static int find_name(struct assay_store *s, int64_t id, const struct name **out, struct assay_err *err)
{
	struct assay_store_names *names;
	struct name *name;
	char text[24];
	size_t at;
	int rc = names_of(s, &names, err);

	if (rc)
		return rc;
	snprintf(text, sizeof(text), "%lld", (long long)id);
	if (assay_name_index_find(&names->places, text, &at)) {
		*out = names->v[at];
		return 0;
	}
	name = calloc(1, sizeof(*name));
	rc = name ? read_name(s, id, name, err) : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc)
		rc = assay_store_grow(&names->v, names->n, sizeof(*names->v), err);
	if (!rc)
		rc = assay_name_index_put(&names->places, text, names->n, &at, NULL, err);
	if (rc) {
		free(name);
		return rc;
	}
	*out = names->v[names->n++] = name;
	return 0;
}

static int add_number(struct assay_result *r, const struct name *name, const struct assay_stored_number *v)
{
	struct assay_metric m = { .better = name->better, .value = v->value, .estimated = name->estimated };
	struct assay_count c = { .value = v->value,
				 .per_iteration = name->per_iteration,
				 .running_frac = v->running_frac };

	if (name->kind == METRIC) {
		memcpy(m.tag, name->name, sizeof(m.tag));
		memcpy(m.unit, name->unit, sizeof(m.unit));
		memcpy(m.source, name->source, sizeof(m.source));
		return assay_result_put_metric(r, &m);
	}
	if (name->kind == MISSING)
		return assay_counters_add_missing(&r->counters, name->name, name->source, name->how);
	memcpy(c.name, name->name, sizeof(c.name));
	memcpy(c.source, name->source, sizeof(c.source));
	memcpy(c.how, name->how, sizeof(c.how));
	return assay_counters_add(&r->counters, &c);
}

int assay_store_read_numbers(struct assay_store *s, const void *blob, size_t len, struct assay_result *r,
			     struct assay_err *err)
{
	struct assay_stored_number *v = NULL;
	const struct name *name;
	size_t n = 0;
	int rc = assay_number_blob_decode(blob, len, &v, &n, err);

	if (rc)
		return assay_err_prefix(err, "result of '%s' in database '%.160s'", r->c.key, s->path);
	for (size_t i = 0; i < n && !rc; i++) {
		rc = find_name(s, v[i].name, &name, err);
		if (!rc && add_number(r, name, &v[i]))
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	free(v);
	return rc;
}
