/* SPDX-License-Identifier: Apache-2.0 */
/* Where the GPUs of a machine are, by hwloc: PCI address, the CPUs and memory beside each, and how two are joined. */
#ifndef ASSAY_MACHINE_GPU_TOPOLOGY_H
#define ASSAY_MACHINE_GPU_TOPOLOGY_H

#include <stddef.h>

#include "base/err.h"

struct assay_gpu_place {
	char pci[16];      /* "0000:3b:00.0" */
	char name[96];     /* of the device, as the PCI names have it; "": unknown */
	char known_as[64]; /* hwloc's objects of CUDA, NVML and OpenCL, "cuda0, nvml0"; "": its plugins are missing */
	char cpus[128];    /* beside it, "0-15,32-47"; "": unknown */
	int node;          /* of memory beside it; -1: unknown */
	double link_bytes_per_s; /* of its PCI link; 0: unknown */
};

/* How close two GPUs are to each other. */
enum assay_gpu_path {
	ASSAY_GPUS_SAME_SWITCH, /* a PCI bridge that is no root of the machine */
	ASSAY_GPUS_SAME_ROOT,   /* the same PCI root, and no switch between them */
	ASSAY_GPUS_SAME_NODE,   /* memory of the same NUMA node or socket */
	ASSAY_GPUS_ACROSS,      /* sockets or nodes */
	ASSAY_N_GPU_PATHS,
};
/* "by a PCI switch to ", "across NUMA nodes to " */
const char *assay_gpu_path_text(enum assay_gpu_path p);

struct assay_gpu_topology {
	struct assay_gpu_place *v; /* in the order of their PCI addresses; malloc'ed */
	size_t n;
	enum assay_gpu_path *path; /* n × n; malloc'ed */
};

/* @xml_path: of another machine, for tests; NULL: this one. ASSAY_EIO, ASSAY_ENOMEM. Release it in either case. */
int assay_gpu_topology_read(struct assay_gpu_topology *t, const char *xml_path, struct assay_err *err);
void assay_gpu_topology_release(struct assay_gpu_topology *t);

#endif
