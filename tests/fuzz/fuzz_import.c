/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools, of the format that they seem to be, or as CSV. What was taken can be read back. */
#include <unistd.h>

#include "drive/exchange/exchange.h"
#include "drive/show/show.h"
#include "fuzz.h"

/* Then the database begins anew, so that it stays small. */
#define IMPORTS_MAX 100

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct assay_watch nobody;
	const bool is_json = size && (data[0] == '{' || data[0] == '[');
	const struct assay_import_request q = { .db = "fuzz.db",
						.format = is_json ? "auto" : "csv",
						.path = "input.json" };
	static unsigned imports;
	struct assay_import_report report;
	struct assay_err err = { 0 };
	int rc;

	fuzz_write("input.json", data, size);
	rc = assay_import(&q, &nobody, &report, &err);
	fuzz_check_refusal(rc, &err);
	FUZZ_CHECK(rc || report.n_runs || report.n_same);
	for (size_t i = 0; !rc && i < report.n_runs; i++) {
		struct assay_run run;

		FUZZ_CHECK(!assay_stored_run("fuzz.db", report.runs[i].id, NULL, &run, &err));
		FUZZ_CHECK(run.n_results && run.n_results == report.runs[i].n_cases);
		assay_run_release(&run);
	}
	assay_import_report_release(&report);
	if (++imports % IMPORTS_MAX == 0) {
		unlink("fuzz.db");
		unlink("fuzz.db-wal");
		unlink("fuzz.db-shm");
	}
	return 0;
}
