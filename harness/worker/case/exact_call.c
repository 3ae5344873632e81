/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are counted, and the data that they begin with. What this program itself executes around a counted call is
 * left out when the counts are read.
 */
#include "worker/case/exact_call.h"

#include <alloca.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counters/callgrind/callgrind.h"
#include "worker/audit/data.h"
#include "worker/case/job.h"
#include "worker/case/state.h"

/* As many as a simulated cache can tell apart. */
#define STACK_PLACES ((size_t)1 << 20)

/* ---- data ------------------------------------------------------------------------------------------------------- */

/*
 * A kernel that returns early because its output already stands there, or because its inputs are those of the call
 * before, would count next to nothing. So each counted call begins with poisoned outputs, and the call before it had
 * other inputs. Both are put in place by reading a file into the tensors: the simulator does not see what the kernel of
 * the system writes, so its caches keep what they hold.
 */
static void add_tensor(struct assay_exact_data *d, const struct assay_tensor *t)
{
	d->v[d->n++] = (struct iovec){ .iov_base = t->data, .iov_len = t->bytes };
	d->bytes += t->bytes;
}

/* Inputs that nothing was prepared from and that are small enough can change from call to call. */
static bool can_change_inputs(const struct assay_case_job *j)
{
	const uint64_t bytes = assay_audit_changed_bytes(j);
	const bool kept = j->audit.change == ASSAY_AUDIT_REFILL && (j->variant->prepare || j->op_state);

	return bytes && bytes <= ASSAY_AUDIT_MOST_BYTES && !kept;
}

/* Draw other inputs and write them behind all else. */
static int keep_other(struct assay_case_job *j, struct assay_exact_data *d)
{
	/* not from the heap, whose later addresses would depend on it */
	unsigned char *other = mmap(NULL, d->input_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int rc = -1;

	if (other == MAP_FAILED)
		return -1;
	if (assay_audit_draw_inputs(j, other).status == ASSAY_STATUS_OK)
		rc = pwrite(d->fd, other, d->input_bytes, (off_t)d->bytes) == (ssize_t)d->input_bytes ? 0 : -1;
	munmap(other, d->input_bytes);
	return rc;
}

struct assay_outcome assay_exact_data_keep(struct assay_case_job *j, struct assay_exact_data *d)
{
	struct assay_outcome out;
	bool change;

	*d = (struct assay_exact_data){ .fd = memfd_create("assay-counted", MFD_CLOEXEC) };
	j->audit = (struct assay_case_audit){ .seed = j->spec->settings.seed };
	assay_audit_choose_inputs(j);
	change = can_change_inputs(j);
	for (uint32_t t = 0; change && t < j->problem.n_tensors; t++)
		if (assay_audit_changes(j, t))
			add_tensor(d, &j->tensors[t]);
	d->n_inputs = d->n;
	d->input_bytes = d->bytes;
	for (uint32_t t = 0; t < j->problem.n_tensors; t++)
		if (j->problem.tensors[t].role == ASSAY_OUTPUT)
			add_tensor(d, &j->tensors[t]);
	j->check_from = 0;
	j->check_n = 1;
	out = assay_case_job_poison(j);
	if (out.status != ASSAY_STATUS_OK)
		return out;
	if (d->fd < 0 || pwritev(d->fd, d->v, (int)d->n, 0) != (ssize_t)d->bytes || (change && keep_other(j, d)))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for the data of counted calls");
	return assay_exact_data_renew(d);
}

static ssize_t put(const struct assay_exact_data *d)
{
	return preadv(d->fd, d->v, (int)d->n, 0);
}

static struct assay_outcome said(const struct assay_exact_data *d, ssize_t got)
{
	return got == (ssize_t)d->bytes
		       ? assay_outcome_ok()
		       : assay_outcome_set(ASSAY_STATUS_FAILED, "cannot put the data of a counted call in place");
}

struct assay_outcome assay_exact_data_renew(const struct assay_exact_data *d)
{
	return said(d, put(d));
}

/* Put other inputs in place, where there are any. */
static struct assay_outcome put_other(const struct assay_exact_data *d)
{
	if (!d->n_inputs || preadv(d->fd, d->v, (int)d->n_inputs, (off_t)d->bytes) == (ssize_t)d->input_bytes)
		return assay_outcome_ok();
	return assay_outcome_set(ASSAY_STATUS_FAILED, "cannot put other inputs in place");
}

struct assay_outcome assay_exact_data_call_other(struct assay_case_job *j, const struct assay_exact_data *d)
{
	struct assay_outcome out = put_other(d);
	struct assay_kept_state kept;

	if (!d->n_inputs || out.status != ASSAY_STATUS_OK)
		return out;
	if (assay_case_services_keep(j, &kept))
		return assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counts");
	out = assay_exact_call_once(j);
	assay_case_services_restore(j, &kept);
	return out;
}

struct assay_outcome assay_exact_data_check(struct assay_case_job *j)
{
	char digest[ASSAY_DIGEST_LEN + 1];
	double err;
	struct assay_outcome out = assay_case_job_check(j, 0, &err, digest);

	if (out.status == ASSAY_STATUS_WRONG)
		return assay_outcome_set(ASSAY_STATUS_WRONG, "in a counted call: %.480s", out.reason);
	return out;
}

void assay_exact_data_release(struct assay_exact_data *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

/* ---- calls ------------------------------------------------------------------------------------------------------ */

/*
 * @warm calls and the one that counts, each of the next copy; with @d, the data of the one that counts is put in place
 * before it. A simulated cache is indexed by address, so the place of their stack decides conflicts: it begins below a
 * multiple of STACK_PLACES, whatever lies above, which is arguments, environment and the frames of the callers. The
 * simulator sees what lies between the calls, and one line more there can push out all of a set that the case just
 * fills; so what they need is read before them.
 */
static __attribute__((noinline)) int run_placed(struct assay_case_job *j, unsigned warm,
						const struct assay_exact_data *d, struct assay_outcome *renewed)
{
	volatile char *room = alloca((uintptr_t)__builtin_frame_address(0) % STACK_PLACES + 1);
	int (*const run)(struct assay_job *) = j->variant->run;
	struct assay_job *const jobs = j->jobs;
	const uint64_t n = j->n_jobs;
	uint64_t copy = j->next_copy;
	ssize_t got = 0;
	int rc = 0;

	room[0] = 0;
	for (unsigned i = 0; i < warm; i++) {
		rc |= run(&jobs[copy]);
		copy = copy + 1 == n ? 0 : copy + 1;
	}
	if (d) {
		got = put(d);
		assay_callgrind_zero();
	}
	rc |= run(&jobs[copy]);
	j->next_copy = copy + 1 == n ? 0 : copy + 1;
	if (d)
		*renewed = said(d, got);
	return rc;
}

struct assay_outcome assay_exact_call_once(struct assay_case_job *j)
{
	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	return run_placed(j, 0, NULL, NULL) ? assay_case_job_failed(j, "running") : assay_outcome_ok();
}

static struct assay_outcome count_once(struct assay_case_job *j, unsigned warm, const struct assay_exact_data *d,
				       bool check)
{
	struct assay_outcome out = warm ? put_other(d) : assay_exact_data_call_other(j, d);
	int rc;

	if (out.status != ASSAY_STATUS_OK)
		return out;
	assay_case_job_phase(j, ASSAY_PHASE_RUN);
	assay_callgrind_start();
	rc = run_placed(j, warm, d, &out);
	assay_callgrind_dump(check);
	assay_callgrind_stop();
	if (rc)
		return assay_case_job_failed(j, "running");
	return out.status == ASSAY_STATUS_OK ? assay_exact_data_check(j) : out;
}

/*
 * Twice from empty caches: what differs between the two is not exact. Only the first begins with untrained branch
 * predictors.
 */
struct assay_outcome assay_exact_call_simulate(struct assay_case_job *j, unsigned warm)
{
	struct assay_exact_data data;
	struct assay_kept_state kept;
	struct assay_outcome out;

	if (!assay_callgrind_inside())
		return assay_outcome_set(ASSAY_STATUS_FAILED, "the worker does not run under valgrind");
	out = assay_exact_data_keep(j, &data);
	if (out.status == ASSAY_STATUS_OK && assay_case_services_keep(j, &kept))
		out = assay_outcome_set(ASSAY_STATUS_FAILED, "out of memory for counts");
	else if (out.status == ASSAY_STATUS_OK) {
		out = count_once(j, warm, &data, false);
		assay_case_services_restore(j, &kept);
		if (out.status == ASSAY_STATUS_OK)
			out = count_once(j, warm, &data, true);
	}
	assay_exact_data_release(&data);
	return out;
}
