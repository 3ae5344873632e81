/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc/self/task/TID/sched says of a thread; the kernel has it with CONFIG_SCHED_DEBUG. */
#ifndef ASSAY_COUNTERS_SCHED_FILE_H
#define ASSAY_COUNTERS_SCHED_FILE_H

#include <stdint.h>

#define ASSAY_SCHED_MIGRATIONS "se.nr_migrations"

/* Moves between CPUs since the thread began. ASSAY_ENOTFOUND: no such line in @text, or no number in it. */
int assay_sched_migrations(const char *text, uint64_t *out);

#endif
