/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that runs and comparisons have in common: machine, build, case, metric. */
#include "store/store_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assay_store_done(struct assay_store *s, int sqlite_rc, struct assay_err *err, const char *what, const char *name)
{
	return sqlite_rc == SQLITE_DONE ? 0
					: assay_store_fail(s, sqlite_rc, err, "cannot store %s '%.100s'", what, name);
}

static int add_machine_facts(struct assay_store *s, const struct assay_fingerprint *m, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO machine_fact (machine, place, name, value) VALUES (?, ?, ?, ?)";
	sqlite3_stmt *st;
	int rc;

	rc = assay_store_prepare(s, sql, &st, err);
	for (size_t i = 0; i < m->n_facts && !rc; i++) {
		struct assay_binder b = assay_store_bind(st);

		assay_store_bind_text(&b, m->id);
		assay_store_bind_size(&b, i);
		assay_store_bind_text(&b, m->facts[i].name);
		assay_store_bind_text(&b, m->facts[i].value);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "fact", m->facts[i].name);
	}
	return rc;
}

int assay_store_put_machine(struct assay_store *s, const struct assay_fingerprint *m, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO machine (id, label) VALUES (?, ?) ON CONFLICT (id) DO NOTHING";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, m->id);
	assay_store_bind_text(&b, m->label);
	rc = assay_store_done(s, assay_store_step_once(&b), err, "machine", m->id);
	if (!rc && sqlite3_changes(s->db))
		rc = add_machine_facts(s, m, err);
	return rc;
}

int assay_store_put_build(struct assay_store *s, const struct assay_build *build, struct assay_err *err)
{
	static const char sql[] =
		"INSERT INTO build (id, commit_hash, dirty, compiler, flags, plugins) VALUES (?, ?, ?, ?, ?, ?)"
		" ON CONFLICT (id) DO NOTHING";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, build->id);
	assay_store_bind_text(&b, build->commit);
	assay_store_bind_int(&b, build->dirty);
	assay_store_bind_text(&b, build->compiler);
	assay_store_bind_text(&b, build->flags);
	assay_store_bind_text(&b, build->plugins);
	return assay_store_done(s, assay_store_step_once(&b), err, "build", build->id);
}

static int add_axes(struct assay_store *s, int64_t id, const struct assay_case *c, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO case_axis (bench_case, place, name, text, value) VALUES (?, ?, ?, ?, ?)";
	sqlite3_stmt *st;
	int rc;

	rc = assay_store_prepare(s, sql, &st, err);
	for (unsigned i = 0; i < c->n_axes && !rc; i++) {
		struct assay_binder b = assay_store_bind(st);

		assay_store_bind_int(&b, id);
		assay_store_bind_int(&b, i);
		assay_store_bind_text(&b, c->axes[i].name);
		assay_store_bind_text(&b, c->axes[i].text);
		assay_store_bind_int(&b, c->axes[i].value);
		rc = assay_store_done(s, assay_store_step_once(&b), err, "axis", c->axes[i].name);
	}
	return rc;
}

/* 0 and *id, or ASSAY_ENOTFOUND without a message. */
static int find_case(struct assay_store *s, const char *key, int64_t *id, struct assay_err *err)
{
	static const char sql[] = "SELECT id FROM bench_case WHERE key = ?";
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, key);
	rc = assay_store_step(&b);
	if (rc == SQLITE_ROW)
		*id = sqlite3_column_int64(b.st, 0);
	sqlite3_reset(b.st);
	if (rc == SQLITE_DONE)
		return ASSAY_ENOTFOUND;
	return rc == SQLITE_ROW ? 0 : assay_store_fail(s, rc, err, "cannot look up '%.100s'", key);
}

int assay_store_put_case(struct assay_store *s, const struct assay_case *c, int64_t *id, struct assay_err *err)
{
	static const char sql[] = "INSERT INTO bench_case (key, op, variant, threads, cache) VALUES (?, ?, ?, ?, ?)";
	struct assay_binder b;
	int rc;

	rc = find_case(s, c->key, id, err);
	if (rc != ASSAY_ENOTFOUND)
		return rc;
	rc = assay_store_statement(s, sql, &b, err);
	if (rc)
		return rc;
	assay_store_bind_text(&b, c->key);
	assay_store_bind_text(&b, c->op);
	assay_store_bind_text(&b, c->variant);
	assay_store_bind_int(&b, c->threads);
	assay_store_bind_text(&b, assay_cache_name(c->cache));
	rc = assay_store_done(s, assay_store_step_once(&b), err, "case", c->key);
	if (rc)
		return rc;
	*id = sqlite3_last_insert_rowid(s->db);
	return add_axes(s, *id, c, err);
}

void assay_store_row_case(struct assay_row *row, struct assay_case *c)
{
	char cache[ASSAY_NAME_MAX];

	assay_store_row_text(row, c->key, sizeof(c->key));
	assay_store_row_text(row, c->op, sizeof(c->op));
	assay_store_row_text(row, c->variant, sizeof(c->variant));
	c->threads = (unsigned)assay_store_row_int(row);
	assay_store_row_text(row, cache, sizeof(cache));
	c->cache = strcmp(cache, assay_cache_name(ASSAY_CACHE_COLD)) == 0 ? ASSAY_CACHE_COLD : ASSAY_CACHE_WARM;
	c->all_threads = assay_store_row_bool(row);
	c->budget_ns = (uint64_t)assay_store_row_int(row);
	c->timeout_ns = (uint64_t)assay_store_row_int(row);
	c->memory_bytes = (uint64_t)assay_store_row_int(row);
}

void assay_store_row_build(struct assay_row *row, struct assay_build *build)
{
	assay_store_row_text(row, build->id, sizeof(build->id));
	assay_store_row_text(row, build->commit, sizeof(build->commit));
	build->dirty = assay_store_row_bool(row);
	assay_store_row_text(row, build->compiler, sizeof(build->compiler));
	assay_store_row_text(row, build->flags, sizeof(build->flags));
	assay_store_row_text(row, build->plugins, sizeof(build->plugins));
}

void assay_store_row_axis(struct assay_row *row, struct assay_case *c)
{
	struct assay_axis_value *a = &c->axes[c->n_axes];

	if (c->n_axes == ASSAY_MAX_AXES) {
		row->bad = true;
		return;
	}
	assay_store_row_text(row, a->name, sizeof(a->name));
	assay_store_row_text(row, a->text, sizeof(a->text));
	a->value = assay_store_row_int(row);
	c->n_axes++;
}

void assay_store_row_fact(struct assay_row *row, struct assay_fingerprint *m)
{
	struct assay_fact *f = &m->facts[m->n_facts];

	if (m->n_facts == sizeof(m->facts) / sizeof(m->facts[0])) {
		row->bad = true;
		return;
	}
	assay_store_row_text(row, f->name, sizeof(f->name));
	assay_store_row_text(row, f->value, sizeof(f->value));
	m->n_facts++;
}

void assay_store_row_metric(struct assay_row *row, struct assay_metric *m)
{
	assay_store_row_text(row, m->tag, sizeof(m->tag));
	assay_store_row_text(row, m->unit, sizeof(m->unit));
	m->better = (int)assay_store_row_int(row);
	m->value = sqlite3_column_double(row->st, row->column++);
	assay_store_row_text(row, m->source, sizeof(m->source));
	m->estimated = assay_store_row_bool(row);
}

char *assay_store_row_dup(struct assay_row *row)
{
	const unsigned char *text = sqlite3_column_text(row->st, row->column);
	size_t len = text ? (size_t)sqlite3_column_bytes(row->st, row->column) : 0;
	char *copy = malloc(len + 1);

	row->column++;
	if (!copy)
		return NULL;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

int assay_store_read_facts(struct assay_store *s, struct assay_fingerprint *m, struct assay_err *err)
{
	static const char sql[] = "SELECT name, value FROM machine_fact WHERE machine = ? ORDER BY place";
	struct assay_row row = { 0 };
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);

	if (rc)
		return rc;
	assay_store_bind_text(&b, m->id);
	while (assay_store_next(s, &b, &row, "'machine_fact'", &rc, err))
		assay_store_row_fact(&row, m);
	return rc;
}

static void name_part(struct assay_store_whole whole, const char *table, char *buf, size_t size)
{
	snprintf(buf, size, "'%s' in %s %lld", table, whole.kind, (long long)whole.id);
}

int assay_store_newest(struct assay_store *s, const char *sql, const char *kind, const char *command, int64_t *id,
		       struct assay_err *err)
{
	sqlite3_stmt *st;
	int rc = assay_store_prepare(s, sql, &st, err);

	if (rc)
		return rc;
	rc = sqlite3_step(st);
	if (rc != SQLITE_ROW)
		return assay_store_fail(s, rc, err, "cannot read '%s'", kind);
	*id = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	if (!*id)
		return assay_err_set(err, ASSAY_ENOTFOUND,
				     "no %ss in '%.200s'; run 'assay %s' first, or name another with --db", kind,
				     s->path, command);
	return 0;
}

int assay_store_for_each(struct assay_store *s, struct assay_store_whole whole, const char *table, const char *sql,
			 assay_store_each_row each, void *to, struct assay_err *err)
{
	struct assay_row row = { 0 };
	struct assay_binder b;
	int rc = assay_store_statement(s, sql, &b, err);
	char what[64];

	if (rc)
		return rc;
	name_part(whole, table, what, sizeof(what));
	assay_store_bind_int(&b, whole.id);
	while (assay_store_next(s, &b, &row, what, &rc, err))
		rc = each(to, &row);
	return rc;
}

int assay_store_part_damaged(const struct assay_store *s, struct assay_store_whole whole, const char *table,
			     struct assay_err *err)
{
	char what[64];

	name_part(whole, table, what, sizeof(what));
	return assay_store_damaged(s, what, err);
}

int assay_store_collect(struct assay_store *s, struct assay_binder *b, const char *what, size_t size,
			void (*read)(struct assay_row *row, void *element), void *out, size_t *n, struct assay_err *err)
{
	struct assay_row row = { 0 };
	size_t count = 0;
	char *v = NULL;
	int rc = 0;

	while (assay_store_next(s, b, &row, what, &rc, err)) {
		rc = assay_store_grow(&v, count, size, err);
		if (rc)
			continue;
		memset(v + count * size, 0, size);
		read(&row, v + count * size);
		count++;
	}
	if (rc) {
		free(v);
		return rc;
	}
	memcpy(out, &v, sizeof(v));
	*n = count;
	return 0;
}
