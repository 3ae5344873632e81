/* SPDX-License-Identifier: Apache-2.0 */
/* What became of a case. */
#ifndef ASSAY_MODEL_STATUS_H
#define ASSAY_MODEL_STATUS_H

enum assay_status {
	ASSAY_STATUS_OK,
	ASSAY_STATUS_SKIPPED, /* cannot run here: reason */
	ASSAY_STATUS_WRONG,   /* wrong output, changed inputs, or wrote out of bounds */
	ASSAY_STATUS_CRASHED, /* the worker died: signal or exit */
	ASSAY_STATUS_TIMEOUT,
	ASSAY_STATUS_FAILED, /* it said why it cannot: memory limit, set-up error, metric out of range */
	ASSAY_N_STATUS,
};

const char *assay_status_name(enum assay_status s);

#endif
