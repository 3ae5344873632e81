/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole comparison out of the database. Each table is read once, in the order of cases and pairs, and merged with
 * them as it goes by; all of it in one read transaction, so that a comparison that is under way is seen at one moment.
 */
#include "store/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/blobs.h"
#include "store/exact.h"
#include "store/rows.h"

/* Where a pair lies: pairs of a case move as they are appended. */
struct pair_place {
	int64_t id;
	size_t in_case, at;
	unsigned sides; /* bit of each side that was read */
};

struct loader {
	struct assay_store *s;
	struct assay_comparison cmp;
	char verdict[ASSAY_VERDICT_MAX];
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

/*
 * The case or pair that a row of a child table belongs to, by its first column; rows come in the order of their
 * parents. NULL: to none.
 */
static struct assay_comparison_case *merge_case(struct loader *l, struct assay_row *row)
{
	int64_t id = assay_store_row_int(row);

	while (l->at < l->cmp.n_cases && l->case_ids[l->at] != id)
		l->at++;
	if (l->at == l->cmp.n_cases)
		return NULL;
	return &l->cmp.cases[l->at];
}

static struct pair_place *merge_pair(struct loader *l, struct assay_row *row)
{
	int64_t id = assay_store_row_int(row);

	while (l->at < l->n_pairs && l->pairs[l->at].id != id)
		l->at++;
	if (l->at == l->n_pairs)
		return NULL;
	return &l->pairs[l->at];
}

static struct assay_pair *pair_at(struct loader *l, const struct pair_place *place)
{
	return &l->cmp.cases[place->in_case].pairs[place->at];
}

/* The side that a column names; sets row->bad when it is none. */
static unsigned row_side(struct assay_row *row)
{
	char name[ASSAY_NAME_MAX];

	assay_store_row_text(row, name, sizeof(name));
	for (unsigned i = 0; i < 2; i++)
		if (!strcmp(assay_store_side_names[i], name))
			return i;
	row->bad = true;
	return 0;
}

static int each_head(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison *cmp = &l->cmp;

	assay_store_row_columns(row, &assay_store_comparison_columns, cmp);
	cmp->ended_ns = (uint64_t)assay_store_row_int(row);
	assay_store_row_text(row, l->verdict, sizeof(l->verdict));
	l->exit_code = (int)assay_store_row_int(row);
	assay_store_row_columns(row, &assay_store_machine_columns, &cmp->machine);
	assay_store_row_columns(row, &assay_store_build_columns, &cmp->build[ASSAY_BASE]);
	assay_store_row_columns(row, &assay_store_build_columns, &cmp->build[ASSAY_HEAD]);
	return 0;
}

static int each_case(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison *cmp = &l->cmp;
	struct assay_comparison_case *c;
	int rc = assay_store_grow(&cmp->cases, cmp->n_cases, sizeof(*c), l->err);

	if (!rc)
		rc = assay_store_grow(&l->case_ids, cmp->n_cases, sizeof(*l->case_ids), l->err);
	if (rc)
		return rc;
	l->case_ids[cmp->n_cases] = assay_store_row_int(row);
	c = &cmp->cases[cmp->n_cases++];
	memset(c, 0, sizeof(*c));

	assay_store_row_columns(row, &assay_store_case_columns, &c->c);
	assay_case_read_key(&c->c);
	assay_store_row_columns(row, &assay_store_limit_columns, &c->c);
	assay_store_row_columns(row, &assay_store_control_columns, c);
	assay_store_row_columns(row, &assay_store_presence_columns, c);
	return 0;
}

static int each_axis(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison_case *c = merge_case(l, row);

	if (!c)
		return damaged(l, "case_axis");
	assay_store_row_axis(row, &c->c);
	return 0;
}

static int each_pair(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_comparison_case *c = merge_case(l, row);
	struct pair_place *place;
	struct assay_pair *p;
	int rc;

	if (!c)
		return damaged(l, "pair");
	rc = assay_store_grow(&c->pairs, c->n_pairs, sizeof(*p), l->err);
	if (!rc)
		rc = assay_store_grow(&l->pairs, l->n_pairs, sizeof(*l->pairs), l->err);
	if (rc)
		return rc;
	place = &l->pairs[l->n_pairs++];
	*place = (struct pair_place){ .id = assay_store_row_int(row), .in_case = l->at, .at = c->n_pairs };
	p = &c->pairs[c->n_pairs++];
	memset(p, 0, sizeof(*p));
	assay_store_row_columns(row, &assay_store_pair_columns, p);
	return 0;
}

static int each_side(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct pair_place *place = merge_pair(l, row);
	struct assay_result *side;
	unsigned which;
	const void *blob;
	size_t len;
	int rc;

	if (!place)
		return damaged(l, "pair_side");
	which = row_side(row);
	if (row->bad || place->sides & 1u << which)
		return damaged(l, "pair_side");
	place->sides |= 1u << which;
	side = &pair_at(l, place)->side[which];
	assay_store_row_columns(row, &assay_store_side_columns, side);
	blob = assay_store_row_blob(row, &len);
	if (blob) {
		rc = assay_sample_blob_decode(blob, len, &side->samples, &side->n_samples, l->err);
		if (rc)
			return assay_err_prefix(l->err, "pair %zu of '%s' in database '%.160s'", place->at + 1,
						l->cmp.cases[place->in_case].c.key, l->s->path);
	}
	return side->n_samples == 2 * pair_at(l, place)->n_blocks ? 0 : damaged(l, "pair_side");
}

/* The side that a row of a child table belongs to, by its first two columns; NULL: to none. */
static struct assay_result *merge_side(struct loader *l, struct assay_row *row)
{
	struct pair_place *place = merge_pair(l, row);

	return place ? &pair_at(l, place)->side[row_side(row)] : NULL;
}

static int each_counter(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *side = merge_side(l, row);

	return side ? assay_store_row_count(row, &side->counters, l->err) : damaged(l, "pair_counter");
}

static int each_missing(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *side = merge_side(l, row);

	return side ? assay_store_row_missing(row, &side->counters, l->err) : damaged(l, "pair_unavailable");
}

static int each_metric(void *loader, struct assay_row *row)
{
	struct loader *l = loader;
	struct assay_result *side = merge_side(l, row);
	int rc;

	if (!side)
		return damaged(l, "pair_metric");
	rc = assay_store_grow(&side->metrics, side->n_metrics, sizeof(*side->metrics), l->err);
	if (!rc)
		assay_store_row_columns(row, &assay_store_metric_columns, &side->metrics[side->n_metrics++]);
	return rc;
}

static int check_pairs(const struct loader *l)
{
	for (size_t i = 0; i < l->n_pairs; i++)
		if (l->pairs[i].sides != 3)
			return damaged(l, "pair");
	return 0;
}

static const struct assay_store_query head = {
	"comparison",
	"SELECT {k}, k.ended_ns, k.verdict, k.exit_code, {m}, {b}, {h} FROM comparison k"
	" JOIN machine m ON m.id = k.machine JOIN build b ON b.id = k.base_build JOIN build h ON h.id = k.head_build"
	" WHERE k.id = ?",
	{ &assay_store_comparison_columns, &assay_store_machine_columns, &assay_store_build_columns,
	  &assay_store_build_columns },
	each_head,
};

/* The cases and pairs of a comparison, in the order of cases, pairs and sides. */
static const struct assay_store_query parts[] = {
	{ "comparison_case",
	  "SELECT k.id, {c}, {k}, {k}, {k} FROM comparison_case k JOIN bench_case c ON c.id = k.bench_case"
	  " WHERE k.comparison = ? ORDER BY k.id",
	  { &assay_store_case_columns, &assay_store_limit_columns, &assay_store_control_columns,
	    &assay_store_presence_columns },
	  each_case },
	{ "case_axis",
	  "SELECT k.id, {a} FROM comparison_case k JOIN case_axis a ON a.bench_case = k.bench_case"
	  " WHERE k.comparison = ? ORDER BY k.id, a.place",
	  { &assay_store_axis_columns },
	  each_axis },
	{ "pair",
	  "SELECT k.id, p.id, {p} FROM comparison_case k JOIN pair p"
	  " ON p.comparison_case = k.id WHERE k.comparison = ? ORDER BY k.id, p.id",
	  { &assay_store_pair_columns },
	  each_pair },
	{ "pair_side",
	  "SELECT p.id, d.side, {d}, d.samples FROM comparison_case k JOIN pair p"
	  " ON p.comparison_case = k.id JOIN pair_side d ON d.pair = p.id WHERE k.comparison = ?"
	  " ORDER BY k.id, p.id, d.side",
	  { &assay_store_side_columns },
	  each_side },
	{ "pair_metric",
	  "SELECT p.id, d.side, {m} FROM comparison_case k JOIN pair p ON p.comparison_case = k.id"
	  " JOIN pair_side d ON d.pair = p.id JOIN pair_metric m ON m.pair_side = d.id WHERE k.comparison = ?"
	  " ORDER BY k.id, p.id, d.side, m.place",
	  { &assay_store_metric_columns },
	  each_metric },
	{ "pair_counter",
	  "SELECT p.id, d.side, {c} FROM comparison_case k JOIN pair p ON p.comparison_case = k.id"
	  " JOIN pair_side d ON d.pair = p.id JOIN pair_counter c ON c.pair_side = d.id"
	  " WHERE k.comparison = ? ORDER BY k.id, p.id, d.side, c.place",
	  { &assay_store_count_columns },
	  each_counter },
	{ "pair_unavailable",
	  "SELECT p.id, d.side, {u} FROM comparison_case k JOIN pair p ON p.comparison_case = k.id"
	  " JOIN pair_side d ON d.pair = p.id JOIN pair_unavailable u ON u.pair_side = d.id"
	  " WHERE k.comparison = ? ORDER BY k.id, p.id, d.side, u.place",
	  { &assay_store_missing_columns },
	  each_missing },
};

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
	static const char newest[] = "SELECT id FROM comparison ORDER BY started_ns DESC, id DESC LIMIT 1";
	int rc = l->cmp.id ? 0 : assay_store_newest(l->s, newest, "comparison", &l->cmp.id, l->err);

	if (!rc)
		rc = assay_store_for_each(l->s, whole(l), &head, l, l->err);
	if (!rc && !l->cmp.policy)
		rc = assay_store_no_number(l->s, "comparison", l->cmp.id, l->err);
	if (!rc)
		rc = assay_store_read_facts(l->s, &l->cmp.machine, l->err);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !rc; i++) {
		l->at = 0;
		rc = assay_store_for_each(l->s, whole(l), &parts[i], l, l->err);
	}
	if (!rc)
		rc = check_pairs(l);
	if (!rc)
		rc = load_counts(l);
	for (size_t i = 0; i < l->cmp.n_cases && !rc; i++)
		rc = assay_store_because_load(l->s, l->case_ids[i], &l->cmp.cases[i].because, l->err);
	return rc;
}

int assay_store_comparison_load(struct assay_store *s, int64_t id, struct assay_comparison *out, char *verdict,
				int *exit_code, struct assay_err *err)
{
	struct loader l = { .s = s, .cmp.id = id, .err = err };
	int rc = assay_store_begin_read(s, err);

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
