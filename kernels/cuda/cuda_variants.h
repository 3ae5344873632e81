/* SPDX-License-Identifier: Apache-2.0 */
/* The callbacks of the CUDA variants, as C sees them. Without nvcc the plugin is built without them: ASSAY_CUDA=0. */
#ifndef CUDA_VARIANTS_H
#define CUDA_VARIANTS_H

#include "assay/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct assay_device_ops assay_cuda_device;

int assay_stream_supports_cuda(const struct assay_shape *shape, struct assay_reason *why);
int assay_stream_copy_cuda(struct assay_job *job);
int assay_stream_triad_cuda(struct assay_job *job);

int assay_stream_p2p_supports_cuda(const struct assay_shape *shape, struct assay_reason *why);
int assay_stream_p2p_prepare_cuda(struct assay_job *job);
int assay_stream_p2p_cuda(struct assay_job *job);
void assay_stream_p2p_release_cuda(struct assay_job *job);

int assay_quantize_i2_s_cuda(struct assay_job *job);
int assay_quantize_tq2_0_cuda(struct assay_job *job);
int assay_quantize_q8_0_cuda(struct assay_job *job);
int assay_quantize_i8_token_cuda(struct assay_job *job);
int assay_dequantize_i2_s_cuda(struct assay_job *job);
int assay_dequantize_tq2_0_cuda(struct assay_job *job);
int assay_dequantize_q8_0_cuda(struct assay_job *job);
int assay_dequantize_i8_token_cuda(struct assay_job *job);

int assay_matmul_ternary_cuda(struct assay_job *job);

int assay_generate_prefill_prepare_cuda(struct assay_job *job);
int assay_generate_prefill_cuda(struct assay_job *job);
int assay_generate_decode_prepare_cuda(struct assay_job *job);
int assay_generate_decode_cuda(struct assay_job *job);
int assay_generate_chat_prepare_cuda(struct assay_job *job);
int assay_generate_chat_cuda(struct assay_job *job);
void assay_generate_release_cuda(struct assay_job *job);

#ifdef __cplusplus
}
#endif
#endif
