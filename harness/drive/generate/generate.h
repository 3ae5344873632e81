/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model that is loaded once and then continues prompts, outside of any measurement: a case of an op that generates,
 * in a worker that stays. Its models are the cases of the suite "serve".
 */
#ifndef ASSAY_DRIVE_GENERATE_GENERATE_H
#define ASSAY_DRIVE_GENERATE_GENERATE_H

#include <stdio.h>

#include "drive/request.h"
#include "drive/watch.h"

#define ASSAY_GENERATE_SUITE "serve"
/* A request has at most so many sequences that end its answer, which is as many as OpenAI's API takes. */
#define ASSAY_GENERATE_STOPS 4

struct assay_generator;

struct assay_token_sequence {
	int32_t *ids;
	uint32_t n;
};

/* Tokens are ids of the model's vocabulary. Times are of CLOCK_MONOTONIC. */
struct assay_generation {
	const int32_t *prompt;
	uint32_t n_prompt, n_wanted;
	/*
	 * The prompt as a text, in place of ids; @n_prompt is found then. The answer is a text as well, and also ends
	 * before the token that the file gives for the end of a text or of a turn.
	 */
	const char *text;
	bool special; /* names of control tokens in @text are these tokens */
	/* The answer ends before the first of these, none of which is empty. Those of a text are texts. */
	struct assay_token_sequence stops[ASSAY_GENERATE_STOPS];
	const char *text_stops[ASSAY_GENERATE_STOPS];
	uint32_t n_stops;
	const char *profile; /* sample the CPU meanwhile, and store that under this name; NULL: do not */
	/*
	 * Called with tokens as they come, except that those which may begin one of the stops wait until that is known;
	 * NULL: nobody waits for them. @text is NULL where the prompt is ids; otherwise the whole characters that are
	 * certain since the last call, which may be none, or come without a further token.
	 */
	void (*come)(void *arg, const int32_t *tokens, const uint64_t *at_ns, uint32_t n, const char *text);
	void *arg;

	uint32_t n_known;            /* found: tokens of the prompt that the cache of keys and values had */
	bool stopped;                /* found: one of the stops ended the answer */
	struct assay_err unprofiled; /* found: why there is no profile, though one was asked for */
};

/*
 * Load @model: the last variant that this machine can run of the cases of q's suite whose axis `model` says so; "" is
 * the first file of q->plan.models.
 * ASSAY_EUSAGE names the models that there are; ASSAY_EWORKER: it cannot be loaded. @q has to outlive it.
 */
int assay_generator_open(struct assay_generator **out, const struct assay_request *q, const char *model,
			 const struct assay_watch *w, struct assay_err *err);
/* The key of its case. */
const char *assay_generator_key(const struct assay_generator *g);
/* Why it takes ids alone; NULL: it also takes text. */
const char *assay_generator_no_text(const struct assay_generator *g);
/*
 * Continue a prompt. ASSAY_EUSAGE: the model refuses it, such as one that is too long. ASSAY_EWORKER: the model is
 * gone, and only closing follows.
 */
int assay_generator_respond(struct assay_generator *g, struct assay_generation *r, struct assay_err *err);
void assay_generator_close(struct assay_generator *g);

/*
 * Answer requests until @in ends. Each is an object of JSON in a line, and so are the events that answer it:
 *
 *	{"prompt": [1, 2], "max_tokens": 3,
 *	 "stop": [[7], [9, 2]], "profile": "NAME"}                `stop` and `profile` may be left out
 *	{"prompt": "text", "max_tokens": 3, "stop": ["."]}        in text
 *	{"event": "tokens", "tokens": [7, 9], "at_ns": [...]}     as often as tokens come, in text with "text"
 *	{"event": "end", "prompt": 2, "known": 0,                 how many tokens the prompt had, and the cache of them;
 *	 "stopped": false}                                        "error" says why there is no answer, and "refused"
 *	                                                          whether another prompt would get one;
 *	                                                          "unprofiled" says why there is no profile
 *
 * The first line is {"event": "ready", "case": KEY}, with "no_text" where the model takes ids alone. 0, ASSAY_EWORKER
 * as above, or ASSAY_EINTERRUPTED.
 */
int assay_generator_serve(struct assay_generator *g, FILE *in, FILE *out, struct assay_err *err);

/* Ids from a text, separated by blanks or commas; malloc'ed. ASSAY_EUSAGE names the word that is none. */
int assay_token_ids(const char *text, int32_t **out, size_t *n, struct assay_err *err);

#endif
