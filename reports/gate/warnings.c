/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/gate/warnings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reports/gate/words.h"
#include "reports/text_parts.h"

/* How far a case is from what could be judged: the larger, the more it stands for its kind. */
static double extent(const struct assay_gate_case *c)
{
	double x = c->doubt == ASSAY_DOUBT_MARGIN  ? c->smallest_detectable_frac
		   : c->doubt == ASSAY_DOUBT_NOISE ? c->dropped_frac
						   : fabs(log(c->ratio));

	return isfinite(x) ? x : 0;
}

static const struct assay_gate_case *furthest(const struct assay_gate_report *r, enum assay_doubt doubt, size_t *n)
{
	const struct assay_gate_case *most = NULL;

	*n = 0;
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_gate_case *c = &r->cases[i];

		if (c->doubt != doubt)
			continue;
		(*n)++;
		if (!most || extent(c) > extent(most))
			most = c;
	}
	return most;
}

static void doubt_text(const struct assay_gate_case *most, size_t n, char *buf, size_t size)
{
	const char *s = n == 1 ? "" : "s", *key = most->key;
	char change[32];

	assay_gate_words_change(most->ratio, false, change, sizeof(change));
	switch (most->doubt) {
	case ASSAY_DOUBT_MACHINE:
		snprintf(buf, size, "%zu case%s of unchanged code moved with the machine; the largest change is %s, %s",
			 n, s, change, key);
		break;
	case ASSAY_DOUBT_MOVED:
		snprintf(buf, size,
			 "%zu case%s of changed code moved, but so did unchanged code, so it may be the machine; the "
			 "largest change is %s, %s",
			 n, s, change, key);
		break;
	case ASSAY_DOUBT_NOISE:
		snprintf(buf, size, "%zu case%s too disturbed by the host to be judged, such as %s", n, s, key);
		break;
	case ASSAY_DOUBT_SAMPLES:
		snprintf(buf, size, "%zu case%s with too few samples for an interval, such as %s: %s", n, s, key,
			 most->evidence == ASSAY_EVIDENCE_IMPORTED ? "more repetitions give one"
								   : "--budget gives more");
		break;
	default:
		assay_gate_words_change(1 + most->smallest_detectable_frac, false, change, sizeof(change));
		snprintf(buf, size,
			 "%zu case%s may or may not be slower than allowed; the least certain would show a slowdown of "
			 "%s%s, %s",
			 n, s, change, strncmp(change, "over", 4) ? " or more" : "", key);
	}
}

void assay_gate_doubts(const struct assay_gate_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const char *name = "unsure";
	bool any = false;
	char text[ASSAY_KEY_MAX + 256];

	for (unsigned d = ASSAY_DOUBT_NONE + 1; d < ASSAY_N_DOUBTS; d++) {
		size_t n;
		const struct assay_gate_case *most = furthest(r, (enum assay_doubt)d, &n);

		if (!most)
			continue;
		doubt_text(most, n, text, sizeof(text));
		assay_named_line(out, style, d == ASSAY_DOUBT_MACHINE ? "moved" : name, text);
		name = d == ASSAY_DOUBT_MACHINE ? name : "";
		/* nothing of another tool can be built and compared here */
		any |= most->evidence != ASSAY_EVIDENCE_IMPORTED;
	}
	if (any)
		assay_named_line(out, style, "next",
				 "-v lists these cases; 'assay compare BASE' interleaves both builds, so that the "
				 "machine is the same for both");
}
