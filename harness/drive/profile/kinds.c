/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/profile/kinds.h"

#include <stdio.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/process.h"
#include "counters/preloaded.h"

/* ---- preloaded ---- */

#define LOOK_NS  20000000u
#define MOST_ENV 5

int assay_profile_records_folder(struct assay_temporary *t, const char *what, struct assay_err *err)
{
	const int rc = assay_temporary_make(t, what, err);

	return rc ? rc : assay_temporary_room(t, ASSAY_PRELOADED_ROOM_BYTES, err);
}

static bool is_over(const struct assay_profile_request *q, const struct assay_watch *w, uint64_t began)
{
	return (q->for_ns && assay_monotonic_ns() - began >= q->for_ns) || (w->interrupted && *w->interrupted);
}

int assay_profile_run_preloaded(const struct assay_profile_request *q, const struct assay_watch *w,
				const struct assay_preloaded_run *r, struct assay_profile *out, struct assay_err *err)
{
	char preload[2 * ASSAY_PRELOADED_PATH_MAX];
	const char *env[MOST_ENV + 2] = { preload };
	const struct assay_process_options o = {
		.argv = q->command, .env = env, .keep_fd = -1, .stdout_fd = STDERR_FILENO, .stderr_fd = -1
	};
	struct assay_process p = { 0 };
	uint64_t began;
	int rc;

	assay_preloaded_variable(r->library, preload, sizeof(preload));
	for (size_t i = 0; i < MOST_ENV && r->env[i]; i++)
		env[1 + i] = r->env[i];
	began = assay_monotonic_ns();
	rc = assay_process_start(&p, &o, err);
	if (rc == ASSAY_ENOTFOUND || rc == ASSAY_EIO)
		rc = err->code = ASSAY_EUSAGE;
	if (rc)
		return rc;
	while (!assay_process_wait(&p, LOOK_NS) && !is_over(q, w, began))
		if (r->look)
			r->look(r->arg, p.pid);
	/* it runs on while its records are read */
	if (r->before_end)
		rc = r->before_end(r->arg, err);
	out->seconds = (double)(assay_monotonic_ns() - began) * 1e-9;
	assay_profile_end_program(&p, w);
	return rc;
}

int assay_profile_not_preloaded(const struct assay_profile_request *q, const char *what, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUNAVAILABLE,
			     "nothing can stand before %s in '%s', which is linked statically or runs as another user: "
			     "link it dynamically",
			     what, q->command[0]);
}
