/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public ABI between the assay harness and the code it measures. A plugin is a shared object that exports one
 * const data symbol, `assay_plugin_v1`; the harness reads its header from the file before any code of the plugin runs.
 *
 * Rules of evolution. This is version 1.0. Within one major version structures only grow at their end. Those that are
 * allocated by one side and read by the other carry their own size or travel with a stride, which is how a later minor
 * version would add members: the harness reads what both know. Those that lie inside others (tensors, their specs,
 * costs) have reserved room instead, and struct assay_reason never changes. A change that cannot be made that way is a
 * new major version and a new symbol name.
 *
 * Strings are UTF-8, static, and owned by whoever made them. No function here may throw or longjmp across the border.
 */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <stdint.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSAY_PLUGIN_MAGIC 0x59415341u /* "ASAY" in a little-endian file */
#define ASSAY_ABI_MAJOR    1
#define ASSAY_ABI_MINOR    0

#define ASSAY_MAX_TENSORS  32
#define ASSAY_MAX_AXES     8
#define ASSAY_MAX_RANK     4
#define ASSAY_MAX_COUNTERS 64

#if defined(__GNUC__)
#define ASSAY_EXPORT            __attribute__((visibility("default")))
#define ASSAY_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define ASSAY_EXPORT
#define ASSAY_PRINTF(fmt, args)
#endif

/* ---- what an op declares ---------------------------------------------------------------------------------------- */

enum assay_dtype {
	ASSAY_U8 = 1,
	ASSAY_I8 = 2,
	ASSAY_I32 = 3,
	ASSAY_I64 = 4,
	ASSAY_F32 = 5,
	ASSAY_F64 = 6,
	ASSAY_F16 = 7,
	ASSAY_BF16 = 8,
	ASSAY_U32 = 9,
};

enum assay_role {
	ASSAY_INPUT = 1,   /* filled by the op; the harness checks that no variant changes it */
	ASSAY_OUTPUT = 2,  /* written by the variant; poisoned by the harness before it is checked */
	ASSAY_SCRATCH = 3, /* means nothing to the harness; in a comparison the other side writes there, too */
};

/* Which arithmetic a case does: it is held against the best op of the run that measures its peak. */
enum assay_arith {
	ASSAY_ARITH_NONE = 0,
	ASSAY_ARITH_F32 = 1,
	ASSAY_ARITH_I8 = 2,
	ASSAY_ARITH_TERNARY = 3, /* codes 0, 1, 2 by 8-bit integers */
};

/*
 * What an op measures of the machine itself. Other cases are held against the best of such an op that the same run
 * measured with as many threads: their bytes against reading and copying at the level where their data lies, their
 * operations against the peak of their arithmetic.
 */
enum assay_measures {
	ASSAY_MEASURES_NOTHING = 0, /* an op like any other */
	ASSAY_MEASURES_OTHER = 1,   /* a limit that no case is held against */
	ASSAY_MEASURES_READ = 2,    /* bandwidth of reading; its first axis has the values l1, l2, l3 and dram */
	ASSAY_MEASURES_COPY = 3,    /* bandwidth of copying, reads and writes together; the same axis */
	ASSAY_MEASURES_PEAK = 4,    /* operations a second of the arithmetic that its cost names */
};

enum assay_device_kind {
	ASSAY_DEVICE_CPU = 0,
	ASSAY_DEVICE_CUDA = 1,
	ASSAY_DEVICE_OTHER = 2, /* any further kind; named by assay_device_ops.name */
};

/* Text that says why not: one line, lower case, no full stop. */
struct assay_reason {
	char text[256];
};

/* One axis of an op, bound by bench files as `name=value`. */
struct assay_axis {
	const char *name;           /* lower case letters, digits and '_' */
	const char *help;           /* one line with the unit */
	const char *const *symbols; /* NULL: a whole number; else a NULL-terminated list, and the value is an index */
	int64_t min, max;           /* bounds of a whole number, both included */
	int64_t def;                /* value where the bench names none; INT64_MIN: it must be named */
};

/* What an op may know of the host when it sizes itself. `size` is sizeof of the harness's own version of the struct. */
struct assay_host_info {
	uint32_t size;
	uint32_t n_cores;      /* physical cores the run may use */
	uint64_t l1d_bytes;    /* per core; 0 where unknown */
	uint64_t l2_bytes;     /* per core, or per cluster where cores share it */
	uint64_t llc_bytes;    /* one instance of the last-level cache */
	uint64_t memory_bytes; /* total of the machine, or of its container */
	uint32_t vector_bits;  /* the widest vectors that an op's own code may use; 0: those of the CPU */
	uint32_t reserved;
};

/* A fully bound shape: axis[i] is the value of the op's axes[i]. */
struct assay_shape {
	uint32_t size;
	uint32_t n_threads;
	const struct assay_host_info *host;
	int64_t axis[ASSAY_MAX_AXES];
};

enum assay_tensor_flags {
	/*
	 * An input that may differ from call to call, such as activations: no variant keeps anything of it
	 * in prepare(), each element may take the value of any other, and check() reads it. The harness changes it
	 * between samples, and so finds variants that keep answers.
	 */
	ASSAY_TENSOR_VARIES = 1u << 0,
};

/*
 * How fill() makes an input: Philox block b of stream `filled_stream`, for the job's seed, gives the
 * elements from 4 b on, or 16 bytes of codes. inputs.h says it in code. A device may then make it in its own memory.
 */
enum assay_filled {
	ASSAY_FILLED_BY_OP = 0,           /* only the op knows */
	ASSAY_FILLED_TERNARY = 1,         /* two-bit codes, each the sum of two bits of the words */
	ASSAY_FILLED_NORMAL_F32 = 2,      /* filled_scale · assay_normal_f32() of each word */
	ASSAY_FILLED_NORMAL_BF16 = 3,     /* the same, rounded to nearest, ties to even */
	ASSAY_FILLED_TERNARY_MATRIX = 4,  /* as TERNARY, but for two rows of equal codes */
	ASSAY_FILLED_INT8_TOKENS = 5,     /* −127 … 127, but for two tokens of equal values */
	ASSAY_FILLED_PAGES_F32 = 6,       /* 0 … 1, an arithmetic progression a page */
	ASSAY_FILLED_QUANTIZE_BLOCKS = 7, /* floats for blocks with a scale; some are hard to quantize */
	ASSAY_FILLED_QUANTIZE_TOKENS = 8, /* floats for tokens with a scale, likewise */
	ASSAY_FILLED_QUANTIZE_I2_S = 9,   /* floats whose mean magnitude is exact */
	ASSAY_FILLED_TERNARY_BYTES = 10,  /* two-bit codes without 3 */
	ASSAY_FILLED_BYTES = 11,          /* the words as they are */
	ASSAY_FILLED_Q8_0 = 12,           /* blocks of op_quantize.h; some scales are hard */
	ASSAY_FILLED_TQ2_0 = 13,          /* likewise */
	ASSAY_FILLED_TOKEN_SCALES = 14,   /* a float a token, likewise */
	ASSAY_FILLED_LAST = ASSAY_FILLED_TOKEN_SCALES,
};

struct assay_tensor_spec {
	const char *name;
	uint32_t role;  /* enum assay_role */
	uint32_t dtype; /* enum assay_dtype */
	uint32_t rank;
	uint32_t flags;               /* enum assay_tensor_flags */
	int64_t dims[ASSAY_MAX_RANK]; /* outermost first, elements; row-major */
	uint32_t filled;              /* enum assay_filled */
	uint32_t filled_stream;
	float filled_scale;
	uint32_t reserved_word; /* 0 */
	uint64_t reserved[2];   /* 0 */
};

/* The work of one call of run(): what any correct variant has to do at least. */
struct assay_cost {
	double ops;        /* arithmetic operations; a multiply-add counts two */
	double bytes_read; /* compulsory bytes, each counted once */
	double bytes_written;
	double items;          /* what users count: elements, tokens; 0: nothing */
	const char *item_name; /* "elements", "tokens"; NULL with items = 0 */
	uint32_t arith;        /* enum assay_arith */
	uint32_t reserved;
	double reserved_costs[4]; /* 0 */
};

/* Filled by assay_op.describe. All sizes follow from here, so the harness knows the memory of a case beforehand. */
struct assay_problem {
	uint32_t size;
	uint32_t n_tensors;
	struct assay_tensor_spec tensors[ASSAY_MAX_TENSORS];
	struct assay_cost cost;
	uint64_t extra_bytes; /* what the op will take with host->alloc in one copy, at most */
};

struct assay_tensor {
	/* Host memory for ops, memory of the job's device for variants. 64-byte aligned unless offset on purpose. */
	void *data;
	uint64_t bytes;
	const struct assay_tensor_spec *spec;
	uint64_t reserved[3];
};

/*
 * Values on which a correct kernel of others may give another answer than the op defines: a kernel that
 * does no more than deviate on them is measured, and a policy may refuse it (require_edges).
 */
enum assay_edge {
	ASSAY_EDGE_NAN = 1u << 0,
	ASSAY_EDGE_INFINITY = 1u << 1,  /* infinite inputs, or results beyond what their type holds */
	ASSAY_EDGE_SUBNORMAL = 1u << 2, /* subnormal numbers, and reciprocals that overflow because of them */
	ASSAY_EDGE_TIE = 1u << 3,       /* as near to two answers as rounding can tell, and the other one was given */
	ASSAY_EDGES = 0xf,
};

/* Verdict of assay_op.check over one set of outputs. `correct` tells of all ordinary values. */
struct assay_check {
	uint32_t size;
	int32_t correct;            /* 1 right, 0 wrong */
	double max_rel_err;         /* floating-point ops: worst error against double precision; < 0: does not apply */
	int64_t first_bad;          /* flat index of the first differing element, or -1 */
	const char *tensor;         /* the output in which it lies, or NULL */
	struct assay_reason reason; /* when wrong: "got 3, want 4" and the like */

	uint32_t deviates; /* when correct: enum assay_edge, where the outputs are other ones than the op defines */
	uint32_t reserved; /* 0 */
	struct assay_reason deviation; /* of the first one */
};

enum assay_metric_kind {
	ASSAY_METRIC_GAUGE = 0, /* one value, published by report() with host->metric */
	/*
	 * Many values, such as the latency of each token, counted with assay_observe(). Their quantiles and their
	 * number become metrics: tpot_p50_s, tpot_p90_s, tpot_p99_s and tpot_count of "tpot_s".
	 */
	ASSAY_METRIC_HISTOGRAM = 1,
};

/* A metric an op publishes itself. Generic ones (time, operations and bytes per second) come from the cost. */
struct assay_metric_def {
	const char *tag;  /* "tokens_per_s": lower case with '_', unique in the harness */
	const char *unit; /* "1/s", "s", "B", "1" (a ratio); SI base units, scaled only for people */
	const char *help; /* one line */
	int32_t better;   /* +1 higher, -1 lower, 0 neither */
	uint32_t kind;    /* enum assay_metric_kind; at most 8 of an op are histograms */
	/* Allowed range, both included; outside it the value is an error, never a number. A histogram's lo is >= 0. */
	double lo, hi;
};

/* ---- one prepared problem, as plugins see it -------------------------------------------------------------------- */

struct assay_job;
typedef void (*assay_parallel_fn)(void *arg, uint32_t tid, uint32_t n_threads);

/*
 * Services of the harness. Callable from the thread that called the plugin; `barrier` from inside a parallel region.
 * A plugin calls a member only if `size` covers it.
 */
struct assay_host {
	uint32_t size;
	uint16_t abi_major, abi_minor;

	/*
	 * Run fn(arg, tid, n) on the job's n pinned threads, tid 0 being the caller; returns when all have. No nesting.
	 */
	void (*parallel)(const struct assay_job *job, assay_parallel_fn fn, void *arg);
	/* Wait for all threads of the running parallel region. */
	void (*barrier)(const struct assay_job *job);

	/*
	 * Zeroed, 64-byte aligned, pre-faulted memory on the job's NUMA node; counted as the op's. NULL when over the
	 * limit.
	 */
	void *(*alloc)(const struct assay_job *job, uint64_t bytes);
	void (*release)(const struct assay_job *job, void *ptr);

	/* Record why the current callback fails; returns -1, so that `return host->fail(job, ...)` reads well. */
	int (*fail)(const struct assay_job *job, const char *fmt, ...) ASSAY_PRINTF(2, 3);

	/* Publish one of the op's own metrics, from report() only. */
	void (*metric)(const struct assay_job *job, const char *tag, double value);

	/* The clock that times the samples, ns from an arbitrary start. */
	uint64_t (*now_ns)(void);

	/* See assay_part(). */
	void (*part)(const struct assay_job *job);

	/*
	 * A variant of a device does on the CPU what it should do there, and says why: "no kernel for
	 * odd n". It is counted, and the case fails: a number of the CPU never stands under the name of a device.
	 */
	void (*fallback)(const struct assay_job *job, const char *why);

	/* See assay_span(). NULL: nobody asks for spans. */
	void (*span)(const struct assay_job *job, const char *name);

	/* See assay_observe(). */
	void (*observe)(const struct assay_job *job, uint32_t metric, double value);
};

/*
 * The harness makes one job a copy of the inputs (cold cases rotate over several). Plugins write only `op_state`,
 * `state`, the outputs and scratch, and what `counters` points to.
 */
struct assay_job {
	uint32_t size;
	uint32_t n_tensors;
	const struct assay_host *host;
	void *host_private;
	const struct assay_shape *shape;
	struct assay_tensor *tensors;
	uint64_t seed;
	uint32_t n_threads;
	uint32_t device_kind;               /* enum assay_device_kind */
	void *device;                       /* handle of assay_device_ops.open, NULL on the CPU */
	void *stream;                       /* device stream to enqueue on, NULL on the CPU */
	void *op_state;                     /* the op's */
	void *state;                        /* the variant's */
	const struct assay_variant *kernel; /* composite ops: the variant of assay_op.composes that runs inside */
	/* ASSAY_MAX_COUNTERS cells, the first ones those of assay_op.counters. All copies of the case share them. */
	uint64_t *counters;
};

/*
 * Add to a counter the op declared; costs one relaxed add and may be called by any thread of the job. What a variant
 * adds to a cell below ASSAY_MAX_COUNTERS that its op does not declare is not read.
 */
static inline void assay_counter(const struct assay_job *job, uint32_t index, uint64_t delta)
{
	__atomic_fetch_add(&job->counters[index], delta, __ATOMIC_RELAXED);
}

/*
 * Count @value in the histogram that the op declares as metrics[@metric]; costs a call and a relaxed add, and may be
 * called by any thread of the job. Only values of samples count, not those of warm-up and checks; where instructions
 * are counted, none do. The case fails where a value is out of its range or no number, or the metric is no histogram.
 */
static inline void assay_observe(const struct assay_job *job, uint32_t metric, double value)
{
	job->host->observe(job, metric, value);
}

/*
 * A part of the timed call is over, such as a token. To be called by long ops, from the thread that called run() and
 * outside of parallel(): a comparison compares part by part, and may let the other build go on here, since a machine
 * changes less in a millisecond than in a second. now_ns() stands still meanwhile. Every call has equally many parts,
 * of about the same length.
 */
static inline void assay_part(const struct assay_job *job)
{
	if (job->host->size > offsetof(struct assay_host, part))
		job->host->part(job);
}

/*
 * Until assay_span_end(), the calling thread does @name, such as "attention", for `assay profile trace`. Spans nest,
 * and end on the thread that began them. Where no trace is taken, this costs two reads and a branch.
 */
static inline void assay_span(const struct assay_job *job, const char *name)
{
	if (job->host->size > offsetof(struct assay_host, span) && job->host->span)
		job->host->span(job, name);
}

static inline void assay_span_end(const struct assay_job *job)
{
	assay_span(job, NULL);
}

/* ---- variants --------------------------------------------------------------------------------------------------- */

enum assay_variant_flags {
	ASSAY_VARIANT_ONE_THREAD = 1u << 0, /* cannot use more than one thread */
	ASSAY_VARIANT_REFERENCE = 1u << 1,  /* the plain solution that others are compared with */
};

/* One solution of an op. Callbacks return 0, or a negative number after host->fail. */
struct assay_variant {
	const char *op;
	const char *name;     /* lower case letters, digits and '_'; unique within the op */
	const char *help;     /* one line: the idea */
	const char *needs;    /* CPU features as in /proc/cpuinfo, comma separated ("avx2,fma"); NULL: none */
	uint32_t device_kind; /* where it runs, enum assay_device_kind */
	uint32_t flags;       /* enum assay_variant_flags */

	/*
	 * May this shape be run at all? NULL: always. Negative with the reason: the case is skipped. No side effects.
	 */
	int (*supports)(const struct assay_shape *shape, struct assay_reason *why);
	/*
	 * Outside the timed region, once a copy: repack weights, compile, allocate. NULL: nothing to prepare. Neither
	 * this nor run() leaves a thread with other rounding, flush modes or affinity: such a case fails.
	 */
	int (*prepare)(struct assay_job *job);
	/*
	 * The timed call: read inputs, write all outputs. On a device: enqueue on job->stream and return. A comparison
	 * may stop it anywhere for a while, all threads of the pool, by SIGURG; what it sleeps in may return EINTR.
	 */
	int (*run)(struct assay_job *job);
	/* Undo prepare. NULL: nothing to undo. */
	void (*release)(struct assay_job *job);

	/*
	 * Bytes that a call reads, where prepare() has packed inputs into more or fewer than the op's cost
	 * says: the case is held against the time that these take, and a cold one rotates over as many. NULL: as the
	 * op says.
	 */
	double (*bytes_read)(const struct assay_shape *shape);
};

/* ---- ops -------------------------------------------------------------------------------------------------------- */

enum assay_op_flags {
	ASSAY_OP_EXACT = 1u << 0, /* outputs are bit-identical for every variant, thread count and device */
	/*
	 * Keys do not name the last axis where it has its default, which is 0: how much work a call does (0 is as much
	 * as times need, counts of every instruction take less), or a choice that keys without it have made already.
	 */
	ASSAY_OP_WORK_AXIS = 1u << 1,
	/*
	 * The first axis is called `model`, a whole number with the default 0: the file of a model. Its value is the
	 * number, from 1 on, of a file in the list of paths that the environment variable ASSAY_MODEL has, separated by
	 * ':'; 0: none is named. Keys have the name of the file.
	 */
	ASSAY_OP_MODEL_AXIS = 1u << 2,
};

/* A prompt that an op which generates tokens is to continue. */
struct assay_prompt {
	uint32_t size;
	uint32_t reserved;
	const int32_t *tokens;
	int64_t n_tokens;
	int64_t n_wanted; /* tokens to generate */
	/* Called with each of them as soon as it is known, from the thread that called respond(). */
	void (*emit)(void *arg, int32_t token);
	void *arg;
	int64_t n_known; /* written: tokens of the prompt whose keys and values an earlier one had left */
	/* Read after each token: not 0 once no more are wanted, so that the answer may end before n_wanted. */
	const uint32_t *enough;
};

/* A problem. Callbacks return 0, or a negative number after host->fail. */
struct assay_op {
	const char *name; /* "matmul.ternary": family, dot, problem */
	const char *help;
	const struct assay_axis *axes;
	uint32_t n_axes;
	uint32_t axis_stride; /* sizeof(struct assay_axis) when the plugin was compiled */
	uint32_t flags;       /* enum assay_op_flags */
	uint32_t n_metrics;
	const struct assay_metric_def *metrics;
	uint32_t metric_stride;
	uint32_t n_counters;
	const char *const *counters; /* names, at most ASSAY_MAX_COUNTERS; cells are reached with assay_counter() */

	/*
	 * Composite ops solve their problem with another op's variants (a transformer runs on matmul.ternary). Each
	 * variant of `composes` becomes a variant of this op under the same name, run by `driver`, which finds it in
	 * job->kernel. NULL for all others. Only variants of the CPU are composed; a variant of a device
	 * may name a composite op itself, and does the whole of it.
	 */
	const char *composes;
	const struct assay_variant *driver;

	/* Sizes, cost and validity of a shape. Cheap and pure: `assay list` calls it for every case. */
	int (*describe)(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why);
	/*
	 * Make the inputs from job->seed (host memory): the same bits on any number of threads. In a comparison
	 * the other process may have made them; then it is not called, unless it leaves more than tensors
	 * (op_state, memory).
	 */
	int (*fill)(struct assay_job *job);
	/* Compare the outputs of the last run() with the right answer, computed by other means than any variant. */
	int (*check)(struct assay_job *job, struct assay_check *out);
	/* Publish own metrics after the last sample; called on the first copy. NULL: none. */
	int (*report)(struct assay_job *job);
	/* Free op_state. NULL: none. */
	void (*release)(struct assay_job *job);

	uint32_t measures; /* enum assay_measures; a plugin with any other value is refused */
	uint32_t reserved; /* 0 */

	/*
	 * Continue a prompt, of which many may follow each other, in place of run() and outside of any measurement. A
	 * positive number after host->fail: this prompt cannot be continued, but others can. NULL: the op does not
	 * generate tokens.
	 */
	int (*respond)(struct assay_job *job, struct assay_prompt *p);
};

/* ---- devices ---------------------------------------------------------------------------------------------------- */

/* Whether something is on, where it may be unknown. */
enum assay_device_mode {
	ASSAY_MODE_UNKNOWN = 0,
	ASSAY_MODE_OFF = 1,
	ASSAY_MODE_ON = 2,
};

/*
 * One device, as its machine's fingerprint has it; what changes by itself is in struct assay_device_state. Zero is
 * "unknown" in every member. The caller clears it and sets `size` to its own sizeof; the plugin writes no member beyond
 * that.
 */
struct assay_device_info {
	uint32_t size;
	uint32_t compute_units; /* streaming multiprocessors */
	char name[96];          /* "NVIDIA H200" */
	char uuid[48];          /* of this very piece: "GPU-…", "MIG-…" */
	char pci[32];           /* "0000:3b:00.0" */
	char arch[32];          /* compute capability: "sm_90" */
	char driver[48];        /* "570.86.15 (CUDA 12.8)" */
	char runtime[48];       /* that the plugin was built with: "CUDA 12.4" */
	uint64_t memory_bytes;
	uint64_t l2_bytes;
	uint64_t core_hz_max; /* highest clock of the streaming multiprocessors */
	uint64_t memory_hz_max;
	uint32_t memory_bits;                 /* width of the memory's bus */
	uint32_t ecc, mig;                    /* enum assay_device_mode */
	uint32_t pcie_generation, pcie_lanes; /* of the link at its best: an idle one may be slower */
	uint32_t reserved[7];
};

/* Why a device holds its clocks down. */
enum assay_device_throttle {
	ASSAY_THROTTLE_POWER = 1u << 0,   /* a limit of power */
	ASSAY_THROTTLE_THERMAL = 1u << 1, /* it is too hot */
	ASSAY_THROTTLE_BRAKE = 1u << 2,   /* hardware pulls the clocks down: power brake, failing supply */
	ASSAY_THROTTLE_OTHER = 1u << 3,
};

/* How a device is at this moment. Cleared by the caller, `size` as above. */
struct assay_device_state {
	uint32_t size;
	uint32_t throttle; /* enum assay_device_throttle */
	uint64_t core_hz, memory_hz;
	double celsius, watts;
	uint64_t reserved[4];
};

/* What a failure means for what comes after it. */
enum assay_device_fault {
	ASSAY_FAULT_NONE = 0,   /* the device works, nothing failed */
	ASSAY_FAULT_MEMORY = 1, /* out of device memory; all else works on */
	ASSAY_FAULT_STICKY = 2, /* a kernel faulted: nothing works in this process any more, in another one it does */
	ASSAY_FAULT_LOST = 3,   /* the device is gone, for every process */
	ASSAY_FAULT_OTHER = 4,
};

/*
 * A kind of device, exported by the plugin that brings it. Return 0 or a negative number with the reason. Transfers are
 * synchronous for the caller. Time is taken by the device's own events on the stream that the variant enqueued on.
 */
struct assay_device_ops {
	const char *name;     /* "cuda" */
	uint32_t device_kind; /* enum assay_device_kind */
	uint32_t reserved;
	int (*count)(struct assay_reason *why); /* devices usable now; 0 or negative with the reason */
	int (*open)(int ordinal, void **device, struct assay_reason *why);
	void (*close)(void *device);
	int (*describe)(void *device, char *text, size_t size); /* model, memory, driver: one line */
	int (*alloc)(void *device, uint64_t bytes, void **ptr, struct assay_reason *why);
	void (*release)(void *device, void *ptr);
	int (*upload)(void *device, void *dst, const void *src, uint64_t bytes, struct assay_reason *why);
	int (*download)(void *device, void *dst, const void *src, uint64_t bytes, struct assay_reason *why);
	int (*stream_open)(void *device, void **stream, struct assay_reason *why);
	void (*stream_close)(void *device, void *stream);
	int (*timer_start)(void *device, void *stream);
	int (*timer_stop)(void *device, void *stream);
	int (*timer_read_ns)(void *device, void *stream, uint64_t *ns,
			     struct assay_reason *why); /* waits for the stream */

	/*
	 * Each may be NULL, and what needs it is then unknown or left out. The first one takes an ordinal,
	 * so that devices can be listed without the memory and the time that opening them takes.
	 */
	int (*info)(int ordinal, struct assay_device_info *info, struct assay_reason *why);
	int (*memory)(void *device, uint64_t *free_bytes, uint64_t *total_bytes, struct assay_reason *why);
	/* The enum assay_device_fault of what failed last with @device, which may be NULL: open() failed. */
	uint32_t (*fault)(void *device, struct assay_reason *why);
	/* Host memory that the device reaches by itself, for transfers at full speed. */
	int (*pin_alloc)(void *device, uint64_t bytes, void **ptr, struct assay_reason *why);
	void (*pin_release)(void *device, void *ptr);
	/* Set every byte of device memory to @value; synchronous, as transfers are. */
	int (*fill)(void *device, void *dst, uint8_t value, uint64_t bytes, struct assay_reason *why);
	/* Clocks and what holds them down; called between samples only. NULL: NVML is asked, by `pci` of the info. */
	int (*state)(void *device, struct assay_device_state *state, struct assay_reason *why);
	/* Enqueue a kernel that does nothing. Its time, the wait for it included, is the launch latency. */
	int (*launch)(void *device, void *stream, struct assay_reason *why);
	/* Wait until all that was enqueued is done. */
	int (*wait)(void *device, void *stream, struct assay_reason *why);
	/*
	 * Keep the stream from beginning what is enqueued next, until let_go() or until @most_ns have passed on the
	 * device's own clock: then kernels that are enqueued meanwhile follow each other without the host. Without the
	 * second, a host that waits for room in a full stream would wait for ever.
	 */
	int (*hold)(void *device, void *stream, uint64_t most_ns, struct assay_reason *why);
	int (*let_go)(void *device, void *stream);

	/*
	 * May be NULL. Make an input in device memory as its spec says that it is filled, with the bits that
	 * fill() makes on the host; synchronous. Positive: not in this way, and the input is uploaded.
	 */
	int (*make)(void *device, void *dst, uint64_t bytes, const struct assay_tensor_spec *spec, uint64_t seed,
		    struct assay_reason *why);
};

/* ---- the one exported symbol ------------------------------------------------------------------------------------ */

/* C++ takes designators only in the order of members, so there the strides, which come last, have a default. */
#ifdef __cplusplus
#define ASSAY_STRIDE(name, of) name = sizeof(struct of)
#else
#define ASSAY_STRIDE(name, of) name
#endif

/* The first 16 bytes never change in any version: they are read from the file before it is loaded. */
struct assay_plugin {
	uint32_t magic;
	uint16_t abi_major, abi_minor; /* ASSAY_ABI_MAJOR, ASSAY_ABI_MINOR at compile time */
	uint32_t size;                 /* sizeof(struct assay_plugin) */
	uint32_t reserved;

	const char *name;    /* lower case letters, digits, '_' and '-' */
	const char *version; /* free text, shown to people */
	const struct assay_op *ops;
	const struct assay_variant *variants;
	const struct assay_device_ops *devices;
	uint32_t n_ops, n_variants, n_devices;
	/* sizeof at compile time */
	uint32_t ASSAY_STRIDE(op_stride, assay_op), ASSAY_STRIDE(variant_stride, assay_variant),
		ASSAY_STRIDE(device_stride, assay_device_ops);
};

/*
 * Opens the definition of the exported descriptor; the macro fills the header: ASSAY_PLUGIN = { ASSAY_PLUGIN_HEADER,
 * .name = … };
 */
#ifdef __cplusplus
#define ASSAY_PLUGIN                                                                                                   \
	extern "C" ASSAY_EXPORT const struct assay_plugin assay_plugin_v1;                                             \
	extern "C" ASSAY_EXPORT const struct assay_plugin assay_plugin_v1
#define ASSAY_PLUGIN_STRIDES
#else
#define ASSAY_PLUGIN                                                                                                   \
	ASSAY_EXPORT extern const struct assay_plugin assay_plugin_v1;                                                 \
	ASSAY_EXPORT const struct assay_plugin assay_plugin_v1
#define ASSAY_PLUGIN_STRIDES                                                                                           \
	, .op_stride = sizeof(struct assay_op), .variant_stride = sizeof(struct assay_variant),                        \
	  .device_stride = sizeof(struct assay_device_ops)
#endif
#define ASSAY_PLUGIN_SYMBOL "assay_plugin_v1"
#define ASSAY_PLUGIN_HEADER                                                                                            \
	.magic = ASSAY_PLUGIN_MAGIC, .abi_major = ASSAY_ABI_MAJOR, .abi_minor = ASSAY_ABI_MINOR,                       \
	.size = sizeof(struct assay_plugin) ASSAY_PLUGIN_STRIDES

#ifdef __cplusplus
}
#endif
#endif
