/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine is (fingerprint) and in which state it is (environment). */
#ifndef ASSAY_MACHINE_ENVIRONMENT_H
#define ASSAY_MACHINE_ENVIRONMENT_H

#include <stddef.h>

#include "model/result.h"
#include "machine/clock.h"
#include "machine/topology.h"

/*
 * Facts that decide speed and do not change between runs: CPU, microcode, caches, topology, memory, GPU, driver,
 * kernel.
 */
int assay_fingerprint_take(const struct assay_topology *t, struct assay_fingerprint *out, struct assay_err *err);
/* From the /proc and /sys recorded below @root (host_files.h). */
int assay_fingerprint_take_at(const char *root, const struct assay_topology *t, struct assay_fingerprint *out,
			      struct assay_err *err);

/*
 * State that may change between runs: governor, turbo, SMT, ASLR, THP, load, steal, container limits, clock. @out is
 * malloc'ed.
 */
int assay_environment_take(const struct assay_clock *clock, struct assay_fact **out, size_t *n, struct assay_err *err);
int assay_environment_take_at(const char *root, const struct assay_clock *clock, struct assay_fact **out, size_t *n,
			      struct assay_err *err);

#endif
