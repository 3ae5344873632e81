/* SPDX-License-Identifier: Apache-2.0 */
/* The kind "cpu": where time goes, of a case in its worker or of any program. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/process.h"
#include "counters/sample_record.h"
#include "drive/profile/kinds.h"
#include "measure/profile.h"
#include "model/verdict.h"
#include "profile/profile.h"
#include "profile/unwind.h"

#define FEW_SAMPLES    20
#define MUCH_LOST_FRAC 0.01
#define MUCH_FRAC      0.1

/* Warnings that a reader needs before trusting the numbers. */
static void warn_of_gaps(const struct assay_profile *p, const struct assay_watch *w)
{
	const double n = (double)p->stacks.weight, early = (double)(p->truncated - p->outgrown);

	if (p->stacks.weight < FEW_SAMPLES)
		assay_watch_warn(w, "only %" PRIu64 " sample%s: %s, or a higher --rate, gives more", p->stacks.weight,
				 p->stacks.weight == 1 ? "" : "s",
				 p->is_case ? "a longer --for" : "a program that works for longer");
	if ((double)p->lost > MUCH_LOST_FRAC * n)
		assay_watch_warn(w, "%" PRIu64 " samples were lost: a lower --rate, or more memory to lock (ulimit -l)",
				 p->lost);
	if (n > 0 && (double)p->unresolved > MUCH_FRAC * n)
		assay_watch_warn(w,
				 "%.0f %% of the samples lie in code without names: build it with -g and do not strip "
				 "it, or install its debug symbols",
				 100 * (double)p->unresolved / n);
	if (n > 0 && early > MUCH_FRAC * n)
		assay_watch_warn(w,
				 "%.0f %% of the stacks end early: they are deeper than %u KiB or %u frames, or their "
				 "code has no "
				 "unwind tables (.eh_frame)",
				 100 * early / n, ASSAY_SAMPLE_STACK_MOST_BYTES >> 10, ASSAY_STACK_MAX);
}

static void on_progress(void *arg, enum assay_stage stage, double done_frac, const struct assay_result *so_far)
{
	(void)so_far;
	if (stage == ASSAY_STAGE_SAMPLE)
		assay_watch_tell(arg, &(struct assay_event){
					      .kind = ASSAY_EVENT_SHARE, .done_frac = done_frac, .text = "sampling" });
}

int assay_profile_cpu_case(const struct assay_profile_request *q, const struct assay_watch *w,
			   struct assay_profile *out, struct assay_err *err)
{
	struct assay_session s = { 0 };
	struct assay_profile_end end = { 0 };
	struct assay_clock clock;
	int rc = assay_profile_session(q, w, &s, err);

	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc) {
		struct assay_measure_options o = assay_session_measure(&s, q->what, &clock, w);

		o.progress = on_progress;
		o.progress_arg = (void *)w;
		assay_watch_tell(w,
				 &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)q->for_ns });
		rc = assay_measure_profile(
			&s.plan.cases[0], &s.facts[0], &o,
			&(struct assay_profile_options){ .rate_hz = q->rate_hz, .for_ns = q->for_ns }, out, &end, err);
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
		if (!rc)
			rc = assay_profile_ended(&end, &s, w, err);
	}
	if (!rc)
		rc = assay_profile_identify(q, w, &s, out, err);
	if (!rc)
		warn_of_gaps(out, w);
	assay_session_close(&s);
	return rc;
}

int assay_profile_cpu_program(const struct assay_profile_request *q, const struct assay_watch *w,
			      struct assay_profile *out, struct assay_err *err)
{
	const struct assay_program_sampling s = {
		.process = { .argv = q->command, .keep_fd = -1, .stdout_fd = STDERR_FILENO, .stderr_fd = -1 },
		.how = { .rate_hz = q->rate_hz },
		.for_ns = q->for_ns,
		.interrupted = w->interrupted,
	};
	struct assay_process p = { 0 };
	uint64_t wall_ns;
	int rc;

	assay_profile_name_command(q, out);
	out->started_ns = assay_clock_unix_ns();
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)q->for_ns });
	rc = assay_program_sample(&s, &p, out, &wall_ns, err);
	if (!rc)
		assay_profile_end_program(&p, w);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	if (!rc)
		warn_of_gaps(out, w);
	return rc;
}
