/* SPDX-License-Identifier: Apache-2.0 */
/* The kind "threads": what each thread did with its time, of a case in its worker or of any program. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/monotonic.h"
#include "base/temporary.h"
#include "counters/threads.h"
#include "drive/profile_kinds.h"
#include "drive/profile_preloaded.h"
#include "measure/measure_profile.h"
#include "model/verdict.h"
#include "profile/thread_profile.h"

#define SAMPLE_NS 50000000u /* so long that what threads do at its ends counts for nothing */

/* Files of a run and what is read of them. */
struct taking {
	const struct assay_profile_request *q;
	const struct assay_watch *w;
	struct assay_temporary folder;
	struct assay_thread_logs logs;
};

static void warn_of_gaps(const struct taking *t)
{
	if (t->logs.lost)
		assay_watch_warn(t->w,
				 "%" PRIu64 " waits have no place in the profile: there was no room in the temporary "
				 "folder, or there are too many places",
				 t->logs.lost);
	if (t->logs.cut)
		assay_watch_warn(t->w, "%u thread%s killed: what came after the last wait is not known", t->logs.cut,
				 t->logs.cut == 1 ? " was" : "s were");
}

/* While the program lives, so that what its threads do at this moment is known. */
static int read_logs(void *arg, struct assay_err *err)
{
	struct taking *t = arg;

	return assay_thread_logs_open(&t->logs, t->folder.path, err);
}

static int make(struct taking *t, struct assay_profile *out, struct assay_err *err)
{
	const int rc = assay_thread_profile_make(&t->logs, out, err);

	if (!rc)
		warn_of_gaps(t);
	return rc;
}

static void release(struct taking *t)
{
	assay_thread_logs_close(&t->logs);
	assay_temporary_remove(&t->folder);
}

static int run_program(struct taking *t, struct assay_profile *out, struct assay_err *err)
{
	char library[ASSAY_PRELOADED_PATH_MAX], folder[4200];
	const char *env[] = { folder, NULL };
	const struct assay_preloaded_run r = { .library = library, .env = env, .before_end = read_logs, .arg = t };
	int rc = assay_threads_library(library, sizeof(library), err);

	snprintf(folder, sizeof(folder), ASSAY_THREAD_LOG_FOLDER "=%s", t->folder.path);
	if (!rc)
		rc = assay_profile_run_preloaded(t->q, t->w, &r, out, err);
	if (rc == ASSAY_ENOTFOUND)
		rc = assay_profile_not_preloaded(t->q, "the functions that wait", err);
	return rc ? rc : make(t, out, err);
}

int assay_profile_threads_program(const struct assay_profile_request *q, const struct assay_watch *w,
				  struct assay_profile *out, struct assay_err *err)
{
	struct taking t = { .q = q, .w = w };
	int rc;

	assay_profile_name_command(q, out);
	out->started_ns = assay_clock_unix_ns();
	out->iteration_ns = NAN;
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)q->for_ns });
	rc = assay_temporary_make(&t.folder, "threads", err);
	if (!rc)
		rc = run_program(&t, out, err);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	release(&t);
	return rc;
}

static void on_progress(void *arg, enum assay_stage stage, double done_frac)
{
	if (stage == ASSAY_STAGE_SAMPLE)
		assay_watch_tell(arg, &(struct assay_event){
					      .kind = ASSAY_EVENT_SHARE, .done_frac = done_frac, .text = "sampling" });
}

static int run_case(struct taking *t, struct assay_session *s, struct assay_profile *out, struct assay_err *err)
{
	char library[ASSAY_PRELOADED_PATH_MAX] = "", preload[2 * ASSAY_PRELOADED_PATH_MAX], folder[4200];
	const char *env[] = { preload, folder, ASSAY_THREAD_LOG_WAIT "=1", NULL };
	struct assay_profile_end end = { 0 };
	struct assay_clock clock;
	uint64_t began = assay_monotonic_ns();
	int rc = assay_threads_library(library, sizeof(library), err);

	assay_preloaded_variable(library, preload, sizeof(preload));
	snprintf(folder, sizeof(folder), ASSAY_THREAD_LOG_FOLDER "=%s", t->folder.path);
	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc)
		rc = assay_measure_profile(&s->plan.cases[0], &s->facts[0],
					   &(struct assay_measure_options){ .plugins = &s->plugins,
									    .topology = s->topology,
									    .host = &s->host,
									    .clock = &clock,
									    .placement = t->q->what->placement,
									    .seed = t->q->what->seed,
									    .interrupted = t->w->interrupted,
									    .progress = on_progress,
									    .progress_arg = (void *)t->w },
					   &(struct assay_profile_options){ .for_ns = t->q->for_ns,
									    .env = env,
									    .least_sample_ns = t->q->for_ns < SAMPLE_NS
												       ? t->q->for_ns
												       : SAMPLE_NS },
					   out, &end, err);
	out->seconds = (double)(assay_monotonic_ns() - began) * 1e-9;
	if (!rc && end.status != ASSAY_STATUS_OK)
		rc = assay_err_set(err, ASSAY_EWORKER, "cannot profile '%s': %s: %.300s", s->plan.cases[0].key,
				   assay_status_name(end.status), end.reason);
	if (!rc)
		rc = read_logs(t, err);
	return rc ? rc : make(t, out, err);
}

int assay_profile_threads_case(const struct assay_profile_request *q, const struct assay_watch *w,
			       struct assay_profile *out, struct assay_err *err)
{
	struct taking t = { .q = q, .w = w };
	struct assay_session s = { 0 };
	int rc = assay_profile_session(q, w, &s, err);

	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)q->for_ns });
	if (!rc)
		rc = assay_temporary_make(&t.folder, "threads", err);
	if (!rc)
		rc = run_case(&t, &s, out, err);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	if (!rc)
		rc = assay_profile_identify(q, w, &s, out, err);
	release(&t);
	assay_session_close(&s);
	return rc;
}
