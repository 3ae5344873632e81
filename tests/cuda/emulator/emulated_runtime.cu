// SPDX-License-Identifier: Apache-2.0
// The emulated runtime: memory that is counted, streams that are captured, and the faults that a test asks for.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <time.h>
#include <vector>

#include "cuda/cuda_stream.h"

struct emulated_stream {
	int unused;
};

struct emulated_event {
	unsigned long long ns;
};

struct node {
	int64_t grid;
	unsigned threads;
	std::function<void()> kernel;
};

struct emulated_graph {
	std::vector<node> nodes;
};

#define BLOCK_HEAD 512 /* before each block of memory; keeps what it is aligned to */

static struct {
	emulated_graph *captured; // launches go there
	size_t used;
	unsigned long long launches;
	cudaError_t last; // until it is asked for
	int device;
} runtime;

static unsigned long long number(const char *name, unsigned long long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

// The error of everything from a launch on.
static cudaError_t fault(void)
{
	const unsigned long long rc = number("EMULATED_FAULT", cudaSuccess);

	return rc != cudaSuccess && runtime.launches >= number("EMULATED_FAULT_AT", 1) ? (cudaError_t)rc : cudaSuccess;
}

unsigned long long emulated_now_ns()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

void emulated_enqueue(int64_t grid, unsigned threads, const std::function<void()> &kernel)
{
	if (runtime.captured) {
		runtime.captured->nodes.push_back({ grid, threads, kernel });
		return;
	}
	runtime.launches++;
	if (fault() == cudaSuccess)
		emulated_launch(grid, threads, kernel);
	else
		runtime.last = fault();
}

extern "C" {

const char *cudaGetErrorString(cudaError_t rc)
{
	static thread_local char text[64];

	if (rc == cudaErrorMemoryAllocation)
		return "out of memory";
	snprintf(text, sizeof(text), "emulated error %d", (int)rc);
	return text;
}

cudaError_t cudaGetLastError(void)
{
	const cudaError_t rc = runtime.last;

	runtime.last = cudaSuccess;
	return rc;
}

cudaError_t cudaDriverGetVersion(int *version)
{
	*version = (int)number("EMULATED_DRIVER", CUDART_VERSION);
	return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int *n)
{
	*n = (int)number("EMULATED_DEVICES", 1);
	if (number("EMULATED_DRIVER", CUDART_VERSION) < CUDART_VERSION)
		return cudaErrorInsufficientDriver;
	return *n ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaGetDevice(int *device)
{
	*device = runtime.device;
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	if (device < 0 || device >= (int)number("EMULATED_DEVICES", 1))
		return cudaErrorInvalidDevice;
	runtime.device = device;
	return cudaSuccess;
}

static size_t memory_bytes(void)
{
	return number("EMULATED_MEMORY", (size_t)1 << 30);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "Emulated %c", 'A' + device);
	p->uuid.bytes[15] = (char)device;
	p->totalGlobalMem = memory_bytes();
	p->major = 9;
	p->multiProcessorCount = 1;
	p->l2CacheSize = 1 << 20;
	p->memoryBusWidth = 64;
	p->pciBusID = device + 1;
	return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int)
{
	const int capability = (int)number("EMULATED_CAPABILITY", 90);

	*value = which == cudaDevAttrComputeCapabilityMajor   ? capability / 10
		 : which == cudaDevAttrComputeCapabilityMinor ? capability % 10
							      : 1000000;
	return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
	return fault();
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int, int)
{
	*can = 1;
	return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int, unsigned)
{
	return cudaSuccess;
}

// A block tells its size before what it holds.
cudaError_t cudaMalloc(void **p, size_t bytes)
{
	void *block = NULL;

	if (bytes > memory_bytes() - runtime.used)
		return runtime.last = cudaErrorMemoryAllocation;
	if (posix_memalign(&block, BLOCK_HEAD, bytes + BLOCK_HEAD))
		return runtime.last = cudaErrorMemoryAllocation;
	memcpy(block, &bytes, sizeof(bytes));
	runtime.used += bytes;
	*p = (char *)block + BLOCK_HEAD;
	return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
	size_t bytes;

	if (!p)
		return cudaSuccess;
	memcpy(&bytes, (char *)p - BLOCK_HEAD, sizeof(bytes));
	runtime.used -= bytes;
	free((char *)p - BLOCK_HEAD);
	return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
	*total = memory_bytes();
	*left = *total - runtime.used;
	return fault();
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
	return posix_memalign(p, 64, bytes) ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned)
{
	return cudaMallocHost(p, bytes);
}

cudaError_t cudaFreeHost(void *p)
{
	free(p);
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind)
{
	memcpy(to, from, bytes);
	return fault();
}

cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t)
{
	memcpy(to, from, bytes);
	return fault();
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
	memset(to, value, bytes);
	return fault();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
	*s = new emulated_stream();
	return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
	delete s;
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t)
{
	return fault();
}

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
	*e = new emulated_event();
	return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
	delete e;
	return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t)
{
	e->ns = emulated_now_ns();
	return fault();
}

cudaError_t cudaEventSynchronize(cudaEvent_t)
{
	return fault();
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	*ms = (float)((double)(to->ns - from->ns) * 1e-6);
	return fault();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, enum cudaStreamCaptureMode)
{
	runtime.captured = new emulated_graph();
	return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph)
{
	*graph = runtime.captured;
	runtime.captured = NULL;
	return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long)
{
	*run = new emulated_graph(*graph);
	return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t)
{
	for (const node &n : run->nodes)
		emulated_enqueue(n.grid, n.threads, n.kernel);
	return cudaGetLastError();
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	delete graph;
	return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run)
{
	delete run;
	return cudaSuccess;
}

// In the place of cuda_hold.cu, whose kernels only wait: nothing here is asynchronous.
cudaError_t assay_cuda_hold(const struct cuda_stream *, unsigned long long)
{
	return fault();
}

cudaError_t assay_cuda_nothing(const struct cuda_stream *)
{
	return fault();
}
}
