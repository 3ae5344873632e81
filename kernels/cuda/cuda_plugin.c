/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of assay_cuda.so. What runs nowhere without nvcc is listed all the same, with its device's reason. */
#include <stdio.h>

#include "cuda_blas.h"
#include "cuda_variants.h"

#if ASSAY_CUDA
#define IF_COMPILED(fn) fn
#else
#define IF_COMPILED(fn) not_compiled
#endif

#if !ASSAY_CUDA
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
#define P2P_CALLS                                                                                                      \
	.supports = assay_stream_p2p_supports_cuda, .prepare = assay_stream_p2p_prepare_cuda,                          \
	.release = assay_stream_p2p_release_cuda,
#else
#define STREAM(fn) CUDA("stream." #fn, stream_##fn, .help = "16-byte vectors, 4 in flight a thread")
#define P2P_CALLS
#endif

#define QUANTIZE(format)                                                                                               \
	CUDA("quantize." #format, quantize_##format, .help = "16-byte vectors, 4 in flight a thread"),                 \
		CUDA("dequantize." #format, dequantize_##format, .help = "words of codes, 16-byte vectors of floats")

#if ASSAY_CUDA
#define CUBLAS_CALLS(kind)                                                                                             \
	.prepare = assay_cublas_prepare_##kind, .run = assay_cublas_run_##kind, .release = assay_cublas_release
#define CUBLASLT_CALLS .prepare = assay_cublaslt_prepare, .run = assay_cublaslt_run, .release = assay_cublaslt_release
#else
#define CUBLAS_CALLS(kind) .run = not_compiled
#define CUBLASLT_CALLS     .run = not_compiled
#endif

#define LIBRARY(op_, name_, help_, supports_, ...)                                                                     \
	{                                                                                                              \
		.op = op_, .name = name_, .help = help_, .device_kind = ASSAY_DEVICE_CUDA,                             \
		.flags = ASSAY_VARIANT_ONE_THREAD, .supports = supports_, __VA_ARGS__                                  \
	}

#define CUBLAS(op_, name_, kind, help_) LIBRARY(op_, name_, help_, assay_cublas_supports_##kind, CUBLAS_CALLS(kind))

static const struct assay_variant variants[] = {
	STREAM(copy),
	STREAM(triad),
	CUDA("stream.p2p", stream_p2p, P2P_CALLS.help = "cudaMemcpyPeerAsync from another device"),
	QUANTIZE(i2_s),
	QUANTIZE(tq2_0),
	QUANTIZE(q8_0),
	QUANTIZE(i8_token),
	CUDA("matmul.ternary", matmul_ternary, .help = "one token by DP4A, more on int8 tensor cores"),
	CUBLAS("matmul.ternary", "cublas", ternary, "cublasGemmEx on weights of one byte, then the scales"),
	CUBLAS("matmul.ternary", "cublas_f16", half, "cublasGemmEx on halves, then the scales"),
	LIBRARY("matmul.ternary", "cublaslt", "cublasLtMatmul on weights of one byte, then the scales",
		assay_cublaslt_supports, CUBLASLT_CALLS),
	CUBLAS("matmul.f32", "cublas", f32, "cublasSgemm"),
	GENERATE(prefill, "all on the device: weights, KV cache, fused norms, attention"),
	GENERATE(decode, "all on the device, a step replayed as a CUDA graph"),
	GENERATE(chat, "all on the device, requests planned before the run"),
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
