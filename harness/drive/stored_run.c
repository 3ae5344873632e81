/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/stored_run.h"

#include "measure/summary.h"

int assay_cli_run_load(struct assay_store *store, int64_t id, struct assay_run *out, struct assay_err *err)
{
	int rc = assay_store_run_load(store, id, out, err);

	for (size_t i = 0; i < out->n_results && !rc; i++)
		rc = assay_summary_fill(&out->results[i], err);
	return rc;
}
