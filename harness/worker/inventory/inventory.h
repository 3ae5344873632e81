/* SPDX-License-Identifier: Apache-2.0 */
/* Asks plugins, in a child process, what they offer and what a case would take. */
#ifndef ASSAY_WORKER_INVENTORY_INVENTORY_H
#define ASSAY_WORKER_INVENTORY_INVENTORY_H

#include "base/text.h"
#include "model/catalog.h"

struct assay_inventory;

/*
 * Load @plugins in a child and describe them; @parts has a letter for each (see enum assay_plugin_part), NULL: all of
 * everything. A plugin that is refused, crashes or hangs while loading stands in the catalog
 * with its error; the others are there. On error nothing is kept.
 */
int assay_inventory_open(struct assay_inventory **inv, const struct assay_strings *plugins, const char *parts,
			 const struct assay_host_info *host, struct assay_err *err);
void assay_inventory_close(struct assay_inventory *inv);
/* Mark what needs more than @isa (see machine/cpu_features.h) as unavailable, on top of what the machine lacks. */
int assay_inventory_cap(struct assay_inventory *inv, const char *isa, struct assay_err *err);
const struct assay_catalog *assay_inventory_catalog(const struct assay_inventory *inv);
/*
 * Let the child get as far as a worker does before it makes anything of a case: its resident set is then what a worker
 * takes by itself. To be asked before cases are described.
 */
int assay_inventory_worker_bytes(struct assay_inventory *inv, uint64_t *bytes, struct assay_err *err);

/*
 * Ask for @n cases at once. A shape the op refuses is ASSAY_EUSAGE with its reason; one the variant does not support is
 * in the facts. Cases with a skip_reason are described as far as their op is known.
 */
int assay_inventory_describe(struct assay_inventory *inv, const struct assay_case *cases, size_t n,
			     struct assay_case_facts *out, struct assay_err *err);

#endif
