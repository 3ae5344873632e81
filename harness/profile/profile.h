/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles of each kind: of a process while it runs, and from the files that processes leave which recorded their
 * heap, their threads or their GPUs.
 */
#ifndef ASSAY_PROFILE_PROFILE_H
#define ASSAY_PROFILE_PROFILE_H

#include <sched.h>
#include <signal.h>
#include <sys/types.h>

#include "base/process.h"
#include "counters/gpu/records.h"
#include "model/profile.h"
#include "model/trace.h"
#include "profile/cpu_sampler.h"
#include "profile/thread_logs.h"

struct assay_cpu_profile;
struct assay_gpu_meter;

/* ---- cpu profile ---- */

/* A CPU profile of a running process and its children: samples become stacks while it runs, nothing else is kept. */

/*
 * Choose what samples a process that is to begin, into @into, whose kind, source, unit and rate are set.
 * ASSAY_EUNAVAILABLE says what forbids it.
 */
int assay_cpu_profile_open(struct assay_cpu_profile **out, const struct assay_cpu_sampling *how,
			   struct assay_profile *into, struct assay_err *err);
/* The environment that the process needs, as "NAME=value" up to a NULL. */
const char *const *assay_cpu_profile_environment(const struct assay_cpu_profile *p);
/* Sample @pid from here on. ASSAY_ENOTFOUND: it has ended. */
int assay_cpu_profile_attach(struct assay_cpu_profile *p, pid_t pid, struct assay_err *err);
/* Why no process took part, as the source of samples says it. */
const char *assay_cpu_profile_absent(const struct assay_cpu_profile *p);
/* Take what was sampled. Call this more often than every assay_cpu_profile_read_every_ns(). */
void assay_cpu_profile_drain(struct assay_cpu_profile *p);
uint64_t assay_cpu_profile_read_every_ns(const struct assay_cpu_profile *p);
/* How long code must run until it is known how much of its stacks is to be copied. */
uint64_t assay_cpu_profile_settling_ns(const struct assay_cpu_profile *p);
/* The label above the thread and the frames of samples from now on; NULL: none. Both are borrowed. */
void assay_cpu_profile_phase(struct assay_cpu_profile *p, const char *op, const char *phase);
/* Take no samples for a while. */
void assay_cpu_profile_pause(struct assay_cpu_profile *p, bool paused);
/* Does the process run as if nothing sampled it, while that is paused? */
bool assay_cpu_profile_pauses_free(const struct assay_cpu_profile *p);
/* Stop, take the rest and fill in the numbers of the profile. ASSAY_ENOMEM if memory ended meanwhile. */
int assay_cpu_profile_end(struct assay_cpu_profile *p, struct assay_err *err);
void assay_cpu_profile_close(struct assay_cpu_profile *p);

/* ---- program sample ---- */

struct assay_program_sampling {
	struct assay_process_options process; /* before_exec is taken */
	struct assay_cpu_sampling how;
	const char *op;        /* above its stacks, which are timed then; NULL: there is no op */
	const cpu_set_t *cpus; /* that it may use; NULL: those of this process */
	uint64_t for_ns;       /* 0: to its end */
	const volatile sig_atomic_t *interrupted;
};

/*
 * Start a program as @p and sample it and its children until it ends, the time is over or the user has seen enough,
 * which took *wall_ns: what was sampled is kept in @out. The caller ends @p, which may still run. On failure there is
 * no process. ASSAY_EUSAGE: it cannot be started. ASSAY_EUNAVAILABLE: it cannot be sampled, or ended before it was.
 */
int assay_program_sample(const struct assay_program_sampling *q, struct assay_process *p, struct assay_profile *out,
			 uint64_t *wall_ns, struct assay_err *err);

/* ---- heap profile ---- */

/* A profile of the heap from the files that processes with the heap's object preloaded leave: counters/heap/sites.h. */

/*
 * Read all files of @dir into @into, whose times and name are set. Weights are bytes allocated. ASSAY_ENOTFOUND when
 * there is no file: no process had the object preloaded.
 */
int assay_heap_profile_read(const char *dir, struct assay_profile *into, struct assay_err *err);

/* ---- thread profile ---- */

/* A profile of threads from what their processes wrote: stacks, waits and the timeline. */

/* Fill @into from @l: its kind, unit, threads, stacks, waits and timeline. */
int assay_thread_profile_make(const struct assay_thread_logs *l, struct assay_profile *into, struct assay_err *err);

/* ---- span trace ---- */

/* A trace from what processes wrote of their threads, with what the harness did meanwhile. */

/* The span of a timed sample, outermost on each thread of a case. */
#define ASSAY_SPAN_SAMPLE "sample"
/* The outermost of a program's thread. */
#define ASSAY_SPAN_RUNNING "running"

/*
 * Add all threads, spans and counts of @l to @t, whose tracks so far are the harness's, nest it and find its critical
 * path: that of the timed samples of a case, or of the first thread of a program.
 */
int assay_span_trace_make(const struct assay_thread_logs *l, bool is_case, struct assay_trace *t,
			  struct assay_err *err);
/*
 * Fill @into from @t: its kind, unit, and the stacks of spans by thread, then those of the critical path, with the time
 * that each span took without those within it.
 */
int assay_span_trace_profile(const struct assay_trace *t, struct assay_profile *into, struct assay_err *err);

/* ---- gpu profile ---- */

/* A profile of GPUs from the files that processes with the GPU's object injected leave: counters/gpu/records.h. */

/*
 * Add all files of @dir to @into, whose devices, times and name are set: stacks of GPU, stream and kernel or kind of
 * copy, which weigh their time in ns. Where no kernel was watched, into->gpu.why says why not, and the return is 0.
 */
int assay_gpu_profile_read(const char *dir, struct assay_profile *into, struct assay_err *err);

/* The activity of a record: a kernel by its symbol, "copy host to device", "set memory". Printable. */
void assay_gpu_work_name(const struct assay_gpu_key *k, char *buf, size_t size);

/*
 * The share of its most warps that a multiprocessor can hold of a kernel, by the rules of NVIDIA's occupancy
 * calculator: warps, blocks, registers in units of 256 a warp, and shared memory in units of 128 bytes with 1 KiB of
 * the system a block from compute capability 8 on. NaN: a limit is not known.
 */
double assay_gpu_occupancy(const struct assay_gpu_key *k, const struct assay_gpu_limits *l);

/* ---- gpu meter ---- */

/* Watches all GPUs of the machine while something runs: utilisation, memory, power and energy, as NVML reports them. */

/* ASSAY_EUNAVAILABLE where there is no GPU, or no driver. *@m is NULL then. */
int assay_gpu_meter_open(struct assay_gpu_meter **m, struct assay_err *err);
/* Look at all GPUs; call it often. At most one look in 20 ms is taken. */
void assay_gpu_meter_look(void *meter);
/* Called with the memory in use of each GPU at each look from now on; its return value is ignored. */
typedef int assay_gpu_meter_heard(void *arg, unsigned gpu, const char *name, uint64_t at_ns, uint64_t used_bytes);
void assay_gpu_meter_follow(struct assay_gpu_meter *m, assay_gpu_meter_heard *heard, void *arg);
/* The last look, and what all of them gave, into out->gpu.devices. 0 or ASSAY_ENOMEM. */
int assay_gpu_meter_end(struct assay_gpu_meter *m, struct assay_profile *out, struct assay_err *err);
/* Takes NULL. */
void assay_gpu_meter_close(struct assay_gpu_meter *m);

/* ---- gpu tracks ---- */

/* Kernels and copies one after the other, from the files of counters/gpu/records.h, as tracks of a trace. */

/*
 * Add a track for each stream of each GPU that the files of the folder @dir name, with a span for each kernel, copy and
 * set of memory, to @t, before it is nested. *lost: spans that there was no room for. No file is no error.
 */
int assay_gpu_tracks_read(const char *dir, struct assay_trace *t, uint64_t *lost, struct assay_err *err);

/* An assay_gpu_meter_heard that adds the memory in use of each GPU to the struct assay_trace @trace. */
int assay_gpu_tracks_memory(void *trace, unsigned gpu, const char *name, uint64_t at_ns, uint64_t used_bytes);

#endif
