/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kind "gpu": what GPUs do for a case or a program. The driver loads an object into the process, which asks CUPTI
 * for its kernels and copies; NVML tells of all GPUs from outside meanwhile. Or another tool does all of it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "base/process.h"
#include "counters/gpu/records.h"
#include "counters/preloaded.h"
#include "drive/profile/kinds.h"
#include "machine/clock.h"
#include "measure/profile.h"
#include "profile/profile.h"

#define LOOK_NS 10000000u

/* ---- what both have in common ---- */

struct watching {
	const struct assay_profile_request *q;
	const struct assay_watch *w;
	struct assay_profile *out;
	struct assay_gpu_meter *meter;
	struct assay_temporary folder;
	char injection[8192], records[4400];
	const char *env[3];
	uint64_t began_ns;
};

static int begin(struct watching *g, struct assay_err *err)
{
	char library[4200];
	struct assay_err why = { 0 };
	int rc = assay_gpu_meter_open(&g->meter, &why);

	if (rc)
		return assay_err_set(err, rc, "no GPU can be profiled: %s", why.text);
	rc = assay_gpu_library(library, sizeof(library), err);
	if (!rc)
		rc = assay_temporary_make(&g->folder, "gpu", err);
	if (rc)
		return rc;
	snprintf(g->injection, sizeof(g->injection), ASSAY_GPU_INJECTION "=%s", library);
	snprintf(g->records, sizeof(g->records), ASSAY_GPU_RECORDS_FOLDER "=%s", g->folder.path);
	g->env[0] = g->injection;
	g->env[1] = g->records;
	g->began_ns = assay_monotonic_ns();
	return 0;
}

static void warn_of_gaps(const struct assay_profile *p, const struct assay_watch *w)
{
	if (p->gpu.why[0])
		assay_watch_warn(w, "no kernel was seen: %s", p->gpu.why);
	else if (!p->gpu.work)
		assay_watch_warn(w, "no kernel was seen: the GPU did nothing");
	if (p->lost)
		assay_watch_warn(w, "%" PRIu64 " kernel%s lost: CUPTI or the temporary folder had no room", p->lost,
				 p->lost == 1 ? " or copy was" : "s or copies were");
}

/* Everything seen so far. */
static int end(struct watching *g, struct assay_err *err)
{
	int rc;

	g->out->seconds = (double)(assay_monotonic_ns() - g->began_ns) * 1e-9;
	rc = assay_gpu_meter_end(g->meter, g->out, err);
	if (!rc)
		rc = assay_gpu_profile_read(g->folder.path, g->out, err);
	if (!rc)
		warn_of_gaps(g->out, g->w);
	return rc;
}

static void release(struct watching *g)
{
	assay_gpu_meter_close(g->meter);
	assay_temporary_remove(&g->folder);
}

/* ---- a program ---- */

static bool is_over(const struct watching *g)
{
	return (g->q->for_ns && assay_monotonic_ns() - g->began_ns >= g->q->for_ns) ||
	       (g->w->interrupted && *g->w->interrupted);
}

static int run_program(struct watching *g, struct assay_err *err)
{
	struct assay_process p = { 0 };
	int rc = assay_process_start(&p,
				     &(struct assay_process_options){ .argv = g->q->command,
								      .env = g->env,
								      .keep_fd = -1,
								      .stdout_fd = STDERR_FILENO,
								      .stderr_fd = -1 },
				     err);

	if (rc == ASSAY_ENOTFOUND || rc == ASSAY_EIO)
		rc = err->code = ASSAY_EUSAGE;
	if (rc)
		return rc;
	while (!assay_process_wait(&p, LOOK_NS) && !is_over(g))
		assay_gpu_meter_look(g->meter);
	assay_profile_end_program(&p, g->w);
	return 0;
}

int assay_profile_gpu_program(const struct assay_profile_request *q, const struct assay_watch *w,
			      struct assay_profile *out, struct assay_err *err)
{
	struct watching g = { .q = q, .w = w, .out = out };
	int rc = begin(&g, err);

	assay_profile_name_command(q, out);
	out->started_ns = assay_clock_unix_ns();
	out->iteration_ns = NAN;
	if (!rc)
		rc = run_program(&g, err);
	if (!rc)
		rc = end(&g, err);
	release(&g);
	return rc;
}

/* ---- a case ---- */

static void on_progress(void *arg, enum assay_stage stage, double done_frac, const struct assay_result *so_far)
{
	(void)so_far;
	if (stage == ASSAY_STAGE_SAMPLE)
		assay_watch_tell(arg, &(struct assay_event){
					      .kind = ASSAY_EVENT_SHARE, .done_frac = done_frac, .text = "watching" });
}

static int run_case(struct watching *g, struct assay_session *s, struct assay_err *err)
{
	struct assay_profile_end how = { 0 };
	struct assay_measure_options o;
	struct assay_clock clock;
	int rc = assay_clock_init(&clock, err);

	if (rc)
		return rc;
	o = assay_session_measure(s, g->q->what, &clock, g->w);
	o.progress = on_progress;
	o.progress_arg = (void *)g->w;
	rc = assay_measure_profile(
		&s->plan.cases[0], &s->facts[0], &o,
		&(struct assay_profile_options){
			.env = g->env, .for_ns = g->q->for_ns, .look = assay_gpu_meter_look, .look_arg = g->meter },
		g->out, &how, err);
	if (!rc)
		rc = assay_profile_ended(&how, s, g->w, err);
	return rc;
}

int assay_profile_gpu_case(const struct assay_profile_request *q, const struct assay_watch *w,
			   struct assay_profile *out, struct assay_err *err)
{
	struct watching g = { .q = q, .w = w, .out = out };
	struct assay_session s = { 0 };
	int rc = assay_profile_session(q, w, &s, err);

	if (!rc)
		rc = begin(&g, err);
	if (!rc)
		rc = run_case(&g, &s, err);
	if (!rc)
		rc = end(&g, err);
	if (!rc)
		rc = assay_profile_identify(q, w, &s, out, err);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	release(&g);
	assay_session_close(&s);
	return rc;
}
