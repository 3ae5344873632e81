/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the container this process runs in: control groups v1, v2 and both at once. @root as in host_files.h. */
#ifndef ASSAY_MACHINE_CGROUP_H
#define ASSAY_MACHINE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* CPU time the container may use, in CPUs; the tightest limit on the way up. */
struct assay_cpu_quota {
	double cpus;          /* 0: no limit */
	char where[PATH_MAX]; /* file that sets it, "" without limit */
	bool hidden; /* the process is in a group, whose limits cannot be read: no such file system is mounted */
	bool shows_throttling;
	uint64_t throttled_ns; /* since the group was made */
};
void assay_cpu_quota_read(const char *root, struct assay_cpu_quota *out);

/* ASSAY_EUNAVAILABLE, naming the quota, if @n_threads busy threads would be throttled. */
int assay_cpu_quota_check(size_t n_threads, struct assay_err *err);
int assay_cpu_quota_check_at(const char *root, size_t n_threads, struct assay_err *err);

/* Memory of the container; limit_bytes 0: no limit. @available_bytes is what the tightest level still allows. */
void assay_memory_limit_read(const char *root, uint64_t *limit_bytes, uint64_t *available_bytes);

#endif
