/* SPDX-License-Identifier: Apache-2.0 */
/* The work of the machine since it was started, and how much of its memory and disk is in use now. */
#ifndef ASSAY_MACHINE_SYSTEM_STATE_H
#define ASSAY_MACHINE_SYSTEM_STATE_H

#include <stdint.h>

/* Zero where the host does not tell. Times of all CPUs together. */
struct assay_system_state {
	double cpu_busy_s, cpu_s; /* since it was started; their differences give the share between two looks */
	double uptime_s, load;    /* load: runnable and waiting threads, mean of a minute */
	unsigned threads, threads_running; /* of all processes now */
	uint64_t memory_bytes, memory_used_bytes;
	uint64_t process_bytes;                       /* resident set of this process */
	uint64_t disk_bytes, disk_used_bytes;         /* of the file system that @path is on */
	uint64_t disk_read_bytes, disk_written_bytes; /* of all disks, since it was started */
	uint64_t network_in_bytes, network_out_bytes; /* since it was started, without the loopback */
};

/* Look now. @root as in host_facts.h; @path: a file or a folder. */
void assay_system_state(const char *root, const char *path, struct assay_system_state *out);

#endif
