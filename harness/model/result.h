/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements: samples, the result of a case, a run, and the identities (build, machine) it belongs to. */
#ifndef ASSAY_MODEL_RESULT_H
#define ASSAY_MODEL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/text.h"
#include "model/build.h"
#include "model/case.h"
#include "model/counter.h"
#include "model/histogram.h"
#include "model/metric.h"

/*
 * Disturbances of a sample, as the host shows them. Frequency and pressure are recorded but never drop a sample; a
 * slow core drops it if enough others remain (model/result.h).
 */
enum assay_disturb {
	ASSAY_DISTURB_SWITCH = 1u << 0,    /* involuntary context switch */
	ASSAY_DISTURB_MIGRATION = 1u << 1, /* ran on another CPU than bound */
	ASSAY_DISTURB_STEAL = 1u << 2,     /* the hypervisor took the CPU */
	ASSAY_DISTURB_FAULT = 1u << 3,     /* page faults in the timed region */
	ASSAY_DISTURB_THROTTLE = 1u << 4,  /* the control group used up its quota */
	ASSAY_DISTURB_FREQUENCY = 1u << 5, /* the CPU's frequency changed by a step */
	ASSAY_DISTURB_PRESSURE = 1u << 6,  /* some task of the machine waited for a CPU */
	ASSAY_DISTURB_SLOW =
		1u << 7, /* a core calculated slower than it can, before or after: see machine/core_pace.h */
	ASSAY_DISTURB_DEVICE = 1u << 8, /* a device held its clock down, see worker/case/device.h */
};
#define ASSAY_N_DISTURB   9
#define ASSAY_DISTURB_ALL ((1u << ASSAY_N_DISTURB) - 1)
/* Under which each case counts its samples of one kind: "steal_samples"; NULL where they are not counted so. */
const char *assay_disturb_count_name(enum assay_disturb kind);
/* Is @name such a count? If so, it was not asked for. */
bool assay_disturb_is_count(const char *name);

#define ASSAY_COUNT_DISTURBED "disturbed_samples"
#define ASSAY_COUNT_SWITCHES  "involuntary_switches"
#define ASSAY_COUNT_FAULTS    "page_faults"
#define ASSAY_COUNT_ROOF      "roof_ns" /* the time that the roof allows */
/* Count @i of all that the harness takes by itself, those of disturbed samples among them; NULL behind the last. */
const char *assay_own_count(size_t i);

/* Besides these flags: the first sample of a further round, which a process of its own took later in the run. */
#define ASSAY_SAMPLE_NEW_ROUND (1u << 16)
/* The kernel told how long the threads waited for their CPUs: waited_ns holds, and switches need no guess. */
#define ASSAY_SAMPLE_WAIT_TOLD (1u << 17)
/* Of a pair: a part of its calls, which go on in the next sample. */
#define ASSAY_SAMPLE_CONTINUES (1u << 18)
/* The host was asked after it: what it said of steal is of this sample and of those since it was asked before. */
#define ASSAY_SAMPLE_POLLED (1u << 19)
/* Of a pair: its calls ran in slices, in turn with those of the other side's sample of the same number. */
#define ASSAY_SAMPLE_BESIDE (1u << 20)

struct assay_sample {
	uint64_t iterations;
	uint64_t ns;          /* of all iterations together */
	uint32_t flags;       /* enum assay_disturb, the ASSAY_SAMPLE_ bits above */
	uint32_t switches;    /* involuntary, all threads of the pool */
	uint32_t faults;      /* minor and major */
	uint32_t steal_ticks; /* of the CPUs of the case, in USER_HZ; 0 where stolen_ns tells it */
	uint64_t waited_ns;   /* ready to run while others had the CPU; the most of any thread */
	uint64_t stolen_ns;   /* neither running nor waiting nor asleep, as when the hypervisor has the CPU; likewise */
};

/*
 * The disturbances of @n samples taken together, as flags; 0: they are clean. A migration or throttling, of a device
 * too, always does; switches and steal do when they cost over 2 % of the time: long samples never escape a switch. The
 * cost is what the kernel told. Where it did not tell, a switch is taken for a millisecond and a tick of steal for
 * ten. How long the samples took plays no other part.
 */
uint32_t assay_samples_disturbed(const struct assay_sample *s, size_t n);
/* Samples from @s on, of @n, that are of the same round as the first. */
size_t assay_samples_of_round(const struct assay_sample *s, size_t n);
/* Time that switches and steal took from them, by the same reckoning. */
double assay_samples_lost_ns(const struct assay_sample *s, size_t n);
/* The part of it that clocks told, without what a switch or a tick of steal is taken for. */
double assay_samples_told_ns(const struct assay_sample *s, size_t n);

/* The 95 % interval of the share of the roof that was measured in turn; over rounds, from the least to the most. */
struct assay_roof_range {
	double least_frac, most_frac; /* 0: was not measured in turn */
	bool reached;                 /* false: too few turns for 95 %, the range of all */
};

enum assay_bound { ASSAY_BOUND_NONE, ASSAY_BOUND_BANDWIDTH, ASSAY_BOUND_ARITHMETIC, ASSAY_N_BOUNDS };

/* "none", "bandwidth", "arithmetic" */
const char *assay_bound_name(enum assay_bound b);

/* The limit that bounds a case; the time that it allows is the count roof_ns. */
struct assay_result_roof {
	enum assay_bound bound;  /* none: there is a reason at roof_frac instead, or the case was not measured */
	char op[ASSAY_NAME_MAX]; /* whose rate it is: "stream.read", "peak.i8_dot" */
	char name[16];           /* of the memory or the arithmetic: "l1", "dram"; "f32", "i8" */
	struct assay_roof_range in_turn;
};

/* Where outputs differ from what the op defines on values on which that is no error: enum assay_edge of plugin.h. */
struct assay_deviation {
	unsigned edges;   /* 0: nowhere */
	char reason[256]; /* of the first */
};

/* "NaN, subnormals"; @buf, "" where there are none. */
#define ASSAY_EDGES_MAX 48
const char *assay_edges_text(unsigned edges, char *buf, size_t size);
/* The name of the edge of bit @i; NULL: there is none. */
const char *assay_edge_name(unsigned i);
/* Add what @more says to @d. */
void assay_deviation_add(struct assay_deviation *d, const struct assay_deviation *more);

struct assay_result {
	struct assay_case c;
	enum assay_status status;
	char reason[512]; /* empty when ok */
	char note
		[256]; /* the machine's load where it matters, by a policy; of what is shown, not stored; "": nothing */
	char *log;     /* malloc'ed, printable lines: what its worker printed; NULL or "": nothing */
	bool checked;  /* the output was compared with the oracle */
	bool correct;
	char digest[ASSAY_DIGEST_LEN + 1]; /* of the outputs of exact ops; "" otherwise, and where they deviate */
	double max_rel_err;                /* floating-point ops; negative: does not apply */
	struct assay_deviation deviation;
	char code_hash[ASSAY_DIGEST_LEN + 1]; /* of the variant's machine code; "" unknown */

	struct assay_sample *samples; /* malloc'ed */
	size_t n_samples;
	bool steady;    /* warm-up ended because it was steady, not because time ran out */
	bool converged; /* the interval of the median reached its goal before the budget ended */
	uint64_t warmup_ns;

	/* recomputed from the samples; ns per iteration; 0 samples: all 0 and status is not ok */
	size_t rounds;       /* processes that took them, one after the other, with other cases between */
	uint64_t iterations; /* per sample */
	/*
	 * The interval of several processes tells where the median of others would lie. That of a single process does
	 * not, since processes differ by more than their samples do: it helps to decide when to stop, and is not shown.
	 */
	double median_ns, ci95_lo_ns, ci95_hi_ns;
	bool ci95_reached; /* see assay_summary_has_interval() */
	double min_ns, mad_ns;
	double dropped_frac;
	double disturbed_frac; /* share of samples that were disturbed */
	bool disturbed;        /* most of those that count, so that the median is of such */
	double slow_core_frac; /* share of samples that a slow core took */
	bool slow_core;        /* most of those that count */

	struct assay_metric *metrics; /* malloc'ed */
	size_t n_metrics;
	/* malloc'ed, of a program: a line a sample, "compress\t700500000\tsize\t1234\t"; NULL or "": not one */
	char *raw_metrics;
	struct assay_histogram *histograms; /* malloc'ed; their quantiles are among the metrics */
	size_t n_histograms;
	struct assay_counters counters;
	struct assay_result_roof roof;

	int *cpus; /* malloc'ed; where the threads really ran, read back; thread order */
	size_t n_cpus;
	int numa_node;       /* -1 unknown */
	uint64_t copies;     /* of the inputs, for cold cases */
	uint64_t started_ns; /* unix time */
};

void assay_result_release(struct assay_result *r);
/* Append copies. 0 or ASSAY_ENOMEM. */
int assay_result_add_metric(struct assay_result *r, const char *tag, const char *unit, int better, double value);
int assay_result_put_metric(struct assay_result *r, const struct assay_metric *m);
/* Likewise a count of the whole case; counts of iterations are added to r->counters. */
int assay_result_set_count(struct assay_result *r, const char *name, const char *source, const char *how, double value);
/* Replace the metric of this tag, or add it. 0 or ASSAY_ENOMEM. */
int assay_result_set_metric(struct assay_result *r, const char *tag, const char *unit, int better, double value);
/*
 * Add the values of @h, which is only read, to the histogram of its tag, and set the metrics that follow from both. 0
 * or ASSAY_ENOMEM.
 */
int assay_result_add_histogram(struct assay_result *r, const struct assay_histogram *h);
/*
 * The next metric of a line of raw_metrics, which *@p is moved behind. False at the end of the line, which *@p is moved
 * behind as well.
 */
bool assay_raw_metric_next(const char **p, char tag[ASSAY_METRIC_TAG_MAX], double *value);
/* Was the pace of the cores tried? Otherwise nothing is known of slow ones. */
bool assay_result_pace_tried(const struct assay_result *r);
/* Was it measured, compared with the oracle, and right? */
bool assay_result_is_right(const struct assay_result *r);
/* NULL when absent. */
/* Add the names of its metrics and counts, and of those that say why they are missing, to @names, each once. */
int assay_result_names(const struct assay_result *r, struct assay_strings *names, struct assay_err *err);
const struct assay_metric *assay_result_metric(const struct assay_result *r, const char *tag);

/*
 * Options that say where plugins and benches came from, as " --plugin mine.so", and of a run which of its cases were
 * chosen; "": the program's own, and all, or unknown.
 */
#define ASSAY_PLACES_MAX 1024

/* One fact of the machine or its environment, in the order shown. */
struct assay_fact {
	char name[ASSAY_NAME_MAX];
	char value[256];
};

/* Where: the facts that decide speed, and their digest. */
struct assay_fingerprint {
	char id[ASSAY_DIGEST_LEN + 1];
	char label[128]; /* for people: "AMD EPYC, 2 cores, 24 GiB" */
	struct assay_fact facts[32];
	size_t n_facts;
};

/* Label of a machine of which an imported file says nothing. Two of them need not be the same one. */
#define ASSAY_MACHINE_UNKNOWN "unknown machine"

/* Where a run comes from that another tool measured; all-zero: assay measured it. */
struct assay_import {
	char format[ASSAY_NAME_MAX];       /* "google-benchmark" */
	char digest[ASSAY_DIGEST_LEN + 1]; /* of all bytes of the file */
};

struct assay_exact_run; /* model/exact.h */

struct assay_run {
	int64_t id; /* in the store; 0 before it is stored */
	char suite[ASSAY_NAME_MAX];
	char label[ASSAY_NAME_MAX]; /* what the user calls it; "": nothing */
	struct assay_import imported;
	uint64_t seed;
	uint64_t started_ns;  /* unix time */
	bool started_unknown; /* of imported runs: it is the time of the import instead */
	uint64_t ended_ns;    /* 0: did not finish */
	struct assay_build build;
	struct assay_fingerprint machine;
	struct assay_fact *environment; /* malloc'ed: governor, turbo, ASLR, load, steal, container limits, clock */
	size_t n_environment;
	char places[ASSAY_PLACES_MAX];
	unsigned all_threads;         /* what `all` meant; 0: unknown */
	int *all_cpus;                /* malloc'ed; where that many threads are bound, in thread order */
	size_t n_all_cpus;            /* all_threads, or 0: unknown */
	struct assay_result *results; /* malloc'ed */
	size_t n_results;
	struct assay_exact_run *exact; /* malloc'ed; exact counts of some of its cases; NULL: none were taken */
};

void assay_run_release(struct assay_run *run);
/* Did another tool measure it? Then nobody knows its pinning, and whether its outputs are right. */
bool assay_run_is_imported(const struct assay_run *run);
/* May the numbers of its result @r be judged? They are right; of an imported run nobody can say so. */
bool assay_run_result_counts(const struct assay_run *run, const struct assay_result *r);
/* The result of the case @key; NULL when the run has no such case. */
const struct assay_result *assay_run_result(const struct assay_run *run, const char *key);

/* ---- call time ---- */

/* The time of a call while it has its cores for itself, from samples that others may have disturbed. Pure. */

/*
 * The time of an iteration, in ns, of each call of @s that counts, without what the kernel says was lost to others;
 * parts of a call (ASSAY_SAMPLE_CONTINUES) are added up. Clean calls alone count as soon as there are enough of them,
 * because a call that was interrupted also finds its caches emptied; of these, slow cores are left out as in
 * result.h. How long a call took plays no part in the choice. @out holds @n numbers; returns how many there are.
 */
size_t assay_call_times(const struct assay_sample *s, size_t n, double *out);

/* ---- sample choice ---- */

/*
 * Which samples, or blocks of samples, count. What was disturbed (assay_samples_disturbed) is left out while at least
 * half is clean; otherwise the disturbance is the normal state, and all counts. Of the rest, what a slow core took is
 * left out by the same rule: the pace of a core is tried before and after a sample, so the choice does not see its
 * time.
 */

/* All are counted first, then each is asked for. */
struct assay_sample_choice {
	size_t n, clean, slow, clean_slow;
};

static inline bool assay_samples_slow(const struct assay_sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (s[i].flags & ASSAY_DISTURB_SLOW)
			return true;
	return false;
}

/* @n samples that count or do not count together. */
static inline void assay_sample_choice_count(struct assay_sample_choice *c, const struct assay_sample *s, size_t n)
{
	bool clean = !assay_samples_disturbed(s, n), slow = assay_samples_slow(s, n);

	c->n++;
	c->clean += clean;
	c->slow += slow;
	c->clean_slow += clean && slow;
}

static inline bool assay_sample_choice_keeps(const struct assay_sample_choice *c, const struct assay_sample *s,
					     size_t n)
{
	bool drop = 2 * c->clean >= c->n;
	bool drop_slow = drop ? 2 * c->clean_slow <= c->clean : 2 * c->slow <= c->n;

	return !(drop && assay_samples_disturbed(s, n)) && !(drop_slow && assay_samples_slow(s, n));
}

#endif
