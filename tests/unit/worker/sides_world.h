/* SPDX-License-Identifier: Apache-2.0 */
/* Two plugins with variants of the same names: one is measured alone, or both in a pair. */
#ifndef ASSAY_TESTS_SIDES_WORLD_H
#define ASSAY_TESTS_SIDES_WORLD_H

#include "measure_world.h"

#include "measure/measure.h"

struct sides {
	struct assay_strings plugins[2];
	struct assay_inventory *inv;
	struct assay_measure_options o;
	uint64_t timeout_ns; /* of cases; 0: as make_case() has it */
	uint64_t budget_ns;  /* likewise */
	const char *op;      /* NULL: example.scale */
	uint64_t pair_seed;  /* 0: any */
	struct assay_pair_calibration calibration;
};

/* @ops: a plugin with ops besides example.scale; NULL: there is none. */
static inline void open_sides_of(const struct world *w, const char *ops, const char *const names[2], struct sides *s)
{
	struct assay_err err = { 0 };

	*s = (struct sides){ 0 };
	for (int i = 0; i < 2; i++) {
		add_plugin(&s->plugins[i], w->dir, "example_op");
		if (ops)
			add_plugin(&s->plugins[i], w->dir, ops);
		add_plugin(&s->plugins[i], w->dir, names[i]);
	}
	if (assay_inventory_open(&s->inv, &s->plugins[ASSAY_HEAD], NULL, &w->host, &err))
		fail_msg("%s", err.text);
	s->o = (struct assay_measure_options){ .worker = setup_of(w, &s->plugins[ASSAY_HEAD]) };
}

static inline void open_sides(const struct world *w, const char *const names[2], struct sides *s)
{
	open_sides_of(w, NULL, names, s);
}

static inline void close_sides(struct sides *s)
{
	assay_inventory_close(s->inv);
	assay_strings_release(&s->plugins[0]);
	assay_strings_release(&s->plugins[1]);
}

static inline struct assay_case plan_of(struct sides *s, const char *variant, int64_t n, enum assay_cache cache,
					unsigned threads, struct assay_case_facts *facts)
{
	struct assay_case c = make_case(variant, n, threads, cache);
	struct assay_err err = { 0 };

	if (s->op) {
		snprintf(c.op, sizeof(c.op), "%s", s->op);
		assert_int_equal(assay_case_make_key(&c, NULL), 0);
	}
	c.budget_ns = s->budget_ns ? s->budget_ns : c.budget_ns;
	c.timeout_ns = s->timeout_ns ? s->timeout_ns : c.timeout_ns;
	if (assay_inventory_describe(s->inv, &c, 1, facts, &err))
		fail_msg("%s", err.text);
	return c;
}

/* The head's variant. */
static inline void measure_alone(struct sides *s, const char *variant, int64_t n, enum assay_cache cache,
				 unsigned threads, struct assay_result *r)
{
	struct assay_case_facts facts;
	struct assay_case c = plan_of(s, variant, n, cache, threads, &facts);
	struct assay_err err = { 0 };

	if (assay_measure_case(&c, assay_inventory_catalog(s->inv), &facts, &s->o, r, &err))
		fail_msg("%s", err.text);
}

/* The first pair, which is always audited, unless it was calibrated before. */
static inline void measure_in_pair(struct sides *s, const char *variant, int64_t n, struct assay_pair *p)
{
	const struct assay_pair_options po = { .plugins = { &s->plugins[0], &s->plugins[1] },
					       .sampling_ns = 20000000,
					       .pair_seed = s->pair_seed ? s->pair_seed : 3 };
	struct assay_pair_calibration calibration = s->calibration;
	struct assay_case_facts facts;
	struct assay_case c = plan_of(s, variant, n, ASSAY_CACHE_WARM, 1, &facts);
	struct assay_err err = { 0 };
	char difference[ASSAY_DIFFERENCE_MAX];

	if (assay_measure_pair(&c, assay_inventory_catalog(s->inv), &facts, &s->o, &po, &calibration, p, difference,
			       &err))
		fail_msg("%s", err.text);
}

#endif
