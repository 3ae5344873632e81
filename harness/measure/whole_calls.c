/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a call are added up in the order in which they were taken. */
#include "measure/whole_calls.h"

#include <stdlib.h>

/* What a sample says of itself and of its place among others, and not of what disturbed it. */
#define OF_ONE_SAMPLE (ASSAY_SAMPLE_CONTINUES | ASSAY_SAMPLE_WAIT_TOLD | ASSAY_SAMPLE_POLLED)

static void add_part(struct assay_sample *call, const struct assay_sample *s)
{
	call->ns += s->ns;
	call->flags |= s->flags & ~OF_ONE_SAMPLE;
	call->switches += s->switches;
	call->faults += s->faults;
	call->waited_ns += s->waited_ns;
	call->stolen_ns += s->stolen_ns;
	if (!(s->flags & ASSAY_SAMPLE_WAIT_TOLD)) /* of all parts, or not at all */
		call->flags &= ~ASSAY_SAMPLE_WAIT_TOLD;
}

int assay_whole_calls(const struct assay_sample *s, size_t n, struct assay_sample **out, size_t *n_calls,
		      struct assay_err *err)
{
	struct assay_sample *calls = calloc(n + 1, sizeof(*calls)), *call = calls;
	bool goes_on = false, counted = false; /* the ticks of the poll that covers this sample */

	if (!calls)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu samples", n);
	*n_calls = 0;
	for (size_t i = 0; i < n; i++) {
		if (!goes_on) {
			call = &calls[(*n_calls)++];
			*call = (struct assay_sample){ .iterations = s[i].iterations, .flags = ASSAY_SAMPLE_WAIT_TOLD };
			counted = false;
		}
		add_part(call, &s[i]);
		if (!counted)
			call->steal_ticks += s[i].steal_ticks;
		counted = !(s[i].flags & ASSAY_SAMPLE_POLLED);
		goes_on = s[i].flags & ASSAY_SAMPLE_CONTINUES;
	}
	*out = calls;
	return 0;
}
