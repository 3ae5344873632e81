/* SPDX-License-Identifier: Apache-2.0 */
/* Stored numbers of a result. What is taken comes back as it is. */
#include "fuzz.h"
#include "store/blobs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct assay_stored_number *v = NULL, *w = NULL;
	struct assay_err err = { 0 };
	unsigned char *again;
	size_t n = 0, m = 0, len;
	int rc = assay_number_blob_decode(data, size, &v, &n, &err);

	fuzz_check_refusal(rc, &err);
	if (rc)
		return 0;
	FUZZ_CHECK(!assay_number_blob_encode(v, n, &again, &len, NULL));
	FUZZ_CHECK(!assay_number_blob_decode(again, len, &w, &m, NULL));
	FUZZ_CHECK(n == m && (!n || !memcmp(v, w, n * sizeof(*v))));
	free(again);
	free(v);
	free(w);
	return 0;
}
