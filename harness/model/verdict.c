/* SPDX-License-Identifier: Apache-2.0 */
/* Names of verdicts and evidence, exit codes, and which of two is graver. */
#include "model/verdict.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	enum assay_exit exit;
} verdicts[ASSAY_N_VERDICTS] = {
	[ASSAY_PASS] = { "PASS", ASSAY_EXIT_OK },
	[ASSAY_IMPROVED] = { "IMPROVED", ASSAY_EXIT_OK },
	[ASSAY_REGRESSED] = { "REGRESSED", ASSAY_EXIT_REGRESSED },
	[ASSAY_INCONCLUSIVE] = { "INCONCLUSIVE", ASSAY_EXIT_INCONCLUSIVE },
	[ASSAY_NOT_MEASURED] = { "NOT_MEASURED", ASSAY_EXIT_NOT_MEASURED },
	[ASSAY_INCOMPARABLE] = { "INCOMPARABLE", ASSAY_EXIT_INCOMPARABLE },
	[ASSAY_WRONG_RESULT] = { "WRONG_RESULT", ASSAY_EXIT_WRONG_RESULT },
};

static const char *const evidences[ASSAY_N_EVIDENCE] = {
	[ASSAY_EVIDENCE_EXACT] = "exact",   [ASSAY_EVIDENCE_PMU] = "pmu", [ASSAY_EVIDENCE_PAIRED] = "paired",
	[ASSAY_EVIDENCE_STORED] = "stored", [ASSAY_EVIDENCE_SDE] = "sde", [ASSAY_EVIDENCE_OP] = "op",
	[ASSAY_EVIDENCE_HEAP] = "heap",     [ASSAY_EVIDENCE_OS] = "os",   [ASSAY_EVIDENCE_IMPORTED] = "imported",
	[ASSAY_EVIDENCE_NONE] = "none",
};

const char *assay_verdict_name(enum assay_verdict v)
{
	return (unsigned)v < ASSAY_N_VERDICTS ? verdicts[v].name : "?";
}

const char *assay_evidence_name(enum assay_evidence e)
{
	return (unsigned)e < ASSAY_N_EVIDENCE ? evidences[e] : "?";
}

enum assay_evidence assay_evidence_of_source(const char *source)
{
	static const enum assay_evidence of[] = { ASSAY_EVIDENCE_EXACT,   ASSAY_EVIDENCE_PMU,  ASSAY_EVIDENCE_SDE,
						  ASSAY_EVIDENCE_OP,      ASSAY_EVIDENCE_HEAP, ASSAY_EVIDENCE_OS,
						  ASSAY_EVIDENCE_IMPORTED };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (!strcmp(evidences[of[i]], source))
			return of[i];
	return ASSAY_EVIDENCE_NONE;
}

enum assay_exit assay_verdict_exit(enum assay_verdict v, bool strict)
{
	if ((unsigned)v >= ASSAY_N_VERDICTS)
		return ASSAY_EXIT_INTERNAL;
	if (v == ASSAY_INCONCLUSIVE && !strict)
		return ASSAY_EXIT_OK;
	return verdicts[v].exit;
}

/* Lower is graver; a code that is none of ours counts as an internal error. */
static size_t gravity(enum assay_exit e)
{
	static const enum assay_exit order[] = {
		ASSAY_EXIT_INTERNAL,  ASSAY_EXIT_USAGE,        ASSAY_EXIT_WRONG_RESULT, ASSAY_EXIT_NOT_MEASURED,
		ASSAY_EXIT_REGRESSED, ASSAY_EXIT_INCOMPARABLE, ASSAY_EXIT_INCONCLUSIVE, ASSAY_EXIT_OK,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (order[i] == e)
			return i;
	return 0;
}

enum assay_exit assay_exit_worse(enum assay_exit a, enum assay_exit b)
{
	return gravity(a) <= gravity(b) ? a : b;
}

enum assay_verdict assay_verdict_worse(enum assay_verdict a, enum assay_verdict b)
{
	size_t ga = gravity(assay_verdict_exit(a, true)), gb = gravity(assay_verdict_exit(b, true));

	if (ga != gb)
		return ga < gb ? a : b;
	/* PASS and IMPROVED share an exit code; the whole is improved only where every part is. */
	return a == ASSAY_IMPROVED ? b : a;
}

enum assay_exit assay_exit_of_status(enum assay_status s)
{
	switch (s) {
	case ASSAY_STATUS_OK:
	case ASSAY_STATUS_SKIPPED:
		return ASSAY_EXIT_OK;
	case ASSAY_STATUS_WRONG:
		return ASSAY_EXIT_WRONG_RESULT;
	default:
		return ASSAY_EXIT_NOT_MEASURED;
	}
}
