/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact evidence: what a simulated processor counted during one run of a variant, by function. These are counts without
 * samples: two runs of the same code on the same inputs give the same numbers.
 */
#ifndef ASSAY_MODEL_EXACT_H
#define ASSAY_MODEL_EXACT_H

#include "base/hash.h"
#include "base/text.h"
#include "model/build.h"
#include "model/case.h"

/* Reads and writes are instructions that do so, not bytes; the last level's misses are of instructions and data. */
#define ASSAY_EXACT_EVENTS(row)                                                                                        \
	row(INSTRUCTIONS, "instructions") row(DATA_READS, "data_reads") row(DATA_WRITES, "data_writes")                \
		row(I1_MISSES, "i1_misses") row(D1_MISSES, "d1_misses") row(LL_MISSES, "ll_misses")                    \
			row(BRANCHES, "branches") /* conditional and indirect */                                       \
		row(MISPREDICTIONS, "mispredictions")

enum assay_exact_event {
#define ROW(event, name) ASSAY_EXACT_##event,
	ASSAY_EXACT_EVENTS(ROW)
#undef ROW
		ASSAY_N_EXACT_EVENTS,
};

/* "instructions", "d1_misses", …; the names that files and scripts see. */
const char *assay_exact_event_name(enum assay_exact_event e);

struct assay_exact_counts {
	uint64_t v[ASSAY_N_EXACT_EVENTS];
};

#define ASSAY_EXACT_FUNCTION_MAX 160

/* Counts of one function itself, without the functions that it called. */
struct assay_exact_function {
	char name[ASSAY_EXACT_FUNCTION_MAX];
	char object[ASSAY_NAME_MAX]; /* file name of the program or library: "libm.so.6"; "" where it is not known */
	struct assay_exact_counts counts;
};

/* How something was counted. Counts taken in different ways are never compared. */
enum assay_exact_how {
	ASSAY_EXACT_CALLGRIND, /* on the processor that valgrind simulates */
	ASSAY_EXACT_STEPPED,   /* on this one, step by step */
	ASSAY_N_EXACT_HOW,
};

/* "callgrind", "stepped" */
const char *assay_exact_how_name(enum assay_exact_how how);

enum assay_exact_skip {
	ASSAY_EXACT_SKIP_OTHER,   /* see the reason */
	ASSAY_EXACT_SKIP_UNABLE,  /* this machine cannot run it at all */
	ASSAY_EXACT_SKIP_SMALLER, /* smaller shapes of it were counted instead */
	ASSAY_N_EXACT_SKIP,
};

/* The limits of the number of steps that may be asked for, and the default. */
#define ASSAY_EXACT_STEPS_LEAST 1000
#define ASSAY_EXACT_STEPS_MOST  100000000
#define ASSAY_EXACT_STEPS       2000000

/* How to count. */
enum assay_exact_source {
	ASSAY_EXACT_SOURCE_AUTO, /* callgrind where it can, stepping for the rest */
	ASSAY_EXACT_SOURCE_CALLGRIND,
	ASSAY_EXACT_SOURCE_STEPPED,
};

struct assay_exact_case {
	char key[ASSAY_KEY_MAX];
	bool all_threads;         /* the bench said `all`, see struct assay_case; false of recorded counts */
	enum assay_status status; /* ok: there are counts */
	char reason[512];
	enum assay_exact_skip skip;        /* where it was skipped */
	enum assay_exact_how how;          /* of the counts */
	char *detail;                      /* malloc'ed, see exact.h; NULL: there is none */
	char *log;                         /* as of a result */
	char digest[ASSAY_DIGEST_LEN + 1]; /* of the output of exact ops; "" of recorded counts */
	struct assay_exact_counts total;
	struct assay_exact_function *functions; /* malloc'ed, sorted by name, then object */
	size_t n_functions;
};

/* Why a case has no counts, and how to get them. */
#define ASSAY_EXACT_UNNAMED "the suite does not name the case for exact counts; --only CASE --evidence exact takes them"
/* Was it skipped because the suite does not name it? */
bool assay_exact_is_unnamed(const struct assay_exact_case *c);
/* Was it skipped because smaller shapes of it were counted? */
bool assay_exact_is_replaced(const struct assay_exact_case *c);

#define ASSAY_EXACT_ON_DEVICE "runs on a device, where nothing is counted exactly"
/* Was it skipped because it runs on a device? Such a case owes no counts. */
bool assay_exact_is_on_device(const struct assay_exact_case *c);

/* Append a function and add it to the total; two of one name and object are one. 0 or ASSAY_ENOMEM. */
int assay_exact_add_function(struct assay_exact_case *c, const struct assay_exact_function *f);
/* Release counts and detail only; the rest of the case stays. */
void assay_exact_case_drop_counts(struct assay_exact_case *c);
void assay_exact_case_release(struct assay_exact_case *c);
/* The facts about the case that was counted: everything by which manifests and policies name it. */
struct assay_case assay_exact_case_named(const struct assay_exact_case *c);
const struct assay_exact_function *assay_exact_function_find(const struct assay_exact_case *c, const char *name,
							     const char *object);

struct assay_cache_level {
	uint64_t bytes;
	unsigned ways, line_bytes;
};

struct assay_cache_model {
	char name[ASSAY_NAME_MAX]; /* "canon", "host" */
	struct assay_cache_level i1, d1, ll;
	/* Each of several threads has one between its D1 and the last level they share; 0 bytes: there is none. */
	struct assay_cache_level l2;
};

/*
 * "canon: I1 32 KiB 8-way, D1 48 KiB 12-way, LL 2048 KiB 16-way, 64-byte lines": equal texts are equal models. The L2
 * is told where it differs from machine to machine.
 */
void assay_cache_model_text(const struct assay_cache_model *m, char *buf, size_t size);
/* The fixed model "canon"; false for every other name. */
bool assay_cache_model_find(const char *name, struct assay_cache_model *out);
/*
 * The nearest size to this one that a set-associative simulator with a power-of-two number of sets can have, with @ways
 * of associativity and lines of @line_bytes.
 */
struct assay_cache_level assay_cache_level_round(uint64_t bytes, unsigned ways, unsigned line_bytes);

/*
 * Value of a metric of the harness that begins with "exact_": the rest is an event, or a rate that follows from them,
 * d1_hit_rate and ll_hit_rate (shares of the data accesses) or branch_hit_rate (of the branches). NaN for any other
 * tag, and where nothing was accessed or no branch was taken.
 */
double assay_exact_metric(const struct assay_exact_counts *c, const char *tag);

bool assay_exact_is_metric(const char *tag);
/* The name under which a case that has none of them gives the reason. */
#define ASSAY_EXACT_MISSING "exact"

/* "1 234 567" */
void assay_exact_count_text(uint64_t count, char *buf, size_t size);
/* @count, at least 0, rounded to three digits: "1 230 000", "21 100", "0.25". */
void assay_exact_about_text(double count, char *buf, size_t size);

/* "+3.1 %", "+0.002 %" where that is little, "new" from 0, "gone" to 0, "=" */
void assay_exact_change_text(uint64_t base, uint64_t head, char *buf, size_t size);

/* Everything besides the code that decides the counts. */
struct assay_exact_setting {
	char arch[32];             /* "x86_64" */
	char tool[ASSAY_NAME_MAX]; /* "valgrind-3.19.0" */
	char libc[ASSAY_NAME_MAX]; /* "glibc 2.36" */
	char cache[160];           /* name and text of the model */
	char features[256];        /* CPU features that variants may use at most, comma separated */
	char environment[512];     /* variables that pin the choice of code in libraries, blank separated */
};

struct assay_exact_run {
	int64_t id;            /* in the store; 0 before */
	int64_t run_id;        /* of the timed run it belongs to; 0: none */
	int64_t comparison_id; /* of the comparison of which it is one side; 0: none */
	char suite[ASSAY_NAME_MAX];
	uint64_t seed;
	uint64_t started_ns; /* unix time */
	struct assay_build build;
	struct assay_exact_setting setting;
	struct assay_exact_case *cases; /* malloc'ed */
	size_t n_cases;
};

/* Cases of a run. @owed are those that owe counts: all but the last four. */
struct assay_exact_sums {
	size_t owed, ok, stepped;
	size_t smaller; /* smaller shapes were counted instead */
	size_t device;  /* run on a device */
	size_t unable;  /* do not run on this machine */
	size_t unnamed; /* the suite does not name them */
};
struct assay_exact_sums assay_exact_run_sums(const struct assay_exact_run *run);

void assay_exact_run_release(struct assay_exact_run *run);
/* Release the cases whose key the glob does not match; how many are left. */
size_t assay_exact_run_keep(struct assay_exact_run *run, const char *glob);
const struct assay_exact_case *assay_exact_case_find(const struct assay_exact_run *run, const char *key);

/* ---- exact detail ---- */

/*
 * Details of exact counts beyond functions: counts by source line and by thread, and the mix of instructions.
 * All of a case is one text with a line for each entry, as the store keeps it.
 */

struct assay_exact_line {
	char file[ASSAY_NAME_MAX]; /* name without folders */
	unsigned line;
	char function[ASSAY_EXACT_FUNCTION_MAX]; /* into which it was compiled */
	struct assay_exact_counts counts;
};

/* "vector instructions of 512 bits", and so on: names of step/decode.h. */
struct assay_exact_mix {
	char name[ASSAY_NAME_MAX];
	uint64_t count;
};

/* Append an entry to a detail; names are cut where they are too long. */
void assay_exact_detail_add_line(struct assay_text *detail, const struct assay_exact_line *l);
void assay_exact_detail_add_thread(struct assay_text *detail, const struct assay_exact_counts *c);
void assay_exact_detail_add_mix(struct assay_text *detail, const struct assay_exact_mix *m);

/*
 * The next entry of its kind from *at on, which begins as the detail (NULL is an empty one). False when there is none;
 * anything that is not an entry is skipped.
 */
bool assay_exact_next_line(const char **at, struct assay_exact_line *out);
bool assay_exact_next_thread(const char **at, struct assay_exact_counts *out);
bool assay_exact_next_mix(const char **at, struct assay_exact_mix *out);

/* Does a record keep this line? It does if the line has some share of any count of its case. */
bool assay_exact_line_matters(const struct assay_exact_line *l, const struct assay_exact_counts *total);

/*
 * The line of @function in which @event grew most from @base to @head, or shrank most if the function has less of it
 * in @head. Lines are matched in their order, so that those behind one that was put in keep their counts. False where
 * lines are not known.
 */
bool assay_exact_changed_line(const struct assay_exact_case *base, const struct assay_exact_case *head,
			      const char *function, enum assay_exact_event event, struct assay_exact_line *out);

/* "exact_imbalance": instructions of the thread that had most, over their mean. */
#define ASSAY_EXACT_IMBALANCE "exact_imbalance"

/* Any metric of the case: those of assay_exact_metric(), and the imbalance; NaN where there is only one thread. */
double assay_exact_case_metric(const struct assay_exact_case *c, const char *tag);

#endif
