/* SPDX-License-Identifier: Apache-2.0 */
/* Building the catalog from the messages of the inventory's child. */
#ifndef ASSAY_WORKER_INVENTORY_CATALOG_H
#define ASSAY_WORKER_INVENTORY_CATALOG_H

#include <jansson.h>

#include "model/catalog.h"

/* One more zeroed element at the end of a heap array of *n elements. NULL when out of memory. */
void *assay_catalog_grow(void **array, size_t *n, size_t size);

/*
 * What was said of plugin @i: its names, ops and variants, or why it was refused.
 * What an op or variant declares wrongly is its defect. ASSAY_EWORKER: no loader says such a thing. ASSAY_ENOMEM.
 */
int assay_catalog_take_plugin(struct assay_catalog *cat, size_t i, const json_t *j, struct assay_err *err);
/* What was said of a case; nothing is refused. ASSAY_EPLUGIN: it makes no sense, the op "is …". */
int assay_catalog_take_facts(const json_t *j, struct assay_case_facts *f, struct assay_err *err);
/* Variants of composite ops: one for each variant of the op they compose. ASSAY_ENOMEM. */
int assay_catalog_expand_composites(struct assay_catalog *cat, struct assay_err *err);
/* What this machine lacks for each variant. ASSAY_ENOMEM. */
int assay_catalog_mark_unavailable(struct assay_catalog *cat, struct assay_err *err);

#endif
