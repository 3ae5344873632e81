/* SPDX-License-Identifier: Apache-2.0 */
/* Which copies are checked when, how samples are taken, and when an audit is asked for. */
#include "worker/case/served.h"

#include <math.h>
#include <string.h>

#include "assay/random.h"
#include "worker/audit/audit.h"
#include "worker/case/job.h"
#include "worker/case/device.h"

/* Which copies are checked next. Other inputs are those of the first one. */
static void choose_copies(struct assay_served *w)
{
	struct assay_case_job *j = &w->job;
	const uint64_t draw = w->spec.settings.layout_seed ^ (w->index + 2 * ++w->checks);

	j->check_n = w->spec.checks.few_copies && w->spec.checks.few_copies < j->n_jobs ? w->spec.checks.few_copies
											: j->n_jobs;
	j->check_from = j->check_n < j->n_jobs && !w->spec.checks.all ? assay_random4(draw, 5, 0).v[0] % j->n_jobs : 0;
}

/*
 * Poison, run every copy that is checked and that a sample of @iterations reaches, compare one with the oracle and the
 * others with that one. @guards: look at guards and inputs as well.
 */
static struct assay_outcome run_and_check(struct assay_served *w, uint64_t iterations, bool guards)
{
	struct assay_worker_reply *r = &w->reply;
	struct assay_case_job *j = &w->job;
	char first[ASSAY_DIGEST_LEN + 1];
	uint64_t ns, n;
	struct assay_outcome out;

	choose_copies(w);
	if (j->check_n < j->n_jobs && iterations > j->check_n)
		iterations = j->check_n;
	n = iterations < j->check_n ? iterations : j->check_n;
	out = assay_case_job_poison(j);
	if (out.status != ASSAY_STATUS_OK)
		return out;
	j->next_copy = j->check_from;
	assay_heap_case_begin(&j->heap);
	out = assay_case_job_time(j, iterations, &ns);
	assay_heap_case_end(&j->heap, iterations);
	if (out.status == ASSAY_STATUS_OK && guards)
		out = assay_case_job_intact(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_job_check(j, j->check_from, &r->max_rel_err, r->digest);
	if (n > 1)
		assay_case_job_digest(j, j->check_from, first);
	for (uint64_t i = 1; i < n && out.status == ASSAY_STATUS_OK; i++) {
		const uint64_t c = (j->check_from + i) % j->n_jobs;
		char own[ASSAY_DIGEST_LEN + 1];
		double err = -1;

		out = assay_device_buffers_get(j, c, ASSAY_OUTPUT);
		if (out.status != ASSAY_STATUS_OK)
			break;
		assay_case_job_digest(j, c, own);
		if (strcmp(own, first))
			out = assay_case_job_check(j, c, &err, own);
		if (err > r->max_rel_err)
			r->max_rel_err = err;
	}
	return out;
}

/* In a pair guards and inputs can wait for the end, unless an oracle is asked, which looks at them by itself. */
struct assay_outcome assay_served_verify(struct assay_served *w)
{
	struct assay_outcome out = run_and_check(w, w->job.n_jobs, !w->spec.common);

	w->reply.call_parts = w->job.call_parts;
	memcpy(w->digest, w->reply.digest, sizeof(w->digest));
	if (out.status == ASSAY_STATUS_OK && w->spec.checks.audit)
		out = assay_case_audit_begin(&w->job);
	w->reply.accepted = w->job.accepted;
	return out;
}

static struct assay_outcome like_the_first(const struct assay_served *w, const char *digest)
{
	if (!strcmp(w->digest, digest))
		return assay_outcome_ok();
	return assay_outcome_set(ASSAY_STATUS_WRONG,
				 "output changed between the first run (%.8s…) and the last (%.8s…)", w->digest,
				 digest);
}

struct assay_outcome assay_served_check_last(struct assay_served *w)
{
	struct assay_case_job *j = &w->job;
	uint64_t last = (j->next_copy + j->n_jobs - 1) % j->n_jobs;
	struct assay_worker_reply *r = &w->reply;
	char digest[ASSAY_DIGEST_LEN + 1];
	double err = -1;
	struct assay_outcome out = assay_case_job_check(j, last, &err, digest);

	if (err > r->max_rel_err)
		r->max_rel_err = err;
	if (out.status == ASSAY_STATUS_OK)
		out = like_the_first(w, digest);
	w->checked = out.status == ASSAY_STATUS_OK;
	return out;
}

struct assay_outcome assay_served_audit(struct assay_served *w, bool last)
{
	struct assay_outcome out = assay_outcome_ok();

	if (w->spec.checks.audit && w->sampled_ns > 0)
		out = assay_case_audit_take(&w->job, w->iterations, w->call_ns, w->sampled_ns, last);
	/* the times of an audit mislead where a call changed the clock */
	if (out.status == ASSAY_STATUS_WRONG) {
		const struct assay_outcome state = assay_case_job_unchanged(&w->job, "a call");

		if (state.status != ASSAY_STATUS_OK)
			out = state;
	}
	w->sampled_ns = 0;
	w->call_ns = INFINITY;
	return out;
}

struct assay_outcome assay_served_recheck(struct assay_served *w)
{
	struct assay_case_job *j = &w->job;
	struct assay_outcome out = assay_case_job_unchanged(j, "a call");
	double err;

	if (out.status == ASSAY_STATUS_OK && !w->checked)
		out = assay_served_check_last(w);
	err = w->reply.max_rel_err;
	if (out.status == ASSAY_STATUS_OK && w->spec.checks.all)
		out = assay_served_audit(w, true);
	if (out.status == ASSAY_STATUS_OK && w->spec.checks.all && w->spec.checks.other_late)
		out = assay_case_audit_other(j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_counts_trace(&w->counts, j);
	if (out.status == ASSAY_STATUS_OK)
		out = assay_case_counts_gpu(&w->counts, j);
	if (out.status != ASSAY_STATUS_OK)
		return out;
	if (!w->spec.checks.all && !j->heap.heap) /* where allocations are counted, those of a later call count */
		return assay_case_job_intact(j);
	out = run_and_check(w, w->iterations ? w->iterations : 1, true);
	if (err > w->reply.max_rel_err)
		w->reply.max_rel_err = err;
	return out.status == ASSAY_STATUS_OK ? like_the_first(w, w->reply.digest) : out;
}

void assay_served_begin_samples(struct assay_served *w)
{
	w->iterations = w->order.args.iterations;
	w->checked = w->spec.common && !w->order.args.counting;
	assay_sampling_begin(&w->sampling, &w->job, &w->order.args, &w->reply, w->counts.counting);
}

struct assay_outcome assay_served_take_sample(struct assay_served *w)
{
	struct assay_outcome out = assay_sampling_take(&w->sampling);
	const struct assay_worker_reply *r = &w->reply;

	if (out.status == ASSAY_STATUS_OK) {
		w->sampled_ns += (double)r->samples[r->n_samples - 1].ns;
		w->call_ns = fmin(w->call_ns, (double)r->samples[r->n_samples - 1].ns / (double)w->iterations);
	}
	return out;
}

struct assay_outcome assay_served_sample(struct assay_served *w)
{
	uint32_t count = w->order.args.count < ASSAY_PAGE_SAMPLES ? w->order.args.count : ASSAY_PAGE_SAMPLES;
	struct assay_outcome out = assay_outcome_ok();
	uint64_t ns;

	assay_served_begin_samples(w);
	if (w->order.args.counting) /* samples follow, so that the last outputs to be checked are those of a sample */
		out = assay_served_audit(w, false);
	assay_processor_time_begin(&w->job);
	/*
	 * the hand-over let the pool fall asleep and the caches cool: one untimed call, but cold cases want them cold
	 */
	if (w->job.n_jobs == 1 && out.status == ASSAY_STATUS_OK)
		out = assay_case_job_time(&w->job, 1, &ns);
	for (uint32_t i = 0; i < count && out.status == ASSAY_STATUS_OK; i++)
		out = assay_served_take_sample(w);
	return out.status == ASSAY_STATUS_OK ? assay_processor_time_end(&w->job) : out;
}
