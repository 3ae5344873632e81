/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what lies beside the running program. A build folder and an installation have the same shape below bin/. */
#include "drive/installed.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

/* @tail below the parent of bin/, without links and, inside the current folder, relative to it. */
static bool beside(const char *exe_dir, const char *tail, char *buf, size_t size)
{
	char path[2 * PATH_MAX], real[PATH_MAX], cwd[PATH_MAX];
	size_t n;

	snprintf(path, sizeof(path), "%s/../%s", exe_dir, tail);
	if (!realpath(path, real))
		return false;
	n = getcwd(cwd, sizeof(cwd)) ? strlen(cwd) : 0;
	if (n > 1 && !strncmp(real, cwd, n) && real[n] == '/')
		snprintf(buf, size, "%s", real + n + 1);
	else
		snprintf(buf, size, "%s", real);
	return true;
}

static int find(const char *what, const char *const *tails, char *buf, size_t size, struct assay_err *err)
{
	char exe_dir[PATH_MAX];
	int rc = assay_file_exe_dir(exe_dir, sizeof(exe_dir), err);

	if (rc)
		return rc;
	for (; *tails; tails++)
		if (beside(exe_dir, *tails, buf, size))
			return 0;
	return assay_err_set(err, ASSAY_ENOTFOUND, "no %s beside '%s/assay': run 'make' or 'make install'", what,
			     exe_dir);
}

int assay_installed_bench_dir(char *buf, size_t size, struct assay_err *err)
{
	static const char *const tails[] = { "share/assay/bench", NULL };

	return find("bench files", tails, buf, size, err);
}

int assay_installed_baseline_dir(char *buf, size_t size, struct assay_err *err)
{
	static const char *const tails[] = { "share/assay/baselines", NULL };

	return find("baselines", tails, buf, size, err);
}

int assay_installed_plugin_dir(char *buf, size_t size, struct assay_err *err)
{
	static const char *const tails[] = { "plugins", "lib/assay/plugins", NULL };

	return find("plugins", tails, buf, size, err);
}

int assay_installed_template_dir(char *buf, size_t size, struct assay_err *err)
{
	static const char *const tails[] = { "share/assay/templates", NULL };

	return find("templates", tails, buf, size, err);
}

int assay_installed_include_dir(char *buf, size_t size, struct assay_err *err)
{
	static const char *const tails[] = { "include", NULL };

	return find("headers", tails, buf, size, err);
}

static int is_plugin(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 3 && !strcmp(d->d_name + n - 3, ".so");
}

int assay_installed_list(const char *dir, struct assay_strings *out, struct assay_err *err)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_plugin, alphasort), rc = 0;

	if (n < 0)
		return assay_err_set(err, ASSAY_EIO, "cannot read '%s'", dir);
	for (int i = 0; i < n; i++) {
		char path[2 * PATH_MAX + NAME_MAX];

		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (!rc)
			rc = assay_strings_add(out, path, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int assay_installed_plugins(struct assay_strings *out, struct assay_err *err)
{
	char dir[PATH_MAX];
	int rc = assay_installed_plugin_dir(dir, sizeof(dir), err);

	return rc ? rc : assay_installed_list(dir, out, err);
}
