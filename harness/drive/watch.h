/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one callback through which the driving layer reports what goes on, and the flag by which it is stopped. All-zero
 * listens to nothing and is never stopped.
 */
#ifndef ASSAY_DRIVE_WATCH_H
#define ASSAY_DRIVE_WATCH_H

#include <signal.h>
#include <stdbool.h>

#include "base/err.h"
#include "model/case.h"
#include "model/result.h"

enum assay_event_kind {
	ASSAY_EVENT_WARNING,  /* text: one line, which says what to do */
	ASSAY_EVENT_BUILDING, /* text: a revision is built, with this command */
	ASSAY_EVENT_LOG,      /* text: the last lines of a build that failed */
	ASSAY_EVENT_HEAD,     /* text: a line to stand above the results */
	ASSAY_EVENT_RUN,      /* run: all that is known of it before its first case */
	ASSAY_EVENT_CASES,    /* cases, n_cases, rounds, in_turn: these are measured from now on */
	ASSAY_EVENT_ROUND,    /* round, wanted: a further round begins, of the wanted cases */
	ASSAY_EVENT_CASE,     /* at: this one of the cases begins, all before it are done */
	ASSAY_EVENT_NOTE,     /* text: why this takes long, and how long */
	ASSAY_EVENT_PART,     /* done_frac: of the case that was begun last; so_far: what is known of it */
	ASSAY_EVENT_SPAN,     /* expected_ns: something that takes about so long begins */
	ASSAY_EVENT_SHARE,    /* done_frac, text: so much of it is done, and this is next */
	ASSAY_EVENT_DONE,     /* the cases, or the span, have ended, also by an error */
	ASSAY_EVENT_READY,    /* the case of a profile is known */
	ASSAY_EVENT_FAILED,   /* code, text: the command ends with this error */
};

/*
 * Fields that a kind does not name are zero. Pointers are borrowed: those of CASES and ROUND until DONE, others for the
 * call.
 */
struct assay_event {
	enum assay_event_kind kind;
	const char *text;
	const struct assay_run *run;
	const struct assay_case *cases;
	size_t n_cases, at;
	unsigned rounds, round; /* rounds 0: cases are checked, not sampled */
	const bool *in_turn;    /* one a case: it then takes turns with its limit; NULL: none does */
	const bool *wanted;     /* one a case */
	double done_frac, expected_ns;
	int code;                          /* enum assay_error */
	const struct assay_result *so_far; /* of this process of the case; NULL: it takes no samples */
};

struct assay_watch {
	void (*event)(void *arg, const struct assay_event *e);
	void *arg;
	const volatile sig_atomic_t *interrupted; /* NULL: never */
};

/* The same as e->event, where there is one. */
void assay_watch_tell(const struct assay_watch *w, const struct assay_event *e);
/*
 * @e as an object of JSON in one line, {"event": "case", "at": 3, "n": 12, "case": "KEY"}, for programs that follow a
 * command; @cases are those of the last ASSAY_EVENT_CASES. A new string; NULL: the event tells a program nothing, or
 * memory is short.
 */
char *assay_event_line(const struct assay_event *e, const struct assay_case *cases, size_t n_cases);
void assay_watch_warn(const struct assay_watch *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* 0, or ASSAY_EINTERRUPTED. */
int assay_watch_check(const struct assay_watch *w, struct assay_err *err);

#endif
