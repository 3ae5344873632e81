/* SPDX-License-Identifier: Apache-2.0 */
/* Internals that topology.c, placement.c and binding.c share. Not for other files, because it exposes hwloc. */
#ifndef ASSAY_MACHINE_TOPOLOGY_TABLE_H
#define ASSAY_MACHINE_TOPOLOGY_TABLE_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* From the outside in. A level the machine lacks has one group, 0, inside its parent. */
enum assay_slot_level {
	ASSAY_SLOT_PACKAGE,
	ASSAY_SLOT_NODE,
	ASSAY_SLOT_L3,
	ASSAY_SLOT_L2,
	ASSAY_SLOT_CORE,
	ASSAY_SLOT_PU,
	ASSAY_N_SLOT_LEVELS,
};

/* One allowed CPU: where it lies, and its rank among its siblings on each level, allowed ones only and of its kind. */
struct assay_slot {
	int cpu;  /* OS number */
	int node; /* OS number of its NUMA node, -1 unknown */
	int kind; /* 0: the fastest kind of core */
	unsigned group[ASSAY_N_SLOT_LEVELS];
	unsigned rank[ASSAY_N_SLOT_LEVELS];
};

struct assay_topology {
	hwloc_topology_t hw;
	hwloc_bitmap_t allowed;   /* CPUs this process may use */
	char allowed_text[128];   /* "0-3,8" */
	bool restricted;          /* the machine has more than the allowed ones */
	bool here;                /* this machine, not an XML file */
	char *text;               /* see assay_topology_text(); hwloc's memory */
	struct assay_slot *slots; /* in compact order */
	size_t n_slots;
	uint64_t memory_bytes;
};

/* ASSAY_EUSAGE unless @cpu exists, is online and allowed. */
int assay_slot_check(const struct assay_topology *t, int cpu, struct assay_err *err);

#endif
