/* SPDX-License-Identifier: Apache-2.0 */
/* A request and its answer, as the pages of the server see them. */
#ifndef ASSAY_SERVE_HTTP_H
#define ASSAY_SERVE_HTTP_H

#include <jansson.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"
#include "machine/nvml.h"
#include "reports/report.h"
#include "serve/chat.h"
#include "serve/jobs.h"
#include "serve/latencies.h"
#include "serve/library.h"
#include "serve/serve.h"

/* Requests by their outcome, and how long they took. */
struct assay_http_counts {
	uint64_t by_class[6]; /* of statuses: [2] of 200 to 299 */
	struct assay_latencies took;
	unsigned active, streams;
};

struct assay_server {
	const struct assay_serve_request *q;
	struct MHD_Daemon *daemon;
	char token[256];
	char address[128];              /* as in Host headers, without the port */
	uint64_t began_ns, prune_at_ns; /* monotonic */
	uint64_t began_unix_s;
	struct assay_nvml *gpus; /* NULL: there are none, for this reason */
	struct assay_err no_gpus;
	struct assay_jobs jobs;
	struct assay_chat chat;
	sem_t readers;        /* so many more answers may read the database at the same time */
	pthread_mutex_t lock; /* of the next three */
	struct assay_http_counts counts;
	struct assay_err not_pruned;      /* why old profiles could not be removed the last time; text "": they were */
	struct timespec read_at[2];       /* when the database was written to that /healthz could read */
	pthread_mutex_t results_lock;     /* of the rest: held while the database is read */
	struct assay_alert_report alerts; /* as results are */
	struct assay_text results;        /* part of /metrics that is of the database as it was at results_at */
	struct timespec results_at[2];
};

struct assay_http_query {
	struct assay_server *server;
	struct MHD_Connection *connection;
	const char *path;
	const char *rest;   /* of it, behind that of the route */
	const json_t *body; /* an object; NULL: none was sent */
};

struct assay_http_answer {
	unsigned status;    /* 200 unless set */
	const char *type;   /* NULL: JSON */
	const char *policy; /* Content-Security-Policy; NULL: nothing may be loaded */
	const char *allow;  /* of status 405 */
	struct assay_text text;
	struct MHD_Response *stream; /* in place of text */
};

enum assay_route_flag {
	ASSAY_ROUTE_BELOW = 1,  /* also of all paths below it */
	ASSAY_ROUTE_SECRET = 2, /* it starts or deletes something, or shows stacks: the token is demanded */
	ASSAY_ROUTE_READS = 4,  /* much of the database: few are answered at a time, so that they hold up nobody else */
};

/* A path and what answers it. */
struct assay_route {
	const char *method, *path;
	unsigned flags;
	void (*answer)(const struct assay_http_query *q, struct assay_http_answer *a);
};

/* The route of @path: 0, or the status that says why there is none, with the methods that there are in @allow. */
unsigned assay_route_find(const char *method, const char *path, const struct assay_route **out, char *allow,
			  size_t size);

/* Answer with {"schema": 1, "error": "..."}. */
void assay_http_fail(struct assay_http_answer *a, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with the status that goes with the code of @err. */
void assay_http_fail_err(struct assay_http_answer *a, const struct assay_err *err);
/* The same for a job that ended and did not end well. */
void assay_http_fail_job(struct assay_http_answer *a, const struct assay_server_job *job);
/* Answer with @r as @format. */
void assay_http_emit(struct assay_http_answer *a, const struct assay_report *r, const char *format);
/* Answer with @o, which is released. */
void assay_http_json(struct assay_http_answer *a, json_t *o);

/* Of a stream: copy what @text has behind *@sent, up to @max bytes, and count it there. The number of bytes. */
ssize_t assay_http_send(const struct assay_text *text, size_t *sent, char *buf, size_t max);

/* The parameter @name of the query string, else of the body where it is a text; NULL: it was not given. */
const char *assay_http_text(const struct assay_http_query *q, const char *name);
/* A number in [lo, hi], @otherwise where it was not given. False: it is none, and @a says so. */
bool assay_http_number(const struct assay_http_query *q, const char *name, double lo, double hi, double otherwise,
		       double *out, struct assay_http_answer *a);

/* Start and stop to answer requests. Errors as assay_serve(). */
int assay_http_start(struct assay_server *s, char *url, size_t size, struct assay_err *err);
void assay_http_stop(struct assay_server *s);

/* ---- answers, one function a path ---- */

/* The page of the dashboard; @rest names the view. */
void assay_serve_page(const struct assay_http_query *q, struct assay_http_answer *a);
/* Server-sent events: what the job says, and once a second the state of the machine. */
void assay_serve_events(const struct assay_http_query *q, struct assay_http_answer *a);
/* The state of machine and job, as an object of JSON. NULL: out of memory. */
json_t *assay_serve_state(struct assay_server *s);

void assay_serve_healthz(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_readyz(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_metrics(const struct assay_http_query *q, struct assay_http_answer *a);

void assay_serve_status(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_suites(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_runs(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_cases(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_history(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_comparisons(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_alerts(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_diff(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_profiles(const struct assay_http_query *q, struct assay_http_answer *a);

/* POST: a model continues a prompt, in the form of OpenAI's API. GET: which models there are. */
void assay_serve_completions(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_models(const struct assay_http_query *q, struct assay_http_answer *a);

void assay_serve_run(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_profile_start(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_profile_wait(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_stop(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_bottlenecks(const struct assay_http_query *q, struct assay_http_answer *a);
void assay_serve_profile_compare(const struct assay_http_query *q, struct assay_http_answer *a);
/*
 * Answer with @p: the JSON of `assay show` and, beside it, "profile_id", "duration_seconds", "cpu", "memory" and
 * "bottlenecks", in which REST clients of profilers look for the same.
 */
void assay_serve_profile_report(const struct assay_http_query *q, const struct assay_profile *p,
				struct assay_http_answer *a);
void assay_serve_profile_last(const struct assay_http_query *q, struct assay_http_answer *a);

#endif
