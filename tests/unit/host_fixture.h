/* SPDX-License-Identifier: Apache-2.0 */
/* The /proc and /sys of recorded hosts, unpacked from tests/fixtures/hosts: UNIT_GROUP(hosts_make, folder_remove). */
#ifndef ASSAY_TESTS_HOST_FIXTURE_H
#define ASSAY_TESTS_HOST_FIXTURE_H

#include "folder_fixture.h"

/* A line "== PATH" stands before each file. */
static inline int hosts_make(void **state)
{
	char command[512];

	if (folder_make(state))
		return -1;
	snprintf(command, sizeof(command),
		 "cd tests/fixtures/hosts && awk '"
		 "FNR == 1 { host = FILENAME; sub(/\\.txt$/, \"\", host) } "
		 "/^== / { close(file); file = \"%s/\" host \"/\" $2; dir = file; sub(/[^\\/]*$/, \"\", dir); "
		 "system(\"mkdir -p \" dir); next } "
		 "{ print > file }' *.txt",
		 folder);
	return system(command);
}

/* The root of the host @name, which need not exist. */
static inline const char *host(const char *name)
{
	return in_folder(name);
}

#endif
