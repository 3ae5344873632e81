/* SPDX-License-Identifier: Apache-2.0 */
/* The counts of a case, the kind of evidence that each is, and the counters that were unavailable, with reasons. */
#ifndef ASSAY_MODEL_COUNTER_H
#define ASSAY_MODEL_COUNTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"
#include "model/case.h"

/* The rungs, as results, the store and JSON name them. */
#define ASSAY_SOURCE_EXACT "exact" /* of a simulation, or each one seen: equal on every repeat */
#define ASSAY_SOURCE_PMU   "pmu"   /* hardware counters */
#define ASSAY_SOURCE_SDE   "sde"   /* published by ops and variants, read through PAPI */
#define ASSAY_SOURCE_OP    "op"    /* the same, read without PAPI */
#define ASSAY_SOURCE_HEAP  "heap"  /* what the variant allocated */
#define ASSAY_SOURCE_OS    "os"    /* of the operating system */
#define ASSAY_SOURCE_ASSAY "assay" /* the harness's own bookkeeping */
/* From the rung that promises most to the one that promises least. */
#define ASSAY_SOURCES                                                                                                  \
	ASSAY_SOURCE_EXACT, ASSAY_SOURCE_PMU, ASSAY_SOURCE_SDE, ASSAY_SOURCE_OP, ASSAY_SOURCE_HEAP, ASSAY_SOURCE_OS,   \
		ASSAY_SOURCE_ASSAY
/* A number from the file of another tool. It is not among the kinds above, because no worker counts like this. */
#define ASSAY_SOURCE_IMPORTED "imported"
#define ASSAY_SOURCE_MAX      16

/* A name belongs to one source: "PAPI_L1_DCM", "kv_hits", "page_faults". */
struct assay_count {
	char name[ASSAY_NAME_MAX];
	char source[ASSAY_SOURCE_MAX];
	char how[160]; /* read with what, and why not with something better; may be empty */
	double value;
	bool per_iteration;   /* mean of one iteration; otherwise of the whole case */
	unsigned more_rounds; /* beside its first, that the value is the mean of; not stored */
	/* Nominal share of the time in which it counted; below 1 it was multiplexed and is an estimate. */
	double running_frac;
};

/* The beginning of the reason for a GPU counter that a case on the CPU cannot have. */
#define ASSAY_REASON_NO_GPU "the case runs on no GPU"

/* A counter or a derived metric that was asked for. */
struct assay_unavailable {
	char name[ASSAY_NAME_MAX];
	char source[ASSAY_SOURCE_MAX];
	char reason[256];
};

/* All-zero is empty. */
struct assay_counters {
	struct assay_count *v; /* malloc'ed */
	size_t n;
	struct assay_unavailable *missing; /* malloc'ed */
	size_t n_missing;
};

void assay_counters_release(struct assay_counters *c);
/* Append copies. 0 or ASSAY_ENOMEM. */
int assay_counters_add(struct assay_counters *c, const struct assay_count *count);
int assay_counters_add_missing(struct assay_counters *c, const char *name, const char *source, const char *reason);
/* NULL when absent. */
const struct assay_count *assay_counters_find(const struct assay_counters *c, const char *name);
const struct assay_unavailable *assay_counters_find_missing(const struct assay_counters *c, const char *name);

/* ---- groups ---- */

/* Groups of events that are counted together, and the metrics derived from them, as counters/groups.h reads them. */

struct assay_formula {
	char *text;
	struct assay_strings names; /* each once, in the order of the text */
};

struct assay_group_event {
	const char *name;
	struct assay_strings names; /* to be tried in this order */
	size_t n_native;            /* the first of them are native to the CPU's vendor, or none was named for it */
	const char *path;           /* where it stands */
	unsigned line;
};

struct assay_group_metric {
	const char *tag, *unit, *help;
	int better; /* +1 higher, -1 lower, 0 neither */
	double lo, hi;
	struct assay_formula formula;
	const char *path; /* where it stands */
	unsigned line, formula_line;
};

struct assay_counter_group {
	const char *name, *summary;
	struct assay_group_event *events;
	size_t n_events;
	struct assay_group_metric *metrics;
	size_t n_metrics;
};

#endif
