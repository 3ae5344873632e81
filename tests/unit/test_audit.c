/* SPDX-License-Identifier: Apache-2.0 */
/* Variants that do less when they are timed than when they are checked are found out, alone and in a comparison. */
#include "measure_world.h"

#include "measure/measure_pair.h"

#define N 4096

static const char *const cheats[] = { "peek", "glance", "burst", "cachecopy", "late", "memo", "skip" };

struct sides {
	struct assay_strings plugins[2];
	struct assay_inventory *inv;
	struct assay_measure_options o;
};

static void open_sides(const struct world *w, const char *const names[2], struct sides *s)
{
	struct assay_err err = { 0 };

	*s = (struct sides){ 0 };
	for (int i = 0; i < 2; i++) {
		add_plugin(&s->plugins[i], w->dir, "example_op");
		add_plugin(&s->plugins[i], w->dir, names[i]);
	}
	if (assay_inventory_open(&s->inv, &s->plugins[ASSAY_HEAD], NULL, &w->host, &err))
		fail_msg("%s", err.text);
	s->o = (struct assay_measure_options){ .topology = w->topology,
					       .host = &w->host,
					       .clock = &w->clock,
					       .seed = 42,
					       .plugins = &s->plugins[ASSAY_HEAD] };
}

static void close_sides(struct sides *s)
{
	assay_inventory_close(s->inv);
	assay_strings_release(&s->plugins[0]);
	assay_strings_release(&s->plugins[1]);
}

static struct assay_case plan(struct sides *s, const char *variant, int64_t n, enum assay_cache cache,
			      struct assay_case_facts *facts)
{
	struct assay_case c = make_case(variant, n, 1, cache);
	struct assay_err err = { 0 };

	if (assay_inventory_describe(s->inv, &c, 1, facts, &err))
		fail_msg("%s", err.text);
	return c;
}

static void expect_alone(struct sides *s, const char *variant, int64_t n, enum assay_cache cache,
			 enum assay_status status)
{
	struct assay_case_facts facts;
	struct assay_case c = plan(s, variant, n, cache, &facts);
	struct assay_err err = { 0 };
	struct assay_result r;

	if (assay_measure_case(&c, assay_inventory_catalog(s->inv), &facts, &s->o, &r, &err))
		fail_msg("%s", err.text);
	if (r.status != status)
		fail_msg("'%s': %s, '%s'", c.key, assay_status_name(r.status), r.reason);
	if (status == ASSAY_STATUS_WRONG)
		assert_int_equal(r.n_samples, 0);
	assay_result_release(&r);
}

/* The first pair, which is always audited. */
static void expect_in_pair(struct sides *s, const char *variant, enum assay_status head)
{
	const struct assay_pair_options po = { .plugins = { &s->plugins[0], &s->plugins[1] },
					       .sampling_ns = 20000000,
					       .pair_seed = 3 };
	struct assay_pair_lessons lessons = { 0 };
	struct assay_case_facts facts;
	struct assay_case c = plan(s, variant, N, ASSAY_CACHE_WARM, &facts);
	struct assay_err err = { 0 };
	struct assay_pair p;
	char difference[256];

	if (assay_measure_pair(&c, assay_inventory_catalog(s->inv), &facts, &s->o, &po, &lessons, &p, difference, &err))
		fail_msg("%s", err.text);
	if (p.side[ASSAY_BASE].status != ASSAY_STATUS_OK || p.side[ASSAY_HEAD].status != head)
		fail_msg("'%s': base '%s', head '%s'", c.key, p.side[ASSAY_BASE].reason, p.side[ASSAY_HEAD].reason);
	assay_pair_release(&p);
}

TEST(alone)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	expect_alone(&s, "honest", N, ASSAY_CACHE_WARM, ASSAY_STATUS_OK);
	for (size_t i = 0; i < N_OF(cheats); i++)
		expect_alone(&s, cheats[i], N, ASSAY_CACHE_WARM, ASSAY_STATUS_WRONG);
	close_sides(&s);
}

/* What a processor learns of the data is no cheating. */
TEST(branches_are_honest)
{
	static const int64_t lengths[] = { 16, 64, 256, 1024, N };
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	for (size_t i = 0; i < N_OF(lengths); i++)
		expect_alone(&s, "branchy", lengths[i], ASSAY_CACHE_WARM, ASSAY_STATUS_OK);
	close_sides(&s);
}

TEST(in_a_pair)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	expect_in_pair(&s, "honest", ASSAY_STATUS_OK);
	for (size_t i = 0; i < N_OF(cheats); i++)
		expect_in_pair(&s, cheats[i], ASSAY_STATUS_WRONG);
	close_sides(&s);
}

/* Each copy may hold the answer of its last call. */
TEST(cold)
{
	struct sides s;

	open_sides(*state, (const char *const[2]){ "cheat_base", "cheat_head" }, &s);
	expect_alone(&s, "honest", N, ASSAY_CACHE_COLD, ASSAY_STATUS_OK);
	expect_alone(&s, "glance", N, ASSAY_CACHE_COLD, ASSAY_STATUS_WRONG);
	expect_alone(&s, "cachecopy", N, ASSAY_CACHE_COLD, ASSAY_STATUS_WRONG);
	expect_alone(&s, "skip", N, ASSAY_CACHE_COLD, ASSAY_STATUS_WRONG);
	close_sides(&s);
}

MEASURE_MAIN
