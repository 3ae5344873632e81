/* SPDX-License-Identifier: Apache-2.0 */
/* A case is profiled as a run of it alone, in a database that is thrown away: the tools follow its processes. */
#include "drive/profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"

#define LOOK_NS   50000000u
#define MOST_ARGS 16

static const struct tool {
	const char *name, *ending, *whose;
	const char *const args[6];
} tools[] = {
	{ "nsys", ".nsys-rep", "NVIDIA Nsight Systems", { "profile", "--force-overwrite=true", "-o" } },
	{ "ncu", ".ncu-rep", "NVIDIA Nsight Compute", { "--target-processes", "all", "--force-overwrite", "-o" } },
};

static const struct tool *find(const char *name)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(tools[0]); i++)
		if (!strcmp(tools[i].name, name))
			return &tools[i];
	return NULL;
}

int assay_profile_tool_check(const char *tool, struct assay_err *err)
{
	return find(tool) ? 0 : assay_err_set(err, ASSAY_EUSAGE, "--with is '%s', expected nsys or ncu", tool);
}

int assay_profile_tool_output(const char *tool, const char *path, struct assay_err *err)
{
	const struct tool *t = find(tool);
	const char *dot = path ? strrchr(path, '.') : NULL;

	if (!path)
		return assay_err_set(err, ASSAY_EUSAGE, "%s writes a report of its own: name it with -o FILE%s", tool,
				     t->ending);
	if (!dot || strcmp(dot, t->ending))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot write '%s': the name of %s's report must end in %s",
				     path, tool, t->ending);
	return 0;
}

/* The tool, its own arguments, and what it runs. False where it is too much. */
static bool add(const char **argv, size_t *n, size_t most, const char *arg)
{
	if (*n + 1 >= most)
		return false;
	argv[(*n)++] = arg;
	return true;
}

static int wait_for(struct assay_process *p, const struct tool *t, const struct assay_watch *w, struct assay_err *err)
{
	char how[128];

	while (!assay_process_wait(p, LOOK_NS))
		if (w->interrupted && *w->interrupted) {
			assay_process_kill(p);
			return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted");
		}
	if (!p->status)
		return 0;
	assay_process_describe(p, how, sizeof(how));
	return assay_err_set(err, ASSAY_EWORKER, "%s %s: what it printed says why", t->name, how);
}

int assay_profile_tool_run(const char *tool, const struct assay_profile_request *q, const struct assay_watch *w,
			   const char *path, struct assay_err *err)
{
	const struct tool *t = find(tool);
	struct assay_temporary folder = { 0 };
	struct assay_process p = { 0 };
	char exe[4096], db[4200], *report = strndup(path, strlen(path) - strlen(t->ending));
	const char *of_case[] = { exe,       "run",
				  "--suite", q->what->plan.suite ? q->what->plan.suite : ASSAY_DEFAULT_SUITE,
				  "--only",  q->key,
				  "--db",    db,
				  NULL };
	const char *const *command = q->key ? of_case : q->command;
	size_t n = 0, most = MOST_ARGS;
	const char **argv = NULL;
	int rc = assay_temporary_make(&folder, "tool", err);

	for (size_t i = 0; command[i]; i++)
		most++;
	argv = calloc(most, sizeof(*argv));
	if (!rc && (!argv || !report))
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (!rc && !realpath("/proc/self/exe", exe))
		rc = assay_err_set(err, ASSAY_EIO, "cannot find the running program");
	snprintf(db, sizeof(db), "%s/tool.db", folder.path);
	if (!rc) {
		add(argv, &n, most, t->name);
		for (size_t i = 0; t->args[i]; i++)
			add(argv, &n, most, t->args[i]);
		add(argv, &n, most, report);
		for (size_t i = 0; command[i]; i++)
			add(argv, &n, most, command[i]);
		rc = assay_process_start(&p,
					 &(struct assay_process_options){
						 .argv = argv, .keep_fd = -1, .stdout_fd = -1, .stderr_fd = -1 },
					 err);
		if (rc == ASSAY_ENOTFOUND || rc == ASSAY_EIO)
			rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "there is no '%s' in PATH: it comes with %s",
					   t->name, t->whose);
		else if (!rc)
			rc = wait_for(&p, t, w, err);
	}
	free(argv);
	free(report);
	assay_temporary_remove(&folder);
	return rc;
}
