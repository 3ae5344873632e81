/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning and end that all kinds of profile share: the one case, or the program. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/process.h"
#include "base/text.h"
#include "counters/preloaded.h"
#include "drive/profile/kinds.h"
#include "drive/run/build_identity.h"

/* A key that is written out selects itself, even where others contain it. */
static int keep_one(struct assay_session *s, const char *key, struct assay_err *err)
{
	size_t at = 0;

	for (size_t i = 0; i < s->plan.n_cases; i++)
		if (!strcmp(s->plan.cases[i].key, key))
			at = i;
	if (s->plan.n_cases > 1 && strcmp(s->plan.cases[at].key, key))
		return assay_err_set(err, ASSAY_EUSAGE, "'%s' selects %zu cases, such as '%s': name one of them", key,
				     s->plan.n_cases, s->plan.cases[0].key);
	s->plan.cases[0] = s->plan.cases[at];
	s->facts[0] = s->facts[at];
	s->plan.n_cases = 1;
	return 0;
}

int assay_profile_session(const struct assay_profile_request *q, const struct assay_watch *w, struct assay_session *s,
			  struct assay_err *err)
{
	struct assay_request what = *q->what;
	int rc;

	what.plan.only = (struct assay_strings){ 0 };
	rc = assay_strings_add(&what.plan.only, q->key, err);
	if (!rc)
		rc = assay_session_ready(s, &what, w, err);
	if (!rc)
		rc = keep_one(s, q->key, err);
	if (!rc)
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_READY });
	assay_strings_release(&what.plan.only);
	return rc;
}

int assay_profile_failed(const struct assay_profile_end *end, const struct assay_session *s, struct assay_err *err)
{
	const bool wrong = end->status == ASSAY_STATUS_WRONG;

	if (end->status == ASSAY_STATUS_OK)
		return 0;
	return assay_err_set(err, wrong ? ASSAY_EWRONG : ASSAY_EWORKER, "cannot profile '%s': %s: %.300s%s",
			     s->plan.cases[0].key, assay_status_name(end->status), end->reason,
			     wrong ? "; --even-if-wrong profiles it all the same" : "");
}

int assay_profile_ended(const struct assay_profile_end *end, const struct assay_session *s, const struct assay_watch *w,
			struct assay_err *err)
{
	const int rc = assay_profile_failed(end, s, err);

	if (!rc && end->wrong[0])
		assay_watch_warn(w, "the output of '%s' is wrong: %.300s", s->plan.cases[0].key, end->wrong);
	return rc;
}

int assay_profile_identify(const struct assay_profile_request *q, const struct assay_watch *w,
			   const struct assay_session *s, struct assay_profile *out, struct assay_err *err)
{
	return q->name ? assay_build_identity(s, q->what, w, &out->build, err) : 0;
}

void assay_profile_end_program(struct assay_process *p, const struct assay_watch *w)
{
	char how[128];

	if (!assay_process_ended(p)) {
		assay_process_kill(p);
	} else if (p->status) {
		assay_process_describe(p, how, sizeof(how));
		assay_watch_warn(w, "the program %s%s", WIFSIGNALED(p->status) ? "was " : "", how);
	}
}

void assay_profile_name_command(const struct assay_profile_request *q, struct assay_profile *out)
{
	struct assay_text text = { 0 };

	for (size_t i = 0; q->command[i]; i++) {
		assay_text_add(&text, i ? " " : "");
		assay_text_add_word(&text, q->command[i]);
	}
	snprintf(out->what, sizeof(out->what), "%s", text.s ? text.s : "");
	assay_printable_line(out->what, sizeof(out->what));
	assay_text_release(&text);
}

/* ---- kinds ---- */

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
			     "%s cannot be intercepted in '%s', which is linked statically or runs as another user: "
			     "link it dynamically",
			     what, q->command[0]);
}
