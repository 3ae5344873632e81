/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What counting costs on this machine, measured. It is subtracted from nothing: counters are started, read and stopped
 * outside the two clock reads of a sample.
 */
#ifndef ASSAY_COUNTERS_COUNTING_COST_H
#define ASSAY_COUNTERS_COUNTING_COST_H

#include "counters/provider.h"

struct assay_papi_cost {
	size_t n_events;      /* in the set that was measured, at most six; 0: none could be */
	bool hardware;        /* presets of a PMU; otherwise software-defined events */
	double read_ns;       /* of reading the set before and after a sample */
	double start_stop_ns; /* of starting and stopping it once */
	char reason[256];     /* why it was not measured; "": it was */
	char advice[200];     /* what would bring it; "" */
};

/* An event set of PAPI in this thread: presets where there is a PMU, cells of this program where there is none. */
void assay_papi_cost_measure(struct assay_counter_context *ctx, struct assay_papi_cost *out);
/* "6 software-defined events take 0.12 us to read around a sample, 0.31 us to start and stop", or the reason. */
void assay_papi_cost_text(const struct assay_papi_cost *c, char *buf, size_t size);

/* Time around a sample, in ns, of counting all @n events of the operating system in this thread. 0, or a negative
 * error. */
int assay_system_cost_measure(struct assay_counter_context *ctx, size_t *n, double *ns);

#endif
