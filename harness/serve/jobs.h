/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that the server was asked for: one command of this program at a time, in a process of its own, so that nothing
 * it does reaches the server. What it finds is in the database; what it says on the way is kept for those who watch.
 */
#ifndef ASSAY_SERVE_JOBS_H
#define ASSAY_SERVE_JOBS_H

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* Of the events of jobs so many are kept for those who watch. */
#define ASSAY_JOB_EVENTS 256

enum assay_server_job_state { ASSAY_JOB_NONE, ASSAY_JOB_RUNNING, ASSAY_JOB_ENDED };

struct assay_server_job {
	uint64_t id; /* 1, 2, 3, ... since the server began */
	enum assay_server_job_state state;
	char kind[16];        /* "run", "profile" */
	char what[256];       /* the suite; the kind of profile and the case */
	uint64_t started_ns;  /* unix time */
	char at[768];         /* the case that is measured; "": none yet */
	double done_frac;     /* of the case or, where there are no cases, of the whole */
	unsigned n, position; /* cases, and the one that is measured, from 1; 0: unknown */
	int exit;             /* of the command, once it has ended; -1: it was killed */
	int code;             /* enum assay_error with which it ended; 0: none that it told */
	char error[512];      /* its last message, if it did not end well */
	bool begun, stopped;  /* what it is about was found, or it has ended; somebody stopped it */
};

/* As an object of JSON; NULL: out of memory. */
json_t *assay_server_job_json(const struct assay_server_job *job);

/* Begin with assay_jobs_init(). */
struct assay_jobs {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct assay_server_job job;    /* the newest */
	struct assay_strings argv;      /* of a job that has not been started yet */
	bool stop, over;                /* the job is to end; so is the server */
	char *events[ASSAY_JOB_EVENTS]; /* lines of JSON; number i at i % ASSAY_JOB_EVENTS */
	uint64_t n_events;
};

int assay_jobs_init(struct assay_jobs *j, struct assay_err *err);
void assay_jobs_release(struct assay_jobs *j);

/*
 * Ask for a job; @argv, of a command of this program without its name, is taken over. *id is its number. ASSAY_ELIMIT
 * where another one is under way.
 */
int assay_jobs_ask(struct assay_jobs *j, const char *kind, const char *what, struct assay_strings *argv, uint64_t *id,
		   struct assay_err *err);
/* End the job that is under way, as Ctrl-C would. False: there is none. */
bool assay_jobs_stop(struct assay_jobs *j);
/* The number of the newest event. */
uint64_t assay_jobs_newest(struct assay_jobs *j);
/* How the newest job is. */
struct assay_server_job assay_jobs_look(struct assay_jobs *j);
/* Wait until job @id has ended, and how; false where the server ends before. */
bool assay_jobs_wait(struct assay_jobs *j, uint64_t id, struct assay_server_job *out);
/* Wait, but no longer than a minute, until job @id has begun, and how it is then. */
void assay_jobs_wait_begun(struct assay_jobs *j, uint64_t id, struct assay_server_job *out);
/*
 * Wait up to @ms for an event after number *@seen, and copy its line. NULL: there is none, or out of memory. Events
 * that are not kept any more are passed over.
 */
char *assay_jobs_event(struct assay_jobs *j, uint64_t *seen, unsigned ms);

/*
 * Run what is asked for, in the calling thread, until interrupted. While nothing is under way @idle is called several
 * times a second.
 */
void assay_jobs_serve(struct assay_jobs *j, const volatile sig_atomic_t *interrupted, void (*idle)(void *arg),
		      void *arg);

#endif
