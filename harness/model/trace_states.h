/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as the stacks of a profile: a thread's label, then those of the spans, outermost first; the critical path's
 * stacks stand behind a label of their own. Weights are ns of a span without those within it.
 */
#ifndef ASSAY_MODEL_TRACE_STATES_H
#define ASSAY_MODEL_TRACE_STATES_H

#include "model/profile.h"

#define ASSAY_TRACE_PATH    "critical path"
#define ASSAY_TRACE_NO_SPAN "in no span"

/* The time of one name: of all threads together, or on the critical path. */
struct assay_trace_share {
	const char *name;
	uint64_t times;    /* spans of this name; 0: not known, of a profile that an older version stored */
	uint64_t self_ns;  /* in spans of this name, without those within them */
	uint64_t total_ns; /* with them; of spans within spans of the same name once */
	uint64_t path_ns, path_total_ns;
};

/* Those with most on the critical path first. *out is malloc'ed; *path_ns: its length. */
int assay_trace_shares(const struct assay_profile *p, struct assay_trace_share **out, size_t *n, uint64_t *path_ns,
		       struct assay_err *err);
/* Is stack @s a part of the critical path? */
bool assay_trace_on_path(const struct assay_profile *p, const struct assay_stack *s);
/* How much of the critical path lies on the thread @name. */
uint64_t assay_trace_path_of(const struct assay_profile *p, const char *name);

#endif
