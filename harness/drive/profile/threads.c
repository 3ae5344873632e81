/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kinds "threads" and "trace": what each thread did with its time, summed up or one after the other, of a case in
 * its worker or of any program. Both read the same files.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "base/process.h"
#include "counters/gpu/records.h"
#include "counters/preloaded.h"
#include "drive/profile/kinds.h"
#include "measure/profile.h"
#include "model/verdict.h"
#include "profile/profile.h"

#define SAMPLE_NS  50000000u /* so long that what threads do at its ends counts for nothing */
#define MOST_SPANS 1000000

/* Files of a run and what is read of them. */
struct taking {
	const struct assay_profile_request *q;
	const struct assay_watch *w;
	struct assay_profile *out;
	bool trace;
	pid_t worker;         /* 0: not known yet */
	struct assay_err why; /* what the harness itself does could not be kept */
	struct assay_temporary folder;
	struct assay_thread_logs logs;
	struct assay_gpu_meter *meter; /* of a trace; NULL: there is no GPU */
	char gpu_env[3][8192];         /* variables of the object that CUDA's driver loads; "": none */
};

static void warn_of_gaps(const struct taking *t)
{
	if (t->logs.lost && t->trace)
		assay_watch_warn(t->w,
				 "%" PRIu64
				 " spans and waits are missing: more than %d a process are not kept, take less "
				 "with --for",
				 t->logs.lost, MOST_SPANS);
	else if (t->logs.lost)
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

/* ---- GPUs, for traces ---- */

static void tell_gpu_memory(struct taking *t)
{
	if (t->meter)
		assay_gpu_meter_look(t->meter);
}

/* A machine without a GPU has no tracks of one. */
static void watch_gpus(struct taking *t)
{
	char library[4200];

	if (!t->trace || assay_gpu_meter_open(&t->meter, NULL))
		return;
	assay_gpu_meter_follow(t->meter, assay_gpu_tracks_memory, &t->out->trace);
	if (assay_gpu_library(library, sizeof(library), NULL))
		return;
	snprintf(t->gpu_env[0], sizeof(t->gpu_env[0]), ASSAY_GPU_INJECTION "=%s", library);
	snprintf(t->gpu_env[1], sizeof(t->gpu_env[1]), ASSAY_GPU_RECORDS_FOLDER "=%s", t->folder.path);
	snprintf(t->gpu_env[2], sizeof(t->gpu_env[2]), ASSAY_GPU_SPANS "=%d", MOST_SPANS);
}

/* Behind the first @n of @env, which has room for three more and the end. */
static void add_gpu_env(const struct taking *t, const char **env, size_t n)
{
	for (size_t i = 0; i < 3 && t->gpu_env[i][0]; i++)
		env[n++] = t->gpu_env[i];
	env[n] = NULL;
}

static int read_gpus(struct taking *t, struct assay_err *err)
{
	uint64_t lost = 0;
	int rc = t->gpu_env[0][0] ? assay_gpu_tracks_read(t->folder.path, &t->out->trace, &lost, err) : 0;

	if (!rc && lost)
		assay_watch_warn(t->w,
				 "%" PRIu64
				 " kernels and copies are missing: more than %d a process are not kept, take "
				 "less with --for",
				 lost, MOST_SPANS);
	return rc;
}

/* ---- what the harness does, for traces ---- */

static void on_phase(void *arg, const char *name, pid_t worker, uint64_t begin_ns, uint64_t end_ns)
{
	static const struct assay_trace_track harness = { .name = "phases", .harness = true };
	struct taking *t = arg;
	struct assay_trace_span s = { .begin_ns = begin_ns, .end_ns = end_ns, .waker = ASSAY_TRACE_NONE };

	t->worker = worker;
	while (s.track < t->out->trace.n_tracks && !t->out->trace.tracks[s.track].harness)
		s.track++;
	if (s.track == t->out->trace.n_tracks && assay_trace_add_track(&t->out->trace, &harness, &t->why))
		return;
	if (!assay_trace_name(&t->out->trace, name, &s.name, &t->why))
		assay_trace_add_span(&t->out->trace, &s, &t->why);
}

static void tell_memory(struct taking *t, pid_t pid)
{
	const struct assay_process p = { .pid = pid };
	struct assay_trace_count c = { .process = 1,
				       .at_ns = assay_monotonic_ns(),
				       .value = (double)assay_process_rss_bytes(&p) };

	if (c.value > 0 && !assay_trace_name(&t->out->trace, "resident memory", &c.name, &t->why))
		assay_trace_add_count(&t->out->trace, &c, &t->why);
}

static void on_look(void *arg)
{
	struct taking *t = arg;

	if (t->worker)
		tell_memory(t, t->worker);
	tell_gpu_memory(t);
}

static void on_program_look(void *arg, pid_t pid)
{
	tell_memory(arg, pid);
	tell_gpu_memory(arg);
}

static int make(struct taking *t, struct assay_err *err)
{
	int rc = t->why.code;

	if (rc)
		*err = t->why;
	if (!rc && !t->trace)
		rc = assay_thread_profile_make(&t->logs, t->out, err);
	if (!rc && t->trace)
		rc = read_gpus(t, err);
	if (!rc && t->trace)
		rc = assay_span_trace_make(&t->logs, t->out->is_case, &t->out->trace, err);
	if (!rc && t->trace)
		rc = assay_span_trace_profile(&t->out->trace, t->out, err);
	t->out->lost = t->logs.lost;
	if (!rc)
		warn_of_gaps(t);
	return rc;
}

static void release(struct taking *t)
{
	assay_gpu_meter_close(t->meter);
	assay_thread_logs_close(&t->logs);
	assay_temporary_remove(&t->folder);
}

static int run_program(struct taking *t, struct assay_err *err)
{
	char library[ASSAY_PRELOADED_PATH_MAX], folder[4200], spans[64];
	const char *env[6] = { folder, spans };
	const struct assay_preloaded_run r = { .library = library,
					       .env = env,
					       .before_end = read_logs,
					       .look = t->trace ? on_program_look : NULL,
					       .arg = t };
	int rc = assay_threads_library(library, sizeof(library), err);

	watch_gpus(t);
	add_gpu_env(t, env, 2);
	snprintf(folder, sizeof(folder), ASSAY_THREAD_LOG_FOLDER "=%s", t->folder.path);
	snprintf(spans, sizeof(spans), ASSAY_THREAD_LOG_SPANS "=%d", t->trace ? MOST_SPANS : 0);
	if (!rc)
		rc = assay_profile_run_preloaded(t->q, t->w, &r, t->out, err);
	if (rc == ASSAY_ENOTFOUND)
		rc = assay_profile_not_preloaded(t->q, "the functions that wait", err);
	return rc ? rc : make(t, err);
}

static int take_program(struct taking *t, struct assay_err *err)
{
	int rc;

	assay_profile_name_command(t->q, t->out);
	t->out->started_ns = assay_clock_unix_ns();
	t->out->iteration_ns = NAN;
	assay_watch_tell(t->w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)t->q->for_ns });
	rc = assay_profile_records_folder(&t->folder, "threads", err);
	if (!rc)
		rc = run_program(t, err);
	assay_watch_tell(t->w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	release(t);
	return rc;
}

static void on_progress(void *arg, enum assay_stage stage, double done_frac, const struct assay_result *so_far)
{
	(void)so_far;
	if (stage == ASSAY_STAGE_SAMPLE)
		assay_watch_tell(arg, &(struct assay_event){
					      .kind = ASSAY_EVENT_SHARE, .done_frac = done_frac, .text = "sampling" });
}

static int run_case(struct taking *t, struct assay_session *s, struct assay_err *err)
{
	char library[ASSAY_PRELOADED_PATH_MAX] = "", preload[2 * ASSAY_PRELOADED_PATH_MAX], folder[4200], spans[64];
	const char *env[8] = { preload, folder, spans, ASSAY_THREAD_LOG_WAIT "=1" };
	const struct assay_profile_options o = { .for_ns = t->q->for_ns,
						 .env = env,
						 .least_sample_ns = t->q->for_ns < SAMPLE_NS ? t->q->for_ns : SAMPLE_NS,
						 .phase = t->trace ? on_phase : NULL,
						 .look = t->trace ? on_look : NULL,
						 .look_arg = t };
	const uint64_t began = assay_monotonic_ns();
	struct assay_profile_end end = { 0 };
	struct assay_clock clock;
	int rc = assay_threads_library(library, sizeof(library), err);

	watch_gpus(t);
	add_gpu_env(t, env, 4);
	assay_preloaded_variable(library, preload, sizeof(preload));
	snprintf(folder, sizeof(folder), ASSAY_THREAD_LOG_FOLDER "=%s", t->folder.path);
	snprintf(spans, sizeof(spans), ASSAY_THREAD_LOG_SPANS "=%d", t->trace ? MOST_SPANS : 0);
	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc) {
		struct assay_measure_options m = assay_session_measure(s, t->q->what, &clock, t->w);

		m.progress = on_progress;
		m.progress_arg = (void *)t->w;
		rc = assay_measure_profile(&s->plan.cases[0], &s->facts[0], &m, &o, t->out, &end, err);
	}
	t->out->seconds = (double)(assay_monotonic_ns() - began) * 1e-9;
	if (!rc)
		rc = assay_profile_ended(&end, s, t->w, err);
	if (!rc)
		rc = read_logs(t, err);
	return rc ? rc : make(t, err);
}

static int take_case(struct taking *t, struct assay_err *err)
{
	struct assay_session s = { 0 };
	int rc = assay_profile_session(t->q, t->w, &s, err);

	assay_watch_tell(t->w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)t->q->for_ns });
	if (!rc)
		rc = assay_profile_records_folder(&t->folder, "threads", err);
	if (!rc)
		rc = run_case(t, &s, err);
	assay_watch_tell(t->w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	if (!rc)
		rc = assay_profile_identify(t->q, t->w, &s, t->out, err);
	release(t);
	assay_session_close(&s);
	return rc;
}

int assay_profile_threads_program(const struct assay_profile_request *q, const struct assay_watch *w,
				  struct assay_profile *out, struct assay_err *err)
{
	return take_program(&(struct taking){ .q = q, .w = w, .out = out }, err);
}

int assay_profile_threads_case(const struct assay_profile_request *q, const struct assay_watch *w,
			       struct assay_profile *out, struct assay_err *err)
{
	return take_case(&(struct taking){ .q = q, .w = w, .out = out }, err);
}

int assay_profile_trace_program(const struct assay_profile_request *q, const struct assay_watch *w,
				struct assay_profile *out, struct assay_err *err)
{
	return take_program(&(struct taking){ .q = q, .w = w, .out = out, .trace = true }, err);
}

int assay_profile_trace_case(const struct assay_profile_request *q, const struct assay_watch *w,
			     struct assay_profile *out, struct assay_err *err)
{
	return take_case(&(struct taking){ .q = q, .w = w, .out = out, .trace = true }, err);
}
