/* SPDX-License-Identifier: Apache-2.0 */
/* What a running process takes, as /proc shows it. */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
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

uint64_t assay_process_cpu_ns(const struct assay_process *p)
{
	struct timespec t;
	clockid_t clock;

	if (p->pid <= 0 || p->reaped || clock_getcpuclockid(p->pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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
