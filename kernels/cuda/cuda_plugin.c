/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of assay_cuda.so. What runs nowhere without nvcc is listed all the same, with its device's reason. */
#include "cuda_blas.h"
#include "cuda_variants.h"

#if ASSAY_CUDA
#define IF_COMPILED(fn) fn
#else
#define IF_COMPILED(fn) not_compiled
#endif

#if !ASSAY_CUDA || !ASSAY_CUBLAS
static int not_compiled(struct assay_job *job)
{
	return job->host->fail(job, "built without nvcc");
}
#endif

#define CUDA(op_, fn_, ...)                                                                                            \
	{                                                                                                              \
		.op = op_, .name = "cuda", .device_kind = ASSAY_DEVICE_CUDA, .flags = ASSAY_VARIANT_ONE_THREAD,        \
		.run = IF_COMPILED(assay_##fn_##_cuda), __VA_ARGS__                                                    \
	}

#if ASSAY_CUDA
#define GENERATE_CALLS(kind) .prepare = assay_generate_##kind##_prepare_cuda, .release = assay_generate_release_cuda,
#else
#define GENERATE_CALLS(kind)
#endif

#define GENERATE(kind, help_) CUDA("generate." #kind, generate_##kind, GENERATE_CALLS(kind).help = help_)

#if ASSAY_CUDA
#define STREAM(fn)                                                                                                     \
	CUDA("stream." #fn, stream_##fn, .help = "16-byte vectors, 4 in flight a thread",                              \
	     .supports = assay_stream_supports_cuda)
#else
#define STREAM(fn) CUDA("stream." #fn, stream_##fn, .help = "16-byte vectors, 4 in flight a thread")
#endif

#define QUANTIZE(format)                                                                                               \
	CUDA("quantize." #format, quantize_##format, .help = "16-byte vectors, 4 in flight a thread"),                 \
		CUDA("dequantize." #format, dequantize_##format, .help = "words of codes, 16-byte vectors of floats")

#if ASSAY_CUBLAS
#define CUBLAS_CALLS(kind)                                                                                             \
	.prepare = assay_cublas_prepare_##kind, .run = assay_cublas_run_##kind, .release = assay_cublas_release
#else
#define CUBLAS_CALLS(kind) .run = not_compiled
#endif

#define CUBLAS(op_, kind, help_)                                                                                       \
	{                                                                                                              \
		.op = op_, .name = "cublas", .help = help_, .device_kind = ASSAY_DEVICE_CUDA,                          \
		.flags = ASSAY_VARIANT_ONE_THREAD, .supports = assay_cublas_supports_##kind, CUBLAS_CALLS(kind)        \
	}

static const struct assay_variant variants[] = {
	STREAM(copy),
	STREAM(triad),
	QUANTIZE(i2_s),
	QUANTIZE(tq2_0),
	QUANTIZE(q8_0),
	QUANTIZE(i8_token),
	CUDA("matmul.ternary", matmul_ternary, .help = "one token by DP4A, more on int8 tensor cores"),
	CUBLAS("matmul.ternary", ternary, "cublasGemmEx on weights of one byte, then the scales"),
	CUBLAS("matmul.f32", f32, "cublasSgemm"),
	GENERATE(prefill, "all on the device: weights, KV cache, fused norms, attention"),
	GENERATE(decode, "all on the device, a step replayed as a CUDA graph"),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "assay_cuda",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
	.devices = &assay_cuda_device,
	.n_devices = 1,
};
