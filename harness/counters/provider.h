/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Providers of counts: one file each, behind one table. A provider counts a set of events in the thread that opened the
 * set. Sums over threads, sets that take turns, and reasons are the business of counting.c.
 */
#ifndef ASSAY_COUNTERS_PROVIDER_H
#define ASSAY_COUNTERS_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"
#include "counters/gpu/counts.h"
#include "counters/heap/heap.h"
#include "counters/papi/papi.h"
#include "model/counter.h"
#include "model/reports.h"

/* The outcome of the one run of a case. */
struct assay_syscall_case {
	bool wanted;  /* an event of the case asks for it */
	bool counted; /* otherwise see reason */
	uint64_t calls;
	char detail[120]; /* "write 2, mmap 1" */
	char reason[256]; /* "": nobody tried */
};

/*
 * Call run(arg) and count the system calls that @threads make meanwhile, and the threads that they start. The caller is
 * one of @threads; the others are idle or spin. They stop for a moment and the process is forked: not for threads that
 * are being timed. Where they cannot be traced run() is not called, and @out says why.
 */
void assay_syscalls_count(const pid_t *threads, uint32_t n, void (*run)(void *arg), void *arg,
			  struct assay_syscall_case *out);

/* ---- os events ---- */

/* Page faults and context switches of a thread, as the operating system counts them. Works everywhere. */

/* Counts of one thread since it began, or a difference, or a sum over threads. */
struct assay_os_counts {
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	int cpu; /* where it ran when it was read, -1 unknown */
};

/*
 * Read the counts of the calling thread; one system call, under 0.5 us. Not for the timed region, but right beside it.
 */
void assay_os_counts_read(struct assay_os_counts *out);

/* From @before to @after, both of the same thread. */
struct assay_os_counts assay_os_counts_between(const struct assay_os_counts *before,
					       const struct assay_os_counts *after);

/* The same of all processes that this one started and that have ended, with those that they waited for. */
void assay_os_counts_read_children(struct assay_os_counts *out);

/* Add the difference @d of one thread to @sum (which starts all-zero); its `cpu` stays. */
void assay_os_counts_add(struct assay_os_counts *sum, const struct assay_os_counts *d);

/* The services that providers may use; they live as long as the sets. */
struct assay_counter_context {
	struct assay_papi papi; /* after assay_counter_papi() */
	bool papi_loaded;
	const char *const *cell_names; /* counters that the op publishes, and their cells */
	uint64_t *cells;
	uint32_t n_cells;
	char sde_reason[256];                  /* why the cells are not read through PAPI; "": they can be */
	bool cells_from_memory;                /* they are not to be, because PAPI takes time to start */
	bool multiplex;                        /* more events in a set than there are counters */
	bool children;                         /* count the processes that this thread starts, not the thread */
	bool tested;                           /* hardware counters were, when their sets were opened before */
	const struct assay_heap_case *heap;    /* NULL: it is not watched */
	struct assay_syscall_case *syscalls;   /* NULL: no run is traced */
	const char *device_pci;                /* of the GPU of the case, "0000:3b:00.0"; NULL or "": it has none */
	const struct assay_gpu_levels *levels; /* of that GPU, between samples; NULL: nobody looks */
	struct assay_gpu_case *gpu;            /* what CUPTI counts of it; NULL: it is none of NVIDIA's */
};

/* @names and @cells are borrowed. */
void assay_counter_context_init(struct assay_counter_context *ctx, const char *const *names, uint64_t *cells,
				uint32_t n);
/*
 * PAPI. It is started, and the cells are published through it, when it is first asked for, because most cases do not
 * need it.
 */
const struct assay_papi *assay_counter_papi(struct assay_counter_context *ctx);

struct assay_counter_probe {
	bool works;
	char value[256];  /* what it can do, or why not */
	char advice[200]; /* how to get it; "" */
};

struct assay_counter_provider {
	const char *name, *source;
	bool shared; /* one set counts the whole process; otherwise each thread has its own */
	/*
	 * The names of what it counts, NULL-terminated; people may ask for these. Without add(), a set has all of them
	 * in this order. With it, add() decides, and may know more.
	 */
	const char *const *events;

	void (*probe)(struct assay_counter_context *ctx, struct assay_counter_probe *out);
	/* A set in this thread. NULL: nothing to open. 0, ASSAY_EUNAVAILABLE with the reason, ASSAY_ENOMEM. */
	int (*open)(struct assay_counter_context *ctx, void **set, struct assay_err *err);
	/*
	 * 0: counted from the next start on. ASSAY_ENOTFOUND: not an event of this provider. ASSAY_ELIMIT: not together
	 * with what is in the set. ASSAY_EUNAVAILABLE: it is one, but it cannot be counted here.
	 */
	int (*add)(void *set, const char *event, struct assay_err *err);
	int (*start)(void *set, struct assay_err *err); /* NULL: it counts from open on */
	/*
	 * All events of the set, in order; only differences mean something. One of the two, or neither where all events
	 * are totals; @now is what the operating system just counted for this thread.
	 */
	int (*read)(void *set, uint64_t *values);
	int (*read_os)(void *set, const struct assay_os_counts *now, uint64_t *values);
	void (*stop)(void *set);  /* NULL: there is nothing to stop */
	void (*close)(void *set); /* NULL: there is nothing to close */
	/* The thread closed its last set and will end; not called where sets are opened first. May be NULL. */
	void (*leave_thread)(const struct assay_counter_context *ctx);
	/*
	 * The value of number @event of `events`, counted in runs of its own and not beside samples. 0, or
	 * ASSAY_EUNAVAILABLE with the reason. NULL: all events are counted beside samples.
	 */
	int (*total)(const struct assay_counter_context *ctx, size_t event, double *value, bool *per_iteration,
		     struct assay_err *why);
	/* Share of the time in which each event of a set with @n events counts. NULL: all of it. */
	double (*running_frac)(const struct assay_counter_context *ctx, size_t n);
	/* The means by which it reads @event, for people. */
	void (*how)(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size);
};

/*
 * The best provider stands first: an event is counted by the first that can count it. provider_NAME.c has
 * assay_provider_NAME; migrations and cells are counted in two ways each.
 */
#define ASSAY_COUNTER_PROVIDERS(row)                                                                                   \
	row(perf) row(rusage) row(sched) row(system) row(heap) row(syscalls) row(nvml) row(cupti) row(sde) row(op)     \
		row(papi)

#define ROW(name) extern const struct assay_counter_provider assay_provider_##name;
ASSAY_COUNTER_PROVIDERS(ROW)
#undef ROW

extern const struct assay_counter_provider *const assay_counter_providers[];
extern const size_t assay_n_counter_providers;

/* ---- health ---- */

/*
 * The findings of `assay doctor` about the providers. They are probed in a child, so that a library that crashes while
 * it starts takes nothing with it.
 */

/* argv[1] of the child. */
#define ASSAY_COUNTER_HEALTH_COMMAND "__counters"

/*
 * In the child: probe every provider, test what hardware counters count, and time what counting takes beside a sample.
 * A line each: name, health, value, advice, tabs between.
 */
void assay_counter_health_probe(struct assay_text *out);
/*
 * In the program: is there a valgrind that can count? Then start the child and add what it found; a child that fails is
 * a finding, too.
 */
void assay_counter_health_add(struct assay_findings *l);

#endif
