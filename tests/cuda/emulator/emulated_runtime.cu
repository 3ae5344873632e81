// SPDX-License-Identifier: Apache-2.0
// The emulated runtime: memory that is counted, streams that are captured, and the faults that a test asks for.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <map>
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

#define ALIGNMENT       512
#define MAX_DEVICES     16
#define MULTIPROCESSORS 4

// Memory of a device, by its first byte.
struct block {
	size_t bytes;
	int device;
};

static struct {
	emulated_graph *captured; // launches go there
	std::map<char *, block> memory;
	size_t used[MAX_DEVICES];
	bool reaches[MAX_DEVICES][MAX_DEVICES];
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
	if (number("EMULATED_START", cudaSuccess) != cudaSuccess)
		return (cudaError_t)number("EMULATED_START", cudaSuccess);
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

static size_t memory_bytes(int device)
{
	char name[32];

	snprintf(name, sizeof(name), "EMULATED_MEMORY_%d", device);
	return number(name, number("EMULATED_MEMORY", (size_t)1 << 30));
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->name, sizeof(p->name), "Emulated %c", 'A' + device);
	p->uuid.bytes[15] = (char)device;
	p->totalGlobalMem = memory_bytes(device);
	p->major = 9;
	p->multiProcessorCount = MULTIPROCESSORS;
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
		 : which == cudaDevAttrMultiProcessorCount    ? MULTIPROCESSORS
							      : 1000000;
	return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
	return fault();
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	if (device == peer || peer >= (int)number("EMULATED_DEVICES", 1))
		return cudaErrorInvalidDevice;
	*can = number("EMULATED_PEER", 1) != 0;
	return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned)
{
	bool *reaches = &runtime.reaches[runtime.device][peer];

	if (*reaches)
		return runtime.last = cudaErrorPeerAccessAlreadyEnabled;
	*reaches = true;
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
	if (bytes > memory_bytes(runtime.device) - runtime.used[runtime.device])
		return runtime.last = cudaErrorMemoryAllocation;
	if (posix_memalign(p, ALIGNMENT, bytes))
		return runtime.last = cudaErrorMemoryAllocation;
	runtime.memory[(char *)*p] = { bytes, runtime.device };
	runtime.used[runtime.device] += bytes;
	return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
	const auto at = runtime.memory.find((char *)p);

	if (at == runtime.memory.end())
		return p ? cudaErrorInvalidDevice : cudaSuccess;
	runtime.used[at->second.device] -= at->second.bytes;
	runtime.memory.erase(at);
	free(p);
	return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
	*total = memory_bytes(runtime.device);
	*left = *total - runtime.used[runtime.device];
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

// Does a device have all of these bytes?
static bool owns(int device, const void *p, size_t bytes)
{
	auto at = runtime.memory.upper_bound((char *)p);

	if (at == runtime.memory.begin())
		return false;
	--at;
	return at->second.device == device && (char *)p + bytes <= at->first + at->second.bytes;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t)
{
	runtime.launches++;
	if (to_device == from_device || !owns(to_device, to, bytes) || !owns(from_device, from, bytes))
		return runtime.last = cudaErrorInvalidDevice;
	if (fault() != cudaSuccess)
		return runtime.last = fault();
	memcpy(to, from, bytes);
	return cudaSuccess;
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
