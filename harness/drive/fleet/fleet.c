/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jobs of a fleet: an array with a task for each node. All that is known of them lies in a folder, so that whoever
 * comes back goes on: fleet.json says what was asked for, and NODE/ holds the database of the node and, once its task
 * has ended, the exit status. Task 1 is that of the first node in fleet.json, and prints into 1.log.
 */
#include "drive/fleet/fleet.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/monotonic.h"
#include "base/process.h"
#include "drive/project.h"
#include "drive/repository.h"
#include "drive/user_text.h"
#include "model/verdict.h"

#define POLL_LEAST_NS 200000000u
#define POLL_MOST_NS  5000000000u
/* Files that a node wrote may be seen here as late as this (acdirmax of nfs(5)). */
#define SEEN_NS 60000000000u
/* A controller that restarts is away for some time. */
#define SILENT_NS 300000000000u

/* Its status appears at once, or not at all. */
static const char script[] = "#!/bin/sh\n"
			     "# What a task of 'assay fleet' does: sh task.sh FOLDER PARTS COMMAND...\n"
			     "folder=$1 parts=$2\n"
			     "shift 2\n"
			     "node=$(sed -n \"${SLURM_ARRAY_TASK_ID}p\" \"$folder/nodes\")\n"
			     "set -- \"$@\" --db \"$folder/$node/results.db\"\n"
			     "[ \"$parts\" = 0 ] || set -- \"$@\" --shard \"$SLURM_ARRAY_TASK_ID/$parts\"\n"
			     "if [ \"$SLURMD_NODENAME\" = \"$node\" ]; then\n"
			     "\t\"$@\" >/dev/null\n"
			     "else\n"
			     "\techo \"Slurm began it on $SLURMD_NODENAME\" >&2\n"
			     "\t(exit 2)\n"
			     "fi\n"
			     "echo $? >\"$folder/$node/status.part\" &&\n"
			     "\tmv \"$folder/$node/status.part\" \"$folder/$node/status\"\n";

enum node_state {
	NODE_NEW,    /* nothing was submitted, or what was is gone */
	NODE_QUEUED, /* it has a task */
	NODE_DONE,   /* its job wrote its exit status, which is one of a measurement */
	NODE_LOST,   /* it has no result, for its reason */
};

struct node {
	char name[ASSAY_NAME_MAX];
	char db[PATH_MAX + 2 * ASSAY_NAME_MAX];
	enum node_state state;
	char job[ASSAY_SLURM_JOB_MAX];
	bool down; /* Slurm says so, for its reason */
	bool runs;
	uint64_t ended_ns; /* when its job was first seen to have ended; 0: it was not */
	char reason[512];
};

struct fleet {
	const struct assay_fleet_request *q;
	const struct assay_watch *watch;
	char dir[PATH_MAX];        /* absolute */
	char name[ASSAY_NAME_MAX]; /* of its jobs */
	char base[256], head[256]; /* of a gate */
	double alpha;              /* of each comparison */
	struct node *nodes;
	size_t n;
	int lock;      /* on the folder; -1: none */
	bool goes_on;  /* it was begun earlier */
	bool has_jobs; /* that an error must not leave behind */
};

static void say(const struct fleet *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct fleet *f, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	assay_watch_tell(f->watch, &(struct assay_event){ .kind = ASSAY_EVENT_HEAD, .text = line });
}

/* ---- its folder -------------------------------------------------------------------------------------------------- */

#define PATH_SIZE (PATH_MAX + 2 * ASSAY_NAME_MAX)

static const char *path_of(const struct fleet *f, const char *node, const char *file, char buf[PATH_SIZE])
{
	snprintf(buf, PATH_SIZE, "%s%s%s/%s", f->dir, node ? "/" : "", node ? node : "", file);
	return buf;
}

static void remove_file(const struct fleet *f, const char *node, const char *file)
{
	char path[PATH_SIZE];

	unlink(path_of(f, node, file, path));
}

static bool read_line(const struct fleet *f, const char *node, const char *file, char *buf, size_t size)
{
	char path[PATH_SIZE];

	return assay_file_line(path_of(f, node, file, path), buf, size);
}

#define LOG_SIZE 32

/* The file with the output of the task of @node. */
static const char *log_name(const struct fleet *f, const struct node *node, char buf[LOG_SIZE])
{
	snprintf(buf, LOG_SIZE, "%zu.log", (size_t)(node - f->nodes) + 1);
	return buf;
}

/* Nothing of an earlier attempt stays. */
static void clear_node(const struct fleet *f, const struct node *node)
{
	static const char *const files[] = { "status",         "status.part",    "results.db",
					     "results.db-wal", "results.db-shm", "results.db-journal" };
	char log[LOG_SIZE];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		remove_file(f, node->name, files[i]);
	remove_file(f, NULL, log_name(f, node, log));
}

static void remove_all(const struct fleet *f)
{
	char path[PATH_SIZE];

	for (size_t i = 0; i < f->n; i++) {
		clear_node(f, &f->nodes[i]);
		snprintf(path, sizeof(path), "%s/%s", f->dir, f->nodes[i].name);
		rmdir(path);
	}
	remove_file(f, NULL, "task.sh");
	remove_file(f, NULL, "nodes");
	remove_file(f, NULL, "fleet.json");
	/* fails where jobs that end just now still write, or the user keeps something there */
	rmdir(f->dir);
}

static int lock_folder(struct fleet *f, struct assay_err *err)
{
	const char *dir = f->q->dir ? f->q->dir : ASSAY_FLEET_DIR;
	int rc = assay_file_mkdirs(dir, err);

	if (rc)
		return assay_user_path_error(rc, err);
	if (!realpath(dir, f->dir))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot use the folder '%s': %s", dir, strerror(errno));
	f->lock = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* where a file system knows no locks there is none to wait for */
	if (f->lock >= 0 && flock(f->lock, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "another 'assay fleet' uses the folder '%s': wait for it, or name another with "
				     "--dir",
				     dir);
	return 0;
}

/* Two requests are of the same fleet if they agree in this. */
static json_t *request_json(const struct fleet *f)
{
	const struct assay_fleet_request *q = f->q;
	json_t *more = json_array();

	for (size_t i = 0; i < q->more.n; i++)
		json_array_append_new(more, json_string(q->more.v[i]));
	return json_pack("{s:s,s:s,s:i,s:i,s:b,s:b,s:s,s:s,s:o}", "suite", q->suite, "partition", q->partition, "nodes",
			 (int)q->nodes, "per_kind", (int)q->per_kind, "gate", q->gate, "shard", q->shard, "base",
			 q->base ? q->base : "", "head", q->head ? q->head : "", "options", more);
}

static int write_file(const struct fleet *f, const char *file, const char *text, struct assay_err *err)
{
	char path[PATH_SIZE];

	return text ? assay_file_write(path_of(f, NULL, file, path), text, strlen(text), err)
		    : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

static int write_state(struct fleet *f, struct assay_err *err)
{
	struct assay_text names = { 0 };
	json_t *nodes = json_array(), *o;
	char *text;
	int rc;

	for (size_t i = 0; i < f->n; i++) {
		json_array_append_new(nodes, json_string(f->nodes[i].name));
		assay_text_addf(&names, "%s\n", f->nodes[i].name);
	}
	o = json_pack("{s:s,s:o,s:s,s:s,s:f,s:o}", "name", f->name, "request", request_json(f), "base", f->base, "head",
		      f->head, "alpha", f->alpha, "nodes", nodes);
	text = json_dumps(o, JSON_INDENT(1));
	json_decref(o);
	rc = write_file(f, "nodes", names.failed ? NULL : names.s, err);
	if (!rc)
		rc = write_file(f, "task.sh", script, err);
	if (!rc)
		rc = write_file(f, "fleet.json", text, err);
	free(text);
	assay_text_release(&names);
	return rc;
}

static void set_node(const struct fleet *f, struct node *node, const char *name)
{
	snprintf(node->name, sizeof(node->name), "%s", name);
	path_of(f, name, "results.db", node->db);
}

static int take_state(struct fleet *f, const json_t *o, struct assay_err *err)
{
	const char *name, *base, *head;
	const json_t *request, *nodes, *node;
	json_t *wanted = request_json(f);
	const bool same = json_equal(json_object_get(o, "request"), wanted);
	size_t i;

	json_decref(wanted);
	if (json_unpack((json_t *)o, "{s:s,s:o,s:s,s:s,s:F,s:o}", "name", &name, "request", &request, "base", &base,
			"head", &head, "alpha", &f->alpha, "nodes", &nodes))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read '%s/fleet.json': remove the folder to begin anew",
				     f->dir);
	if (!same)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "the folder '%s' holds a fleet of another suite, partition or options that is not "
				     "finished: finish it as it was begun, remove the folder, or name another with "
				     "--dir",
				     f->dir);
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->base, sizeof(f->base), "%s", base);
	snprintf(f->head, sizeof(f->head), "%s", head);
	f->n = json_array_size(nodes);
	f->nodes = calloc(f->n + 1, sizeof(*f->nodes));
	if (!f->nodes)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	json_array_foreach(nodes, i, node)
		set_node(f, &f->nodes[i], json_is_string(node) ? json_string_value(node) : "?");
	return 0;
}

/* Take over the jobs that an earlier request began, if there are any. */
static int read_state(struct fleet *f, struct assay_err *err)
{
	char path[PATH_SIZE], *text = NULL;
	size_t len;
	json_t *o;
	int rc;

	if (!assay_file_exists(path_of(f, NULL, "fleet.json", path)))
		return 0;
	rc = assay_file_read(path, &text, &len, err);
	if (rc)
		return rc;
	o = json_loadb(text, len, 0, NULL);
	free(text);
	rc = take_state(f, o, err);
	json_decref(o);
	f->goes_on = !rc;
	return rc;
}

/* ---- what is asked for ------------------------------------------------------------------------------------------- */

/* How many nodes of its kind come before it, where those that can run a job do? */
static size_t place_in_kind(const struct assay_slurm_node *v, size_t n, size_t i)
{
	const bool down = assay_slurm_node_is_down(&v[i]);
	size_t before = 0;

	for (size_t k = 0; k < n; k++)
		if (!strcmp(v[k].kind, v[i].kind))
			before += assay_slurm_node_is_down(&v[k]) == down ? k < i : down;
	return before;
}

/* Of the nodes of the partition those that take part, with what Slurm says of them. */
static int choose_nodes(struct fleet *f, const struct assay_slurm_node *v, size_t n, struct assay_err *err)
{
	const size_t wanted = f->q->nodes ? f->q->nodes : n;

	if (wanted > n)
		return assay_err_set(err, ASSAY_EUSAGE, "--nodes is %zu, and partition '%s' has %zu", wanted,
				     f->q->partition, n);
	f->nodes = calloc(wanted, sizeof(*f->nodes));
	if (!f->nodes)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	/* where some are enough, those that can run a job come first */
	for (int down = 0; down < 2; down++)
		for (size_t i = 0; i < n && f->n < wanted; i++)
			if (assay_slurm_node_is_down(&v[i]) == (down == 1) &&
			    (!f->q->per_kind || place_in_kind(v, n, i) < f->q->per_kind))
				set_node(f, &f->nodes[f->n++], v[i].name);
	return 0;
}

static void mark_down(struct fleet *f, const struct assay_slurm_node *v, size_t n)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct assay_slurm_node *known = NULL;
		struct node *node = &f->nodes[i];

		for (size_t k = 0; k < n && !known; k++)
			known = strcmp(v[k].name, node->name) ? NULL : &v[k];
		node->down = !known || assay_slurm_node_is_down(known);
		if (!known)
			snprintf(node->reason, sizeof(node->reason), "partition '%s' no longer has this node",
				 f->q->partition);
		else if (node->down && known->reason[0] && strcmp(known->reason, "none"))
			snprintf(node->reason, sizeof(node->reason), "the node is %s: %s", known->state, known->reason);
		else if (node->down)
			snprintf(node->reason, sizeof(node->reason), "the node is %s%s", known->state,
				 strchr(known->state, '*') ? ": it does not answer Slurm" : "");
	}
}

/* Where the branch that HEAD is on left the main one; on the main one itself, the commit before. */
static int find_base(const struct assay_repository *r, const char *head, char commit[65], struct assay_err *err)
{
	static const char *const mains[] = { "origin/HEAD", "origin/main", "main", "origin/master", "master" };
	char *out = NULL;

	for (size_t i = 0; i < sizeof(mains) / sizeof(mains[0]); i++) {
		if (assay_repository_ask(r, (const char *const[]){ "git", "merge-base", head, mains[i], NULL }, &out,
					 NULL))
			continue;
		snprintf(commit, 65, "%s", out);
		free(out);
		if (strcmp(commit, head))
			return 0;
		break;
	}
	if (!assay_repository_commit(r, "HEAD~1", commit, NULL))
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE,
			     "nothing to compare HEAD with: name a revision after the suite, such as 'assay fleet "
			     "quick main --gate'");
}

/* A file or folder stands for itself. */
static bool is_path(const char *side)
{
	struct stat st;

	return side && !stat(side, &st);
}

/* A file that git does not know, such as the database of an earlier fleet, is no change. */
static int refuse_changes(const struct fleet *f, const struct assay_repository *r, struct assay_err *err)
{
	static const char *const status[] = { "git",         "--no-optional-locks",  "status",
					      "--porcelain", "--untracked-files=no", NULL };
	char *out = NULL;
	int rc = assay_repository_ask(r, status, &out, err);

	if (!rc && out[0])
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "the working tree has changes, which may be others when the nodes begin: commit "
				   "them, or name both sides, as in 'assay fleet %s main HEAD --gate'",
				   f->q->suite);
	free(out);
	return rc;
}

/* Jobs begin when they can, so that what they compare is fixed here: commits. */
static int find_sides(struct fleet *f, struct assay_err *err)
{
	const struct assay_fleet_request *q = f->q;
	struct assay_repository r;
	char commit[65];
	int rc;

	snprintf(f->base, sizeof(f->base), "%s", q->base ? q->base : "");
	snprintf(f->head, sizeof(f->head), "%s", q->head ? q->head : "");
	if (is_path(q->base) && is_path(q->head))
		return 0;
	rc = assay_repository_open(&r, NULL, f->watch->interrupted, err);
	if (!rc && !q->head)
		rc = refuse_changes(f, &r, err);
	if (!rc && !is_path(q->head)) {
		rc = assay_repository_commit(&r, q->head ? q->head : "HEAD", commit, err);
		if (!rc)
			memcpy(f->head, commit, sizeof(commit));
	}
	if (!rc && !is_path(q->base)) {
		rc = q->base ? assay_repository_commit(&r, q->base, commit, err) : find_base(&r, f->head, commit, err);
		if (!rc)
			memcpy(f->base, commit, sizeof(commit));
	}
	return rc;
}

/* All comparisons share the rate of the policy (Bonferroni): a gate over many nodes fails no more often than one. */
static int find_alpha(struct fleet *f, struct assay_err *err)
{
	struct assay_policy policy = { 0 };
	char path[ASSAY_POLICY_PATH_MAX];
	int rc = assay_policy_file_load(&policy, f->q->policy, path, err);

	if (!rc)
		f->alpha = policy.alpha / (double)f->n;
	assay_policy_release(&policy);
	return rc;
}

static int begin(struct fleet *f, const struct assay_slurm_node *v, size_t n, struct assay_err *err)
{
	int rc = choose_nodes(f, v, n, err);

	snprintf(f->name, sizeof(f->name), "assay-%llx-%x", (unsigned long long)time(NULL), (unsigned)getpid());
	if (!rc && f->q->gate)
		rc = find_sides(f, err);
	if (!rc && f->q->gate)
		rc = find_alpha(f, err);
	return rc ? rc : write_state(f, err);
}

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* The arguments of task.sh: the folder, the number of parts, and the command that measures. */
static int command(const struct fleet *f, struct assay_strings *out, struct assay_err *err)
{
	const struct assay_fleet_request *q = f->q;
	char exe[PATH_MAX], parts[24], share[40];
	const ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	int rc = n > 0 ? 0 : assay_err_set(err, ASSAY_EIO, "cannot find the running program: %s", strerror(errno));

	if (rc)
		return rc;
	exe[n] = '\0';
	snprintf(parts, sizeof(parts), "%zu", q->shard ? f->n : 0);
	/* as many digits as a share may have, and no exponent */
	snprintf(share, sizeof(share), "%.17f", f->alpha);
	{
		const char *const words[] = { f->dir,
					      parts,
					      exe,
					      q->gate ? "compare" : "run",
					      q->gate ? f->base : NULL,
					      q->gate ? f->head : NULL,
					      "--suite",
					      q->suite,
					      q->gate ? "--alpha" : NULL,
					      q->gate ? share : NULL,
					      q->gate && q->policy ? "--policy" : NULL,
					      q->gate && q->policy ? q->policy : NULL };

		for (size_t k = 0; k < sizeof(words) / sizeof(words[0]) && !rc; k++)
			if (words[k])
				rc = assay_strings_add(out, words[k], err);
	}
	for (size_t k = 0; k < q->more.n && !rc; k++)
		rc = assay_strings_add(out, q->more.v[k], err);
	return rc;
}

/* The numbers of the tasks that are to be submitted, as in "1-3,5"; none where there are none. */
static void list_tasks(const struct fleet *f, struct assay_text *t)
{
	for (size_t i = 0; i < f->n; i++) {
		const size_t first = i;

		if (f->nodes[i].state != NODE_NEW)
			continue;
		while (i + 1 < f->n && f->nodes[i + 1].state == NODE_NEW)
			i++;
		assay_text_addf(t, i > first ? "%s%zu-%zu" : "%s%zu", t->len ? "," : "", first + 1, i + 1);
	}
}

/* Hold the array until each task has its node, so that none begins on that of another. */
static int place_tasks(struct fleet *f, const char *id, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < f->n && !rc; i++) {
		struct node *node = &f->nodes[i];

		if (node->state != NODE_NEW)
			continue;
		snprintf(node->job, sizeof(node->job), "%.10s_%zu", id, i + 1);
		rc = assay_watch_check(f->watch, err);
		if (!rc)
			rc = assay_slurm_place(node->job, node->name, err);
	}
	if (!rc)
		rc = assay_slurm_release(id, err);
	for (size_t i = 0; i < f->n && !rc; i++)
		if (f->nodes[i].state == NODE_NEW)
			f->nodes[i].state = NODE_QUEUED;
	return rc;
}

/* A task for each node that has none and no result. */
static int submit(struct fleet *f, struct assay_err *err)
{
	char log[PATH_SIZE], task[PATH_SIZE], dir[PATH_SIZE], id[ASSAY_SLURM_JOB_MAX];
	struct assay_strings args = { 0 };
	struct assay_text tasks = { 0 };
	int rc = assay_watch_check(f->watch, err);

	list_tasks(f, &tasks);
	for (size_t i = 0; i < f->n && !rc; i++) {
		if (f->nodes[i].state != NODE_NEW)
			continue;
		clear_node(f, &f->nodes[i]);
		snprintf(dir, sizeof(dir), "%s/%s", f->dir, f->nodes[i].name);
		rc = assay_file_mkdirs(dir, err);
	}
	if (!rc)
		rc = command(f, &args, err);
	if (!rc && tasks.failed)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc && tasks.len) {
		const struct assay_slurm_array array = { .name = f->name,
							 .partition = f->q->partition,
							 .tasks = tasks.s,
							 .log = path_of(f, NULL, "%a.log", log),
							 .script = path_of(f, NULL, "task.sh", task),
							 .args = &args };

		f->has_jobs = true;
		rc = assay_slurm_submit(&array, id, err);
		if (!rc)
			rc = place_tasks(f, id, err);
	}
	assay_text_release(&tasks);
	assay_strings_release(&args);
	return rc;
}

/* The last line that the job printed, which says why it failed. */
static void last_line(const struct fleet *f, const struct node *node, char *buf, size_t size)
{
	char path[PATH_SIZE], log[LOG_SIZE];
	struct assay_text text = { 0 };
	size_t len = 0;

	buf[0] = '\0';
	if (assay_file_read(path_of(f, NULL, log_name(f, node, log), path), &text.s, &len, NULL))
		return;
	text.len = len;
	assay_text_last_line(&text, buf, size);
	assay_printable_line(buf, size);
	free(text.s);
}

static void lose(const struct fleet *f, struct node *node, const char *what)
{
	char line[320];

	last_line(f, node, line, sizeof(line));
	snprintf(node->reason, sizeof(node->reason), "%.160s%s%s", what, line[0] ? ": " : "", line);
	node->state = NODE_LOST;
	say(f, "%s: %s", node->name, node->reason);
}

/* The exit codes of a verdict: with these a run or a comparison was stored. */
static bool is_verdict(int status)
{
	return status >= ASSAY_EXIT_OK && status <= ASSAY_EXIT_INCONCLUSIVE && status != ASSAY_EXIT_USAGE;
}

/* Has the job of @node written its exit status? */
static bool look(const struct fleet *f, struct node *node)
{
	char line[16], what[64];
	int status;

	if (!read_line(f, node->name, "status", line, sizeof(line)))
		return false;
	status = atoi(line);
	if (is_verdict(status)) {
		node->state = NODE_DONE;
		say(f, "%s: measured", node->name);
	} else {
		snprintf(what, sizeof(what), "its job exited with status %d", status);
		lose(f, node, what);
	}
	return true;
}

/* The node whose task has this number; NULL: there is none. */
static struct node *node_of(const struct fleet *f, const char *id)
{
	const char *number = strchr(id, '_');
	const unsigned long i = number ? strtoul(number + 1, NULL, 10) : 0;

	return i >= 1 && i <= f->n ? &f->nodes[i - 1] : NULL;
}

/*
 * Tasks of a command that was killed may still wait or run. Those that it had not released have no node yet; they, and
 * what Slurm does not know any more, are submitted again.
 */
static int find_jobs(struct fleet *f, struct assay_err *err)
{
	struct assay_slurm_state *v = NULL;
	size_t n = 0, done = 0;
	int rc;

	f->has_jobs = true;
	rc = assay_slurm_states(f->name, f->watch->interrupted, &v, &n, err);
	for (size_t i = 0; i < n && !rc; i++) {
		struct node *node = node_of(f, v[i].id);

		if (!node || assay_slurm_has_ended(&v[i]))
			continue;
		if (assay_slurm_is_held(&v[i])) {
			rc = assay_slurm_cancel(f->name, v[i].id, err);
			continue;
		}
		memcpy(node->job, v[i].id, sizeof(node->job));
		node->state = NODE_QUEUED;
	}
	free(v);
	for (size_t i = 0; i < f->n && !rc; i++) {
		char line[16];

		if (read_line(f, f->nodes[i].name, "status", line, sizeof(line)) && is_verdict(atoi(line))) {
			f->nodes[i].state = NODE_DONE;
			done++;
		}
	}
	if (!rc)
		say(f, "going on in '%s': %zu of %zu nodes are measured; remove the folder to begin anew", f->dir, done,
		    f->n);
	return rc;
}

static int submit_all(struct fleet *f, struct assay_err *err)
{
	for (size_t i = 0; i < f->n; i++) {
		struct node *node = &f->nodes[i];

		if (node->state == NODE_NEW && node->down) {
			node->state = NODE_LOST;
			say(f, "%s: %s", node->name, node->reason);
		}
	}
	return submit(f, err);
}

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

struct waiting {
	uint64_t begun_ns, heard_ns, pause_ns;
	uint64_t start_within_ns;
};

/* Slurm ended it by force, and it can write nothing any more. */
static bool was_killed(const struct assay_slurm_state *s)
{
	return strcmp(s->state, "COMPLETED") && strcmp(s->state, "FAILED");
}

static void judge_state(struct fleet *f, struct node *node, const struct assay_slurm_state *s, uint64_t now_ns)
{
	char what[200];

	if (s && !assay_slurm_has_ended(s)) {
		node->runs = strcmp(s->state, "PENDING") != 0;
		return;
	}
	if (!node->ended_ns)
		node->ended_ns = now_ns;
	/* it may have ended after its status was looked for */
	if (look(f, node) || (!(s && was_killed(s)) && now_ns - node->ended_ns < SEEN_NS))
		return;
	if (s)
		snprintf(what, sizeof(what), "Slurm ended job %s (%s)", node->job, s->state);
	else
		snprintf(what, sizeof(what), "job %s is gone and left no result", node->job);
	lose(f, node, what);
}

static void check_start(struct fleet *f, struct node *node, const struct assay_slurm_state *s, const struct waiting *w)
{
	char what[200];

	if (!s || node->state != NODE_QUEUED || node->runs || assay_monotonic_ns() - w->begun_ns < w->start_within_ns)
		return;
	assay_slurm_cancel(f->name, node->job, NULL);
	snprintf(what, sizeof(what), "job %s did not start within %.0f s (%s)", node->job,
		 (double)w->start_within_ns * 1e-9, s->reason);
	lose(f, node, what);
}

static size_t count_of(const struct fleet *f, enum node_state state)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->nodes[i].state == state;
	return n;
}

/* Asks Slurm only about nodes whose status is not there. */
static int look_at_all(struct fleet *f, struct waiting *w, struct assay_err *err)
{
	struct assay_slurm_state *v = NULL;
	struct assay_err why = { 0 };
	const uint64_t now_ns = assay_monotonic_ns();
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < f->n; i++)
		if (f->nodes[i].state == NODE_QUEUED)
			look(f, &f->nodes[i]);
	if (!count_of(f, NODE_QUEUED))
		return 0;
	rc = assay_slurm_states(f->name, f->watch->interrupted, &v, &n, &why);
	if (rc && rc != ASSAY_EINTERRUPTED && now_ns - w->heard_ns < SILENT_NS)
		return 0;
	if (rc) {
		*err = why;
		return rc;
	}
	w->heard_ns = now_ns;
	for (size_t i = 0; i < f->n; i++) {
		const struct assay_slurm_state *s = NULL;
		struct node *node = &f->nodes[i];

		if (node->state != NODE_QUEUED)
			continue;
		for (size_t k = 0; k < n; k++)
			if (!strcmp(v[k].id, node->job))
				s = &v[k];
		judge_state(f, node, s, now_ns);
		check_start(f, node, s, w);
	}
	free(v);
	return 0;
}

static void tell_share(const struct fleet *f)
{
	const size_t waiting = count_of(f, NODE_QUEUED);
	size_t running = 0;
	char text[96];

	for (size_t i = 0; i < f->n; i++)
		running += f->nodes[i].state == NODE_QUEUED && f->nodes[i].runs;
	snprintf(text, sizeof(text), "%zu of %zu nodes: %zu running, %zu queued", f->n - waiting, f->n, running,
		 waiting - running);
	assay_watch_tell(f->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							  .done_frac = (double)(f->n - waiting) / (double)f->n,
							  .text = text });
}

static int rest(const struct fleet *f, struct waiting *w, struct assay_err *err)
{
	const uint64_t until_ns = assay_monotonic_ns() + w->pause_ns;
	int rc = 0;

	while (!rc && assay_monotonic_ns() < until_ns) {
		nanosleep(&(struct timespec){ .tv_nsec = POLL_LEAST_NS / 4 }, NULL);
		rc = assay_watch_check(f->watch, err);
	}
	w->pause_ns = w->pause_ns * 3 / 2 < POLL_MOST_NS ? w->pause_ns * 3 / 2 : POLL_MOST_NS;
	return rc;
}

static int wait_for_all(struct fleet *f, struct assay_err *err)
{
	struct waiting w = { .begun_ns = assay_monotonic_ns(),
			     .pause_ns = POLL_LEAST_NS,
			     .start_within_ns = f->q->start_within_ns ? f->q->start_within_ns : ASSAY_FLEET_START_NS };
	int rc;

	w.heard_ns = w.begun_ns;
	for (;;) {
		rc = look_at_all(f, &w, err);
		if (rc || !count_of(f, NODE_QUEUED))
			return rc;
		tell_share(f);
		rc = rest(f, &w, err);
		if (rc)
			return rc;
	}
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

/* No job outlives the command: nobody would wait for it. */
static void stop_jobs(struct fleet *f, struct assay_err *err)
{
	struct assay_text left = { 0 };
	struct assay_err why = { 0 };
	const bool interrupted = err->code == ASSAY_EINTERRUPTED;

	if (f->has_jobs && assay_slurm_cancel(f->name, NULL, &why))
		assay_watch_warn(f->watch, "cannot cancel the jobs, so 'scancel --name %s' is left to do: %s", f->name,
				 why.text);
	/* some may have ended by themselves just before */
	for (size_t i = 0; i < f->n; i++)
		if (f->nodes[i].state == NODE_QUEUED)
			look(f, &f->nodes[i]);
	if (f->n && !f->goes_on && !count_of(f, NODE_DONE))
		remove_all(f);
	else
		rmdir(f->dir);
	if (!interrupted || !f->n)
		return;
	for (size_t i = 0; i < f->n && left.len < 200; i++)
		if (f->nodes[i].state != NODE_DONE)
			assay_text_addf(&left, "%s%s", left.len ? ", " : "", f->nodes[i].name);
	if (count_of(f, NODE_DONE))
		assay_err_set(
			err, ASSAY_EINTERRUPTED,
			"interrupted: %zu of %zu nodes are measured and kept in '%.160s', jobs are cancelled; the "
			"same command continues with %s",
			count_of(f, NODE_DONE), f->n, f->dir, left.s && left.len ? left.s : "judging");
	else
		assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted: none of %zu nodes is measured, jobs are cancelled",
			      f->n);
	assay_text_release(&left);
}

static int judge(struct fleet *f, struct assay_fleet_report *out, struct assay_err *err)
{
	struct assay_fleet_measured *v = calloc(f->n + 1, sizeof(*v));
	int rc = v ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	bool whole = true;

	for (size_t i = 0; i < f->n && !rc; i++) {
		const struct node *node = &f->nodes[i];

		v[i].name = node->name;
		v[i].db = node->state == NODE_DONE ? node->db : NULL;
		memcpy(v[i].reason, node->reason, sizeof(v[i].reason));
	}
	snprintf(out->suite, sizeof(out->suite), "%s", f->q->suite);
	snprintf(out->partition, sizeof(out->partition), "%s", f->q->partition);
	snprintf(out->base, sizeof(out->base), "%s", f->base);
	snprintf(out->head, sizeof(out->head), "%s", f->head);
	out->alpha = f->alpha * (double)f->n;
	if (!rc)
		rc = assay_fleet_judge(f->q, v, f->n, f->watch, out, err);
	for (size_t i = 0; i < f->n && !rc; i++)
		whole &= v[i].db != NULL;
	if (!rc && whole)
		remove_all(f);
	free(v);
	return rc;
}

static int measure(struct fleet *f, struct assay_err *err)
{
	struct assay_slurm_node *nodes = NULL;
	size_t n = 0;
	int rc = assay_slurm_nodes(f->q->partition, f->watch->interrupted, &nodes, &n, err);

	if (!rc)
		rc = lock_folder(f, err);
	if (!rc)
		rc = read_state(f, err);
	if (!rc && !f->goes_on)
		rc = begin(f, nodes, n, err);
	if (!rc)
		mark_down(f, nodes, n);
	free(nodes);
	if (rc)
		return rc;
	assay_watch_tell(f->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = (double)SEEN_NS });
	if (f->goes_on)
		rc = find_jobs(f, err);
	if (!rc)
		rc = submit_all(f, err);
	if (!rc)
		rc = wait_for_all(f, err);
	assay_watch_tell(f->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	return rc;
}

int assay_fleet(const struct assay_fleet_request *q, const struct assay_watch *w, struct assay_fleet_report *out,
		struct assay_err *err)
{
	struct fleet f = { .q = q, .watch = w, .lock = -1 };
	struct assay_err why = { 0 };
	int rc = measure(&f, &why);

	*out = (struct assay_fleet_report){ 0 };
	if (!rc)
		rc = judge(&f, out, &why);
	else
		stop_jobs(&f, &why);
	if (rc)
		*err = why;
	if (f.lock >= 0)
		close(f.lock);
	free(f.nodes);
	return rc;
}
