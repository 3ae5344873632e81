/* SPDX-License-Identifier: Apache-2.0 */
/* Topology and placement; the only place that knows hwloc. */
#ifndef ASSAY_MACHINE_TOPOLOGY_H
#define ASSAY_MACHINE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assay/plugin.h"

#include "base/err.h"
#include "model/exact.h"

struct assay_topology;

/*
 * @xml_path: a file written by `lstopo --of xml`, for tests of other machines; NULL: this machine, as this process may
 * use it.
 */
int assay_topology_open(struct assay_topology **t, const char *xml_path, struct assay_err *err);
/*
 * This machine, as another process described it with assay_topology_text(): twenty times as fast as reading it, and
 * more on a machine with many CPUs. @text NULL: read it.
 */
int assay_topology_open_told(struct assay_topology **t, const char *text, struct assay_err *err);
/* hwloc's XML of this machine, which lives as long as @t; NULL: there is none, or @t describes another machine. */
const char *assay_topology_text(const struct assay_topology *t);
void assay_topology_close(struct assay_topology *t);

/* Sizes for ops; n_cores counts cores of which at least one CPU is allowed. */
void assay_topology_host_info(const struct assay_topology *t, struct assay_host_info *out);

/*
 * The caches of a core as the simulator takes them, named "host": level 1 and the last level. ASSAY_EUNAVAILABLE if
 * they are unknown.
 */
int assay_topology_cache_model(const struct assay_topology *t, struct assay_cache_model *out, struct assay_err *err);

/* One line for people: "1 socket, 2 cores, 2 threads, L1d 48 KiB, L2 1 MiB, L3 32 MiB, 1 NUMA node". */
void assay_topology_summary(const struct assay_topology *t, char *buf, size_t size);

/* The size of the whole machine, even if only a part of it may be used; this decides which machines are comparable. */
struct assay_machine_size {
	size_t sockets, cores, cpus, nodes;
	size_t llcs;                             /* instances of the level 3 cache; 0: none known */
	uint64_t l1d_bytes, l2_bytes, llc_bytes; /* as in assay_host_info, of the fastest kind of core */
};
void assay_topology_machine(const struct assay_topology *t, struct assay_machine_size *out);

/* CPUs this process may use, "0-3,8"; *restricted (may be NULL): the machine has more than these. */
const char *assay_topology_allowed(const struct assay_topology *t, bool *restricted);

enum assay_placement_policy {
	ASSAY_PLACE_COMPACT, /* fill one cache / socket before the next; the default */
	ASSAY_PLACE_SCATTER, /* spread over sockets and caches first */
};

struct assay_placement_options {
	enum assay_placement_policy policy;
	bool smt;        /* false: one thread a core */
	const int *cpus; /* explicit list of OS CPU numbers; NULL: by policy */
	size_t n_cpus;
};

/*
 * Without smt, only the first allowed CPU of each core is used. With it, compact puts siblings next to each other and
 * scatter uses every core once before it uses any twice. An explicit list is taken as it is, in its order, whatever the
 * policy.
 */

/* How many threads `all` means under @o. */
size_t assay_placement_max(const struct assay_topology *t, const struct assay_placement_options *o);

/*
 * Choose @n OS CPU numbers for @n threads into @out. On hybrid machines the faster cores come first. ASSAY_EUSAGE when
 * @n is more than there are, or a listed CPU does not exist, is outside the cpuset (which is named), or is named twice.
 */
int assay_placement_pick(const struct assay_topology *t, const struct assay_placement_options *o, size_t n, int *out,
			 struct assay_err *err);

/*
 * Bind the calling thread to one CPU, read the binding back, and wait until it runs there. ASSAY_EUNAVAILABLE names
 * what refused.
 */
int assay_bind_thread(const struct assay_topology *t, int cpu, struct assay_err *err);
/* CPU the calling thread runs on now; -1 unknown. */
int assay_bind_current_cpu(void);
/* NUMA node (OS index) of @cpu, -1 unknown. */
int assay_topology_node_of_cpu(const struct assay_topology *t, int cpu);
/* Are two of @cpus hardware threads of the same core? */
bool assay_topology_share_a_core(const struct assay_topology *t, const int *cpus, size_t n);
/* Bind pages of [ptr, ptr+bytes) to the node of @cpu; 0 where there is one node only. Strict; touch them afterwards. */
int assay_bind_memory(const struct assay_topology *t, void *ptr, size_t bytes, int cpu, struct assay_err *err);

/* ---- gpu topology ---- */

/* Where the GPUs of a machine are, by hwloc: PCI address, the CPUs and memory beside each, and how two are joined. */

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
