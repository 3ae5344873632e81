/* SPDX-License-Identifier: Apache-2.0 */
/* Without the stack the program would end with a signal, without files where it happens to open one too many. */
#include "base/process_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>

static const struct {
	__rlimit_resource_t resource;
	const char *what, *command;
	rlim_t need, usual, unit; /* in units that `ulimit` shows */
} limits[] = {
	{ RLIMIT_STACK, "KiB of stack", "ulimit -s", 512, 8192, 1024 },
	{ RLIMIT_NOFILE, "open files", "ulimit -n", 64, 1024, 1 },
};

int assay_process_limits_raise(struct assay_err *err)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const rlim_t unit = limits[i].unit, need = limits[i].need * unit, usual = limits[i].usual * unit;
		struct rlimit r;

		if (getrlimit(limits[i].resource, &r) || r.rlim_cur >= need)
			continue;
		if (r.rlim_max >= need) {
			r.rlim_cur = r.rlim_max < usual ? r.rlim_max : usual;
			if (!setrlimit(limits[i].resource, &r))
				continue;
		}
		return assay_err_set(err, ASSAY_EUSAGE,
				     "a process may have %" PRIu64 " %s here and this one needs %" PRIu64
				     ": raise the limit with '%s %" PRIu64 "'",
				     (uint64_t)(r.rlim_cur / unit), limits[i].what, (uint64_t)limits[i].need,
				     limits[i].command, (uint64_t)limits[i].usual);
	}
	return 0;
}
