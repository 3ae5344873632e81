/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence about which function changed: profiles of process pairs, machine code, and exact counts. */
#ifndef ASSAY_DRIVE_COMPARE_CAUSE_EVIDENCE_H
#define ASSAY_DRIVE_COMPARE_CAUSE_EVIDENCE_H

#include "base/text.h"
#include "model/because_evidence.h"
#include "model/exact.h"
#include "model/profile.h"
#include "worker/plugin/function_code.h"

/* The functions of the plugins of a side. */
struct assay_side_codes {
	struct {
		char object[128]; /* file name */
		struct assay_function_codes codes;
	} * v;
	size_t n;
};
/* Plugins without symbols have none; ASSAY_ENOMEM. Release @c in either case. */
int assay_side_codes_read(struct assay_side_codes *c, const struct assay_strings *plugins, struct assay_err *err);
void assay_side_codes_release(struct assay_side_codes *c);

/* Add a process pair: the samples of @side[i] in timed iterations. @codes are of the same sides. */
int assay_because_add_pair(struct assay_because_evidence *e, const struct assay_profile side[2], const double ns[2],
			   const struct assay_side_codes codes[2], struct assay_err *err);
/* Exact counts of the same case on both sides, where they were taken. */
void assay_because_add_counts(struct assay_because_evidence *e, const struct assay_exact_run exact[2], const char *key);

#endif
