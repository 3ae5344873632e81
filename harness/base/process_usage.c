/* SPDX-License-Identifier: Apache-2.0 */
/* What a running process takes, as /proc shows it. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

uint64_t assay_process_rss_bytes(const struct assay_process *p)
{
	unsigned long long total, resident;
	char path[64];
	uint64_t bytes = 0;
	FILE *f;

	if (p->pid <= 0 || p->reaped)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/statm", (long)p->pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%llu %llu", &total, &resident) == 2)
		bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	fclose(f);
	return bytes;
}

unsigned assay_process_threads(const struct assay_process *p)
{
	struct stat st;
	char path[64];

	if (p->pid <= 0 || p->reaped)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/task", (long)p->pid);
	/* a folder has two links, and one more for each in it */
	return !stat(path, &st) && st.st_nlink > 2 ? (unsigned)st.st_nlink - 2 : 0;
}
