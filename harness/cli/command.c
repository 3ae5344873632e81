/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "base/process.h"
#include "cli/cli.h"
#include "drive/session.h"

/* ---- interrupt ---- */

/* timeout(1) and terminals may send the same signal to a process and to its group: that is one wish, not two. */
#define SAME_WISH_NS 500000000

static volatile sig_atomic_t interrupted; /* the number of the signal */
static volatile sig_atomic_t held;
static volatile sig_atomic_t ignored_kin; /* a process that a worker started, and whose signal was ignored; 0: none */
static struct timespec first;

static void leave(void)
{
	static const char text[] = "assay: interrupted\n";
	ssize_t n = write(STDERR_FILENO, text, strlen(text));

	(void)n;
	/* children die with this process, but not what made a session of its own below them */
	assay_process_kin_kill(getpid());
	_exit(ASSAY_CLI_EXIT_INTERRUPTED);
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	struct timespec now;

	(void)context;
	/* nobody who wants the program to stop asks a plugin to say so */
	if (info->si_code <= 0 && assay_process_is_kin(info->si_pid)) {
		ignored_kin = info->si_pid;
		return;
	}
	if (!held)
		leave();
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!interrupted) {
		first = now;
		interrupted = sig;
	} else if ((now.tv_sec - first.tv_sec) * 1000000000L + (now.tv_nsec - first.tv_nsec) > SAME_WISH_NS) {
		leave();
	}
}

void assay_interrupt_catch(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO }, hangup;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &sa, NULL);
}

void assay_interrupt_hold(void)
{
	held = 1;
}

/* The work has ended. True when the flag was set meanwhile. */
static bool interrupt_release(void)
{
	held = 0;
	return interrupted;
}

const volatile sig_atomic_t *assay_interrupt_flag(void)
{
	return &interrupted;
}

/* A process that runs a plugin and whose signal was ignored since this was asked last; 0: none. */
static pid_t interrupt_ignored(void)
{
	pid_t pid = ignored_kin;

	ignored_kin = 0;
	return pid;
}

static void warn(struct assay_watcher *w, const char *text)
{
	if (w->hold && !assay_strings_add(&w->late, text, NULL))
		return;
	if (w->busy)
		assay_progress_hide(&w->progress);
	assay_cli_warn("%s", text);
}

static void tell_ignored(struct assay_watcher *w)
{
	const int kin = interrupt_ignored();
	char text[128];

	if (!kin)
		return;
	snprintf(text, sizeof(text), ASSAY_PROCESS_KIN_SIGNAL, kin);
	warn(w, text);
}

static void show_head(const struct assay_watcher *w, const struct assay_run *run)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_RUN, .run = { .run = run } };
	struct assay_text head = { 0 };

	if (w->show_head && !assay_emit(&r, "header", &w->style, &head, NULL)) {
		assay_cli_put(&head);
		fflush(stdout);
	}
	assay_text_release(&head);
}

/* Shares come a hundred times a second. */
#define PART_NS 100000000u

static void write_line(struct assay_watcher *w, const struct assay_event *e)
{
	const bool share = e->kind == ASSAY_EVENT_PART || e->kind == ASSAY_EVENT_SHARE;
	const uint64_t now_ns = share ? assay_monotonic_ns() : 0;
	char *line;

	if (e->kind == ASSAY_EVENT_CASES) {
		w->cases = e->cases;
		w->n_cases = e->n_cases;
	}
	if (share && now_ns - w->part_ns < PART_NS)
		return;
	if (share)
		w->part_ns = now_ns;
	line = assay_event_line(e, w->cases, w->n_cases);
	if (line)
		fprintf(stderr, "%s\n", line);
	free(line);
}

static void on_event(void *arg, const struct assay_event *e)
{
	struct assay_watcher *w = arg;

	if (e->kind == ASSAY_EVENT_BUILDING || e->kind == ASSAY_EVENT_RUN || e->kind == ASSAY_EVENT_CASES ||
	    e->kind == ASSAY_EVENT_SPAN)
		assay_interrupt_hold();
	tell_ignored(w);
	if (w->lines) {
		write_line(w, e);
		return;
	}
	switch (e->kind) {
	case ASSAY_EVENT_WARNING:
		warn(w, e->text);
		break;
	case ASSAY_EVENT_BUILDING:
		assay_cli_tell("assay: %s\n", e->text);
		break;
	case ASSAY_EVENT_NOTE:
		assay_progress_hide(&w->progress);
		assay_cli_tell("assay: %s\n", e->text);
		break;
	case ASSAY_EVENT_LOG:
		assay_cli_tell("%s\n", e->text);
		break;
	case ASSAY_EVENT_HEAD:
		if (w->show_head) {
			assay_cli_say("%s\n", e->text);
			fflush(stdout);
		}
		break;
	case ASSAY_EVENT_RUN:
		show_head(w, e->run);
		break;
	case ASSAY_EVENT_CASES:
		w->busy = true;
		assay_progress_begin(&w->progress, e->cases, e->n_cases, e->rounds);
		if (e->in_turn)
			assay_progress_in_turn(&w->progress, e->in_turn);
		break;
	case ASSAY_EVENT_ROUND:
		assay_progress_round(&w->progress, e->round, e->wanted);
		break;
	case ASSAY_EVENT_CASE:
		assay_progress_case(&w->progress, e->at);
		break;
	case ASSAY_EVENT_PART:
		assay_progress_part(&w->progress, e->done_frac);
		break;
	case ASSAY_EVENT_SPAN:
		w->busy = true;
		assay_progress_begin_for(&w->progress, e->expected_ns);
		break;
	case ASSAY_EVENT_SHARE:
		assay_progress_show(&w->progress, e->done_frac, e->text);
		break;
	case ASSAY_EVENT_DONE:
		w->busy = false;
		assay_progress_hide(&w->progress);
		break;
	case ASSAY_EVENT_READY:
	case ASSAY_EVENT_FAILED:
		break;
	}
}

int assay_command(const struct assay_command_line *line, int argc, char **argv, void *args, assay_command_fn *run)
{
	struct assay_settings *s = args;
	struct assay_err err = { 0 };
	struct assay_watcher w = { 0 };
	int status = 0, rc = assay_settings_init(s, &err);

	if (assay_completing()) {
		if (!rc)
			assay_complete_command(line, argc, argv, args);
		assay_settings_release(s);
		return 0;
	}
	if (!rc)
		rc = assay_command_line_parse(line, argc, argv, args, &err);
	if (!rc) {
		w = (struct assay_watcher){ .style = assay_cli_style() };
		w.watch = (struct assay_watch){ .event = on_event, .arg = &w, .interrupted = assay_interrupt_flag() };
		w.style.verbose = s->verbose;
		w.lines = s->progress_json;
		assay_temporary_sweep();
		rc = run(args, &w, &status, &err);
		if (interrupt_release() && !rc && !(line->until_terminated && interrupted == SIGTERM))
			rc = assay_err_set(&err, ASSAY_EINTERRUPTED, "interrupted after all work was done");
		for (size_t i = 0; i < w.late.n; i++)
			assay_cli_warn("%s", w.late.v[i]);
		assay_strings_release(&w.late);
	}
	if (rc && s->progress_json)
		write_line(&w, &(struct assay_event){ .kind = ASSAY_EVENT_FAILED, .text = err.text, .code = rc });
	assay_settings_release(s);
	return rc ? assay_cli_fail(&err) : status;
}

int assay_command_check(const struct assay_command_line *line, int argc, char **argv, void *args,
			int (*check)(const struct assay_request *q, struct assay_err *err), struct assay_err *err)
{
	struct assay_settings *s = args;
	int rc = assay_settings_init(s, err);

	if (!rc)
		rc = assay_command_line_parse(line, argc, argv, args, err);
	if (!rc && check)
		rc = check(&s->r, err);
	if (!rc)
		rc = assay_session_suite_check(&s->r, err);
	assay_settings_release(s);
	return rc;
}
