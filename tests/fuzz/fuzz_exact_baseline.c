/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded counts in JSON: what was read and is written again reads the same. */
#include "fuzz.h"
#include "judge/exact_baseline.h"

/* The text of the file as it would be written again; NULL where it is refused. */
static char *read_and_write(void)
{
	struct assay_exact_baseline b = { .path = "" };
	struct assay_text text = { 0 };
	struct assay_err err = { 0 };
	char why[256];
	int rc;

	rc = assay_exact_baseline_load(&b, "input.json", &err);
	fuzz_check_refusal(rc, &err);
	if (rc)
		return NULL;
	for (size_t i = 0; i < b.n_builds; i++)
		assay_exact_baseline_match(&b, &b.builds[i], why, sizeof(why));
	FUZZ_CHECK(!assay_exact_baseline_format(&b, &text, &err));
	assay_exact_baseline_release(&b);
	return assay_text_take(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *once, *twice;

	fuzz_write("input.json", data, size);
	once = read_and_write();
	if (!once)
		return 0;
	fuzz_write("input.json", once, strlen(once));
	twice = read_and_write();
	FUZZ_CHECK(twice && !strcmp(once, twice));
	free(once);
	free(twice);
	return 0;
}
