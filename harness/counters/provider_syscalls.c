/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of one run of the variant. The worker traces a run of its own after the last sample; see syscalls.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/provider.h"

#define EVENT "syscalls"

struct syscall_set {
	struct assay_syscall_case *calls; /* NULL: no case is counted */
	size_t n;
};

/* One call of its own, which must count as one. */
static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	pid_t self = (pid_t)syscall(SYS_gettid);
	const struct assay_syscall_options o = { .threads = &self, .n_threads = 1 };
	struct assay_syscall_case found = { 0 };
	struct assay_syscall_trace *t;
	struct assay_err why = { 0 };

	(void)ctx;
	if (assay_syscall_trace_open(&t, &o, &why)) {
		snprintf(found.reason, sizeof(found.reason), "%.255s", why.text);
	} else {
		assay_syscall_trace_watch(t, true);
		syscall(SYS_getppid);
		assay_syscall_trace_watch(t, false);
		assay_syscall_trace_close(t, &found);
	}
	if (found.counted && found.calls != 1)
		snprintf(found.reason, sizeof(found.reason), "one call counts as %llu",
			 (unsigned long long)found.calls);
	*out = (struct assay_counter_probe){ .works = !found.reason[0] };
	snprintf(out->value, sizeof(out->value), "%s",
		 out->works ? "system calls of variants, by ptrace" : found.reason);
	if (!out->works)
		snprintf(out->advice, sizeof(out->advice), "without it, " EVENT " is unavailable");
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct syscall_set *s = calloc(1, sizeof(*s));

	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	s->calls = ctx->syscalls;
	*set = s;
	return 0;
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct syscall_set *s = set;

	if (strcmp(event, EVENT))
		return assay_err_set(err, ASSAY_ENOTFOUND, "'%s' is no count of system calls", event);
	if (!s->calls)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "no run of this is traced");
	if (s->n)
		return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
	s->n = 1;
	s->calls->wanted = true;
	return 0;
}

static int total(void *set, size_t place, double *value, bool *per_iteration, struct assay_err *why)
{
	const struct assay_syscall_case *c = ((struct syscall_set *)set)->calls;

	(void)place;
	*per_iteration = true;
	*value = (double)c->calls;
	if (c->counted)
		return 0;
	return assay_err_set(why, ASSAY_EUNAVAILABLE, "%s", c->reason[0] ? c->reason : "no run was traced");
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	const char *detail = ctx->syscalls ? ctx->syscalls->detail : "";

	snprintf(buf, size, "ptrace, in an untimed run%s%s", detail[0] ? ": " : "", detail);
}

const struct assay_counter_provider assay_provider_syscalls = {
	.name = "syscalls",
	.source = ASSAY_SOURCE_EXACT,
	.shared = true,
	.probe = probe,
	.open = open_set,
	.add = add,
	.close = free,
	.total = total,
	.how = how,
};
