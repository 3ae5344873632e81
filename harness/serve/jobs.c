/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/process.h"

#define SLICE_MS 100
#define LINE_MAX 4096
#define BEGIN_S  60
/* After an interrupt a command has so long to keep what it finished. */
#define PATIENCE_NS UINT64_C(20000000000)

int assay_jobs_init(struct assay_jobs *j, struct assay_err *err)
{
	pthread_condattr_t how;

	*j = (struct assay_jobs){ 0 };
	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	if (pthread_mutex_init(&j->lock, NULL) || pthread_cond_init(&j->changed, &how))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	pthread_condattr_destroy(&how);
	return 0;
}

void assay_jobs_release(struct assay_jobs *j)
{
	for (size_t i = 0; i < ASSAY_JOB_EVENTS; i++)
		free(j->events[i]);
	assay_strings_release(&j->argv);
	pthread_cond_destroy(&j->changed);
	pthread_mutex_destroy(&j->lock);
}

json_t *assay_server_job_json(const struct assay_server_job *job)
{
	static const char *const states[] = { "none", "running", "ended" };

	return json_pack("{s:I,s:s,s:s,s:s,s:I,s:s,s:f,s:i,s:i,s:i,s:s,s:b}", "id", (json_int_t)job->id, "state",
			 states[job->state], "kind", job->kind, "what", job->what, "started_s",
			 (json_int_t)(job->started_ns / 1000000000u), "case", job->at, "done_frac", job->done_frac,
			 "position", (int)job->position, "n", (int)job->n, "exit", job->exit, "error", job->error,
			 "stopped", job->stopped);
}

/* With the lock held. @line is taken over. */
static void add_event(struct assay_jobs *j, char *line)
{
	char **at = &j->events[j->n_events % ASSAY_JOB_EVENTS];

	if (!line)
		return;
	free(*at);
	*at = line;
	j->n_events++;
	pthread_cond_broadcast(&j->changed);
}

/* The job began, or ended: with the lock held. */
static void add_state(struct assay_jobs *j, const char *event)
{
	json_t *e = json_pack("{s:s,s:o}", "event", event, "job", assay_server_job_json(&j->job));

	add_event(j, e ? json_dumps(e, JSON_COMPACT) : NULL);
	json_decref(e);
}

int assay_jobs_ask(struct assay_jobs *j, const char *kind, const char *what, struct assay_strings *argv, uint64_t *id,
		   struct assay_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&j->lock);
	if (j->job.state == ASSAY_JOB_RUNNING) {
		rc = assay_err_set(err, ASSAY_ELIMIT, "a %s is under way (%.200s): wait for its end, or stop it",
				   j->job.kind, j->job.what);
	} else {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		j->job = (struct assay_server_job){ .id = j->job.id + 1,
						    .state = ASSAY_JOB_RUNNING,
						    .started_ns = (uint64_t)now.tv_sec * 1000000000u +
								  (uint64_t)now.tv_nsec };
		snprintf(j->job.kind, sizeof(j->job.kind), "%s", kind);
		snprintf(j->job.what, sizeof(j->job.what), "%s", what);
		j->argv = *argv;
		*argv = (struct assay_strings){ 0 };
		*id = j->job.id;
		j->stop = false;
		add_state(j, "started");
	}
	pthread_mutex_unlock(&j->lock);
	return rc;
}

bool assay_jobs_stop(struct assay_jobs *j)
{
	bool any;

	pthread_mutex_lock(&j->lock);
	any = j->job.state == ASSAY_JOB_RUNNING;
	if (any)
		j->stop = j->job.stopped = true;
	pthread_mutex_unlock(&j->lock);
	return any;
}

struct assay_server_job assay_jobs_look(struct assay_jobs *j)
{
	struct assay_server_job job;

	pthread_mutex_lock(&j->lock);
	job = j->job;
	pthread_mutex_unlock(&j->lock);
	return job;
}

uint64_t assay_jobs_newest(struct assay_jobs *j)
{
	uint64_t n;

	pthread_mutex_lock(&j->lock);
	n = j->n_events;
	pthread_mutex_unlock(&j->lock);
	return n;
}

bool assay_jobs_wait(struct assay_jobs *j, uint64_t id, struct assay_server_job *out)
{
	pthread_mutex_lock(&j->lock);
	while (!j->over && j->job.id == id && j->job.state == ASSAY_JOB_RUNNING)
		pthread_cond_wait(&j->changed, &j->lock);
	*out = j->job;
	pthread_mutex_unlock(&j->lock);
	return out->id == id && out->state == ASSAY_JOB_ENDED;
}

void assay_jobs_wait_begun(struct assay_jobs *j, uint64_t id, struct assay_server_job *out)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += BEGIN_S;
	pthread_mutex_lock(&j->lock);
	while (!j->over && j->job.id == id && !j->job.begun &&
	       pthread_cond_timedwait(&j->changed, &j->lock, &until) != ETIMEDOUT)
		;
	*out = j->job;
	pthread_mutex_unlock(&j->lock);
}

char *assay_jobs_event(struct assay_jobs *j, uint64_t *seen, unsigned ms)
{
	struct timespec until;
	char *line = NULL;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&j->lock);
	while (!j->over && j->n_events <= *seen && pthread_cond_timedwait(&j->changed, &j->lock, &until) != ETIMEDOUT)
		;
	if (j->n_events > *seen) {
		if (j->n_events - *seen > ASSAY_JOB_EVENTS)
			*seen = j->n_events - ASSAY_JOB_EVENTS;
		line = strdup(j->events[*seen % ASSAY_JOB_EVENTS]);
		++*seen;
	}
	pthread_mutex_unlock(&j->lock);
	return line;
}

/* ---- the process ---- */

/* A line of the command's standard error: an event, or a message for people, of which the last may be why it failed. */
static void take_line(struct assay_jobs *j, const char *line)
{
	json_t *e = json_loads(line, 0, NULL);
	const char *kind = json_string_value(json_object_get(e, "event"));

	pthread_mutex_lock(&j->lock);
	if (!kind) {
		if (line[0])
			snprintf(j->job.error, sizeof(j->job.error), "%s",
				 strncmp(line, "assay: ", 7) ? line : line + 7);
	} else {
		const json_t *n = json_object_get(e, "n"), *at = json_object_get(e, "at");
		const char *key = json_string_value(json_object_get(e, "case"));
		const char *text = json_string_value(json_object_get(e, "text"));

		if (json_is_integer(n))
			j->job.n = (unsigned)json_integer_value(n);
		if (json_is_integer(at))
			j->job.position = (unsigned)json_integer_value(at) + 1;
		if (key)
			snprintf(j->job.at, sizeof(j->job.at), "%s", key);
		else if (text && !strcmp(kind, "share"))
			snprintf(j->job.at, sizeof(j->job.at), "%s", text);
		j->job.done_frac = json_number_value(json_object_get(e, "done_frac"));
		j->job.begun |= !strcmp(kind, "cases") || !strcmp(kind, "ready");
		if (!strcmp(kind, "failed"))
			j->job.code = (int)json_integer_value(json_object_get(e, "code"));
		add_event(j, strdup(line));
	}
	pthread_mutex_unlock(&j->lock);
	json_decref(e);
}

/* Whole lines of @fd that have come; what is left of the last one stays in @buf. False at its end. */
static bool take_lines(struct assay_jobs *j, int fd, char buf[LINE_MAX], size_t *len)
{
	const ssize_t n = read(fd, buf + *len, LINE_MAX - 1 - *len);
	char *line = buf, *end;

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	*len += (size_t)n;
	buf[*len] = '\0';
	while ((end = strchr(line, '\n'))) {
		*end = '\0';
		take_line(j, line);
		line = end + 1;
	}
	*len -= (size_t)(line - buf);
	memmove(buf, line, *len + 1);
	if (*len == LINE_MAX - 1 || (!n && *len)) {
		take_line(j, buf);
		*len = 0;
	}
	return n > 0;
}

static bool is_stopped(struct assay_jobs *j)
{
	bool stop;

	pthread_mutex_lock(&j->lock);
	stop = j->stop;
	pthread_mutex_unlock(&j->lock);
	return stop;
}

static void watch(struct assay_jobs *j, struct assay_process *p, int fd, const volatile sig_atomic_t *interrupted)
{
	char buf[LINE_MAX];
	uint64_t told_ns = 0;
	size_t len = 0;
	bool open = true;

	while (open || !assay_process_ended(p)) {
		struct pollfd f = { .fd = open ? fd : -1, .events = POLLIN };

		if (poll(&f, 1, SLICE_MS) > 0)
			open = take_lines(j, fd, buf, &len);
		if (!told_ns && (*interrupted || is_stopped(j))) {
			kill(p->pid, SIGINT);
			told_ns = assay_monotonic_ns();
		}
		if (told_ns && assay_monotonic_ns() - told_ns > PATIENCE_NS)
			break;
		/* whatever it started may hold the pipe open */
		if (open && assay_process_ended(p) && !poll(&f, 1, 0))
			open = false;
	}
	if (!assay_process_ended(p))
		assay_process_kill(p);
}

static void end_job(struct assay_jobs *j, int exit, const char *error)
{
	pthread_mutex_lock(&j->lock);
	j->job.state = ASSAY_JOB_ENDED;
	j->job.begun = true;
	j->job.exit = exit;
	if (error)
		snprintf(j->job.error, sizeof(j->job.error), "%s", error);
	else if (!exit)
		j->job.error[0] = '\0';
	add_state(j, "ended");
	pthread_mutex_unlock(&j->lock);
}

static void run_job(struct assay_jobs *j, const struct assay_strings *words, const volatile sig_atomic_t *interrupted)
{
	const char **argv = calloc(words->n + 2, sizeof(*argv));
	struct assay_process p = { .pidfd = -1 };
	struct assay_err err = { 0 };
	int fds[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC), rc;

	if (!argv || null < 0 || pipe2(fds, O_CLOEXEC)) {
		free(argv);
		if (null >= 0)
			close(null);
		end_job(j, -1, "no memory or no files are left to start it");
		return;
	}
	argv[0] = "/proc/self/exe";
	memcpy(argv + 1, words->v, words->n * sizeof(*argv));
	rc = assay_process_start(
		&p,
		&(struct assay_process_options){ .argv = argv, .keep_fd = -1, .stdout_fd = null, .stderr_fd = fds[1] },
		&err);
	close(fds[1]);
	close(null);
	if (rc) {
		end_job(j, -1, err.text);
	} else {
		watch(j, &p, fds[0], interrupted);
		end_job(j, WIFEXITED(p.status) ? WEXITSTATUS(p.status) : -1,
			WIFSIGNALED(p.status) ? "it was killed" : NULL);
	}
	close(fds[0]);
	free(argv);
}

void assay_jobs_serve(struct assay_jobs *j, const volatile sig_atomic_t *interrupted, void (*idle)(void *arg),
		      void *arg)
{
	while (!*interrupted) {
		struct assay_strings argv;
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += SLICE_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_mutex_lock(&j->lock);
		if (!j->argv.n)
			pthread_cond_timedwait(&j->changed, &j->lock, &until);
		argv = j->argv;
		j->argv = (struct assay_strings){ 0 };
		pthread_mutex_unlock(&j->lock);
		if (argv.n)
			run_job(j, &argv, interrupted);
		else
			idle(arg);
		assay_strings_release(&argv);
	}
	pthread_mutex_lock(&j->lock);
	j->over = true;
	pthread_cond_broadcast(&j->changed);
	pthread_mutex_unlock(&j->lock);
}
