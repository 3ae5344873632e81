/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the kernels of GPUs take the plugin that make builds for the emulated grid. */
#ifndef ASSAY_TESTS_EMULATED_FIXTURE_H
#define ASSAY_TESTS_EMULATED_FIXTURE_H

#include "mini_host.h"

static bool emulated_missing;
static char emulated_plugin[4096];

/* Without a C++ compiler make has built none. */
static inline int use_emulated(void **state)
{
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *slash;

	if (len <= 0)
		return -1;
	path[len] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash, "/cuda");
	setenv("ASSAY_TEST_PLUGINS", path, 1);
	setenv("ASSAY_TEST_EMULATED", "1", 1);
	strcat(path, "/assay_cuda.so");
	strcpy(emulated_plugin, path);
	emulated_missing = access(path, R_OK);
	return 0;
}

static inline void needs_emulated(void)
{
	if (!emulated_missing)
		return;
	print_message("no emulated plugin: make found no C++ compiler\n");
	skip();
}

#endif
