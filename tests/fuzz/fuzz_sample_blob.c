/* SPDX-License-Identifier: Apache-2.0 */
/* Stored samples. The check sum is put right, so that the decoder sees what a damaged file rarely shows it. */
#include "blob_seal.h"
#include "fuzz.h"
#include "store/blobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *blob = malloc(size + BLOB_SUM), *again;
	struct assay_sample *v = NULL, *w = NULL;
	struct assay_err err = { 0 };
	size_t n = 0, m = 0, len;
	int rc;

	FUZZ_CHECK(blob);
	memcpy(blob, data, size);
	blob_seal(blob, size);
	rc = assay_sample_blob_decode(blob, size + BLOB_SUM, &v, &n, &err);
	fuzz_check_refusal(rc, &err);
	FUZZ_CHECK(!strstr(err.text, "check sum"));
	free(blob);
	if (rc)
		return 0;
	FUZZ_CHECK(!assay_sample_blob_encode(v, n, &again, &len, NULL));
	FUZZ_CHECK(!assay_sample_blob_decode(again, len, &w, &m, NULL));
	FUZZ_CHECK(n == m && (!n || !memcmp(v, w, n * sizeof(*v))));
	free(again);
	free(v);
	free(w);
	return 0;
}
