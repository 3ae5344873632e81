/* SPDX-License-Identifier: Apache-2.0 */
/* Process pairs of lenient.triple, whose sides are plugins of tests/plugins, for the tests of measuring pairs. */
#ifndef ASSAY_TESTS_PAIR_WORLD_H
#define ASSAY_TESTS_PAIR_WORLD_H

#include <math.h>

#include "measure/measure.h"
#include "measure_world.h"

#define N 1024

struct measured {
	struct assay_strings plugins[2];
	struct assay_inventory *inv;
	struct assay_case c;
	struct assay_case_facts facts;
	struct assay_result of_run;
	struct assay_pair pair;
};

static inline struct assay_measure_options options_of(const struct world *w, const struct measured *m)
{
	return (struct assay_measure_options){ .worker = setup_of(w, &m->plugins[ASSAY_HEAD]) };
}

/* A case of @op, which compare_op or the sides bring. */
static inline void plan_of(struct world *w, const char *op, const char *const sides[2], struct measured *m)
{
	struct assay_err err = { 0 };

	*m = (struct measured){ .c = make_case("work", N, 1, ASSAY_CACHE_WARM) };
	snprintf(m->c.op, sizeof(m->c.op), "%s", op);
	assert_int_equal(assay_case_make_key(&m->c, NULL), 0);
	for (int i = 0; i < 2; i++) {
		add_plugin(&m->plugins[i], w->dir, "compare_op");
		add_plugin(&m->plugins[i], w->dir, sides[i]);
	}
	if (assay_inventory_open(&m->inv, &m->plugins[ASSAY_HEAD], NULL, &w->host, &err) ||
	    assay_inventory_describe(m->inv, &m->c, 1, &m->facts, &err))
		fail_msg("%s", err.text);
}

static inline void plan(struct world *w, const char *const sides[2], struct measured *m)
{
	plan_of(w, "lenient.triple", sides, m);
}

/* A pair of @m with what @po says beside the plugins; 10 ms of samples, if it says no other. */
static inline void take_pair_as(const struct assay_measure_options *o, struct assay_pair_options po,
				struct assay_pair_calibration *calibration, struct measured *m)
{
	struct assay_err err = { 0 };
	char difference[ASSAY_DIFFERENCE_MAX];

	po.plugins[ASSAY_BASE] = &m->plugins[ASSAY_BASE];
	po.plugins[ASSAY_HEAD] = &m->plugins[ASSAY_HEAD];
	po.sampling_ns = po.sampling_ns ? po.sampling_ns : 10000000;
	assay_pair_release(&m->pair);
	if (assay_measure_pair(&m->c, assay_inventory_catalog(m->inv), &m->facts, o, &po, calibration, &m->pair,
			       difference, &err))
		fail_msg("%s", err.text);
	assert_string_equal(difference, "");
}

static inline void take_pair(const struct assay_measure_options *o, struct assay_pair_calibration *calibration,
			     struct measured *m)
{
	take_pair_as(o, (struct assay_pair_options){ 0 }, calibration, m);
}

/* Both sides were measured, and are right. */
static inline void assert_ok(const struct measured *m)
{
	for (int side = 0; side < 2; side++)
		if (m->pair.side[side].status != ASSAY_STATUS_OK)
			fail_msg("side %d: %s: %s", side, assay_status_name(m->pair.side[side].status),
				 m->pair.side[side].reason);
}

static inline void release(struct measured *m)
{
	assay_result_release(&m->of_run);
	assay_pair_release(&m->pair);
	assay_inventory_close(m->inv);
	for (int i = 0; i < 2; i++)
		assay_strings_release(&m->plugins[i]);
}

static inline double side_value(const struct assay_result *s, const char *tag)
{
	for (size_t i = 0; i < s->n_metrics; i++)
		if (!strcmp(s->metrics[i].tag, tag))
			return s->metrics[i].value;
	return NAN;
}

#endif
