/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model that answers requests: `assay generate --requests` in a process of its own, which gets one request after the
 * other, so that nothing in a kernel reaches the server. If the process ends, the next request starts it again.
 */
#ifndef ASSAY_SERVE_CHAT_H
#define ASSAY_SERVE_CHAT_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/process.h"
#include "base/text.h"
#include "serve/latencies.h"
#include "serve/serve.h"

/* So many requests may wait for an answer. */
#define ASSAY_CHAT_WAITING_MAX 16
/* A model that ended so many times in a row without an answer is not started again. */
#define ASSAY_CHAT_STARTS_MAX 3

struct assay_chat_counts {
	uint64_t prompt, known, generated;  /* tokens: of prompts, of these from the cache, and of answers */
	uint64_t refused, failed;           /* requests */
	uint64_t starts;                    /* of the process */
	bool up;                            /* the process is there */
	double tokens_per_s;                /* of the newest answer of more than one token; 0: there was none */
	struct assay_latencies first, next; /* time to the first token of a request, and from each to the next */
};

struct assay_chat_request {
	int32_t *prompt;        /* malloc'ed */
	size_t n_prompt;        /* of a text it is found as the request ends */
	struct assay_text text; /* the prompt where @is_text */
	bool is_text;
	unsigned n_wanted;
	json_t *stops; /* arrays of ids, or texts, that end the answer; NULL: none */
	bool profile;
	uint64_t id, arrived_ns;
	/* as it is answered, with the lock held */
	int32_t *tokens; /* room for n_wanted */
	unsigned n_tokens, known;
	struct assay_text answer; /* of a text */
	bool ended, refused;
	bool stopped;         /* by one of @stops */
	char error[512];      /* "": none */
	char unprofiled[512]; /* why there is no profile */
	unsigned holders;
	struct assay_chat_request *after;
};

/* All-zero: there is no model. */
struct assay_chat {
	const struct assay_serve_request *q;
	pthread_t thread;
	pthread_mutex_t lock; /* of the rest */
	pthread_cond_t changed;
	bool started, ready, gone, over; /* the thread is; the model is; it has ended; the server ends */
	pid_t pid;
	char error[512];   /* why the model is gone */
	char no_text[256]; /* why the model takes ids alone; "": it takes text. Does not change once it is loaded */
	unsigned in_vain;  /* starts without an answer since the last one that gave one */
	struct assay_chat_request *queue;
	unsigned waiting;
	uint64_t newest; /* request */
	struct assay_chat_counts counts;
};

/* Load q->model, which may take a while. ASSAY_EUSAGE: there is no such model, ASSAY_EWORKER: it cannot be loaded. */
int assay_chat_start(struct assay_chat *c, const struct assay_serve_request *q, struct assay_err *err);
void assay_chat_stop(struct assay_chat *c);

/*
 * Queue @r, which was calloc'ed and is taken over. ASSAY_ELIMIT: too many wait, ASSAY_EWORKER: the model is gone and is
 * not started again.
 */
int assay_chat_ask(struct assay_chat *c, struct assay_chat_request *r, struct assay_err *err);
/* Wait up to @ms until more than @n of its tokens are there, or it has ended. The lock is held afterwards. */
void assay_chat_wait(struct assay_chat *c, const struct assay_chat_request *r, unsigned n, unsigned ms);
/* One of those that hold it is done with it. */
void assay_chat_let_go(struct assay_chat *c, struct assay_chat_request *r);

/* ASSAY_EWORKER with the reason where the model is gone. */
int assay_chat_gone(struct assay_chat *c, struct assay_err *err);

struct assay_chat_counts assay_chat_look(struct assay_chat *c);

#endif
