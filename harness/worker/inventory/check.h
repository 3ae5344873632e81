/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what a plugin declares makes sense, before anything is planned by it. */
#ifndef ASSAY_WORKER_INVENTORY_CHECK_H
#define ASSAY_WORKER_INVENTORY_CHECK_H

#include "model/catalog.h"

/* In the keys of cases on a device, see struct assay_case. */
#define ASSAY_DEVICE_AXIS      "device"
#define ASSAY_OWN_THREADS_AXIS "own_threads"

/*
 * False, and @why, when cases of the op or variant could not be planned, stored or shown by what it declares. Names by
 * which they are known, and the numbers of tables, hold already. An op whose axes are at fault gets axes that every
 * bench can be planned with, so that its cases are there to fail.
 */
bool assay_declared_op(struct assay_catalog_op *op, char *why, size_t size);
bool assay_declared_variant(const struct assay_catalog_variant *v, char *why, size_t size);

#endif
