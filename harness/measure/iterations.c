/* SPDX-License-Identifier: Apache-2.0 */
/* Trial samples of growing size, then a few more, of which the quickest decides: the first of a size is often slow. */
#include "measure/iterations.h"

#include <math.h>

#define MIN_SAMPLE_NS     100000.0 /* shorter samples drown in the bookkeeping between them */
#define TIMER_ERROR_SHARE 1000.0   /* a sample lasts this many timer errors */
#define CONFIRMATIONS     3

double assay_iterations_target_ns(const struct assay_clock *clock)
{
	return fmax(MIN_SAMPLE_NS, (clock->overhead_ns + clock->resolution_ns) * TIMER_ERROR_SHARE);
}

int assay_iterations_find(struct assay_worker *w, double target_ns, uint64_t *iterations, double *sample_ns,
			  enum assay_status *status, char *reason, size_t size, struct assay_err *err)
{
	struct assay_worker_args args = { .iterations = 1, .count = 1 };
	double ns = 0, per_call;
	int left = CONFIRMATIONS;

	while (left) {
		int rc = assay_worker_call(w, ASSAY_CMD_SAMPLE, &args, status, reason, size, err);
		double one = (double)assay_worker_reply(w)->samples[0].ns;

		if (rc || *status != ASSAY_STATUS_OK)
			return rc ? rc : 1;
		if (one < target_ns && left == CONFIRMATIONS && args.iterations < UINT64_MAX / 16) {
			args.iterations *= (uint64_t)fmin(10, fmax(2, ceil(1.1 * target_ns / fmax(1, one))));
			continue;
		}
		ns = left == CONFIRMATIONS ? one : fmin(ns, one);
		left = one > 10 * target_ns ? 0 : left - 1;
	}
	per_call = ns / (double)args.iterations;
	*iterations = (uint64_t)fmax(1, ceil(target_ns / fmax(per_call, 1e-3)));
	*sample_ns = per_call * (double)*iterations;
	return 0;
}
