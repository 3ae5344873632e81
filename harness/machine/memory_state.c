/* SPDX-License-Identifier: Apache-2.0 */
/* Read from /proc/meminfo, the control group, and /proc/stat. */
#include "machine/host_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int assay_memory_state_at(const char *root, struct assay_memory_state *out, struct assay_err *err)
{
	char *text = assay_host_text(root, "/proc/meminfo");
	uint64_t total = 0, available = 0, allowed;
	bool ok;

	memset(out, 0, sizeof(*out));
	/* Kernels before 3.14 state no MemAvailable; free memory alone is the safe side. */
	ok = text && assay_host_field(text, "MemTotal:", &total) &&
	     (assay_host_field(text, "MemAvailable:", &available) || assay_host_field(text, "MemFree:", &available));
	free(text);
	if (!ok || !total)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "cannot determine the memory of this machine: no '/proc/meminfo'");
	out->total_bytes = total * 1024;
	out->available_bytes = available * 1024;
	assay_memory_limit_read(root, &out->limit_bytes, &allowed);
	out->usable_bytes = out->total_bytes;
	out->used_bytes = out->total_bytes - out->available_bytes;
	if (out->limit_bytes && out->limit_bytes < out->total_bytes) {
		out->usable_bytes = out->limit_bytes;
		out->used_bytes = allowed < out->limit_bytes ? out->limit_bytes - allowed : 0;
	}
	if (allowed < out->available_bytes)
		out->available_bytes = allowed;
	return 0;
}

int assay_memory_state(struct assay_memory_state *out, struct assay_err *err)
{
	return assay_memory_state_at("", out, err);
}

/*
 * Column 8 of a cpu line of /proc/stat; *total (may be NULL) gets the sum of columns 1 to 8, guest time being in user
 * time.
 */
static bool parse_steal(const char *columns, uint64_t *steal, uint64_t *total)
{
	uint64_t sum = 0, v = 0;

	for (int i = 0; i < 8; i++) {
		char *end;

		v = strtoull(columns, &end, 10);
		if (end == columns)
			return false;
		columns = end;
		sum += v;
	}
	*steal = v;
	if (total)
		*total = sum;
	return true;
}

static bool wanted(int cpu, const int *cpus, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

bool assay_steal_ticks_at(const char *root, const int *cpus, size_t n, uint64_t *ticks)
{
	char *text = assay_host_text(root, "/proc/stat");
	size_t seen = 0;

	*ticks = 0;
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		uint64_t steal;
		int cpu, len;

		line += *line == '\n';
		if (sscanf(line, "cpu%d%n", &cpu, &len) != 1 || !wanted(cpu, cpus, n))
			continue;
		if (!parse_steal(line + len, &steal, NULL))
			break;
		*ticks += steal;
		seen++;
	}
	free(text);
	return seen == n && n > 0;
}

bool assay_steal_frac_at(const char *root, double *frac)
{
	char line[256];
	uint64_t steal, total;

	if (!assay_host_line(root, "/proc/stat", line, sizeof(line)) || strncmp(line, "cpu ", 4) ||
	    !parse_steal(line + 4, &steal, &total) || !total)
		return false;
	*frac = (double)steal / (double)total;
	return true;
}
