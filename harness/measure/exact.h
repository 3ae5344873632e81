/* SPDX-License-Identifier: Apache-2.0 */
/* Counting one run of a case: on a simulated processor, or step by step on this one. */
#ifndef ASSAY_MEASURE_EXACT_H
#define ASSAY_MEASURE_EXACT_H

#include "measure/options.h"
#include "model/catalog.h"
#include "model/exact.h"
#include "model/result.h"

/* ---- exact means ---- */

/* The ways to take exact counts on this machine, and which of them a case is counted with. */

/* Why each way of counting cannot be used here; "" if it can. */
struct assay_exact_means {
	enum assay_exact_source source; /* that is asked for */
	char no_callgrind[384];
	char no_steps[384];
};

/* Find what decides the counts of cases under @model, and the ways to take them. */
int assay_exact_setting_take(const struct assay_topology *t, const char *model, enum assay_exact_source source,
			     struct assay_cache_model *cache, struct assay_exact_setting *out,
			     struct assay_exact_means *means, struct assay_err *err);
/*
 * Why most cases cannot be counted here; NULL: they can. If callgrind is missing, cases that it cannot simulate may
 * still be stepped.
 */
const char *assay_exact_unavailable(const struct assay_exact_means *means);

/*
 * Choose how @c is counted and set out->how. False if it cannot be counted; out->status and out->reason then say why.
 * @tool names callgrind's version in reasons, such as "valgrind-3.19.0"; "" if it is not known.
 */
bool assay_exact_means_choose(const struct assay_exact_means *m, const char *tool, const struct assay_case *c,
			      const struct assay_catalog *cat, const struct assay_case_facts *facts,
			      struct assay_exact_case *out);

/* The steps of both calls that are stepped. */
struct assay_exact_steps {
	const char *key;
	double done, expected; /* expected: before the first of them by a first stretch */
	double step_ns;        /* in that */
};

struct assay_exact_options {
	struct assay_measure_options measure; /* of which it uses the worker and the placement */
	const struct assay_cache_model *model;
	const struct assay_exact_means *means;
	const char *tool;   /* "valgrind-3.19.0", for reasons */
	uint64_t max_steps; /* of a call; 0: ASSAY_EXACT_STEPS */
	double known_steps; /* steps that it took when it was counted before; 0: it was not */
	/*
	 * The processor time that is left for counts; 0: no limit. A case that takes more is stopped. Time that other
	 * programs on the machine use does not count.
	 */
	uint64_t left_ns;
	/* Called before steps are taken and while they are. NULL: nobody listens. */
	void (*on_steps)(void *arg, const struct assay_exact_steps *steps);
	void *on_steps_arg;
};

/* Why a case was skipped, if that decides what comes next. */
enum assay_exact_end {
	ASSAY_EXACT_END_OTHER,
	ASSAY_EXACT_END_TOO_LONG, /* it takes more steps than it may */
	ASSAY_EXACT_END_LATE,     /* it takes more time than is left before the deadline */
};

/*
 * Count one run of @c, with one copy of its inputs. A warm case first runs once with the caches simulated; a cold one
 * begins with empty caches. Only the variant and the libraries that it calls are counted, not this program. The result
 * is checked first. Whatever goes wrong with the case or the simulator is a status of @out with its reason, and the
 * return is 0; it is negative only if the harness cannot go on. The caller releases @out in either case.
 */
int assay_measure_exact(const struct assay_case *c, const struct assay_catalog *cat,
			const struct assay_case_facts *facts, const struct assay_exact_options *o,
			struct assay_exact_case *out, enum assay_exact_end *end, struct assay_err *err);

/* Add the counts of @c, which is ok, and their rates to the metrics of the timed result of the same case. */
int assay_exact_add_metrics(struct assay_result *r, const struct assay_exact_case *c, struct assay_err *err);

#endif
