/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of the unit tests of one folder: test_FOLDER [FILE...] [-FILE...] runs those named, or all but those with
 * a dash. Each file runs in a process of its own, so that one may change its environment, or die, without the others.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static struct unit_group *first, **last = &first;

void unit_register(struct unit_group *group)
{
	*last = group;
	last = &group->next;
}

static bool is_of(const struct unit_group *g, const char *name)
{
	const char *file = strrchr(g->file, '/');
	const size_t n = strlen(name);

	file = file ? file + 1 : g->file;
	return !strncmp(file, name, n) && !strcmp(file + n, ".c");
}

static bool wanted(const struct unit_group *g, char **names)
{
	bool all = true, named = false;

	for (; *names; names++) {
		if (**names == '-' && is_of(g, *names + 1))
			return false;
		all = all && **names == '-';
		named = named || is_of(g, *names);
	}
	return all || named;
}

static int run(const struct unit_group *g, char **argv)
{
	size_t n = 0;

	if (g->run)
		return g->run(argv);
	while (g->tests[n].name)
		n++;
	return _cmocka_run_group_tests(g->file, g->tests, n, g->set_up, g->tear_down);
}

int main(int argc, char **argv)
{
	int status, failed = 0, ran = 0;

	for (const struct unit_group *g = first; g; g = g->next)
		if (g->entry && g->entry(argc, argv, &status))
			return status;
	for (const struct unit_group *g = first; g; g = g->next) {
		pid_t child;

		if (!wanted(g, argv + 1))
			continue;
		ran++;
		fflush(NULL);
		child = fork();
		if (!child)
			exit(run(g, argv));
		if (child < 0 || waitpid(child, &status, 0) != child || status) {
			failed++;
			if (child < 0 || WIFSIGNALED(status))
				printf("not ok - %s ended by signal %d\n", g->file, child < 0 ? 0 : WTERMSIG(status));
		}
	}
	if (!ran)
		fprintf(stderr, "%s has no such file of tests\n", argv[0]);
	return failed || !ran;
}
