/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits that no kernel can exceed: it cannot read and write faster than the first-level caches of this machine, or
 * calculate faster than its peak. A case that was faster did not do its work, whatever its outputs say.
 */
#ifndef ASSAY_DRIVE_MACHINE_LIMITS_H
#define ASSAY_DRIVE_MACHINE_LIMITS_H

#include "measure/options.h"
#include "model/catalog.h"
#include "store/store.h"
#include "worker/inventory/inventory.h"

/* Of one thread; 0: unknown. All-zero knows nothing yet. */
struct assay_machine_limits {
	double bytes_per_s;
	double ops_per_s[ASSAY_ARITH_TERNARY + 1]; /* by arithmetic; of ternary codes none, tables may take its place */
	bool loaded;                               /* what is stored was looked at */
	bool measured;                             /* and measured once more, by this program */
};

/* Where limits are found, once a case is so fast that they matter. */
struct assay_limits_source {
	const struct assay_catalog *catalog;
	struct assay_inventory *inventory;
	const struct assay_measure_options *measure;
	struct assay_store *store; /* NULL: nothing is stored */
	const char *machine_id;
};

/* A case with @facts took @seconds a call: where its op measures the machine, that is a limit. */
void assay_machine_limits_learn(struct assay_machine_limits *l, const struct assay_case *c,
				const struct assay_case_facts *f, double seconds);

/*
 * Can case @c with facts @f take @seconds a call? @reason gets why not ("faster than this machine allows: 25.7 TB/s of
 * 441 GB/s"), or "". Limits come from any stored run of the machine. Where a case exceeds them by half, or nothing is
 * stored, they are measured, once, which takes about a second. Where no plugin has an op that measures them, nothing is
 * too fast. Negative: see assay_measure_case.
 */
int assay_machine_limits_judge(struct assay_machine_limits *l, const struct assay_limits_source *from,
			       const struct assay_case *c, const struct assay_case_facts *f, double seconds,
			       char reason[256], struct assay_err *err);

#endif
