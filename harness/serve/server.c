/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/serve.h"

#if ASSAY_HTTP

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "drive/profile/profile.h"
#include "drive/show/show.h"
#include "machine/clock.h"
#include "serve/http.h"

/* Answers that read much of the database take a processor each. */
#define READERS 2

/* Profiles are taken by other commands, too, so that the database is looked after now and then. */
#define PRUNE_EVERY_NS UINT64_C(3600000000000)

static void prune(void *arg)
{
	struct assay_server *s = arg;
	const struct assay_profiling_conf *c = &s->q->profiling;
	struct assay_err err = { 0 };
	size_t removed;

	if (assay_monotonic_ns() < s->prune_at_ns)
		return;
	if (!assay_profiles_prune(s->q->what->db, (size_t)c->keep_profiles, (unsigned)c->keep_days, &removed, &err))
		err.text[0] = '\0';
	pthread_mutex_lock(&s->lock);
	s->not_pruned = err;
	pthread_mutex_unlock(&s->lock);
	s->prune_at_ns = assay_monotonic_ns() + PRUNE_EVERY_NS;
}

/*
 * Each connection has a thread, and each thread would keep what it freed in an arena of its own; two suffice for those
 * that answer at the same time.
 */
#define ARENAS 2

/* A database that is not there yet will be: by the first job. */
static int check_database(const char *db, struct assay_err *err)
{
	struct assay_run_info *v = NULL;
	const char *slash = strrchr(db, '/');
	struct stat st;
	size_t n;
	int rc;

	if (stat(db, &st) && errno == ENOENT) {
		const int len = slash ? (int)(slash - db) + 1 : 1;
		char folder[4096];

		snprintf(folder, sizeof(folder), "%.*s", len, slash ? db : ".");
		return access(folder, W_OK | X_OK)
			       ? assay_err_set(err, ASSAY_EUSAGE, "cannot make database '%.300s': %s; use another --db",
					       db, strerror(errno))
			       : 0;
	}
	rc = assay_stored_runs(db, 1, &v, &n, err);
	free(v);
	return rc;
}

int assay_serve(const struct assay_serve_request *q, struct assay_err *err)
{
	struct assay_server s = { .q = q,
				  .began_ns = assay_monotonic_ns(),
				  .began_unix_s = assay_clock_unix_ns() / 1000000000u };
	char url[192];
	int rc = check_database(q->what->db, err);

	if (!rc)
		rc = assay_jobs_init(&s.jobs, err);
	if (rc)
		return rc;
	mallopt(M_ARENA_MAX, ARENAS);
	pthread_mutex_init(&s.lock, NULL);
	pthread_mutex_init(&s.results_lock, NULL);
	sem_init(&s.readers, 0, READERS);
	if (!assay_nvml_open(&s.gpus, &s.no_gpus) && !assay_nvml_count(s.gpus))
		assay_err_set(&s.no_gpus, ASSAY_ENOTFOUND, "there is no GPU");
	rc = assay_chat_start(&s.chat, q, err);
	if (!rc)
		rc = assay_http_start(&s, url, sizeof(url), err);
	if (!rc) {
		q->ready(q->arg, url, q->token_file ? "" : s.token);
		assay_jobs_serve(&s.jobs, q->interrupted, prune, &s);
		assay_http_stop(&s);
	}
	assay_chat_stop(&s.chat);
	assay_nvml_close(s.gpus);
	assay_text_release(&s.results);
	assay_alerts_release(&s.alerts);
	sem_destroy(&s.readers);
	pthread_mutex_destroy(&s.results_lock);
	pthread_mutex_destroy(&s.lock);
	assay_jobs_release(&s.jobs);
	return rc;
}

#else

int assay_serve(const struct assay_serve_request *q, struct assay_err *err)
{
	(void)q;
	return assay_err_set(err, ASSAY_EUNAVAILABLE,
			     "built without libmicrohttpd (HTTP=0): install libmicrohttpd-dev and build again");
}

#endif
