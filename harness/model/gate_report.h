/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a gate or a comparison: one verdict for each case and metric, and the verdict of the whole. */
#ifndef ASSAY_MODEL_GATE_REPORT_H
#define ASSAY_MODEL_GATE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/build.h"
#include "model/case.h"
#include "model/metric.h"
#include "model/verdict.h"

/* Why a stored time is INCONCLUSIVE, so that reports can say it once for many cases. */
enum assay_doubt {
	ASSAY_DOUBT_NONE,    /* it is not, or its reason is its own */
	ASSAY_DOUBT_MACHINE, /* unchanged code moved beyond the margin, so the machine did */
	ASSAY_DOUBT_MOVED,   /* changed code moved, but so did unchanged code */
	ASSAY_DOUBT_NOISE,   /* too many samples were disturbed */
	ASSAY_DOUBT_SAMPLES, /* too few samples for an interval */
	ASSAY_DOUBT_MARGIN,  /* the interval lies on both sides of the margin */
	ASSAY_N_DOUBTS,
};

enum assay_because_evidence_kind {
	ASSAY_BECAUSE_SAMPLED, /* by samples alone */
	ASSAY_BECAUSE_CODE,    /* and it is the only function whose machine code differs */
	ASSAY_BECAUSE_EXACT,   /* and it is the only one whose exact counts do */
};

/* A function that accounts for a part of a change of time. */
struct assay_because_part {
	char function[128]; /* "": it has no name, and is known by its object */
	char object[128], file[128];
	unsigned line, last_line;
	double change_ns, ci_lo_ns, ci_hi_ns; /* of an iteration, that the function takes more; 95 % */
	enum assay_because_evidence_kind evidence;
};

#define ASSAY_BECAUSE_PARTS_MAX 3

/* The functions that account for a change of time, by profiles of both sides. */
struct assay_gate_because {
	bool asked;      /* profiles were taken, or it is told why not */
	char text[1024]; /* a sentence for people */
	struct assay_because_part parts[ASSAY_BECAUSE_PARTS_MAX];
	size_t n_parts;                            /* 0: the cause is unknown */
	double whole_ns, whole_lo_ns, whole_hi_ns; /* that an iteration takes more, as it was judged; NaN: not known */
	double rest_ns;                            /* of that, beyond chance, what the parts leave; 0: nothing */
	double seconds;                            /* that were profiled */
	uint64_t samples;                          /* of both sides */
};

/* One case × metric. Numbers are NaN where they do not apply (reports show nothing, JSON null). */
struct assay_gate_case {
	char key[ASSAY_KEY_MAX];
	char metric[ASSAY_METRIC_TAG_MAX];
	enum assay_evidence evidence;
	enum assay_verdict verdict;
	char reason[512];
	double ratio, ci_lo, ci_hi; /* head time / base time; above 1 is slower */
	double margin_frac;
	size_t pairs; /* process pairs behind the ratio; 0 where there are none */
	double dropped_frac;
	double smallest_detectable_frac;
	/* Of pairs: the budget that would decide it, or that has time for as many as may decide; 0: none is known. */
	uint64_t deciding_ns;
	double value, limit;               /* floors and ceilings */
	bool missing;                      /* of the manifest or the baseline, but not in the run */
	bool skipped;                      /* it passes without a number: it was skipped, or is absent, as it may be */
	char base_variant[ASSAY_NAME_MAX]; /* that the head's is compared with; "": the same of another build */
	bool is_new;                       /* only the head of a comparison has the case */
	bool suspect;                      /* of pairs: undecided, and its estimate is slower than the margin allows */
	bool same_code;                    /* stored times: the machine code is that of the baseline */
	enum assay_doubt doubt;
	unsigned edges; /* on which the head deviates, enum assay_edge; the reason says so */
	struct assay_gate_because because;
};

enum assay_control {
	ASSAY_CONTROL_NONE,   /* a real comparison */
	ASSAY_CONTROL_AA,     /* base against base: must not be REGRESSED */
	ASSAY_CONTROL_SLOWER, /* head with extra iterations: must not be PASS or IMPROVED */
};

/* A comparison whose outcome is known beforehand, judged like any other. */
struct assay_gate_control {
	char key[ASSAY_KEY_MAX];
	enum assay_control kind;
	double injected_frac; /* ASSAY_CONTROL_SLOWER: extra work of the head */
	enum assay_verdict verdict;
	double ratio, ci_lo, ci_hi; /* NaN where they do not apply */
	size_t pairs;
	bool ok; /* a base compared with itself is not REGRESSED; a slower head is not PASS or IMPROVED */
	char reason[512];
};

struct assay_gate_report {
	enum assay_verdict verdict;
	enum assay_exit exit;
	char base[256], head[256];       /* "run 12 (8c1f0aa)", "baseline 'main' (3 runs)"; base "": none */
	struct assay_commit revision[2]; /* of what the base and the head of a comparison were built from */
	char manifest[192];              /* the file that says which cases a run must have; "": none does */
	double alpha;
	bool no_baseline;
	char missing_hint
		[224];     /* what to do about cases that the run lacks; "": none is missing, or nothing is known */
	size_t n_unjudged; /* demands of the policy on cases that may be skipped, and were */
	char *advice; /* why speed was not judged, and the command that changes it; malloc'ed. NULL: it was judged */
	struct assay_gate_case *cases; /* malloc'ed */
	size_t n_cases;
	struct assay_gate_control *controls; /* malloc'ed; comparisons only */
	size_t n_controls;
	bool untrusted;        /* a control failed: this host cannot be trusted at this time, whatever the cases say */
	int64_t comparison_id; /* in the store; 0: none */
	unsigned rule;         /* version of the rule that judged a comparison; 0: there is none */
	double seconds;        /* that it took; NaN unknown */
	char unchecked[192];   /* what cannot be checked because the run was imported; "": it was not */
	char fitness[256];     /* which changes the machine could detect when it was measured; "": not known */
};

void assay_gate_report_release(struct assay_gate_report *r);

#endif
