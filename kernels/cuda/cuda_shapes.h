/* SPDX-License-Identifier: Apache-2.0 */
/* All kernels and the threads of their blocks: for their launches, and for the occupancy that follows from these. */
#ifndef CUDA_SHAPES_H
#define CUDA_SHAPES_H

#define CUDA_KERNELS(KERNEL)                                                                                           \
	KERNEL(cuda_hold, 1)                                                                                           \
	KERNEL(cuda_nothing, 1)                                                                                        \
	KERNEL(cuda_make, 256)                                                                                         \
	KERNEL(cuda_make_blocks, 128)                                                                                  \
	KERNEL(stream_copy, 256)                                                                                       \
	KERNEL(stream_triad, 256)                                                                                      \
	KERNEL(quantize_q8_0, 256)                                                                                     \
	KERNEL(quantize_tq2_0, 256)                                                                                    \
	KERNEL(quantize_i2_s_sums, 256)                                                                                \
	KERNEL(quantize_i2_s_scale, 256)                                                                               \
	KERNEL(quantize_i2_s_codes, 256)                                                                               \
	KERNEL(quantize_i8_token, 256)                                                                                 \
	KERNEL(quantize_i8_token_long, 1024)                                                                           \
	KERNEL(dequantize_q8_0, 256)                                                                                   \
	KERNEL(dequantize_tq2_0, 256)                                                                                  \
	KERNEL(dequantize_i2_s, 256)                                                                                   \
	KERNEL(dequantize_i8_token, 256)                                                                               \
	KERNEL(ternary_gemv, 256)                                                                                      \
	KERNEL(ternary_gemv_wide, 256)                                                                                 \
	KERNEL(ternary_gemm_16, 128)                                                                                   \
	KERNEL(ternary_gemm_64, 128)                                                                                   \
	KERNEL(ternary_unpack, 256)                                                                                    \
	KERNEL(ternary_scale, 256)                                                                                     \
	KERNEL(ternary_unpack_half, 256)                                                                               \
	KERNEL(ternary_x_half, 256)                                                                                    \
	KERNEL(ternary_scale_half, 256)                                                                                \
	KERNEL(generate_begin, 32)                                                                                     \
	KERNEL(generate_request, 256)                                                                                  \
	KERNEL(generate_norm_first, 256)                                                                               \
	KERNEL(generate_norm_attn, 256)                                                                                \
	KERNEL(generate_norm_sub, 256)                                                                                 \
	KERNEL(generate_norm_ffn, 256)                                                                                 \
	KERNEL(generate_norm_act, 256)                                                                                 \
	KERNEL(generate_norm_last, 256)                                                                                \
	KERNEL(generate_rope, 256)                                                                                     \
	KERNEL(generate_attend, 256)                                                                                   \
	KERNEL(generate_token_first, 256)                                                                              \
	KERNEL(generate_token_qkv, 256)                                                                                \
	KERNEL(generate_token_attend, 256)                                                                             \
	KERNEL(generate_token_out, 160)                                                                                \
	KERNEL(generate_token_up, 448)                                                                                 \
	KERNEL(generate_token_down, 320)                                                                               \
	KERNEL(generate_token_last, 256)                                                                               \
	KERNEL(generate_head, 128)                                                                                     \
	KERNEL(generate_head_input, 256)                                                                               \
	KERNEL(generate_head_rows, 256)                                                                                \
	KERNEL(generate_greedy, 32)                                                                                    \
	KERNEL(generate_sample, 1024)

enum {
#define CUDA_THREADS(name, threads) CUDA_THREADS_##name = threads,
	CUDA_KERNELS(CUDA_THREADS)
#undef CUDA_THREADS
};

#endif
