/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of commands other than runs and verdicts. */
#ifndef ASSAY_MODEL_REPORTS_H
#define ASSAY_MODEL_REPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/bottleneck.h"
#include "model/case.h"
#include "model/comparison.h"
#include "model/history.h"
#include "model/result.h"
#include "model/verdict.h"

/* ---- bisect report ---- */

/* The result of a search for the commit that changed a time, and the steps that led there. */

#define ASSAY_COMMIT_MAX  65
#define ASSAY_SUBJECT_MAX 160

enum assay_bisect_end {
	ASSAY_BISECT_FOUND,   /* one commit, and a comparison with what is before it agrees */
	ASSAY_BISECT_RANGE,   /* one of several: those before the last cannot be told from it */
	ASSAY_BISECT_SAME,    /* good and bad were not shown to differ */
	ASSAY_BISECT_UNSURE,  /* the comparison with what is before it does not agree */
	ASSAY_BISECT_UNTAKEN, /* the bad side is wrong, or was not measured */
};

/* One comparison, or a commit that could not be compared. Numbers are NaN where they do not apply. */
struct assay_bisect_step {
	char base[ASSAY_COMMIT_MAX], commit[ASSAY_COMMIT_MAX];
	bool skipped;
	enum assay_verdict verdict; /* of a step that is not skipped */
	double ratio, ci_lo, ci_hi;
	int64_t comparison_id; /* 0: none was stored */
	char reason[512];
};

/* Release it. */
struct assay_bisect_report {
	char key[ASSAY_KEY_MAX];
	char good[ASSAY_COMMIT_MAX], bad[ASSAY_COMMIT_MAX];
	size_t n_commits; /* after the good one, up to the bad one */
	enum assay_bisect_end end;
	enum assay_exit exit;
	char reason[640];                                       /* why no commit is named; "": one is */
	char first[ASSAY_COMMIT_MAX], commit[ASSAY_COMMIT_MAX]; /* of a range; of one commit they are the same */
	char before[ASSAY_COMMIT_MAX];                          /* what the last comparison held it against */
	char subject[ASSAY_SUBJECT_MAX];
	double ratio, ci_lo, ci_hi; /* commit over before */
	double whole_ratio, whole_ci_lo, whole_ci_hi;
	unsigned comparisons;
	struct assay_bisect_step *steps; /* malloc'ed */
	size_t n_steps;
};

void assay_bisect_report_release(struct assay_bisect_report *r);
/* "found", "range", "same", "unsure", "not measured". */
const char *assay_bisect_end_name(enum assay_bisect_end e);

/* ---- certify report ---- */

/* How often a host's judge was wrong in comparisons of known outcome, and the smallest change that it finds. */

/* So many slowdowns may be tried at most. */
#define ASSAY_CERTIFY_SLOWDOWNS 8

/* @k of @of, with the 95 % interval of the share (Clopper and Pearson). */
struct assay_rate {
	unsigned k, of;
	double lo, hi;
};

/* All-zero is empty; release it. */
struct assay_certify_report {
	struct assay_fingerprint machine;
	struct assay_strings keys; /* of the cases of every gate */
	uint64_t seed;
	double alpha, margin_frac;
	uint64_t budget_ns;                     /* a case */
	unsigned gates, inconclusive;           /* of unchanged code */
	struct assay_rate false_alarms, passed; /* REGRESSED; PASS or IMPROVED */
	unsigned n_slowdowns;
	struct {
		double slowdown_frac;
		struct assay_rate detected, passed;
	} power[ASSAY_CERTIFY_SLOWDOWNS];
	double sd;       /* of a pair's log ratio, pooled over all cases and gates; NaN: no two pairs of one case */
	double df;       /* degrees of freedom of sd */
	double n_judged; /* cases of all gates and trials */
	double seconds_per_case;
	double pairs_per_case;           /* mean, until decided */
	double smallest_detectable_frac; /* with all the pairs that the budget allows; NaN as sd */
	double seconds;
};
void assay_certify_report_release(struct assay_certify_report *r);

/* ---- page ---- */

/* One run or comparison with all that is known of it. */

struct assay_profile; /* model/profile.h */

struct assay_stored_comparison {
	struct assay_comparison cmp;         /* with the cases that were selected */
	struct assay_case_reading *readings; /* one a case */
	char verdict[ASSAY_VERDICT_MAX];     /* "" unless finished */
};

/* All-zero is empty. */
struct assay_result_page {
	bool of_run; /* else of a comparison */
	struct assay_run run;
	struct assay_stored_comparison comparison;
	bool judged; /* else the last note says why not */
	struct assay_gate_report gate;
	struct assay_strings notes;    /* what a reader must know before anything else, a sentence each */
	struct assay_text next;        /* what to do next: words around a command in single quotes */
	struct assay_text repeat;      /* the command that measures all of it again */
	struct assay_case_point *past; /* earlier runs of the same cases: by key, then oldest first; malloc'ed */
	size_t n_past;
	struct assay_bottleneck *bottlenecks; /* of a run; malloc'ed */
	size_t n_bottlenecks;
	struct assay_profile *profiles; /* of its cases and builds, the newest of each kind; malloc'ed */
	size_t n_profiles;
};

/* ---- new source ---- */

/* A source that was written, and the commands to come as a person types them, one line each. */
struct assay_new_result {
	const char *op, *variant;   /* borrowed; variant NULL: of an op; op NULL: of a program, which variant is */
	struct assay_strings files; /* that were written, the source first */
	char *compile;              /* with the headers of this program */
	char *compile_installed;    /* with those that pkg-config finds */
	char *verify, *run;
	char *keep, *compare; /* the build of today set aside, and what comes later compared with it */
	char *gate;           /* of a repository, which has neither of these three: the commit, and what it must pass */
	struct assay_strings add_to, add; /* files that were there, and the line that each has to get */
	bool right;                       /* the source is right as it is */
	/* Of a program, which has no source: */
	double ran_s;               /* how long it ran once; 0: it was asked for its benchmarks instead */
	struct assay_strings cases; /* keys of what is measured */
};

/* ---- a file of a model ---- */

struct assay_model_value {
	char *key;
	const char *kind; /* "u32", of each element where it is an array */
	bool is_array;
	uint64_t n;
	char *text; /* of its first elements */
};

struct assay_model_tensor {
	char *name;
	const char *type;
	uint32_t rank;
	uint64_t dims[4];
	uint64_t bytes;
};

struct assay_model_report {
	const char *path;
	uint32_t version;
	uint64_t bytes, parameters;
	struct assay_model_value *values;
	struct assay_model_tensor *tensors;
	size_t n_values, n_tensors;
};

void assay_model_report_release(struct assay_model_report *r);

/* ---- database report ---- */

/* Results of operations on a whole database, and of importing a file of another tool. */

#define ASSAY_DATABASE_MAX_COUNTS 16

/* One number of what was done: "results_added", "runs_in_baselines"; bytes end in "_bytes". */
struct assay_database_count {
	const char *name;
	uint64_t value;
};

/* All-zero is nothing done. */
struct assay_database_report {
	const char *action; /* "merge", "prune" */
	const char *db;
	bool dry; /* of a prune: nothing was done, this is what would be */
	struct assay_database_count counts[ASSAY_DATABASE_MAX_COUNTS];
	size_t n_counts;
	struct assay_strings notes; /* what a person should know, a line each */
};

static inline void assay_database_count_add(struct assay_database_report *r, const char *name, uint64_t value)
{
	if (r->n_counts < ASSAY_DATABASE_MAX_COUNTS)
		r->counts[r->n_counts++] = (struct assay_database_count){ name, value };
}

static inline void assay_database_report_release(struct assay_database_report *r)
{
	assay_strings_release(&r->notes);
	*r = (struct assay_database_report){ 0 };
}

/* One run of it. */
struct assay_import_run {
	int64_t id;
	size_t n_cases, n_ok, n_failed;
	uint64_t n_samples;
	char suite[ASSAY_NAME_MAX];
	char machine[128]; /* label; "" where nobody said it */
	char commit[65];   /* likewise */
	bool dated;        /* it is known when it was measured */
};

struct assay_import_report {
	char format[ASSAY_NAME_MAX];
	char digest[ASSAY_DIGEST_LEN + 1]; /* of all bytes of the file */
	struct assay_import_run *runs;     /* malloc'ed; those that were added */
	size_t n_runs;
	/* Earlier runs of the same bytes, malloc'ed: with the same options, so that they were not added again, and with
	 * others. */
	int64_t *same, *other;
	size_t n_same, n_other;
	int64_t replaced;    /* of those, the one that was removed; 0: none */
	size_t n_aggregates; /* means and the like, which are no samples */
};

void assay_import_report_release(struct assay_import_report *r);

/* ---- fleet report ---- */

/* The results of a suite on many machines: a matrix of cases and machines. */

/* A case on a machine. Numbers are NaN where they do not apply. */
struct assay_fleet_cell {
	bool there; /* the machine measured it, or had to */
	enum assay_verdict verdict;
	char *reason;               /* malloc'ed; NULL: none */
	double median_ns;           /* of a run */
	double ratio, ci_lo, ci_hi; /* head time / base time, of a comparison */
};

struct assay_fleet_machine {
	char name[ASSAY_NAME_MAX]; /* of the node */
	char machine[128];         /* "AMD EPYC, 2 cores, 24 GiB"; "": it was not measured */
	enum assay_verdict verdict;
	char reason[512];
	int64_t run, comparison; /* in the database into which all were merged; 0: none */
};

/* All-zero is empty; release it. */
struct assay_fleet_report {
	char suite[ASSAY_NAME_MAX], partition[ASSAY_NAME_MAX];
	char base[256], head[256]; /* of comparisons; "": these are runs */
	uint64_t started_ns;       /* Unix time of the first measurement; 0: there is none */
	double alpha;              /* of all comparisons together */
	enum assay_verdict verdict;
	enum assay_exit exit;
	struct assay_fleet_machine *machines; /* malloc'ed */
	size_t n_machines;
	char (*keys)[ASSAY_KEY_MAX]; /* malloc'ed */
	size_t n_cases;
	struct assay_fleet_cell *cells; /* malloc'ed; n_machines a case */
};

/* The cell of case @i on machine @k. */
static inline struct assay_fleet_cell *assay_fleet_cell_at(const struct assay_fleet_report *r, size_t i, size_t k)
{
	return &r->cells[i * r->n_machines + k];
}

/* The common verdict of all machines on case @i. */
enum assay_verdict assay_fleet_case_verdict(const struct assay_fleet_report *r, size_t i);
void assay_fleet_report_release(struct assay_fleet_report *r);

/* ---- time report ---- */

/* The findings of `assay time` about commands. */

/* One process of a command. */
struct assay_time_process {
	uint64_t wall_ns;
	double user_s, system_s;  /* with the descendants that were waited for */
	uint64_t peak_bytes;      /* most memory that a process of it had; 0: not known, no more than … */
	uint64_t peak_most_bytes; /* … this */
	uint64_t faults;          /* page faults */
	uint64_t switches;        /* involuntary ones, of contexts */
	int exit_code;            /* -1: a signal ended it */
	enum assay_status status;
	char reason[256]; /* empty when ok */
};

/* In order of time; times in s, and of wall time without the start of the shell. NaN where nothing was measured. */
struct assay_time_command {
	char *command; /* with its parameters filled in; malloc'ed */
	char name[ASSAY_OP_MAX];
	struct assay_result result;      /* a sample a process, as it is stored */
	struct assay_time_process *runs; /* malloc'ed */
	size_t n_runs;
	double mean_s, sd_s, max_s, user_s, system_s;
};

struct assay_gate_report;

/* All-zero is empty; release it. */
struct assay_time_report {
	bool measured;                       /* the commands that ran have numbers, whether these are stored or not */
	struct assay_time_command *commands; /* malloc'ed */
	size_t n_commands;
	size_t reference;                     /* that the others are compared with */
	const struct assay_gate_report *gate; /* verdicts, in order of the other commands; NULL: one command alone */
	char shell[64];                       /* that runs the commands; "": none does */
	double shell_s;                       /* what its own start takes, which was subtracted */
	int64_t run_id, comparison_id;        /* in the store; 0: none */
	char cpus[128];                       /* where they were bound, "0-3" */
};

/* Recompute the numbers of @c from its processes and the samples of its result. ASSAY_ENOMEM. */
int assay_time_command_sum(struct assay_time_command *c, struct assay_err *err);
void assay_time_report_release(struct assay_time_report *r);

/* ---- finding ---- */

/* The lines of `assay doctor`, whoever found them. */

enum assay_health {
	ASSAY_HEALTH_GOOD,
	ASSAY_HEALTH_WARN,    /* measures, but not as well as it could */
	ASSAY_HEALTH_MISSING, /* a capability is absent */
};

struct assay_finding {
	char name[ASSAY_NAME_MAX]; /* "pmu", "governor" */
	enum assay_health health;
	char value[256];  /* what was found */
	char advice[256]; /* how to fix it; empty when good or not fixable */
};

struct assay_findings {
	struct assay_finding *v;
	size_t n, capacity;
	bool failed; /* out of memory: some are missing */
};

/* Advice "" when there is nothing to do. */
void assay_findings_add(struct assay_findings *l, const char *name, enum assay_health health, const char *value,
			const char *advice);
void assay_findings_release(struct assay_findings *l);

#define ASSAY_ABILITY_MAX 400

/* The measuring abilities of a machine. */
struct assay_health_check {
	char topology[256];                   /* in one line */
	char abilities[4][ASSAY_ABILITY_MAX]; /* what can be measured here, a sentence each; "": nothing to say */
	const char *clock;                    /* that was chosen, and why */
	char clock_why[160];
	double clock_resolution_ns, clock_overhead_ns, sample_overhead_ns;
	struct assay_findings findings;
};

#endif
