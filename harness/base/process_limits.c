/* SPDX-License-Identifier: Apache-2.0 */
/* Without the stack the program would end with a signal, without files where it happens to open one too many. */
#include "base/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

/* By their numbers, which are those of Linux on all architectures that the program is built for. */
static const char *const names[] = {
	[RLIMIT_CPU] = "CPU",       [RLIMIT_FSIZE] = "FSIZE",       [RLIMIT_DATA] = "DATA",
	[RLIMIT_STACK] = "STACK",   [RLIMIT_CORE] = "CORE",         [RLIMIT_RSS] = "RSS",
	[RLIMIT_NPROC] = "NPROC",   [RLIMIT_NOFILE] = "NOFILE",     [RLIMIT_MEMLOCK] = "MEMLOCK",
	[RLIMIT_AS] = "AS",         [RLIMIT_LOCKS] = "LOCKS",       [RLIMIT_SIGPENDING] = "SIGPENDING",
	[RLIMIT_NICE] = "NICE",     [RLIMIT_MSGQUEUE] = "MSGQUEUE", [RLIMIT_RTPRIO] = "RTPRIO",
	[RLIMIT_RTTIME] = "RTTIME",
};

void assay_process_limits_take(struct assay_process_limits *l)
{
	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < RLIM_NLIMITS; i++)
		getrlimit((__rlimit_resource_t)i, &l->v[i]);
}

static void limit_text(rlim_t value, char *buf, size_t size)
{
	if (value == RLIM_INFINITY)
		snprintf(buf, size, "unlimited");
	else
		snprintf(buf, size, "%" PRIu64, (uint64_t)value);
}

bool assay_process_limits_restore(const struct assay_process_limits *l, char *what, size_t size)
{
	bool changed = false;

	for (unsigned i = 0; i < RLIM_NLIMITS; i++) {
		const struct rlimit *was = &l->v[i];
		struct rlimit is;
		char from[32], to[32];
		bool undone;

		if (getrlimit((__rlimit_resource_t)i, &is) || !memcmp(&is, was, sizeof(is)))
			continue;
		undone = !setrlimit((__rlimit_resource_t)i, was);
		if (changed)
			continue;
		changed = true;
		limit_text(was->rlim_cur != is.rlim_cur ? was->rlim_cur : was->rlim_max, from, sizeof(from));
		limit_text(was->rlim_cur != is.rlim_cur ? is.rlim_cur : is.rlim_max, to, sizeof(to));
		snprintf(what, size, "RLIMIT_%s of this program from %s to %s%s", names[i], from, to,
			 undone ? "" : ", which cannot be undone");
	}
	return changed;
}
