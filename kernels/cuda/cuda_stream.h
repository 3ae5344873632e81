/* SPDX-License-Identifier: Apache-2.0 */
/* The object behind job->stream on a CUDA device: the stream that variants enqueue on, its timer, and its gate. */
#ifndef CUDA_STREAM_H
#define CUDA_STREAM_H

#include <cuda_runtime_api.h>

#include "assay/plugin.h"

struct cuda_stream {
	cudaStream_t handle;
	cudaEvent_t begin, end;
	unsigned *gate; /* in host memory that the device sees: the highest ticket that has been let go */
	unsigned ticket;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueue a kernel that ends when the gate reaches the stream's ticket, or after @limit_ns. */
cudaError_t assay_cuda_hold(const struct cuda_stream *s, unsigned long long limit_ns);
/* Enqueue a kernel that does nothing. */
cudaError_t assay_cuda_nothing(const struct cuda_stream *s);

/* The member of assay_device_ops that makes inputs. */
int assay_cuda_make(void *device, void *dst, uint64_t bytes, const struct assay_tensor_spec *spec, uint64_t seed,
		    struct assay_reason *why);

/* Fills @why with what failed, and returns -1. */
int assay_cuda_failed(struct assay_reason *why, const char *what, cudaError_t rc);

/* The members of assay_device_ops that take a stream. */
int assay_cuda_stream_open(void *device, void **stream, struct assay_reason *why);
void assay_cuda_stream_close(void *device, void *stream);
int assay_cuda_timer_start(void *device, void *stream);
int assay_cuda_timer_stop(void *device, void *stream);
int assay_cuda_timer_read_ns(void *device, void *stream, uint64_t *ns, struct assay_reason *why);
int assay_cuda_stream_launch(void *device, void *stream, struct assay_reason *why);
int assay_cuda_stream_wait(void *device, void *stream, struct assay_reason *why);
int assay_cuda_stream_hold(void *device, void *stream, uint64_t most_ns, struct assay_reason *why);
int assay_cuda_stream_let_go(void *device, void *stream);

#ifdef __cplusplus
}
#endif

static inline cudaStream_t cuda_stream_of(const struct assay_job *job)
{
	return ((const struct cuda_stream *)job->stream)->handle;
}

#endif
