/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of profile, one file each, behind the table in profile/profile.c, and what they share. */
#ifndef ASSAY_DRIVE_PROFILE_KINDS_H
#define ASSAY_DRIVE_PROFILE_KINDS_H

#include "base/file.h"
#include "base/process.h"
#include "drive/profile/request.h"
#include "drive/session.h"
#include "drive/watch.h"
#include "measure/options.h"
#include "measure/profile.h"
#include "model/profile.h"

int assay_profile_cpu_case(const struct assay_profile_request *q, const struct assay_watch *w,
			   struct assay_profile *out, struct assay_err *err);
int assay_profile_cpu_program(const struct assay_profile_request *q, const struct assay_watch *w,
			      struct assay_profile *out, struct assay_err *err);

int assay_profile_heap_case(const struct assay_profile_request *q, const struct assay_watch *w,
			    struct assay_profile *out, struct assay_err *err);
int assay_profile_heap_program(const struct assay_profile_request *q, const struct assay_watch *w,
			       struct assay_profile *out, struct assay_err *err);

int assay_profile_gpu_case(const struct assay_profile_request *q, const struct assay_watch *w,
			   struct assay_profile *out, struct assay_err *err);
int assay_profile_gpu_program(const struct assay_profile_request *q, const struct assay_watch *w,
			      struct assay_profile *out, struct assay_err *err);

int assay_profile_threads_case(const struct assay_profile_request *q, const struct assay_watch *w,
			       struct assay_profile *out, struct assay_err *err);
int assay_profile_threads_program(const struct assay_profile_request *q, const struct assay_watch *w,
				  struct assay_profile *out, struct assay_err *err);

int assay_profile_trace_case(const struct assay_profile_request *q, const struct assay_watch *w,
			     struct assay_profile *out, struct assay_err *err);
int assay_profile_trace_program(const struct assay_profile_request *q, const struct assay_watch *w,
				struct assay_profile *out, struct assay_err *err);

/* A session whose plan has @q's case and no other. Close it in either case. ASSAY_EUSAGE names the nearest. */
int assay_profile_session(const struct assay_profile_request *q, const struct assay_watch *w, struct assay_session *s,
			  struct assay_err *err);
/* ASSAY_EWRONG if the output of the case of @s is wrong, ASSAY_EWORKER if something else kept it from a profile. */
int assay_profile_failed(const struct assay_profile_end *end, const struct assay_session *s, struct assay_err *err);
/* The same, and a warning if it was profiled although its output is wrong. */
int assay_profile_ended(const struct assay_profile_end *end, const struct assay_session *s, const struct assay_watch *w,
			struct assay_err *err);
/* Record what the case of @s was built from in @out, if it is to be stored. 0 or ASSAY_EINTERRUPTED. */
int assay_profile_identify(const struct assay_profile_request *q, const struct assay_watch *w,
			   const struct assay_session *s, struct assay_profile *out, struct assay_err *err);
/* Kill the program @p if it still runs, or warn if it ended badly. */
void assay_profile_end_program(struct assay_process *p, const struct assay_watch *w);
/* Write the command of @q into @out->what, as one would type it in a shell. */
void assay_profile_name_command(const struct assay_profile_request *q, struct assay_profile *out);

/* ---- preloaded ---- */

/* Runs a program with an object preloaded, until it ends or the requested time is over. */

struct assay_preloaded_run {
	const char *library;
	const char *const *env; /* "NAME=value" of the object's, NULL-terminated; at most five */
	/* Called from time to time while it runs, and before it is killed. NULL: nothing. */
	int (*before_end)(void *arg, struct assay_err *err);
	void (*look)(void *arg, pid_t pid);
	void *arg;
};

/* A folder for the records of an object, with room for the first of them. ASSAY_EUSAGE where there is none. */
int assay_profile_records_folder(struct assay_temporary *t, const char *what, struct assay_err *err);
/* Run the command of @q and set out->seconds; if it ended badly, @w is told. ASSAY_EUSAGE if it cannot start. */
int assay_profile_run_preloaded(const struct assay_profile_request *q, const struct assay_watch *w,
				const struct assay_preloaded_run *r, struct assay_profile *out, struct assay_err *err);
/* ASSAY_EUNAVAILABLE: nothing of the object was found, which stands before @what. */
int assay_profile_not_preloaded(const struct assay_profile_request *q, const char *what, struct assay_err *err);

/* ---- sanitize ---- */

/* Removes from a profile what strangers should not see. */

/*
 * Remove paths from all texts of @p, of which the last part stays ("/home/me/x/server" becomes "server"), and write
 * HOST and USER for the names of this machine and of its user. Numbers, functions and files of sources stay as they
 * are.
 */
int assay_profile_sanitize(struct assay_profile *p, struct assay_err *err);
/*
 * The same for one text, which lies in @size bytes, with these names; "" is none. @command: any word with a slash is a
 * path; otherwise only one that begins with a slash, "./", "../" or '~'.
 */
void assay_text_sanitize(char *text, size_t size, bool command, const char *host, const char *user);

#endif
