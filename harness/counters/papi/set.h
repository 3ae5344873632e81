/* SPDX-License-Identifier: Apache-2.0 */
/* An event set of PAPI, as hardware counters and software-defined events both use it. Sets are handed about as void *.
 */
#ifndef ASSAY_COUNTERS_PAPI_SET_H
#define ASSAY_COUNTERS_PAPI_SET_H

#include "counters/provider.h"

/* An empty set of the calling thread. @component -1: that of the first event. */
int assay_papi_set_open(const struct assay_counter_context *ctx, int component, void **set, struct assay_err *err);
const struct assay_counter_context *assay_papi_set_context(const void *set);
/* By PAPI's name. ASSAY_ENOTFOUND, ASSAY_ELIMIT (no room or a conflict in this set) or ASSAY_EUNAVAILABLE, in PAPI's
 * words. */
int assay_papi_set_add(void *set, const char *name, struct assay_err *err);
int assay_papi_set_start(void *set, struct assay_err *err);
int assay_papi_set_read(void *set, uint64_t *values);
void assay_papi_set_stop(void *set);
void assay_papi_set_close(void *set);
/* This thread ends, or counts no more; its sets are closed. Not for the thread that loaded PAPI. */
void assay_papi_leave_thread(const struct assay_counter_context *ctx);

#endif
