/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole comparison out of the database. Each table is read once, in the order of cases and pairs, and merged with
 * them as it goes by; all of it in one read transaction, so that a comparison that is under way is seen at one moment.
 */
#include "store/store_comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sample_blob.h"
#include "store/store_comparison_names.h"
#include "store/store_db.h"
#include "store/store_exact.h"
#include "store/store_rows.h"

/* Where a pair lies: pairs of a case move as they are appended. */
struct pair_place {
	int64_t id;
	size_t in_case, at;
	unsigned sides; /* bit of each side that was read */
};

struct loader {
	struct assay_store *s;
	struct assay_comparison cmp;
	char verdict[ASSAY_STORE_VERDICT_MAX];
	int exit_code;
	int64_t *case_ids; /* parallel to cmp.cases */
	struct pair_place *pairs;
	size_t n_pairs;
	size_t at; /* case or pair that the merge has reached */
	struct assay_err *err;
};

static struct assay_store_whole whole(const struct loader *l)
{
	return (struct assay_store_whole){ "comparison", l->cmp.id };
}

static int damaged(const struct loader *l, const char *table)
{
	return assay_store_part_damaged(l->s, whole(l), table, l->err);
}

/* Call @each for every row of @sql, whose parameter is the comparison's id. */
static int for_each(struct loader *l, const char *table, const char *sql, assay_store_each_row each)
{
	l->at = 0;
	return assay_store_for_each(l->s, whole(l), table, sql, each, l, l->err);
}

/* The case or pair that a row of a child table belongs to; rows come in the order of their parents. NULL: to none. */
static struct assay_comparison_case *merge_case(struct loader *l, int64_t id)
{
	while (l->at < l->cmp.n_cases && l->case_ids[l->at] != id)
		l->at++;
	return l->at < l->cmp.n_cases ? &l->cmp.cases[l->at] : NULL;
}

static struct pair_place *merge_pair(struct loader *l, int64_t id)
{
	while (l->at < l->n_pairs && l->pairs[l->at].id != id)
		l->at++;
	return l->at < l->n_pairs ? &l->pairs[l->at] : NULL;
}

static struct assay_pair *pair_at(struct loader *l, const struct pair_place *place)
{
	return &l->cmp.cases[place->in_case].pairs[place->at];
}

/* Index of a name that a column holds; sets row->bad when it is none. */
static unsigned row_name(struct assay_row *row, const char *const *names, unsigned n)
{
	char name[ASSAY_NAME_MAX];

	assay_store_row_text(row, name, sizeof(name));
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return i;
	row->bad = true;
	return 0;
}

static int each_head(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison *cmp = &l->cmp;

	assay_store_row_text(row, cmp->base, sizeof(cmp->base));
	assay_store_row_text(row, cmp->head, sizeof(cmp->head));
	assay_store_row_text(row, cmp->suite, sizeof(cmp->suite));
	cmp->seed = (uint64_t)assay_store_row_int(row);
	cmp->started_ns = (uint64_t)assay_store_row_int(row);
	cmp->ended_ns = (uint64_t)assay_store_row_int(row);
	cmp->alpha = assay_store_row_real(row);
	cmp->budget_ns = (uint64_t)assay_store_row_int(row);
	cmp->max_pairs = (unsigned)assay_store_row_int(row);
	cmp->family = (unsigned)assay_store_row_int(row);
	assay_store_row_text(row, l->verdict, sizeof(l->verdict));
	l->exit_code = (int)assay_store_row_int(row);
	assay_store_row_text(row, cmp->machine.id, sizeof(cmp->machine.id));
	assay_store_row_text(row, cmp->machine.label, sizeof(cmp->machine.label));
	assay_store_row_build(row, &cmp->build[ASSAY_BASE]);
	assay_store_row_build(row, &cmp->build[ASSAY_HEAD]);
	cmp->policy = assay_store_row_dup(row);
	cmp->rule = (unsigned)assay_store_row_int(row);
	return cmp->policy ? 0 : assay_err_set(l->err, ASSAY_ENOMEM, "out of memory");
}

static int each_case(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison *cmp = &l->cmp;
	struct assay_comparison_case *c;
	int rc;

	rc = assay_store_grow(&cmp->cases, cmp->n_cases, sizeof(*c), l->err);
	if (!rc)
		rc = assay_store_grow(&l->case_ids, cmp->n_cases, sizeof(*l->case_ids), l->err);
	if (rc)
		return rc;
	l->case_ids[cmp->n_cases] = assay_store_row_int(row);
	c = &cmp->cases[cmp->n_cases++];
	memset(c, 0, sizeof(*c));

	assay_store_row_case(row, &c->c);
	c->control = (enum assay_control)row_name(row, assay_store_control_names, ASSAY_STORE_N_CONTROLS);
	c->injected_frac = assay_store_row_real(row);
	c->in_base = assay_store_row_bool(row);
	c->in_head = assay_store_row_bool(row);
	assay_store_row_text(row, c->reason, sizeof(c->reason));
	assay_store_row_text(row, c->difference, sizeof(c->difference));
	return 0;
}

static int each_axis(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison_case *c = merge_case(l, assay_store_row_int(row));

	if (!c)
		return damaged(l, "case_axis");
	assay_store_row_axis(row, &c->c);
	return 0;
}

static int each_pair(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison_case *c = merge_case(l, assay_store_row_int(row));
	struct assay_pair *p;
	int rc;

	if (!c)
		return damaged(l, "pair");
	rc = assay_store_grow(&c->pairs, c->n_pairs, sizeof(*p), l->err);
	if (!rc)
		rc = assay_store_grow(&l->pairs, l->n_pairs, sizeof(*l->pairs), l->err);
	if (rc)
		return rc;
	l->pairs[l->n_pairs++] =
		(struct pair_place){ .id = assay_store_row_int(row), .in_case = l->at, .at = c->n_pairs };
	p = &c->pairs[c->n_pairs++];
	memset(p, 0, sizeof(*p));

	p->seed = (uint64_t)assay_store_row_int(row);
	p->iterations = (uint64_t)assay_store_row_int(row);
	p->extra_iterations[ASSAY_BASE] = (uint64_t)assay_store_row_int(row);
	p->extra_iterations[ASSAY_HEAD] = (uint64_t)assay_store_row_int(row);
	p->n_blocks = (size_t)assay_store_row_int(row);
	p->steady = assay_store_row_bool(row);
	p->wall_ns = (uint64_t)assay_store_row_int(row);
	return 0;
}

static int read_samples(struct loader *l, struct assay_row *row, const struct pair_place *place,
			struct assay_pair_side *side)
{
	size_t len, n = 0;
	const void *blob;
	int rc;

	blob = assay_store_row_blob(row, &len);
	if (blob) {
		rc = assay_sample_blob_decode(blob, len, &side->samples, &n, l->err);
		if (rc)
			return assay_err_prefix(l->err, "pair %zu of '%s' in database '%.160s'", place->at + 1,
						l->cmp.cases[place->in_case].c.key, l->s->path);
	}
	return n % 2 == 0 && n / 2 == pair_at(l, place)->n_blocks ? 0 : damaged(l, "pair_side");
}

static int each_side(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct pair_place *place = merge_pair(l, assay_store_row_int(row));
	struct assay_pair_side *side;
	char status[ASSAY_NAME_MAX];
	unsigned which;

	if (!place)
		return damaged(l, "pair_side");
	which = row_name(row, assay_store_side_names, 2);
	if (row->bad || place->sides & 1u << which)
		return damaged(l, "pair_side");
	place->sides |= 1u << which;
	side = &pair_at(l, place)->side[which];
	assay_store_row_text(row, status, sizeof(status));
	if (!assay_status_parse(status, &side->status))
		row->bad = true;
	assay_store_row_text(row, side->reason, sizeof(side->reason));
	assay_store_row_text(row, side->digest, sizeof(side->digest));
	side->max_rel_err = assay_store_row_real(row);
	assay_store_row_text(row, side->code_hash, sizeof(side->code_hash));
	return read_samples(l, row, place, side);
}

/* The side that a row of a child table belongs to, by its first two columns; NULL: to none. */
static struct assay_pair_side *merge_side(struct loader *l, struct assay_row *row)
{
	struct pair_place *place = merge_pair(l, assay_store_row_int(row));

	return place ? &pair_at(l, place)->side[row_name(row, assay_store_side_names, 2)] : NULL;
}

static int each_counter(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_pair_side *side = merge_side(l, row);

	return side ? assay_store_row_count(row, &side->counters, l->err) : damaged(l, "pair_counter");
}

static int each_missing(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_pair_side *side = merge_side(l, row);

	return side ? assay_store_row_missing(row, &side->counters, l->err) : damaged(l, "pair_unavailable");
}

static int each_metric(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_pair_side *side = merge_side(l, row);
	int rc;

	if (!side)
		return damaged(l, "pair_metric");
	rc = assay_store_grow(&side->metrics, side->n_metrics, sizeof(*side->metrics), l->err);
	if (!rc)
		assay_store_row_metric(row, &side->metrics[side->n_metrics++]);
	return rc;
}

static int check_sides(const struct loader *l)
{
	for (size_t i = 0; i < l->n_pairs; i++)
		if (l->pairs[i].sides != 3)
			return damaged(l, "pair");
	return 0;
}

static const char head_sql[] =
	"SELECT k.base, k.head, k.suite, k.seed, k.started_ns, k.ended_ns, k.alpha, k.budget_ns, k.max_pairs, k.family,"
	" k.verdict, k.exit_code, m.id, m.label, b.id, b.commit_hash, b.dirty, b.compiler, b.flags, b.plugins,"
	" h.id, h.commit_hash, h.dirty, h.compiler, h.flags, h.plugins, k.policy, k.rule"
	" FROM comparison k JOIN machine m ON m.id = k.machine JOIN build b ON b.id = k.base_build"
	" JOIN build h ON h.id = k.head_build WHERE k.id = ?";

static const char case_sql[] =
	"SELECT k.id, c.key, c.op, c.variant, c.threads, c.cache, k.all_threads, k.budget_ns, k.timeout_ns,"
	" k.memory_bytes, k.control, k.injected_frac, k.in_base, k.in_head, k.reason, k.difference"
	" FROM comparison_case k JOIN bench_case c ON c.id = k.bench_case WHERE k.comparison = ? ORDER BY k.id";

static const char axis_sql[] =
	"SELECT k.id, a.name, a.text, a.value FROM comparison_case k JOIN case_axis a ON a.bench_case = k.bench_case"
	" WHERE k.comparison = ? ORDER BY k.id, a.place";

static const char pair_sql[] =
	"SELECT k.id, p.id, p.seed, p.iterations, p.base_extra_iterations, p.head_extra_iterations, p.n_blocks,"
	" p.steady, p.wall_ns FROM comparison_case k JOIN pair p ON p.comparison_case = k.id"
	" WHERE k.comparison = ? ORDER BY k.id, p.id";

static const char side_sql[] =
	"SELECT p.id, d.side, d.status, d.reason, d.digest, d.max_rel_err, d.code_hash, d.samples"
	" FROM comparison_case k JOIN pair p ON p.comparison_case = k.id JOIN pair_side d ON d.pair = p.id"
	" WHERE k.comparison = ? ORDER BY k.id, p.id, d.side";

static const char metric_sql[] =
	"SELECT p.id, d.side, m.tag, m.unit, m.better, m.value, m.source, m.estimated"
	" FROM comparison_case k JOIN pair p ON p.comparison_case = k.id JOIN pair_side d ON d.pair = p.id"
	" JOIN pair_metric m ON m.pair_side = d.id WHERE k.comparison = ? ORDER BY k.id, p.id, d.side, m.place";

static const char counter_sql[] =
	"SELECT p.id, d.side, c.name, c.source, c.value, c.how, c.per_iteration, c.running_frac"
	" FROM comparison_case k JOIN pair p ON p.comparison_case = k.id JOIN pair_side d ON d.pair = p.id"
	" JOIN pair_counter c ON c.pair_side = d.id WHERE k.comparison = ? ORDER BY k.id, p.id, d.side, c.place";

static const char missing_sql[] =
	"SELECT p.id, d.side, u.name, u.source, u.reason"
	" FROM comparison_case k JOIN pair p ON p.comparison_case = k.id JOIN pair_side d ON d.pair = p.id"
	" JOIN pair_unavailable u ON u.pair_side = d.id WHERE k.comparison = ? ORDER BY k.id, p.id, d.side, u.place";

static int load_counts(struct loader *l)
{
	int rc = 0;

	for (int side = 0; side < 2 && !rc; side++) {
		rc = assay_store_exact_of_side(l->s, l->cmp.id, (enum assay_side)side, &l->cmp.exact[side], l->err);
		if (rc == ASSAY_ENOTFOUND)
			rc = 0;
	}
	return rc;
}

static int load(struct loader *l)
{
	int rc = l->cmp.id ? 0
			   : assay_store_newest(l->s, "SELECT max(id) FROM comparison", "comparison", "compare",
						&l->cmp.id, l->err);

	if (!rc)
		rc = for_each(l, "comparison", head_sql, each_head);
	if (!rc && !l->cmp.policy)
		rc = assay_err_set(l->err, ASSAY_ENOTFOUND, "no comparison %lld in '%.200s'", (long long)l->cmp.id,
				   l->s->path);
	if (!rc)
		rc = assay_store_read_facts(l->s, &l->cmp.machine, l->err);
	if (!rc)
		rc = for_each(l, "comparison_case", case_sql, each_case);
	if (!rc)
		rc = for_each(l, "case_axis", axis_sql, each_axis);
	if (!rc)
		rc = for_each(l, "pair", pair_sql, each_pair);
	if (!rc)
		rc = for_each(l, "pair_side", side_sql, each_side);
	if (!rc)
		rc = check_sides(l);
	if (!rc)
		rc = for_each(l, "pair_metric", metric_sql, each_metric);
	if (!rc)
		rc = for_each(l, "pair_counter", counter_sql, each_counter);
	if (!rc)
		rc = for_each(l, "pair_unavailable", missing_sql, each_missing);
	if (!rc)
		rc = load_counts(l);
	return rc;
}

int assay_store_comparison_load(struct assay_store *s, int64_t id, struct assay_comparison *out, char *verdict,
				int *exit_code, struct assay_err *err)
{
	struct loader l = { .s = s, .cmp.id = id, .err = err };
	int rc;

	rc = assay_store_begin_read(s, err);
	if (rc)
		return rc;
	rc = assay_store_finish(s, load(&l), err);
	free(l.case_ids);
	free(l.pairs);
	if (rc) {
		assay_comparison_release(&l.cmp);
		return rc;
	}
	*out = l.cmp;
	if (verdict)
		memcpy(verdict, l.verdict, sizeof(l.verdict));
	if (exit_code)
		*exit_code = l.verdict[0] ? l.exit_code : -1;
	return 0;
}
