/* SPDX-License-Identifier: Apache-2.0 */
/* stream.p2p: shapes and cost. Its inputs and its oracle are those of stream.copy. */
#include <inttypes.h>
#include <stdio.h>

#include "assay/op_stream.h"
#include "stream_ops.h"

const struct assay_axis assay_p2p_axes[2] = {
	[ASSAY_P2P_HOP] = { .name = "hop",
			    .help = "which device is read: so many after the case's own, around",
			    .min = 1,
			    .max = 63,
			    .def = 1 },
	[ASSAY_P2P_BYTES] = { .name = "bytes",
			      .help = "bytes of the array, a multiple of 4096",
			      .min = ASSAY_STREAM_PAGE,
			      .max = INT64_C(1) << 36,
			      .def = INT64_C(256) << 20 },
};

const char *const assay_p2p_counters[ASSAY_P2P_N_COUNTERS] = {
	[ASSAY_P2P_DIRECT] = "p2p_direct",
	[ASSAY_P2P_STAGED] = "p2p_staged",
};

int assay_stream_p2p_describe(const struct assay_shape *shape, struct assay_problem *out, struct assay_reason *why)
{
	const int64_t bytes = shape->axis[ASSAY_P2P_BYTES];

	if (bytes % ASSAY_STREAM_PAGE) {
		snprintf(why->text, sizeof(why->text), "bytes is %" PRId64 ", expected a multiple of %d", bytes,
			 ASSAY_STREAM_PAGE);
		return -1;
	}
	out->n_tensors = 2;
	assay_stream_array(out, ASSAY_STREAM_COPY_A, "a", ASSAY_INPUT, (uint64_t)bytes);
	assay_stream_array(out, ASSAY_STREAM_COPY_B, "b", ASSAY_OUTPUT, (uint64_t)bytes);
	out->cost.bytes_read = (double)bytes;
	return 0;
}
