/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests, with their lists in braces. */
#include "fuzz.h"
#include "judge/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_case c = { .op = "matmul.f32", .variant = "ref", .threads = 4, .all_threads = true };
	struct assay_manifest m = { .path = "" };
	struct assay_err err = { 0 };
	int rc;

	FUZZ_CHECK(!assay_case_make_key(&c, NULL));
	fuzz_write("input.manifest", data, size);
	rc = assay_manifest_load(&m, "input.manifest", &err);
	fuzz_check_refusal(rc, &err);
	if (rc)
		return 0;
	FUZZ_CHECK(m.n_entries);
	for (size_t i = 0; i < m.n_entries; i++) {
		FUZZ_CHECK(m.entries[i].key[0] && m.entries[i].line);
		assay_manifest_matches(&m.entries[i], &c);
		assay_manifest_names(&m.entries[i], &c, 4);
		assay_manifest_of_variant(&m.entries[i], &c);
	}
	assay_manifest_release(&m);
	return 0;
}
