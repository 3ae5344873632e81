/* SPDX-License-Identifier: Apache-2.0 */
/* A run from the store as it was when it was measured, with the statistics that the store does not keep. */
#ifndef ASSAY_DRIVE_STORED_RUN_H
#define ASSAY_DRIVE_STORED_RUN_H

#include "store/store.h"

/* assay_store_run_load(), and what follows from the samples. */
int assay_cli_run_load(struct assay_store *store, int64_t id, struct assay_run *out, struct assay_err *err);

#endif
