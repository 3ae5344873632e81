/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of what is stored and of what goes on: metrics for Prometheus, a dashboard, the commands' JSON, and jobs
 * that are started by the name of a suite, a case or a kind of profile. It reads the database for every answer and
 * keeps nothing of its own but counts of requests, so that it can be killed at any time.
 */
#ifndef ASSAY_SERVE_SERVE_H
#define ASSAY_SERVE_SERVE_H

#include <signal.h>

#include "base/text.h"
#include "drive/project.h"
#include "drive/request.h"

#define ASSAY_SERVE_LISTEN "127.0.0.1:8080"

/* Strings are borrowed. */
struct assay_serve_request {
	const struct assay_request *what; /* the database, plugins and bench files of jobs */
	const char *listen;               /* "ADDRESS:PORT", port 0: any that is free; NULL: ASSAY_SERVE_LISTEN */
	const char *token_file;           /* NULL: a token is drawn */
	const char *policy;               /* file with the alerts; NULL: that of the project, if it has one */
	const char *model;                /* that answers prompts; NULL: none */
	const char *kinds;                /* of profiles, where a request names none, as "cpu,heap"; required */
	struct assay_profiling_conf profiling;
	const struct assay_strings *hosts; /* further names in Host headers that are answered */
	const volatile sig_atomic_t *interrupted;
	/* Called once requests are answered. @token is "" where it stands in a file. */
	void (*ready)(void *arg, const char *url, const char *token);
	void *arg;
};

/*
 * Serve until interrupted. ASSAY_EUSAGE: an address that is none, is in use, or is not this machine's own without a
 * token file; a token file that is missing, too short, or readable by others; a model that cannot be loaded.
 * ASSAY_ESTORE: a database that cannot be read, or that is of another program. ASSAY_EUNAVAILABLE: built without
 * libmicrohttpd.
 */
int assay_serve(const struct assay_serve_request *q, struct assay_err *err);

#endif
