/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas over counts, and their values. */
#include <math.h>

#include "counters/groups.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	struct assay_formula f = { 0 };
	struct assay_err err = { 0 };
	double *values, value;
	int rc;

	rc = assay_formula_parse(&f, text, &err);
	fuzz_check_refusal(rc, &err);
	free(text);
	if (rc)
		return 0;
	values = calloc(f.names.n + 1, sizeof(*values));
	FUZZ_CHECK(values);
	for (int round = 0; round < 3; round++) {
		err = (struct assay_err){ 0 };
		rc = assay_formula_value(&f, values, &value, &err);
		fuzz_check_refusal(rc, &err);
		FUZZ_CHECK(rc || isfinite(value));
		for (size_t i = 0; i < f.names.n; i++)
			values[i] = round ? 1e300 : (double)i;
	}
	free(values);
	assay_formula_release(&f);
	return 0;
}
