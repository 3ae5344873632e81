/* SPDX-License-Identifier: Apache-2.0 */
/* Counting one run of a case on a simulated processor. */
#ifndef ASSAY_MEASURE_MEASURE_EXACT_H
#define ASSAY_MEASURE_MEASURE_EXACT_H

#include <signal.h>

#include "base/text.h"
#include "machine/clock.h"
#include "machine/topology.h"
#include "model/catalog.h"
#include "model/exact.h"
#include "model/result.h"

struct assay_exact_options {
	const struct assay_strings *plugins; /* paths */
	const char *parts;                   /* see enum assay_plugin_part; NULL: all of everything */
	const struct assay_topology *topology;
	const struct assay_clock *clock;
	struct assay_placement_options placement;
	uint64_t seed;
	uint32_t vector_bits; /* see struct assay_host_info */
	const struct assay_cache_model *model;
	const char *unavailable; /* why nothing can be counted here; NULL: it can */
	const char *tool;        /* "valgrind-3.19.0", for reasons */
	const volatile sig_atomic_t *interrupted;
};

/*
 * What decides the counts of cases under @model, and in o->… whether there is a simulator: *unavailable (@size bytes)
 * gets the reason why not, and is empty where there is one.
 */
int assay_exact_setting_take(const struct assay_topology *t, const char *model, struct assay_cache_model *cache,
			     struct assay_exact_setting *out, char *unavailable, size_t size, struct assay_err *err);

/*
 * Count one run of @c: one thread, one copy of its inputs; a warm case runs once before with the simulator on, a cold
 * one begins with empty caches. Only the variant and the libraries it calls are counted, not this program. Checked for
 * right results first. Whatever goes wrong with the case or the simulator is a status of @out with its reason, and the
 * return is 0; negative only when the harness cannot go on. The caller releases @out in either case.
 */
int assay_measure_exact(const struct assay_case *c, const struct assay_catalog *cat,
			const struct assay_case_facts *facts, const struct assay_exact_options *o,
			struct assay_exact_case *out, struct assay_err *err);

/* Add the counts of @c, which is ok, and their rates to the metrics of the timed result of the same case. */
int assay_exact_add_metrics(struct assay_result *r, const struct assay_exact_case *c, struct assay_err *err);

#endif
