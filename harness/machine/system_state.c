/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/environment.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "machine/host_facts.h"

/* The line "cpu  user nice system idle iowait irq softirq steal ...": all but idle and iowait is work. */
static void read_cpus(const char *root, struct assay_system_state *s)
{
	char line[256];
	unsigned long long t[8] = { 0 }, all = 0;
	const double hz = (double)sysconf(_SC_CLK_TCK);

	if (!assay_host_line(root, "/proc/stat", line, sizeof(line)) ||
	    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6],
		   &t[7]) < 4)
		return;
	for (int i = 0; i < 8; i++)
		all += t[i];
	s->cpu_s = (double)all / hz;
	s->cpu_busy_s = (double)(all - t[3] - t[4]) / hz;
}

/* Lines "  eth0: bytes packets errs drop fifo frame compressed multicast bytes ...": the 1st and 9th number. */
static void read_network(const char *root, struct assay_system_state *s)
{
	char *text = assay_host_text(root, "/proc/net/dev"), *rest = text;

	for (char *line; rest && (line = strsep(&rest, "\n"));) {
		char *colon = strchr(line, ':');
		uint64_t in, out;

		line += strspn(line, " ");
		if (!colon || !strncmp(line, "lo:", 3) ||
		    sscanf(colon + 1, "%" SCNu64 " %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &in, &out) != 2)
			continue;
		s->network_in_bytes += in;
		s->network_out_bytes += out;
	}
	free(text);
}

/*
 * Lines "8 0 sda reads merged sectors ms writes merged sectors ...", a sector being 512 bytes. Partitions and what is
 * layered upon disks would count twice: /sys/block has a folder for each whole disk, with a device for a real one.
 */
static void read_disks(const char *root, struct assay_system_state *s)
{
	char *text = assay_host_text(root, "/proc/diskstats"), *rest = text;

	for (char *line; rest && (line = strsep(&rest, "\n"));) {
		char name[64], device[128];
		uint64_t in, out;

		if (sscanf(line, "%*u %*u %63s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, name, &in, &out) != 3)
			continue;
		snprintf(device, sizeof(device), "/sys/block/%s/device", name);
		if (!assay_host_exists(root, device))
			continue;
		s->disk_read_bytes += 512 * in;
		s->disk_written_bytes += 512 * out;
	}
	free(text);
}

void assay_system_state(const char *root, const char *path, struct assay_system_state *out)
{
	struct assay_memory_state m;
	struct statvfs disk;
	char line[128];
	uint64_t pages;

	*out = (struct assay_system_state){ 0 };
	read_cpus(root, out);
	read_network(root, out);
	read_disks(root, out);
	if (assay_host_line(root, "/proc/uptime", line, sizeof(line)))
		out->uptime_s = strtod(line, NULL);
	if (assay_host_line(root, "/proc/loadavg", line, sizeof(line)))
		sscanf(line, "%lf %*f %*f %u/%u", &out->load, &out->threads_running, &out->threads);
	if (!assay_memory_state_at(root, &m, NULL)) {
		out->memory_bytes = m.usable_bytes;
		out->memory_used_bytes = m.used_bytes;
	}
	if (assay_host_line(root, "/proc/self/statm", line, sizeof(line)) && sscanf(line, "%*u %" SCNu64, &pages) == 1)
		out->process_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	if (!statvfs(path, &disk)) {
		out->disk_bytes = (uint64_t)disk.f_blocks * disk.f_frsize;
		out->disk_used_bytes = (uint64_t)(disk.f_blocks - disk.f_bfree) * disk.f_frsize;
	}
}
