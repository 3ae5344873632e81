/* SPDX-License-Identifier: Apache-2.0 */
/* What this program spends around a counted call is left out by whoever reads the counts. */
#include "worker/exact_call.h"

#include <alloca.h>

#include "counters/callgrind.h"
#include "worker/case_services.h"

/* As many as a simulated cache can tell apart. */
#define STACK_PLACES ((size_t)1 << 20)

/*
 * @warm calls and the one that counts, each of the next copy. A simulated cache is indexed by address, so the place of
 * their stack decides conflicts: it begins below a multiple of STACK_PLACES, whatever lies above, which is arguments,
 * environment and the frames of whoever counts. The simulator sees what lies between the calls, and one line more there
 * can push out all of a set that the case just fills; so what they need is read before them.
 */
static __attribute__((noinline)) int run_placed(struct assay_case_job *j, unsigned warm, bool simulated)
{
	volatile char *room = alloca((uintptr_t)__builtin_frame_address(0) % STACK_PLACES + 1);
	int (*const run)(struct assay_job *) = j->variant->run;
	struct assay_job *const jobs = j->jobs;
	const uint64_t n = j->n_jobs;
	uint64_t copy = j->next_copy;
	int rc = 0;

	room[0] = 0;
	for (unsigned i = 0; i < warm; i++) {
		rc |= run(&jobs[copy]);
		copy = copy + 1 == n ? 0 : copy + 1;
	}
	if (simulated)
		assay_callgrind_zero();
	rc |= run(&jobs[copy]);
	j->next_copy = copy + 1 == n ? 0 : copy + 1;
	return rc;
}

struct assay_outcome assay_exact_call_once(struct assay_case_job *j)
{
	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	return run_placed(j, 0, false) ? assay_case_job_failed(j, "running") : assay_outcome_ok();
}

static struct assay_outcome count_once(struct assay_case_job *j, unsigned warm, bool check)
{
	int rc;

	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	assay_callgrind_start();
	rc = run_placed(j, warm, true);
	assay_callgrind_dump(check);
	assay_callgrind_stop();
	return rc ? assay_case_job_failed(j, "running") : assay_outcome_ok();
}

/*
 * Twice from empty caches: what differs between the two is not exact. Only the first begins with untrained branch
 * predictors.
 */
struct assay_outcome assay_exact_call_simulate(struct assay_case_job *j, unsigned warm)
{
	struct assay_kept_state kept;
	struct assay_outcome out;

	if (!assay_callgrind_inside())
		return assay_outcome_set(ASSAY_STATUS_FAILED, "the worker does not run under valgrind");
	if (assay_case_services_keep(j, &kept))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counts");
	out = count_once(j, warm, false);
	assay_case_services_restore(j, &kept);
	return out.status == ASSAY_STATUS_OK ? count_once(j, warm, true) : out;
}
