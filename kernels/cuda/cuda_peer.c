/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.p2p: a copy from the memory of another device, by the copy engines. Where the link allows it, the devices
 * reach each other's memory; elsewhere the driver takes the bytes through the host's, and the case says so.
 */
#include <stdio.h>
#include <stdlib.h>

#include "assay/op_stream.h"
#include "cuda_variants.h"

#if ASSAY_CUDA
#include "cuda_stream.h"

struct peer {
	int own, other, direct;
	void *a; /* in the other one's memory */
};

int assay_stream_p2p_supports_cuda(const struct assay_shape *shape, struct assay_reason *why)
{
	const int64_t hop = shape->axis[ASSAY_P2P_HOP];
	int n = 0;

	if (cudaGetDeviceCount(&n) != cudaSuccess) {
		cudaGetLastError(); /* the device's own reason is the case's */
		return 0;
	}
	if (hop < n)
		return 0;
	if (n == 1)
		snprintf(why->text, sizeof(why->text), "there is one device, and this takes two");
	else
		snprintf(why->text, sizeof(why->text), "hop=%lld leads around: there are %d devices", (long long)hop,
			 n);
	return -1;
}

/* Memory on the other device; this thread's device stays its own. */
static cudaError_t open_other(struct peer *p, size_t bytes, size_t *left)
{
	size_t total = 0;
	cudaError_t rc = cudaSetDevice(p->other), back;

	*left = 0;
	if (rc == cudaSuccess)
		rc = cudaMalloc(&p->a, bytes);
	if (rc == cudaErrorMemoryAllocation)
		cudaMemGetInfo(left, &total);
	cudaGetLastError(); /* it is the other device's */
	back = cudaSetDevice(p->own);
	return rc == cudaSuccess ? back : rc;
}

/* Several copies of a case ask for it; it stays on until the process ends. */
static cudaError_t open_link(struct peer *p)
{
	cudaError_t rc = cudaDeviceCanAccessPeer(&p->direct, p->own, p->other);

	if (rc != cudaSuccess || !p->direct)
		return rc;
	rc = cudaDeviceEnablePeerAccess(p->other, 0);
	if (rc != cudaErrorPeerAccessAlreadyEnabled)
		return rc;
	cudaGetLastError();
	return cudaSuccess;
}

void assay_stream_p2p_release_cuda(struct assay_job *job)
{
	struct peer *p = job->state;

	if (!p)
		return;
	if (p->a && cudaSetDevice(p->other) == cudaSuccess)
		cudaFree(p->a);
	cudaSetDevice(p->own);
	free(p);
	job->state = NULL;
}

int assay_stream_p2p_prepare_cuda(struct assay_job *job)
{
	const struct assay_tensor *a = &job->tensors[ASSAY_STREAM_COPY_A];
	struct peer *p = calloc(1, sizeof(*p));
	size_t left = 0;
	int n = 0, other;
	cudaError_t rc;

	if (!p)
		return job->host->fail(job, "out of memory");
	job->state = p;
	rc = cudaGetDevice(&p->own);
	if (rc == cudaSuccess)
		rc = cudaGetDeviceCount(&n);
	other = p->other = n ? (int)((p->own + job->shape->axis[ASSAY_P2P_HOP]) % n) : 0;
	if (rc == cudaSuccess)
		rc = open_other(p, (size_t)a->bytes, &left);
	if (rc == cudaErrorMemoryAllocation) {
		assay_stream_p2p_release_cuda(job);
		return job->host->fail(job, "out of memory on device 'cuda:%d': %llu bytes are needed, %zu are free",
				       other, (unsigned long long)a->bytes, left);
	}
	if (rc == cudaSuccess)
		rc = open_link(p);
	if (rc == cudaSuccess)
		rc = cudaMemcpyPeerAsync(p->a, p->other, a->data, p->own, (size_t)a->bytes, cuda_stream_of(job));
	if (rc == cudaSuccess)
		rc = cudaStreamSynchronize(cuda_stream_of(job));
	if (rc == cudaSuccess)
		return 0;
	assay_stream_p2p_release_cuda(job);
	return job->host->fail(job, "cannot put the array on device 'cuda:%d': %s", other, cudaGetErrorString(rc));
}

int assay_stream_p2p_cuda(struct assay_job *job)
{
	const struct assay_tensor *b = &job->tensors[ASSAY_STREAM_COPY_B];
	const struct peer *p = job->state;
	cudaError_t rc = cudaMemcpyPeerAsync(b->data, p->own, p->a, p->other, (size_t)b->bytes, cuda_stream_of(job));

	assay_counter(job, p->direct ? ASSAY_P2P_DIRECT : ASSAY_P2P_STAGED, 1);
	return rc == cudaSuccess ? 0
				 : job->host->fail(job, "cannot copy from device 'cuda:%d': %s", p->other,
						   cudaGetErrorString(rc));
}
#endif
