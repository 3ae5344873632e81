/* SPDX-License-Identifier: Apache-2.0 */
/* Bench and suite files, to the planned cases. What follows the first line that begins with "suite" is the suite. */
#include <sys/stat.h>

#include "fuzz.h"
#include "plan_fixture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct assay_plan_options o = { .bench_dir = ".", .suite = "s", .all_threads = 2 };
	char *text = fuzz_string(data, size), *suite = strstr(text, "\nsuite");
	const char *end = suite ? suite + 1 : text + strlen(text);
	struct assay_plan p = { .suite = "" };
	struct assay_err err = { 0 };
	int rc;

	if (!suite)
		suite = TEXT(USE_ALL);
	mkdir("suites", 0777);
	fuzz_write("input.bench", text, (size_t)(end - text));
	fuzz_write("suites/s.suite", suite, strlen(suite));
	rc = assay_plan_load(&p, &o, &toy_catalog, &err);
	fuzz_check_refusal(rc, &err);
	for (size_t i = 0; i < p.n_cases; i++)
		FUZZ_CHECK(p.cases[i].key[0] && p.cases[i].threads);
	if (!rc)
		assay_plan_release(&p);
	free(text);
	return 0;
}
