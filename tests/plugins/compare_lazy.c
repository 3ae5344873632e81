/* SPDX-License-Identifier: Apache-2.0 */
/* Right where it finds its output poisoned, as it is when it is verified, and wrong otherwise. */
#include <string.h>

#include "side.h"

static int run(struct assay_job *job)
{
	const unsigned char *y = job->tensors[1].data;
	const int poisoned = !memcmp(y, y + 1, job->tensors[1].bytes - 1);

	side_triple(job, TRIPLE_ROUNDS);
	if (!poisoned)
		*(int32_t *)job->tensors[1].data += 1000;
	return 0;
}

static const struct assay_variant variants[] = { TRIPLE("work", run) };

SIDE_PLUGIN("compare-lazy", variants);
