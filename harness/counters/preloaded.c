/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/preloaded.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

int assay_preloaded_path(const char *name, const char *what, char *path, size_t size, struct assay_err *err)
{
	char dir[4096];
	int rc;

	if (ASSAY_SANITIZED_HEAP)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "a sanitizer must be loaded before %s: build without SANITIZE", what);
	rc = assay_file_exe_dir(dir, sizeof(dir), err);
	if (rc)
		return rc;
	snprintf(path, size, "%s/../lib/assay/%s", dir, name);
	if (strpbrk(path, " :"))
		return assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"'%s' cannot be preloaded: move it to where no folder has a space or colon in its name", path);
	if (!assay_file_exists(path))
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "there is no '%s': make builds it, make install installs it", path);
	return 0;
}

void assay_preloaded_variable(const char *path, char *buf, size_t size)
{
	const char *users = getenv("LD_PRELOAD");

	snprintf(buf, size, "LD_PRELOAD=%s%s%s", path, users ? ":" : "", users ? users : "");
}

int assay_gpu_library(char *path, size_t size, struct assay_err *err)
{
	char dir[4096];
	int rc = assay_file_exe_dir(dir, sizeof(dir), err);

	if (rc)
		return rc;
	snprintf(path, size, "%s/../lib/assay/assay-gpu.so", dir);
	if (!assay_file_exists(path))
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "there is no '%s': make builds it, make install installs it", path);
	return 0;
}

int assay_threads_library(char *path, size_t size, struct assay_err *err)
{
	return assay_preloaded_path("assay-threads.so", "the functions that wait", path, size, err);
}

const struct assay_threads *assay_threads_find(void)
{
	const struct assay_threads *t = dlsym(RTLD_DEFAULT, ASSAY_THREADS_SYMBOL);

	return t && t->size == sizeof(*t) ? t : NULL;
}
