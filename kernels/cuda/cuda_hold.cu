// SPDX-License-Identifier: Apache-2.0
// Holds a stream until the host has enqueued a whole series, so that what a launch takes is not measured as a kernel's
// time. A series longer than the queue of a stream would wait for itself for ever, hence the limit.
#include "cuda/cuda_kernel.cuh"

CUDA_KERNEL(cuda_hold)(const volatile unsigned *gate, unsigned ticket, unsigned long long limit_ns)
{
	const unsigned long long begin = cuda_now_ns();

	while (*gate < ticket && cuda_now_ns() - begin < limit_ns)
		__nanosleep(200);
}

CUDA_KERNEL(cuda_nothing)(void)
{
}

cudaError_t assay_cuda_hold(const struct cuda_stream *s, unsigned long long limit_ns)
{
	cuda_hold<<<1, CUDA_THREADS_cuda_hold, 0, s->handle>>>(s->gate, s->ticket, limit_ns);
	return cudaGetLastError();
}

cudaError_t assay_cuda_nothing(const struct cuda_stream *s)
{
	cuda_nothing<<<1, CUDA_THREADS_cuda_nothing, 0, s->handle>>>();
	return cudaGetLastError();
}
