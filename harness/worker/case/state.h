/* SPDX-License-Identifier: Apache-2.0 */
/* One case inside its worker: what its parts share. Of the protocol it knows what a case is told in its page. */
#ifndef ASSAY_WORKER_CASE_STATE_H
#define ASSAY_WORKER_CASE_STATE_H

#include <stdint.h>

#include "base/hash.h"
#include "counters/gpu/counts.h"
#include "counters/heap/heap.h"
#include "counters/preloaded.h"
#include "counters/step/stepper.h"
#include "machine/clock.h"
#include "machine/topology.h"
#include "model/metric.h"
#include "model/result.h"
#include "worker/case/device_watch.h"
#include "worker/case/memory.h"
#include "worker/case/thread_pool.h"
#include "worker/case/thread_state.h"
#include "worker/plugin/loader.h"
#include "worker/protocol.h"

#define ASSAY_JOB_METRICS 64 /* of the op */

#define ASSAY_AUDIT_SPOTS 16

/* How inputs are changed between samples, see audit/audit.h. */
enum assay_audit_change {
	ASSAY_AUDIT_SAME,     /* not at all */
	ASSAY_AUDIT_REVERSE,  /* the elements of what the op lets vary, in reverse order */
	ASSAY_AUDIT_REFILL,   /* made anew from another seed */
	ASSAY_AUDIT_ELEMENTS, /* single elements: there are too many to make all anew */
};

/* An element of an output, and its bits for the first inputs and for the others. */
struct assay_audit_spot {
	uint32_t tensor;
	uint64_t element;
	uint64_t want[2];
};

struct assay_case_audit {
	struct assay_audit_spot spots[ASSAY_AUDIT_SPOTS];
	uint32_t n_spots; /* 0: nothing is audited */
	enum assay_audit_change change;
	struct assay_digest digest;           /* of the inputs that are not there */
	bool knows_other;                     /* the right answer for the other inputs */
	bool other;                           /* the other inputs are there */
	uint32_t changing[ASSAY_MAX_TENSORS]; /* inputs of which an element may take the value of another */
	uint32_t n_changing;
	uint64_t seed, draws;
	uint64_t copy; /* that was scrambled last */
	double sampled_ns, spent_ns;
	double other_ns; /* that checking the variant on the other inputs took */
};

/* The values that were observed of the op's histograms. */
struct assay_case_observed {
	const struct assay_metric_def *def[ASSAY_MAX_HISTOGRAMS];
	uint64_t *counted[ASSAY_MAX_HISTOGRAMS]; /* malloc'ed: buckets of values that count, then those of all others */
	uint32_t n;
	unsigned char place[ASSAY_JOB_METRICS]; /* of a metric among them, from 1; 0: it is no histogram */
	unsigned from;                          /* the first bucket of those that are counted in now */
	bool refused;                           /* a value, the first of which is: */
	uint32_t refused_metric;
	double refused_value;
};

/* The times of the same calls by the clock of a device and by that of the host's processor. */
struct assay_device_clock {
	uint64_t n_series; /* that were long enough to be compared */
	double most_share; /* that the device counted of what the host calculated */
	bool overrun;      /* enqueueing took too long once: series of `most_held` calls or more run unheld */
	uint64_t most_held;
};

/* Memory of the device in use, by everybody who uses it, at points of the case. */
struct assay_device_memory {
	bool known;
	uint64_t total;
	uint64_t before;   /* the buffers of the case */
	uint64_t buffers;  /* with them */
	uint64_t prepared; /* with what the variant prepared */
	uint64_t most;     /* at any of the points, those after calls among them */
};

/* An audit within a series of calls: it is asked before each call from number @from on, counted from 0. */
struct assay_call_hook {
	uint64_t from;
	void (*before)(void *arg, uint64_t copy); /* the copy that the call is for */
	void *arg;
};

/* Processor time that the worker's process used in all series of samples, see case/processor_time.c. */
struct assay_processor_time {
	uint64_t pool_ns;  /* of the pool's threads */
	int64_t beside_ns; /* of all other threads; below 0 by what the pool uses between two readings */
	uint64_t away_ns;  /* of the thread that waits for its turn */
	uint64_t away_wall_ns, turns;
	uint64_t pool_from_ns, process_from_ns; /* when the series began: the clocks of these */
	uint64_t left_wall_ns, left_ns;         /* likewise, when this side began to wait */
};

/* The structures of the harness that plugins are handed, away from its own state. */
struct assay_case_given {
	struct assay_host host;
	struct assay_host_info info;
	struct assay_shape shape;
	struct assay_variant kernel; /* composite ops only: a copy of the one they are run with */
};

struct assay_case_job {
	/* set by load and init, borrowed */
	const struct assay_worker_spec *spec;
	_Atomic uint32_t *phase;
	struct assay_pair_turn *turn;       /* of a pair; NULL: this worker has no partner */
	uint64_t n_series;                  /* of calls so far */
	struct assay_common_memory *common; /* of a pair whose tensors lie in `file`; NULL: they are private */
	struct assay_arena_file file;
	struct assay_arena_file own; /* for what variants take of huge pages; fd −1: there is none */

	const char *machine_text; /* set before load, borrowed: see assay_topology_open_told(); NULL: there is none */
	struct assay_topology *topology;
	struct assay_loader loader;
	const struct assay_op *op;
	const struct assay_variant *variant;    /* the driver for composite ops */
	const struct assay_variant *kernel;     /* composite ops only; handed out as a copy */
	const struct assay_loaded_plugin *code; /* where the timed code comes from */
	struct assay_pool *pool;
	int cpus[ASSAY_PAGE_CPUS];
	int numa_node;

	struct assay_case_given *given;
	struct assay_problem problem;
	struct assay_arena arenas[ASSAY_MAX_TENSORS];
	struct assay_tensor *tensors;        /* copies × n_tensors, host memory */
	struct assay_tensor *device_tensors; /* the same on the device; NULL on the CPU */
	struct assay_job *jobs;              /* one a copy */
	uint64_t n_jobs, n_filled, n_prepared;
	bool preparing_again;               /* copy 0, which was prepared before */
	void *op_state;                     /* of copy 0, for the inputs of the case */
	struct assay_digest *input_digests; /* one a copy */
	struct assay_accepted accepted;
	struct assay_deviation asked;     /* what the oracle said last */
	struct assay_deviation deviation; /* of all outputs that were checked */
	uint64_t *counters;

	uintptr_t next_address; /* of the next arena in a fixed or drawn layout; 0: of the first */
	uintptr_t next_pages;   /* of assay_layout_calloc() */

	const struct assay_device_ops *device; /* NULL: the case runs on the CPU */
	char device_name[ASSAY_DEVICE_MAX];    /* "cuda:0" */
	void *device_handle, *stream;
	struct assay_device_clock device_clock;
	struct assay_device_memory device_memory;
	struct assay_device_info device_info; /* zeros: it tells nothing of itself */
	struct assay_device_watch *watch; /* asks NVML for the state of the device; NULL: its plugin tells, or nobody */
	struct assay_gpu_levels levels;   /* what it found beside samples that count */
	double device_least_hz;           /* of its clock, beside samples that count; 0: unknown */
	bool device_unheld;               /* series of calls begin at once, see assay_case_device_time() */
	uint64_t device_made_bytes;       /* of inputs that the device made itself */
	uint64_t device_bytes;            /* that the tensors of all copies take there */

	struct assay_case_alloc *allocs; /* live host->alloc blocks */
	struct assay_alloc_pool pool_of_allocs;
	uint64_t tensor_bytes, input_bytes, alloc_bytes, alloc_peak_bytes;
	uint64_t prepare_ns, prepare_bytes, fill_bytes;
	uint64_t first_ns, first_bytes; /* of preparing, the first copy */
	char failure[256];              /* of host->fail; empty: none */
	uint64_t n_fallbacks;
	char fallback[256]; /* why the first one was */

	struct assay_page_metric metrics[ASSAY_PAGE_METRICS];
	unsigned n_metrics;
	char bad_metric[ASSAY_METRIC_TAG_MAX]; /* published but not declared, twice, or one too many */
	struct assay_case_observed observed;

	struct assay_heap_case heap;          /* what the variant allocates */
	const struct assay_threads *recorder; /* of what threads do; NULL: nothing is recorded */
	struct assay_case_audit audit;
	struct assay_worker_state state;
	struct assay_processor_time processor;

	uint64_t next_copy;           /* the rotation goes on from sample to sample */
	uint64_t check_from, check_n; /* the copies that checks look at: so many from that one on, in a ring */

	const struct assay_call_hook *hook; /* of the next series; NULL: it is a sample, or no call of it is audited */
	uint64_t begun;                     /* of the running sample, in ticks of the clock */
	uint64_t part;                      /* parts that the running call has had, see assay_part() */
	uint64_t call_parts;                /* of the last whole call; 0: unknown, or there are none */
	void (*on_part)(void *arg);         /* after each; NULL: nothing happens */
	void *on_part_arg;
};

/* The outcome of a step: OK, or a status with its reason. */
struct assay_outcome {
	enum assay_status status;
	char reason[512];
};

struct assay_outcome assay_outcome_ok(void);
struct assay_outcome assay_outcome_set(enum assay_status status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* A callback returned an error: "@what of 'op/variant' failed: " and what it gave to host->fail. */
struct assay_outcome assay_case_job_failed(const struct assay_case_job *j, const char *what);

/* A series of calls begins with ASSAY_PHASE_RUN, whatever it is for; what plugins can see is the same for all kinds. */
void assay_case_job_phase(struct assay_case_job *j, enum assay_phase phase);
/* FAILED where @who changed the state of a thread, see case/thread_state.h. */
struct assay_outcome assay_case_job_unchanged(struct assay_case_job *j, const char *who);
/* Let a copy's job point to the host's tensors, or to the device's where the variant runs on one. */
void assay_case_job_aim(struct assay_case_job *j, uint64_t copy, bool at_device);
/* Where the next arena has to lie: in a fixed layout behind those before it, otherwise anywhere (0). */
uintptr_t assay_case_job_place(const struct assay_case_job *j);
/* Where the next arena should lie in a drawn layout, which the sides of a pair have in common; 0: anywhere. */
uintptr_t assay_case_job_near(const struct assay_case_job *j);
/* @a lies there. */
void assay_case_job_placed(struct assay_case_job *j, const struct assay_arena *a);

/* ---- services ---- */

/* The services behind struct assay_host. */

void assay_case_services_init(struct assay_case_job *j);
/* Free what plugins left behind of host->alloc. */
void assay_case_services_release(struct assay_case_job *j);
/* Time that plugins are not to see: their clock stands still meanwhile. */
void assay_case_services_leave_out(uint64_t ticks);
/* From here on regions and barriers belong to a call that @s follows; NULL: no more. */
void assay_case_services_step(struct assay_stepper *s);

/*
 * State that an op keeps between calls, such as a ring of its latest times, decides which lines the next call touches.
 * So calls whose counts are compared begin with the same: keep() copies op_state where it is a block of host->alloc,
 * restore() writes it back and frees the copy. 0 or ASSAY_ENOMEM.
 */
struct assay_kept_state {
	void *state, *copy;
	uint64_t bytes;
};
int assay_case_services_keep(struct assay_case_job *j, struct assay_kept_state *out);
void assay_case_services_restore(const struct assay_case_job *j, struct assay_kept_state *k);

/* Did nobody write outside of what was allocated? Otherwise *where gets the first byte, of a buffer of *bytes. */
bool assay_case_services_intact(const struct assay_case_job *j, int64_t *where, size_t *bytes);

#endif
