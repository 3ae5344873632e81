/* SPDX-License-Identifier: Apache-2.0 */
#include "counters/threads/threads.h"

#include <dlfcn.h>

int assay_threads_library(char *path, size_t size, struct assay_err *err)
{
	return assay_preloaded_path("assay-threads.so", "the functions that wait", path, size, err);
}

const struct assay_threads *assay_threads_find(void)
{
	const struct assay_threads *t = dlsym(RTLD_DEFAULT, ASSAY_THREADS_SYMBOL);

	return t && t->size == sizeof(*t) ? t : NULL;
}
