/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One case inside its worker: plugins loaded, threads pinned, buffers made, the variant prepared. Serves the plugin
 * through struct assay_host. Knows nothing of the protocol.
 */
#ifndef ASSAY_WORKER_CASE_JOB_H
#define ASSAY_WORKER_CASE_JOB_H

#include <stdint.h>

#include "base/hash.h"
#include "counters/heap.h"
#include "machine/clock.h"
#include "machine/topology.h"
#include "model/metric.h"
#include "model/result.h"
#include "worker/case_memory.h"
#include "worker/plugin_loader.h"
#include "worker/protocol.h"
#include "worker/thread_pool.h"

#define ASSAY_JOB_METRICS ASSAY_PAGE_METRICS

struct assay_case_job {
	/* set by init, borrowed */
	const struct assay_worker_spec *spec;
	_Atomic uint32_t *phase;

	struct assay_topology *topology;
	struct assay_loader loader;
	const struct assay_op *op;
	const struct assay_variant *variant;    /* the driver for composite ops */
	const struct assay_variant *kernel;     /* composite ops only */
	const struct assay_loaded_plugin *code; /* where the timed code comes from */
	struct assay_pool *pool;
	int cpus[ASSAY_PAGE_CPUS];
	int numa_node;

	struct assay_host host;
	struct assay_shape shape;
	struct assay_problem problem;
	struct assay_arena arenas[ASSAY_MAX_TENSORS];
	struct assay_tensor *tensors;        /* copies × n_tensors, host memory */
	struct assay_tensor *device_tensors; /* the same on the device; NULL on the CPU */
	struct assay_job *jobs;              /* one a copy */
	uint64_t n_jobs, n_filled, n_prepared;
	struct assay_digest *input_digests; /* one a copy */
	uint64_t *counters;

	uintptr_t next_address; /* of the next arena in a fixed layout; 0: anywhere */

	const struct assay_device_ops *device;
	void *device_handle, *stream;

	struct assay_case_alloc *allocs; /* live host->alloc blocks */
	uint64_t tensor_bytes, alloc_bytes, alloc_peak_bytes;
	uint64_t prepare_ns, prepare_bytes, fill_bytes;
	char failure[256]; /* of host->fail; empty: none */

	struct assay_page_metric metrics[ASSAY_JOB_METRICS];
	unsigned n_metrics;
	char bad_metric[ASSAY_METRIC_TAG_MAX]; /* published but not declared, twice, or one too many */

	struct assay_heap_case heap; /* what the variant allocates */

	uint64_t next_copy; /* the rotation goes on from sample to sample */
};

/* What a step gave: OK, or a status with its reason. */
struct assay_outcome {
	enum assay_status status;
	char reason[512];
};

/* Everything up to a prepared variant. Release in either case. */
struct assay_outcome assay_case_job_init(struct assay_case_job *j, const struct assay_worker_spec *spec,
					 _Atomic uint32_t *phase);
void assay_case_job_release(struct assay_case_job *j);
/* The variant's part of that, which may come first: no runs after it. */
void assay_case_job_retire(struct assay_case_job *j);

/*
 * Call run() @iterations times over the rotating copies and give the time of all together. Everything between the two
 * clock reads is the loop and the calls.
 */
struct assay_outcome assay_case_job_time(struct assay_case_job *j, uint64_t iterations, uint64_t *ns);

/* Call run() once, untimed. Makes no system call of its own. */
struct assay_outcome assay_case_job_run(struct assay_case_job *j);

/*
 * Call run() once with the simulator counting, after @warm calls that fill its caches (0: they are empty), and all of
 * that twice: the simulator's file gets the dumps ASSAY_CALLGRIND_CHECK and ASSAY_CALLGRIND_RUN. FAILED outside of the
 * simulator.
 */
struct assay_outcome assay_case_job_count(struct assay_case_job *j, unsigned warm);
/* Where the next arena of @bytes has to lie. */
uintptr_t assay_case_job_place(struct assay_case_job *j, size_t bytes);

/* Fill the outputs of all copies with a pattern that no right answer has. */
struct assay_outcome assay_case_job_poison(struct assay_case_job *j);
/* Compare the outputs of copy @i with the oracle; digest (exact ops) and error are filled when right. */
struct assay_outcome assay_case_job_check(struct assay_case_job *j, uint64_t i, double *max_rel_err, char *digest);
/* Are canaries and inputs of all copies as they were? */
struct assay_outcome assay_case_job_intact(struct assay_case_job *j);
/* Let the op publish its metrics. */
struct assay_outcome assay_case_job_report(struct assay_case_job *j);
/* Digest of the outputs of copy @i as they lie in host memory, and their bytes equal to copy 0's? */
struct assay_outcome assay_case_job_fetch(struct assay_case_job *j, uint64_t i);
/* Put copy 0's outputs, laid end to end, from byte @from on into the window of @r, with what lies there. */
void assay_case_job_output(const struct assay_case_job *j, uint64_t from, struct assay_worker_reply *r);
void assay_case_job_digest(const struct assay_case_job *j, uint64_t i, char *digest);

#endif
