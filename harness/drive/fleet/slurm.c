/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs sinfo, sbatch, scontrol, squeue and scancel, and reads what they print. Accounting may be off, so nothing asks
 * sacct: what squeue no longer knows is told by the files that a job leaves.
 */
#include "drive/fleet/fleet.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"

/* A controller that is busy answers within a minute (MessageTimeout), and commands try more than once. */
#define ANSWER_NS 120000000000u

static int ask(const char *const *argv, const volatile sig_atomic_t *interrupted, char **out, struct assay_err *err)
{
	const struct assay_capture c = { .argv = argv, .timeout_ns = ANSWER_NS, .interrupted = interrupted };

	return assay_process_capture(&c, out, err);
}

/* Append the lines of what was printed, without the empty one at the end. */
static int ask_lines(const char *const *argv, const volatile sig_atomic_t *interrupted, struct assay_strings *lines,
		     struct assay_err *err)
{
	char *out = NULL;
	int rc = ask(argv, interrupted, &out, err);

	if (!rc && out[strspn(out, " \n")])
		rc = assay_strings_split(lines, out, '\n', err);
	free(out);
	while (lines->n && !lines->v[lines->n - 1][0])
		free(lines->v[--lines->n]);
	return rc;
}

/* The part of @line up to the next '|', behind which *line then is. */
static void take(const char **line, char *buf, size_t size)
{
	const size_t n = strcspn(*line, "|");

	snprintf(buf, size, "%.*s", (int)n, *line);
	*line += n + ((*line)[n] == '|');
}

/* ---- nodes ---- */

static int no_partition(const char *partition, const volatile sig_atomic_t *interrupted, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	const char *near;
	int rc = ask_lines((const char *const[]){ "sinfo", "--noheader", "--format=%R", NULL }, interrupted, &names,
			   err);

	if (!rc) {
		near = assay_nearest(partition, (const char *const *)names.v, names.n);
		rc = assay_err_set(err, ASSAY_EUSAGE, "no partition '%s': %s%s%s", partition,
				   near ? "did you mean '" : "'sinfo' lists them", near ? near : "", near ? "'?" : "");
	}
	assay_strings_release(&names);
	return rc;
}

/* Its name becomes that of a folder. */
static bool is_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/') && strlen(name) < ASSAY_NAME_MAX - 1;
}

static int read_nodes(const struct assay_strings *lines, struct assay_slurm_node *v, size_t *n, struct assay_err *err)
{
	for (size_t i = 0; i < lines->n; i++) {
		struct assay_slurm_node *node = &v[*n];
		const char *line = lines->v[i];

		take(&line, node->name, sizeof(node->name));
		take(&line, node->state, sizeof(node->state));
		take(&line, node->kind, sizeof(node->kind));
		take(&line, node->reason, sizeof(node->reason));
		if (!is_name(node->name) || !node->state[0])
			return assay_err_set(err, ASSAY_EIO, "cannot read what sinfo prints: '%s'", lines->v[i]);
		if (!*n || strcmp(v[*n - 1].name, node->name))
			(*n)++;
	}
	return 0;
}

int assay_slurm_nodes(const char *partition, const volatile sig_atomic_t *interrupted, struct assay_slurm_node **out,
		      size_t *n, struct assay_err *err)
{
	const char *const argv[] = { "sinfo",       "--noheader", "--Node",
				     "--partition", partition,    "--format=%N|%T|%X:%Y:%Z %m %b %G|%E",
				     NULL };
	struct assay_strings lines = { 0 };
	struct assay_slurm_node *v = NULL;
	size_t count = 0;
	int rc = ask_lines(argv, interrupted, &lines, err);

	if (rc == ASSAY_ENOTFOUND)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "no Slurm here, as there is no command 'sinfo': start this where jobs are "
				   "submitted. Without Slurm run 'assay run --db NAME.db' on each machine, then "
				   "'assay db merge' with all of them");
	else if (!rc && !lines.n)
		rc = no_partition(partition, interrupted, err);
	if (!rc && !(v = calloc(lines.n, sizeof(*v))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc)
		rc = read_nodes(&lines, v, &count, err);
	assay_strings_release(&lines);
	if (rc) {
		free(v);
		return rc;
	}
	*out = v;
	*n = count;
	return 0;
}

bool assay_slurm_node_is_down(const struct assay_slurm_node *n)
{
	static const char *const states[] = { "down", "drain", "fail", "error", "unknown", "future" };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strncmp(n->state, states[i], strlen(states[i])))
			return true;
	/* a star: it does not answer */
	return n->state[strlen(n->state) - 1] == '*';
}

/* ---- jobs ---- */

/* Run a command of Slurm that prints nothing of interest; an interrupt does not stop it. */
static int tell(const char *const *argv, struct assay_err *err)
{
	char *out = NULL;
	int rc = ask(argv, NULL, &out, err);

	free(out);
	return rc;
}

int assay_slurm_submit(const struct assay_slurm_array *a, char id[ASSAY_SLURM_JOB_MAX], struct assay_err *err)
{
	const char *const head[] = { "sbatch",       "--parsable", "--hold", "--job-name", a->name,      "--partition",
				     a->partition,   "--array",    a->tasks, "--nodes=1",  "--ntasks=1", "--exclusive",
				     "--no-requeue", "--output",   a->log,   a->script };
	const size_t n_head = sizeof(head) / sizeof(head[0]);
	const char **argv = calloc(n_head + a->args->n + 1, sizeof(*argv));
	char *out = NULL;
	int rc = argv ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");

	if (!rc) {
		memcpy(argv, head, sizeof(head));
		memcpy(argv + n_head, a->args->v, a->args->n * sizeof(*argv));
		/* an interrupt in between would leave jobs that nobody knows of */
		rc = ask(argv, NULL, &out, err);
	}
	if (!rc) {
		/* "17", or "17;cluster" */
		const size_t n = strspn(out, "0123456789");

		snprintf(id, ASSAY_SLURM_JOB_MAX, "%.*s", (int)n, out);
		if (!n || n >= ASSAY_SLURM_JOB_MAX)
			rc = assay_err_set(err, ASSAY_EIO, "cannot read what sbatch prints: '%.80s'", out);
	} else {
		assay_err_prefix(err, "cannot submit the jobs");
	}
	free(out);
	free(argv);
	return rc;
}

int assay_slurm_place(const char *task, const char *node, struct assay_err *err)
{
	char which[ASSAY_SLURM_JOB_MAX + 8], where[ASSAY_NAME_MAX + 16];
	int rc;

	snprintf(which, sizeof(which), "JobId=%s", task);
	snprintf(where, sizeof(where), "ReqNodeList=%s", node);
	rc = tell((const char *const[]){ "scontrol", "update", which, where, NULL }, err);
	if (rc)
		assay_err_prefix(err, "cannot place job %s on node '%s'", task, node);
	return rc;
}

int assay_slurm_release(const char *id, struct assay_err *err)
{
	int rc = tell((const char *const[]){ "scontrol", "release", id, NULL }, err);

	if (rc)
		assay_err_prefix(err, "cannot release the jobs %s", id);
	return rc;
}

static const char *user(void)
{
	const struct passwd *p = getpwuid(getuid());

	return p ? p->pw_name : "";
}

int assay_slurm_states(const char *name, const volatile sig_atomic_t *interrupted, struct assay_slurm_state **out,
		       size_t *n, struct assay_err *err)
{
	const char *const argv[] = { "squeue", "--noheader", "--array", "--states=all",      "--user",
				     user(),   "--name",     name,      "--format=%i|%T|%r", NULL };
	struct assay_strings lines = { 0 };
	struct assay_slurm_state *v = NULL;
	int rc = ask_lines(argv, interrupted, &lines, err);

	if (!rc && !(v = calloc(lines.n + 1, sizeof(*v))))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < lines.n && !rc; i++) {
		const char *line = lines.v[i];

		take(&line, v[i].id, sizeof(v[i].id));
		take(&line, v[i].state, sizeof(v[i].state));
		take(&line, v[i].reason, sizeof(v[i].reason));
	}
	if (!rc) {
		*out = v;
		*n = lines.n;
	}
	assay_strings_release(&lines);
	return rc;
}

bool assay_slurm_is_held(const struct assay_slurm_state *s)
{
	return !strcmp(s->state, "PENDING") && !strcmp(s->reason, "JobHeldUser");
}

bool assay_slurm_has_ended(const struct assay_slurm_state *s)
{
	static const char *const states[] = { "COMPLETED", "FAILED",        "CANCELLED", "TIMEOUT",  "NODE_FAIL",
					      "PREEMPTED", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REVOKED" };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(s->state, states[i]))
			return true;
	return false;
}

int assay_slurm_cancel(const char *name, const char *id, struct assay_err *err)
{
	const char *const one[] = { "scancel", id, NULL };
	const char *const all[] = { "scancel", "--user", user(), "--name", name, NULL };

	return tell(id ? one : all, err);
}
