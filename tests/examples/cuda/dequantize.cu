// SPDX-License-Identifier: Apache-2.0
// dequantize.q8_0/mine on a GPU: a thread for each float.
#include <assay/op_quantize.h>
#include <cuda_fp16.h>

static __global__ void dequantize(float *x, const uint8_t *q, int64_t n)
{
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	const uint8_t *block = q + 34 * (i / 32);

	if (i < n) {
		const float v = __half2float(*(const __half *)block) * (int8_t)block[2 + i % 32];
		x[i] = isnan(v) ? __int_as_float(0x7fc00000) : v;
	}
}

// Enqueues the kernel on the stream that is timed.
static int run(struct assay_job *job)
{
	const uint8_t *q = (const uint8_t *)job->tensors[ASSAY_DEQUANTIZE_Q].data;
	float *x = (float *)job->tensors[ASSAY_DEQUANTIZE_BLOCK_X].data;
	const int64_t n = job->shape->axis[ASSAY_QUANTIZE_N];

	dequantize<<<(unsigned)((n + 255) / 256), 256, 0, (cudaStream_t)job->stream>>>(x, q, n);
	const cudaError_t failed = cudaGetLastError();
	return failed ? job->host->fail(job, "%s", cudaGetErrorString(failed)) : 0;
}

static const struct assay_variant variants[] = {
	{
		.op = "dequantize.q8_0",
		.name = "mine",
		.help = "a thread for each float",
		.device_kind = ASSAY_DEVICE_CUDA,
		.run = run,
	},
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "dequantize",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
};
