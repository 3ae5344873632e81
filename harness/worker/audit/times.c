/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine makes single calls longer. So a quantile of either kind is taken, with all but a few of the calls on the
 * same data below it, and only a few of those on changed data: what is then still apart is no disturbance.
 */
#include "worker/audit/data.h"

#include "model/quantity.h"

/* A call on changed data may take so many times longer, and so much besides: memory is touched before it. */
#define RATIO    1.5
#define SLACK_NS 30.0
/* A single call after a pause: kernels that others disturb took 1.1 times as long. */
#define RATIO_PAUSED    2.0
#define SLACK_PAUSED_NS 20000.0
#define CLOCK_READS     2      /* around what is timed */
#define SLACK_SHARED_NS 1000.0 /* lines that other cores, or no core, hold */

#define MOST_LONGER(n)  (((n)*3 + 15) / 16) /* of the calls on the same data */
#define MOST_SHORTER(n) ((n) / 16)          /* of those on data that changed */

static void add(double *ns, int *n, double one)
{
	int at = (*n)++;

	for (; at > 0 && ns[at - 1] > one; at--)
		ns[at] = ns[at - 1];
	ns[at] = one;
}

double assay_audit_times_less_waits(uint64_t ns, const struct assay_thread_time *before,
				    const struct assay_thread_time *after, bool slept)
{
	const uint64_t waited = before->waits_told && after->waits_told ? after->waited_ns - before->waited_ns : 0;
	const uint64_t left = waited < ns ? ns - waited : 0, ran = after->cpu_ns - before->cpu_ns;

	/* a hypervisor's other guests take time that is no wait */
	return (double)(!slept && before->cpu_told && after->cpu_told && ran < left ? ran : left);
}

void assay_audit_times_same(struct assay_audit_times *t, double ns)
{
	add(t->same_ns, &t->n, ns);
}

void assay_audit_times_changed(struct assay_audit_times *t, double ns)
{
	add(t->changed_ns, &t->n_changed, ns);
}

static double same_ns(const struct assay_audit_times *t)
{
	return t->n ? t->same_ns[t->n - 1 - MOST_LONGER(t->n - 1)] : 0;
}

static double changed_ns(const struct assay_audit_times *t)
{
	return t->changed_ns[MOST_SHORTER(t->n_changed)];
}

static bool is_longer(const struct assay_case_job *j, const struct assay_audit_times *t, double changed, double same)
{
	const bool shared = j->n_jobs > 1 || j->spec->c.threads > 1 || j->device;
	const double slack_ns = t->paused ? SLACK_PAUSED_NS : shared ? SLACK_SHARED_NS : SLACK_NS;

	return t->n_changed && changed > (t->paused ? RATIO_PAUSED : RATIO) * same + slack_ns +
						 CLOCK_READS * j->spec->clock.overhead_ns;
}

bool assay_audit_times_tell(const struct assay_case_job *j, const struct assay_audit_times *t)
{
	return is_longer(j, t, changed_ns(t), same_ns(t));
}

bool assay_audit_times_may_tell(const struct assay_case_job *j, const struct assay_audit_times *t)
{
	return is_longer(j, t, t->changed_ns[0], t->n ? t->same_ns[0] : 0);
}

struct assay_outcome assay_audit_times_verdict(const struct assay_case_job *j, const struct assay_audit_times *t,
					       const char *when)
{
	char same[32], changed[32];

	if (!assay_audit_times_tell(j, t))
		return assay_outcome_ok();
	assay_quantity_text(same_ns(t) * 1e-9, "s", true, same, sizeof(same));
	assay_quantity_text(changed_ns(t) * 1e-9, "s", true, changed, sizeof(changed));
	return assay_outcome_set(ASSAY_STATUS_WRONG,
				 "does not compute when it is timed: a call takes %s over and over, %s when %s", same,
				 changed, when);
}
