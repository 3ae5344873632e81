/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of a CUDA device: time between two events, launches, and the gate that holds a series back. */
#include <stdio.h>
#include <stdlib.h>

#include "cuda_variants.h"

#if ASSAY_CUDA
#include "cuda_stream.h"

int assay_cuda_failed(struct assay_reason *why, const char *what, cudaError_t rc)
{
	snprintf(why->text, sizeof(why->text), "%s: %s", what, cudaGetErrorString(rc));
	return -1;
}

void assay_cuda_stream_close(void *device, void *stream)
{
	struct cuda_stream *s = stream;

	(void)device;
	if (s->begin)
		cudaEventDestroy(s->begin);
	if (s->end)
		cudaEventDestroy(s->end);
	if (s->handle)
		cudaStreamDestroy(s->handle);
	if (s->gate)
		cudaFreeHost(s->gate);
	free(s);
}

int assay_cuda_stream_open(void *device, void **stream, struct assay_reason *why)
{
	struct cuda_stream *s = calloc(1, sizeof(*s));
	cudaError_t rc = s ? cudaStreamCreateWithFlags(&s->handle, cudaStreamNonBlocking) : cudaErrorMemoryAllocation;

	if (rc == cudaSuccess)
		rc = cudaEventCreate(&s->begin);
	if (rc == cudaSuccess)
		rc = cudaEventCreate(&s->end);
	if (rc == cudaSuccess)
		rc = cudaHostAlloc((void **)&s->gate, sizeof(*s->gate), cudaHostAllocMapped);
	if (rc != cudaSuccess) {
		if (s)
			assay_cuda_stream_close(device, s);
		return assay_cuda_failed(why, "cannot make a stream", rc);
	}
	*s->gate = 0;
	*stream = s;
	return 0;
}

int assay_cuda_timer_start(void *device, void *stream)
{
	struct cuda_stream *s = stream;

	(void)device;
	return cudaEventRecord(s->begin, s->handle) == cudaSuccess ? 0 : -1;
}

int assay_cuda_timer_stop(void *device, void *stream)
{
	struct cuda_stream *s = stream;

	(void)device;
	return cudaEventRecord(s->end, s->handle) == cudaSuccess ? 0 : -1;
}

int assay_cuda_timer_read_ns(void *device, void *stream, uint64_t *ns, struct assay_reason *why)
{
	struct cuda_stream *s = stream;
	float ms = 0;
	cudaError_t rc = cudaEventSynchronize(s->end);

	(void)device;
	if (rc == cudaSuccess)
		rc = cudaEventElapsedTime(&ms, s->begin, s->end);
	if (rc != cudaSuccess)
		return assay_cuda_failed(why, "a kernel failed", rc);
	*ns = (uint64_t)((double)ms * 1e6);
	return 0;
}

int assay_cuda_stream_launch(void *device, void *stream, struct assay_reason *why)
{
	cudaError_t rc = assay_cuda_nothing(stream);

	(void)device;
	return rc == cudaSuccess ? 0 : assay_cuda_failed(why, "cannot launch", rc);
}

int assay_cuda_stream_wait(void *device, void *stream, struct assay_reason *why)
{
	cudaError_t rc = cudaStreamSynchronize(((struct cuda_stream *)stream)->handle);

	(void)device;
	return rc == cudaSuccess ? 0 : assay_cuda_failed(why, "a kernel failed", rc);
}

int assay_cuda_stream_hold(void *device, void *stream, uint64_t most_ns, struct assay_reason *why)
{
	struct cuda_stream *s = stream;
	cudaError_t rc;

	(void)device;
	s->ticket++;
	rc = assay_cuda_hold(s, most_ns);
	return rc == cudaSuccess ? 0 : assay_cuda_failed(why, "cannot hold the stream", rc);
}

int assay_cuda_stream_let_go(void *device, void *stream)
{
	struct cuda_stream *s = stream;

	(void)device;
	__atomic_store_n(s->gate, s->ticket, __ATOMIC_RELEASE);
	return 0;
}
#endif
