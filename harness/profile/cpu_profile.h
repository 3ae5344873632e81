/* SPDX-License-Identifier: Apache-2.0 */
/* A CPU profile of a running process and its children: samples become stacks while it runs, nothing else is kept. */
#ifndef ASSAY_PROFILE_CPU_PROFILE_H
#define ASSAY_PROFILE_CPU_PROFILE_H

#include <sys/types.h>

#include "model/profile.h"
#include "profile/cpu_sampler.h"

struct assay_cpu_profile;

/*
 * Choose what samples a process that is to begin, into @into, whose kind, source, unit and rate are set.
 * ASSAY_EUNAVAILABLE says what forbids it.
 */
int assay_cpu_profile_open(struct assay_cpu_profile **out, const struct assay_cpu_sampling *how,
			   struct assay_profile *into, struct assay_err *err);
/* What the process needs in its environment, as "NAME=value" up to a NULL. */
const char *const *assay_cpu_profile_environment(const struct assay_cpu_profile *p);
/* Sample @pid from here on. ASSAY_ENOTFOUND: it has ended. */
int assay_cpu_profile_attach(struct assay_cpu_profile *p, pid_t pid, struct assay_err *err);
/* Why no process took part, as assay_cpu_sampler_absent() says it. */
const char *assay_cpu_profile_absent(const struct assay_cpu_profile *p);
/* Take what was sampled. Call this more often than every assay_cpu_profile_read_every_ns(). */
void assay_cpu_profile_drain(struct assay_cpu_profile *p);
uint64_t assay_cpu_profile_read_every_ns(const struct assay_cpu_profile *p);
/* How long code must run until it is known how much of its stacks is to be copied. */
uint64_t assay_cpu_profile_settling_ns(const struct assay_cpu_profile *p);
/* The label above the thread and the frames of samples from now on; NULL: none. Both are borrowed. */
void assay_cpu_profile_phase(struct assay_cpu_profile *p, const char *op, const char *phase);
/* Take no samples for a while. */
void assay_cpu_profile_pause(struct assay_cpu_profile *p, bool paused);
/* Does the process run as if nothing sampled it, while that is paused? */
bool assay_cpu_profile_pauses_free(const struct assay_cpu_profile *p);
/* Stop, take the rest and fill in the numbers of the profile. ASSAY_ENOMEM if memory ended meanwhile. */
int assay_cpu_profile_end(struct assay_cpu_profile *p, struct assay_err *err);
void assay_cpu_profile_close(struct assay_cpu_profile *p);

#endif
