/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: where the time or memory of a case or program went, and how the profile was taken. */
#ifndef ASSAY_MODEL_PROFILE_H
#define ASSAY_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "model/result.h"
#include "model/trace.h"
#include "stats/distributions.h"

/* ---- stack table ---- */

/* Distinct call stacks with weights, and the frames that they are made of. Must not know where they come from. */

enum assay_frame_kind {
	ASSAY_FRAME_CODE,
	ASSAY_FRAME_INLINED, /* code that the compiler put into the frame above it */
	ASSAY_FRAME_LABEL,   /* no code: what the harness knows, such as the case, its phase, the thread */
};

/* Texts are "" and numbers 0 where something is not known. */
struct assay_frame {
	enum assay_frame_kind kind;
	const char *name;   /* of the function, as its symbol says; of a label its text */
	const char *object; /* name of the program or library, without folders */
	const char *file;   /* of the source, without folders */
	unsigned line;      /* that runs, or that holds the call */
	uint64_t offset;    /* of the instruction, as the object's disassembly has it; only where stacks end */
};

struct assay_stack {
	size_t first; /* of its frames, in `order` */
	uint32_t n;
	uint64_t weight;
};

/* All-zero is empty. Texts of frames are owned. */
struct assay_stack_table {
	struct assay_frame *frames;
	size_t n_frames;
	struct assay_stack *stacks;
	size_t n_stacks;
	uint32_t *order; /* frames of all stacks, each from the outermost to the innermost */
	size_t n_order, cap_order;
	uint64_t weight; /* of all stacks */
	struct assay_name_index frame_index, stack_index;
};

/* The number of a frame like @f, which is added where there is none. */
int assay_stack_table_frame(struct assay_stack_table *t, const struct assay_frame *f, uint32_t *out,
			    struct assay_err *err);
/* The number of the stack of these @n frames, the outermost first, which is added with weight 0 where there is none. */
int assay_stack_table_put(struct assay_stack_table *t, const uint32_t *frames, uint32_t n, size_t *at,
			  struct assay_err *err);
/* Add @weight to the stack of these @n frames, the outermost first. */
int assay_stack_table_add(struct assay_stack_table *t, const uint32_t *frames, uint32_t n, uint64_t weight,
			  struct assay_err *err);
void assay_stack_table_release(struct assay_stack_table *t);
/*
 * Frames [*from, returned) of the stack are those that start the code of a case: below the labels those of the program
 * "assay", which is also the worker, and what started that.
 */
uint32_t assay_stack_harness(const struct assay_stack_table *t, const struct assay_stack *s, uint32_t *from);
/* Does frame @d of the stack, or one that it called, belong to a plugin or a library that is not the C library? */
bool assay_stack_leaves_harness(const struct assay_stack_table *t, const struct assay_stack *s, uint32_t d);

enum assay_thread_state {
	ASSAY_STATE_RUNNING,
	ASSAY_STATE_WAITING, /* where all threads meet, spinning or asleep */
	ASSAY_STATE_BLOCKED, /* in a lock or another call */
	ASSAY_STATE_READY,   /* it could run, but had no processor */
	ASSAY_N_THREAD_STATES,
};

/* How often, and how long at most, threads waited as a stack says; of a trace, how often they were in its span. */
struct assay_wait_count {
	uint64_t waits, longest_ns;
};

/* ns of each state in a span of time; the rest of it the thread was not watched. */
struct assay_timeline_cell {
	uint64_t ns[ASSAY_N_THREAD_STATES];
};

/* Rows are threads, in the order of their accounts. */
struct assay_timeline {
	uint64_t bin_ns;
	size_t n_bins, n_threads;
	struct assay_timeline_cell *cells; /* n_threads × n_bins; NULL: there is none */
};

/* A thread that was seen. */
struct assay_profile_thread {
	char name[64];
	uint64_t weight;
};

/* Allocations at one call site, or at all of them. Sampled numbers are estimates, so they are not integers. */
struct assay_profile_site {
	double blocks, bytes;           /* that were allocated */
	double live_blocks, live_bytes; /* never given back */
	double most_blocks, most_bytes; /* the most that was in use at once */
	double peak_blocks, peak_bytes; /* in use when the whole process used most */
	double age_bytes;               /* allocated by all while a block lived, summed over those given back */
	uint64_t largest_bytes;
	uint64_t samples; /* allocations that were seen */
};

struct assay_profile_heap {
	unsigned processes;    /* that were looked at; 0: this is no profile of the heap */
	uint64_t sample_bytes; /* from one byte that is drawn to the next on average; 0: every allocation is seen */
	double peak_clock;     /* bytes that had been allocated at the peak of the process with the highest */
	struct assay_profile_site all;
	struct assay_profile_site *sites; /* one a stack */
};

/* The work of a kernel or a kind of copy on one stream of a GPU; the weight of its stack is its time. */
struct assay_profile_gpu_work {
	uint64_t calls, least_ns, most_ns;
	uint64_t bytes;         /* that were copied or set; 0: of a kernel */
	uint64_t registers;     /* of a thread; this and those below are 0 where it is no kernel */
	uint64_t block_threads; /* of the way it was launched that took most time */
	uint64_t blocks, shared_bytes;
	double occupancy_frac; /* of the warps that a multiprocessor could hold, so launched; NaN: not known */
};

/* A GPU while the profile was taken, as NVML reported it. NaN and 0: not known. */
struct assay_profile_gpu_device {
	unsigned index;
	char name[96];
	double busy_frac, memory_busy_frac; /* shares of the time, means */
	double mean_watts, most_watts, joules;
	uint64_t memory_bytes, most_memory_bytes; /* that there are; that were in use by all */
	double most_celsius;
	uint64_t samples;
};

struct assay_profile_gpu {
	struct assay_profile_gpu_device *devices;
	size_t n_devices;
	struct assay_profile_gpu_work *work; /* one a stack; NULL: kernels were not watched */
	char why[256];                       /* why not; "": they were */
};

/* Profiles that are sampled by time have samples as weights; other kinds name their unit. */
struct assay_profile {
	int64_t id; /* in the store; 0: none */
	char kind[16];
	char name[64];        /* that the user gave; "": none */
	char what[512];       /* key of the case, or the command */
	bool is_case;         /* it is a case, else a program */
	char unit[16];        /* of weights: "samples", "bytes" */
	char source[64];      /* what took it */
	uint64_t started_ns;  /* unix time */
	double rate_hz;       /* 0: nothing is sampled by time */
	double seconds;       /* of wall time that were looked at */
	uint64_t lost;        /* samples that there was no room for */
	uint64_t truncated;   /* samples whose outermost frames are missing */
	uint64_t outgrown;    /* those of them that a longer copy of the stack would have held; not stored */
	uint64_t unresolved;  /* samples whose innermost function has no name */
	double overhead_frac; /* of the processors, that taking it took; NaN: not known */
	/* For a case, the samples that lie in its timed iterations, and the time of one of these without a profile. */
	uint64_t timed_weight;
	double iteration_ns; /* NaN: not known */
	struct assay_profile_thread *threads;
	size_t n_threads;
	struct assay_stack_table stacks;
	struct assay_profile_heap heap;
	struct assay_profile_gpu gpu;
	struct assay_wait_count *waits;   /* of threads; of traces spans and waits: one a stack; NULL: not known */
	struct assay_timeline timeline;   /* of threads */
	struct assay_trace trace;         /* that was taken; none of a stored profile */
	struct assay_fingerprint machine; /* id "": not told */
	struct assay_build build;         /* of a case; id "": not known */
};

/* A stored profile in a list. */
struct assay_profile_info {
	int64_t id;
	char kind[16], name[64], what[512];
	uint64_t started_ns;
};

/* The label above all frames of samples that lie in timed iterations. */
#define ASSAY_PROFILE_TIMED "phase: sample"

void assay_profile_release(struct assay_profile *p);
/* Give stack @at of a profile of the heap the weight of its call site: the bytes that it allocated. */
void assay_profile_site_weigh(struct assay_profile *p, size_t at);

/* The part of one function in all stacks. Texts are those of the profile's frames. */
struct assay_profile_function {
	const char *name, *object, *file;
	unsigned line, last_line;         /* of its source that were seen; 0: not known */
	bool inlined;                     /* always */
	uint64_t self, total;             /* weights: of it alone, and with all that it calls */
	uint64_t timed_self, timed_total; /* the same in timed iterations alone */
	bool kernel;                      /* a variant runs it in these: it is not of the harness or a check alone */
};

/* All functions, those first that take most themselves, of a case in its timed iterations. @out is malloc'ed. */
int assay_profile_functions(const struct assay_profile *p, struct assay_profile_function **out, size_t *n,
			    struct assay_err *err);
/*
 * The time in ns that a timed iteration spends in a function itself, with its 95 % interval; NaN if that is not known.
 */
double assay_profile_function_ns(const struct assay_profile *p, const struct assay_profile_function *f,
				 struct assay_interval *ci);

/* The share of samples (of timed ones, if there are any) in malloc() and its kin. NaN: it has no samples by time. */
double assay_profile_allocation_frac(const struct assay_profile *p);

/* A line of source, or an instruction, at which stacks end. */
struct assay_profile_line {
	const struct assay_frame *frame;
	uint64_t self, timed_self;
};

/* The lines at which stacks end, or with @instructions their addresses, those that take most first. Malloc'ed. */
int assay_profile_lines(const struct assay_profile *p, bool instructions, struct assay_profile_line **out, size_t *n,
			struct assay_err *err);

/* ---- thread states ---- */

/*
 * Activity of threads as stacks of a profile: a thread's label, then a label of its state, then the call that
 * waits with its callers. Weights are ns, so that all stacks of a thread add up to its wall time.
 */

/* "running", "waiting at a barrier", "blocked", "ready". */
const char *assay_thread_state_name(enum assay_thread_state s);
/* The label of a state: "running", "waiting: host->barrier", "blocked: read". @call is not used of the others. */
void assay_thread_state_label(enum assay_thread_state s, const char *call, char *buf, size_t size);

#define ASSAY_UNKNOWN_CALL "calls that are not followed"

/* A thread's time by state. */
struct assay_thread_account {
	const char *name; /* of the profile's frames */
	uint64_t wall_ns;
	uint64_t ns[ASSAY_N_THREAD_STATES];
};

/*
 * Did it sleep all the time: blocked, but for what it takes to fall asleep and to end? How long it waited for a CPU
 * once woken is the machine's doing.
 */
bool assay_thread_slept(const struct assay_thread_account *a);

/* Efficiencies, as shares of 1: NaN where nothing ran. */
struct assay_thread_efficiency {
	double parallel;      /* the product of the others */
	double load_balance;  /* mean useful time of the threads, against the most */
	double serialisation; /* that most, against wall time without what its thread was ready */
	double scheduling;    /* that time, against wall time: the rest a processor for each thread would save */
};

/* One row a thread, in the order in which they were seen. *out is malloc'ed. */
int assay_thread_accounts(const struct assay_profile *p, struct assay_thread_account **out, size_t *n,
			  struct assay_err *err);
/*
 * POP's metrics (Rosas, Gimenez, Labarta: Scalability prediction for fundamental performance factors, 2014) with
 * threads for processes; its transfer efficiency is here what waiting for a processor costs.
 */
struct assay_thread_efficiency assay_thread_efficiency(const struct assay_thread_account *v, size_t n);

/* Waits of threads at one place: equal stacks of all threads. */
struct assay_thread_wait {
	const struct assay_stack *stack; /* one of those */
	uint64_t ns;
	unsigned threads;
	uint64_t waits, longest_ns; /* 0: not known, of a stored profile */
	bool meets;                 /* it is a barrier */
};
/* Those that took most first. *out is malloc'ed. */
int assay_thread_waits(const struct assay_profile *p, struct assay_thread_wait **out, size_t *n, struct assay_err *err);
/* The call that @w waits in: "pthread_mutex_lock". */
const char *assay_thread_wait_call(const struct assay_profile *p, const struct assay_thread_wait *w);

/* ---- trace states ---- */

/*
 * A trace as the stacks of a profile: a thread's label, then those of the spans, outermost first; the critical path's
 * stacks stand behind a label of their own. Weights are ns of a span without those within it.
 */

#define ASSAY_TRACE_PATH    "critical path"
#define ASSAY_TRACE_NO_SPAN "in no span"

/* The time of one name: of all threads together, or on the critical path. */
struct assay_trace_share {
	const char *name;
	uint64_t times;    /* spans of this name; 0: not known */
	uint64_t self_ns;  /* in spans of this name, without those within them */
	uint64_t total_ns; /* with them; of spans within spans of the same name once */
	uint64_t path_ns, path_total_ns;
};

/* Those with most on the critical path first. *out is malloc'ed; *path_ns: its length. */
int assay_trace_shares(const struct assay_profile *p, struct assay_trace_share **out, size_t *n, uint64_t *path_ns,
		       struct assay_err *err);
/* Is stack @s a part of the critical path? */
bool assay_trace_on_path(const struct assay_profile *p, const struct assay_stack *s);
/* How much of the critical path lies on the thread @name. */
uint64_t assay_trace_path_of(const struct assay_profile *p, const char *name);

#endif
