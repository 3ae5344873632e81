/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts, the rung of evidence they stand on, exit codes and their order of gravity. */
#ifndef ASSAY_MODEL_VERDICT_H
#define ASSAY_MODEL_VERDICT_H

#include <stdbool.h>

#include "model/case.h"

enum assay_verdict {
	ASSAY_PASS,
	ASSAY_IMPROVED,
	ASSAY_REGRESSED,
	ASSAY_INCONCLUSIVE,
	ASSAY_NOT_MEASURED,
	ASSAY_INCOMPARABLE,
	ASSAY_WRONG_RESULT,
	ASSAY_N_VERDICTS,
};

/* The longest name, and its NUL. */
#define ASSAY_VERDICT_MAX 24

enum assay_evidence {
	ASSAY_EVIDENCE_EXACT,
	ASSAY_EVIDENCE_PMU,
	ASSAY_EVIDENCE_PAIRED,
	ASSAY_EVIDENCE_STORED,
	ASSAY_EVIDENCE_SDE,      /* counts that ops publish, through PAPI */
	ASSAY_EVIDENCE_OP,       /* the same, read without PAPI */
	ASSAY_EVIDENCE_HEAP,     /* what the variant allocated */
	ASSAY_EVIDENCE_OS,       /* counts of the operating system */
	ASSAY_EVIDENCE_IMPORTED, /* what the file of another tool says */
	ASSAY_EVIDENCE_NONE,     /* floors and manifest: the run itself */
	ASSAY_N_EVIDENCE,
};

enum assay_exit {
	ASSAY_EXIT_OK = 0,
	ASSAY_EXIT_REGRESSED = 1,
	ASSAY_EXIT_USAGE = 2,
	ASSAY_EXIT_WRONG_RESULT = 3,
	ASSAY_EXIT_NOT_MEASURED = 4,
	ASSAY_EXIT_INCOMPARABLE = 5,
	ASSAY_EXIT_INCONCLUSIVE = 6,
	ASSAY_EXIT_INTERNAL = 70,
};

/* "PASS", "exact", … ; the names scripts see. */
const char *assay_verdict_name(enum assay_verdict v);
const char *assay_evidence_name(enum assay_evidence e);
/* The rung that a count of this source (model/counter.h) stands on; NONE for "" and the harness's own. */
enum assay_evidence assay_evidence_of_source(const char *source);

/* Exit code of one verdict; INCONCLUSIVE counts only when @strict. */
enum assay_exit assay_verdict_exit(enum assay_verdict v, bool strict);
/* The graver of two, in the order 70, 2, 3, 4, 1, 5, 6, 0. */
enum assay_exit assay_exit_worse(enum assay_exit a, enum assay_exit b);
/* The exit code that a case of this status stands for: 0 (also when it was skipped), 3 or 4. */
enum assay_exit assay_exit_of_status(enum assay_status s);
/* The graver of two verdicts in the same order; INCONCLUSIVE is graver than PASS and IMPROVED. */
enum assay_verdict assay_verdict_worse(enum assay_verdict a, enum assay_verdict b);

#endif
