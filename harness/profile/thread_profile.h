/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of threads from what their processes wrote: stacks, waits and the timeline. */
#ifndef ASSAY_PROFILE_THREAD_PROFILE_H
#define ASSAY_PROFILE_THREAD_PROFILE_H

#include "model/profile.h"
#include "profile/thread_logs.h"

/* Fill @into from @l: its kind, unit, threads, stacks, waits and timeline. */
int assay_thread_profile_make(const struct assay_thread_logs *l, struct assay_profile *into, struct assay_err *err);

#endif
