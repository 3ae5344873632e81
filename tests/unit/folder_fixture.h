/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary folder for all tests of a file: UNIT_GROUP(folder_make, folder_remove). */
#ifndef ASSAY_TESTS_FOLDER_FIXTURE_H
#define ASSAY_TESTS_FOLDER_FIXTURE_H

#include "unit.h"

static char folder[] = "/tmp/assay-test-XXXXXX";

/* The path of @name in the folder. The last four stay valid. */
static inline const char *in_folder(const char *name)
{
	static char path[4][256];
	static unsigned i;
	char *p = path[i++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static inline int folder_make(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static inline int folder_remove(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

#endif
