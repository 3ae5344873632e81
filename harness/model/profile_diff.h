/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles compared with each other: what each function itself takes on either side, and what is known about the
 * change.
 */
#ifndef ASSAY_MODEL_PROFILE_DIFF_H
#define ASSAY_MODEL_PROFILE_DIFF_H

#include "model/profile.h"

/* By these the arrays of two are ordered. */
enum assay_profile_side { ASSAY_PROFILE_BASE, ASSAY_PROFILE_HEAD };

/*
 * How many characters of a symbol are the name of the function in the source. Compilers append ".constprop.0",
 * ".isra.3", ".part.1", ".cold", ".lto_priv.0" or ".llvm.123" to the names of what they make from it.
 */
size_t assay_function_name_length(const char *symbol);

/*
 * A function by its name in the source, including everything that compilers made from it; for traces, a span by its
 * name. Texts are borrowed from the profiles.
 */
struct assay_profile_change {
	const char *name; /* as long as `length` says */
	size_t length;
	const char *object, *file; /* of the head where that has it */
	unsigned line, last_line;  /* of its source that were seen; 0: not known */
	uint64_t self[2];          /* weights of its own that count */
	double own[2];             /* the same in the unit of the difference */
	double change;
	struct assay_interval ci; /* 95 %, NaN where weights are not sampled */
	/* Of spans: with those within them, in the same unit, and how many there were; NaN: not known. */
	double total[2], times[2];
};

struct assay_profile_diff {
	const struct assay_profile *side[2]; /* borrowed */
	bool per_iteration;                  /* of a case: of its timed iterations alone */
	bool sampled;                        /* there are intervals */
	bool spans;                          /* they are traces: spans are held against each other */
	bool two_machines;
	char unit[16];                  /* "ns", or that of the weights */
	double scale[2];                /* of one unit of weight */
	double whole[2];                /* all weights that count, in the unit */
	uint64_t weight[2];             /* the same as weights */
	struct assay_profile_change *v; /* that take something themselves, the largest change first */
	size_t n;
	struct assay_stack_table stacks[2]; /* those that count: functions alone, by their names in the source */
};

/*
 * Traces of a case are compared by iteration: as many as the samples on its critical path had time for, given the time
 * of an iteration. ASSAY_EUSAGE if the profiles are of different kinds, or only one is of a case. Release @d in either
 * case.
 *
 * A share of samples has the interval of Clopper and Pearson (1934). The interval of a change follows from those of
 * both sides by MOVER (Zou & Donner, Statistics in Medicine 27, 2008), which for shares is Newcombe's method 10
 * (Statistics in Medicine 17, 1998). It covers the chance in sampling; processes and placement differ by more.
 */
int assay_profile_diff_make(struct assay_profile_diff *d, const struct assay_profile *base,
			    const struct assay_profile *head, struct assay_err *err);
void assay_profile_diff_release(struct assay_profile_diff *d);

#endif
