/* SPDX-License-Identifier: Apache-2.0 */
/* dequantize.q8_0/mine: a block of 32 codes with their scale becomes 32 floats. */
#include <assay/op_quantize.h>
#include <math.h>
#include <string.h>

static void blocks(void *arg, uint32_t thread, uint32_t n_threads)
{
	const struct assay_job *job = arg;
	const uint8_t *q = job->tensors[ASSAY_DEQUANTIZE_Q].data;
	float *x = job->tensors[ASSAY_DEQUANTIZE_BLOCK_X].data;
	const int64_t n_blocks = job->shape->axis[ASSAY_QUANTIZE_N] / 32;

	for (int64_t i = n_blocks * thread / n_threads; i < n_blocks * (thread + 1) / n_threads; i++) {
		_Float16 scale;

		memcpy(&scale, q + 34 * i, sizeof(scale));
		for (int j = 0; j < 32; j++) {
			const float v = (float)scale * (int8_t)q[34 * i + 2 + j];
			x[32 * i + j] = isnan(v) ? NAN : v;
		}
	}
}

static int run(struct assay_job *job)
{
	job->host->parallel(job, blocks, job);
	return 0;
}

static const struct assay_variant variants[] = {
	{ .op = "dequantize.q8_0", .name = "mine", .help = "one block after the other", .run = run },
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "dequantize",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
