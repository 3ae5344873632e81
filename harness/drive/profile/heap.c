/* SPDX-License-Identifier: Apache-2.0 */
/* The kind "heap": where memory is allocated, of a case in its worker or of any program. */
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "counters/heap/heap.h"
#include "counters/heap/sites.h"
#include "counters/preloaded.h"
#include "drive/profile/kinds.h"
#include "measure/profile.h"
#include "model/verdict.h"
#include "profile/profile.h"

#define MUCH_FRAC 0.1

static void warn_of_gaps(const struct assay_profile *p, const struct assay_watch *w)
{
	const double n = (double)p->heap.all.samples;

	if (p->lost)
		assay_watch_warn(w,
				 "%" PRIu64 " allocations have no site: there was no room in the temporary folder, or "
				 "there are too many sites",
				 p->lost);
	if ((double)p->unresolved > MUCH_FRAC * n)
		assay_watch_warn(w,
				 "%.0f %% of the allocations lie in code without names: build it with -g and do not "
				 "strip it",
				 100 * (double)p->unresolved / n);
	if ((double)p->truncated > MUCH_FRAC * n)
		assay_watch_warn(w,
				 "%.0f %% of the stacks end early: they are deeper than %d, or their code has no "
				 "unwind tables (.eh_frame)",
				 100 * (double)p->truncated / n, ASSAY_HEAP_SITES_DEPTH);
}

static int run_program(const struct assay_profile_request *q, const struct assay_watch *w, const char *dir,
		       struct assay_profile *out, struct assay_err *err)
{
	char library[ASSAY_PRELOADED_PATH_MAX], folder[4200], sample[64];
	const char *env[] = { folder, sample, NULL };
	int rc = assay_heap_library(library, sizeof(library), err);

	snprintf(folder, sizeof(folder), ASSAY_HEAP_SITES_FOLDER "=%s", dir);
	snprintf(sample, sizeof(sample), ASSAY_HEAP_SITES_SAMPLE "=%" PRIu64, q->sample_bytes);
	if (!rc)
		rc = assay_profile_run_preloaded(q, w, &(struct assay_preloaded_run){ .library = library, .env = env },
						 out, err);
	if (!rc)
		rc = assay_heap_profile_read(dir, out, err);
	if (rc == ASSAY_ENOTFOUND)
		rc = assay_profile_not_preloaded(q, "malloc", err);
	return rc;
}

int assay_profile_heap_program(const struct assay_profile_request *q, const struct assay_watch *w,
			       struct assay_profile *out, struct assay_err *err)
{
	struct assay_temporary t = { 0 };
	int rc = assay_profile_records_folder(&t, "heap", err);

	assay_profile_name_command(q, out);
	out->started_ns = assay_clock_unix_ns();
	if (!rc)
		rc = run_program(q, w, t.path, out, err);
	assay_temporary_remove(&t);
	if (!rc)
		warn_of_gaps(out, w);
	return rc;
}

static int run_case(const struct assay_profile_request *q, const struct assay_watch *w, struct assay_session *s,
		    const char *dir, struct assay_profile *out, struct assay_err *err)
{
	struct assay_profile_end end = { 0 };
	char library[ASSAY_PRELOADED_PATH_MAX];
	struct assay_clock clock;
	const uint64_t began = assay_monotonic_ns();
	int rc = assay_heap_library(library, sizeof(library), err);

	if (!rc)
		rc = assay_clock_init(&clock, err);
	if (!rc) {
		const struct assay_measure_options o = assay_session_measure(s, q->what, &clock, w);

		rc = assay_measure_profile(
			&s->plan.cases[0], &s->facts[0], &o,
			&(struct assay_profile_options){ .heap_sites = dir, .heap_sample_bytes = q->sample_bytes }, out,
			&end, err);
	}
	if (!rc)
		rc = assay_profile_ended(&end, s, w, err);
	if (!rc) {
		out->seconds = (double)(assay_monotonic_ns() - began) * 1e-9;
		rc = assay_heap_profile_read(dir, out, err);
	}
	return rc;
}

int assay_profile_heap_case(const struct assay_profile_request *q, const struct assay_watch *w,
			    struct assay_profile *out, struct assay_err *err)
{
	struct assay_temporary t = { 0 };
	struct assay_session s = { 0 };
	int rc = assay_profile_session(q, w, &s, err);

	if (!rc)
		rc = assay_profile_records_folder(&t, "heap", err);
	if (!rc)
		rc = run_case(q, w, &s, t.path, out, err);
	if (!rc)
		rc = assay_profile_identify(q, w, &s, out, err);
	assay_temporary_remove(&t);
	assay_session_close(&s);
	if (!rc)
		warn_of_gaps(out, w);
	return rc;
}
