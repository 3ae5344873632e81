/* SPDX-License-Identifier: Apache-2.0 */
/* A profile: where the time or memory of a case or program went, and how the profile was taken. */
#ifndef ASSAY_MODEL_PROFILE_H
#define ASSAY_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/result.h"
#include "model/stack_table.h"
#include "model/trace.h"
#include "stats/interval.h"

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

/* What was allocated at one call site, or at all of them. Sampled numbers are estimates, so they are not integers. */
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

/* What a kernel or a kind of copy did on one stream of a GPU; the weight of its stack is its time. */
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
	unsigned line, last_line; /* of its source that were seen; 0: not known */
	bool inlined;             /* always */
	uint64_t self, total;     /* weights: of it alone, and with all that it calls */
	uint64_t timed_self;      /* of its own in timed iterations */
};

/* All functions, those first that take most themselves. @out is malloc'ed. */
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
	uint64_t self;
};

/* The lines at which stacks end, or with @instructions their addresses, those that take most first. Malloc'ed. */
int assay_profile_lines(const struct assay_profile *p, bool instructions, struct assay_profile_line **out, size_t *n,
			struct assay_err *err);

#endif
