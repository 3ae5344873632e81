/* SPDX-License-Identifier: Apache-2.0 */
/* The needs of a case: its worker, the plugins that this loads, and the events that it counts. */
#ifndef ASSAY_MEASURE_CASE_NEEDS_H
#define ASSAY_MEASURE_CASE_NEEDS_H

#include "base/text.h"
#include "counters/groups.h"
#include "measure/options.h"
#include "model/case.h"
#include "model/catalog.h"

/* ---- case plugins ---- */

/* Which plugins a case needs. Must not load any. */

struct assay_case_plugins {
	struct assay_strings files;
	char *parts; /* malloc'ed, one an entry of files, see enum assay_plugin_part; NULL: all of each */
};

/*
 * Select from @all, whose catalog is @cat, the plugins that the case on the CPU needs: those of its op and of its
 * variant, in their order. @parts goes with @all or is NULL. If the catalog does not tell, all of them. 0 or
 * ASSAY_ENOMEM.
 */
int assay_case_plugins_find(const struct assay_case *c, const struct assay_catalog *cat,
			    const struct assay_strings *all, const char *parts, struct assay_case_plugins *out,
			    struct assay_err *err);
void assay_case_plugins_release(struct assay_case_plugins *p);

/* ---- counters ---- */

/* The events that a case counts. */

/* Counted in every case, if the group exists. */
#define ASSAY_DEFAULT_COUNTER_GROUP "os"

/*
 * Choose the default group, the groups of the case and of @o, what the op publishes, and the events of @o, each once.
 * ASSAY_EUSAGE if there is no such group. Release @out in either case; @text is for the worker.
 */
int assay_measure_choose(const struct assay_measure_options *o, const struct assay_case *c,
			 const struct assay_catalog_op *op, struct assay_counter_choice *out, struct assay_text *text,
			 struct assay_err *err);

/* ---- worker ---- */

/* The purpose of a worker. */
enum assay_worker_role {
	ASSAY_WORKER_MEASURED,
	ASSAY_WORKER_PAIRED,   /* a side of a process pair */
	ASSAY_WORKER_PROFILED, /* or watched in another way */
	ASSAY_WORKER_COUNTED,  /* exactly */
};

/* The options of a worker that runs @c, without CPUs. What only one of its kind has is added by the caller. */
struct assay_worker_options assay_measure_worker(const struct assay_measure_options *o, const struct assay_case *c,
						 const struct assay_case_facts *facts, enum assay_worker_role role);
/* Choose CPUs for it, which the caller frees in either case. ASSAY_EUSAGE: there are none; ASSAY_ENOMEM. */
int assay_measure_place(const struct assay_measure_options *o, struct assay_worker_options *wo, struct assay_err *err);

#endif
