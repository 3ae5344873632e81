/* SPDX-License-Identifier: Apache-2.0 */
/* One case in a worker that is sampled: prepared, checked, warmed up and then run for a while. */
#ifndef ASSAY_MEASURE_PROFILE_H
#define ASSAY_MEASURE_PROFILE_H

#include "measure/options.h"
#include "model/case.h"
#include "model/catalog.h"
#include "profile/profile.h"
#include "worker/worker.h"

/* ---- profiled worker ---- */

/* A worker that is sampled while it runs a case: what the profile of one case and that of a pair have in common. */

/* The outcome of the case. */
struct assay_profile_end {
	enum assay_status status;
	char reason[512];
	char wrong[512]; /* why its output is wrong, if it was profiled nevertheless; "": it is right */
};

struct assay_profiled_worker {
	struct assay_worker *worker;
	struct assay_cpu_profile *cpu;
	struct assay_profile *out;
	struct assay_profile_end *end;
	struct assay_err *err;
	uint64_t iterations; /* of a sample */
	double sample_ns;    /* that it takes about */
	struct assay_profiled_turns {
		struct assay_sample *samples; /* malloc'ed */
		size_t n_samples;
		double *ns; /* processor time of an iteration, of each command; malloc'ed */
		size_t n;
		double wall_ns; /* of all samples together */
	} turns[2];             /* that were not sampled, and that were */
	bool paused;            /* turns are not sampled */
	char op[2 * ASSAY_NAME_MAX + 1];
};

/*
 * These return 0 to go on, 1 if the case is over, with k->end saying how, and a negative number if the harness cannot
 * go on. Before the start, @k is all-zero except for its pointers. Free it in any case.
 */
/* @how NULL: nothing is sampled, and the worker is an ordinary one. */
int assay_profiled_worker_start(struct assay_profiled_worker *k, const struct assay_worker_options *wo,
				const struct assay_cpu_sampling *how);
/* Prepare, verify, warm up; timed samples follow. */
int assay_profiled_worker_ready(struct assay_profiled_worker *k, const struct assay_clock *clock);
/* Switch sampling on or off for the turns that follow. */
void assay_profiled_worker_pause(struct assay_profiled_worker *k, bool paused);
/* Order samples that take about @ns, or less if the rings fill before that. */
int assay_profiled_worker_sample(struct assay_profiled_worker *k, double ns);
/*
 * The duration of an iteration in the turns that were @sampled or were not, as assay_call_times() computes it: the
 * median of means of @group calls. NaN: there is none, or out of memory.
 */
double assay_profiled_worker_call_ns(const struct assay_profiled_worker *k, bool sampled, size_t group);
/* If all went well (@rc 0), check the outputs once more; then end the profile. */
int assay_profiled_worker_end(struct assay_profiled_worker *k, int rc);
void assay_profiled_worker_free(struct assay_profiled_worker *k);

struct assay_profile_options {
	unsigned rate_hz;
	uint64_t for_ns; /* of timed iterations */
	/*
	 * Record where the variant allocates, instead of taking samples: the folder of counters/heap/sites.h. NULL:
	 * take samples.
	 */
	const char *heap_sites;
	uint64_t heap_sample_bytes;
	/*
	 * For timed iterations that are not sampled, because something else watches the worker: variables for its
	 * process, and a function that is called with @look_arg again and again meanwhile. env NULL: they are sampled.
	 */
	const char *const *env;
	void (*look)(void *arg);
	void *look_arg;
	uint64_t least_sample_ns; /* of these iterations at once; 0: any */
	/* Called with each thing that the harness does with the process. NULL: nobody asks. */
	void (*phase)(void *look_arg, const char *name, pid_t worker, uint64_t begin_ns, uint64_t end_ns);
};

/*
 * Profile @c into @out, which the caller releases in either case. Whatever happens to the kernel is told by @end, and
 * the return is 0; it is negative if the harness cannot go on or nothing can be sampled here (ASSAY_EUNAVAILABLE).
 */
int assay_measure_profile(const struct assay_case *c, const struct assay_case_facts *facts,
			  const struct assay_measure_options *o, const struct assay_profile_options *p,
			  struct assay_profile *out, struct assay_profile_end *end, struct assay_err *err);

/* A process pair: base and head alive on the same cores, and sampled in turn. */
struct assay_profile_pair_options {
	const struct assay_strings *plugins[2]; /* of base and head */
	const char *parts[2];                   /* see enum assay_plugin_part; NULL: all of everything */
	const char *folders[2];                 /* that programs run in; NULL: the current one */
	const struct assay_case *base_case;     /* another variant of the op; NULL: the head's case */
	struct assay_cpu_sampling sampling[2];  /* how either is sampled; rate 0: it is not */
	bool costs;                             /* find what sampling costs: turns are sampled or not, in turn */
	uint64_t for_ns;                        /* of both sides together */
	uint64_t layout_seed;                   /* where stacks and buffers lie */
};

struct assay_profile_pair {
	struct assay_profile side[2];
	double iteration_ns[2]; /* what the samples took, as a rule */
	double cost_ratio;      /* of processor time, of sampled turns to others, where costs were asked for */
};

/* As assay_measure_profile(), of a pair. The caller releases both sides of @out in either case. */
int assay_measure_profile_pair(const struct assay_case *c, const struct assay_case_facts *facts,
			       const struct assay_measure_options *o, const struct assay_profile_pair_options *p,
			       struct assay_profile_pair *out, struct assay_profile_end *end, struct assay_err *err);

/* The same of a program: a process of either side, from start to end. Only p->folders and p->sampling are looked at. */
int assay_program_profile_pair(const struct assay_case *c, const struct assay_catalog_op *op,
			       const struct assay_measure_options *o, const struct assay_profile_pair_options *p,
			       struct assay_profile_pair *out, struct assay_profile_end *end, struct assay_err *err);

/* Begin either kind of profile. True if it is already known that @c cannot run, which @end says. */
bool assay_measure_profile_begin(const struct assay_case *c, const struct assay_case_facts *facts,
				 struct assay_profile *out, struct assay_profile_end *end);

#endif
