/* SPDX-License-Identifier: Apache-2.0 */
/* Files that callgrind wrote: a dump is taken whole or not at all. */
#include "fuzz.h"
#include "counters/callgrind/callgrind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);

	for (int i = 0; i < 2; i++) {
		struct assay_exact_case c = { .key = "" };
		struct assay_err err = { 0 };
		int rc = assay_callgrind_parse(text, i ? ASSAY_CALLGRIND_RUN : ASSAY_CALLGRIND_CHECK,
					       i ? "/opt/bin/program" : NULL, &c, &err);

		fuzz_check_refusal(rc, &err);
		for (size_t k = 0; !rc && k < c.n_functions; k++)
			FUZZ_CHECK(assay_exact_function_find(&c, c.functions[k].name, c.functions[k].object) ==
				   &c.functions[k]);
		assay_exact_case_release(&c);
	}
	free(text);
	return 0;
}
