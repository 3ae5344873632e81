/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is sampled from its first instruction on. */
#include "base/monotonic.h"
#include "profile/profile.h"

#define LOOK_NS 20000000u

struct sampled {
	const struct assay_program_sampling *q;
	struct assay_cpu_profile *cpu;
	uint64_t began_ns;
	struct assay_err why; /* it cannot be sampled */
};

/* Before its first instruction, so that its children are sampled, too. */
static void attach(void *arg, pid_t pid)
{
	struct sampled *s = arg;

	if (s->q->cpus)
		sched_setaffinity(pid, sizeof(*s->q->cpus), s->q->cpus);
	assay_cpu_profile_attach(s->cpu, pid, &s->why);
	s->began_ns = assay_monotonic_ns();
}

static bool is_over(const struct sampled *s)
{
	return (s->q->for_ns && assay_monotonic_ns() - s->began_ns >= s->q->for_ns) ||
	       (s->q->interrupted && *s->q->interrupted);
}

static void watch(const struct sampled *s, struct assay_process *p)
{
	uint64_t half = assay_cpu_profile_read_every_ns(s->cpu) / 2;

	while (!assay_process_wait(p, half < LOOK_NS ? half : LOOK_NS)) {
		assay_cpu_profile_drain(s->cpu);
		half = assay_cpu_profile_read_every_ns(s->cpu) / 2;
		if (is_over(s))
			break;
	}
}

int assay_program_sample(const struct assay_program_sampling *q, struct assay_process *p, struct assay_profile *out,
			 uint64_t *wall_ns, struct assay_err *err)
{
	struct assay_process_options o = q->process;
	struct sampled s = { .q = q };
	int rc = assay_cpu_profile_open(&s.cpu, &q->how, out, err);

	if (rc)
		return rc;
	if (q->op)
		assay_cpu_profile_phase(s.cpu, q->op, ASSAY_PROFILE_TIMED);
	o.env = assay_cpu_profile_environment(s.cpu);
	o.before_exec = attach;
	o.before_exec_arg = &s;
	rc = assay_process_start(p, &o, err);
	if (rc == ASSAY_ENOTFOUND || rc == ASSAY_EIO)
		rc = err->code = ASSAY_EUSAGE;
	if (rc)
		goto out;
	if (s.why.code)
		rc = assay_err_set(err, s.why.code, "%s", s.why.text);
	if (!rc) {
		watch(&s, p);
		*wall_ns = assay_monotonic_ns() - s.began_ns;
		rc = assay_cpu_profile_end(s.cpu, err);
	}
	if (!rc && assay_cpu_profile_absent(s.cpu))
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "'%.200s' cannot be sampled: %s", o.argv[0],
				   assay_cpu_profile_absent(s.cpu));
	else if (!rc && !out->stacks.weight)
		rc = assay_err_set(err, ASSAY_EUNAVAILABLE,
				   "'%.200s' ended before it was sampled: profile something that runs longer",
				   o.argv[0]);
	if (rc)
		assay_process_kill(p);
out:
	assay_cpu_profile_close(s.cpu);
	return rc;
}
