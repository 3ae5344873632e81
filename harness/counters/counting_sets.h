/* SPDX-License-Identifier: Apache-2.0 */
/* Which provider counts which event, and with which others; the inside of counting.h. */
#ifndef ASSAY_COUNTERS_COUNTING_SETS_H
#define ASSAY_COUNTERS_COUNTING_SETS_H

#include <stdatomic.h>

#include "counters/counting.h"

struct assay_counting_set {
	const struct assay_counter_provider *p;
	size_t turn; /* among the sets of its provider */
	size_t n_events;
	void **state; /* one a thread; only [0] where the provider is shared */
	bool *started;
	uint64_t *values; /* of each thread: before, after */
	size_t stride;    /* values of a thread */
	uint64_t iterations;
	_Atomic bool failed; /* while it was opened, started or read in some thread */
	char failure[256];   /* of the first thread that failed */
};

struct assay_counting_event {
	char name[ASSAY_NAME_MAX];
	char asked[ASSAY_NAME_MAX];     /* the alternative that is counted */
	struct assay_counting_set *set; /* NULL: see reason */
	size_t place;
	double sum;
	char source[ASSAY_SOURCE_MAX];
	char reason[256];
};

struct assay_counting {
	struct assay_counting_options o;
	struct assay_counting_set **sets;
	size_t n_sets;
	size_t *turns; /* sets of each provider */
	struct assay_counting_event *events;
	size_t n_events;
	uint64_t sample;
};

/* States of @s: one a thread, or one where the provider is shared. */
uint32_t assay_counting_n_states(const struct assay_counting *c, const struct assay_counting_set *s);
/* Closes what is still open, in this thread. */
void assay_counting_free_set(const struct assay_counting *c, struct assay_counting_set *s);
/* Put the event of a line of assay_counter_choice_text() into a set, open in this thread, or note why none takes it.
 * 0 or ASSAY_ENOMEM. */
int assay_counting_place(struct assay_counting *c, const char *line, struct assay_err *err);

#endif
