/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA devices: what they are, their memory and their faults, through the runtime that is linked into the plugin. It
 * looks for the driver when it is first asked.
 */
#include <stdio.h>
#include <stdint.h>

#include "cuda_variants.h"

#if ASSAY_CUDA
#include "cuda_stream.h"

#define failed assay_cuda_failed

static int device_count(struct assay_reason *why)
{
	int driver = 0, n = 0;
	cudaError_t rc = cudaDriverGetVersion(&driver);

	if (rc != cudaSuccess || !driver) {
		snprintf(why->text, sizeof(why->text), "no CUDA driver (libcuda.so.1)");
		return -1;
	}
	rc = cudaGetDeviceCount(&n);
	if (rc == cudaErrorInsufficientDriver) {
		snprintf(why->text, sizeof(why->text), "driver too old: it is of CUDA %d.%d, the plugin of %d.%d",
			 driver / 1000, driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
		return -1;
	}
	if (rc == cudaErrorNoDevice || (rc == cudaSuccess && !n)) {
		snprintf(why->text, sizeof(why->text), "no device, or CUDA_VISIBLE_DEVICES hides it");
		return 0;
	}
	return rc == cudaSuccess ? n : failed(why, "the driver does not start", rc);
}

/* Code of one compute capability runs on those of its generation that are higher, and PTX on all later ones. */
static int has_no_code(int ordinal, struct assay_reason *why)
{
	int major = 0, minor = 0;

	if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal) != cudaSuccess ||
	    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal) != cudaSuccess || major >= 8)
		return 0;
	snprintf(why->text, sizeof(why->text), "the device is sm_%d%d, the plugin has code for sm_80 and later", major,
		 minor);
	return -1;
}

/* The handle is the device's number, and one, since NULL is none. */
static int device_open(int ordinal, void **device, struct assay_reason *why)
{
	int n = device_count(why);
	cudaError_t rc;

	if (n <= 0)
		return -1;
	if (ordinal < 0 || ordinal >= n) {
		snprintf(why->text, sizeof(why->text), "no device %d, there %s %d", ordinal, n == 1 ? "is" : "are", n);
		return -1;
	}
	rc = cudaSetDevice(ordinal);
	if (rc == cudaSuccess && has_no_code(ordinal, why))
		return -1;
	if (rc == cudaSuccess)
		rc = cudaFree(NULL); /* starts the device */
	if (rc != cudaSuccess)
		return failed(why, "cannot start the device", rc);
	*device = (void *)(uintptr_t)(ordinal + 1);
	return 0;
}

static void device_close(void *device)
{
	(void)device;
}

static int device_describe(void *device, char *text, size_t size)
{
	int driver = 0;
	struct cudaDeviceProp p;

	if (cudaGetDeviceProperties(&p, (int)(uintptr_t)device - 1) != cudaSuccess ||
	    cudaDriverGetVersion(&driver) != cudaSuccess)
		return -1;
	snprintf(text, size, "%s, sm_%d%d, %zu MiB%s, driver of CUDA %d.%d", p.name, p.major, p.minor,
		 p.totalGlobalMem >> 20, p.ECCEnabled ? " with ECC" : "", driver / 1000, driver % 1000 / 10);
	return 0;
}

static int device_alloc(void *device, uint64_t bytes, void **ptr, struct assay_reason *why)
{
	size_t left = 0, total = 0;
	cudaError_t rc = cudaMalloc(ptr, bytes ? bytes : 1);

	(void)device;
	if (rc == cudaSuccess)
		return 0;
	cudaMemGetInfo(&left, &total);
	snprintf(why->text, sizeof(why->text), "%s: %llu bytes are needed, %zu of %zu are free", cudaGetErrorString(rc),
		 (unsigned long long)bytes, left, total);
	return -1;
}

static void device_release(void *device, void *ptr)
{
	(void)device;
	cudaFree(ptr);
}

static int device_upload(void *device, void *dst, const void *src, uint64_t bytes, struct assay_reason *why)
{
	cudaError_t rc = cudaMemcpy(dst, src, bytes, cudaMemcpyHostToDevice);

	(void)device;
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize(); /* small copies may still be on their way */
	return rc == cudaSuccess ? 0 : failed(why, "cannot copy to the device", rc);
}

/* Streams do not wait for the copies' own, nor these for them. */
static int device_download(void *device, void *dst, const void *src, uint64_t bytes, struct assay_reason *why)
{
	cudaError_t rc = cudaDeviceSynchronize();

	(void)device;
	if (rc == cudaSuccess)
		rc = cudaMemcpy(dst, src, bytes, cudaMemcpyDeviceToHost);
	return rc == cudaSuccess ? 0 : failed(why, "cannot copy from the device", rc);
}

/* Zero where the device does not tell. */
static uint64_t attribute(int ordinal, enum cudaDeviceAttr which)
{
	int value = 0;

	return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess && value > 0 ? (uint64_t)value : 0;
}

static void uuid_text(const cudaUUID_t *uuid, char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "GPU");

	for (int i = 0; i < 16 && at < size; i++)
		at += (size_t)snprintf(text + at, size - at, "%s%02x",
				       i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
				       (unsigned)(uint8_t)uuid->bytes[i]);
}

static int device_info(int ordinal, struct assay_device_info *info, struct assay_reason *why)
{
	struct cudaDeviceProp p;
	int driver = 0;
	cudaError_t rc = cudaGetDeviceProperties(&p, ordinal);

	if (rc == cudaSuccess)
		rc = cudaDriverGetVersion(&driver);
	if (rc != cudaSuccess)
		return failed(why, "cannot ask the device", rc);
	snprintf(info->name, sizeof(info->name), "%.95s", p.name);
	uuid_text(&p.uuid, info->uuid, sizeof(info->uuid));
	snprintf(info->pci, sizeof(info->pci), "%04x:%02x:%02x.0", (unsigned)p.pciDomainID, (unsigned)p.pciBusID,
		 (unsigned)p.pciDeviceID);
	snprintf(info->arch, sizeof(info->arch), "sm_%d%d", p.major, p.minor);
	snprintf(info->driver, sizeof(info->driver), "CUDA %d.%d", driver / 1000, driver % 1000 / 10);
	snprintf(info->runtime, sizeof(info->runtime), "CUDA %d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
	info->compute_units = (uint32_t)p.multiProcessorCount;
	info->memory_bytes = p.totalGlobalMem;
	info->l2_bytes = (uint64_t)p.l2CacheSize;
	info->core_hz_max = attribute(ordinal, cudaDevAttrClockRate) * 1000;
	info->memory_hz_max = attribute(ordinal, cudaDevAttrMemoryClockRate) * 1000;
	info->memory_bits = (uint32_t)p.memoryBusWidth;
	info->ecc = p.ECCEnabled ? ASSAY_MODE_ON : ASSAY_MODE_OFF;
	return 0;
}

static int device_memory(void *device, uint64_t *free_bytes, uint64_t *total_bytes, struct assay_reason *why)
{
	size_t left = 0, total = 0;
	cudaError_t rc = cudaMemGetInfo(&left, &total);

	(void)device;
	*free_bytes = left;
	*total_bytes = total;
	return rc == cudaSuccess ? 0 : failed(why, "cannot ask for memory in use", rc);
}

/* An error that outlives its call is told again by whatever waits for the device. */
static uint32_t device_fault(void *device, struct assay_reason *why)
{
	cudaError_t last = cudaGetLastError(), rc = device ? cudaDeviceSynchronize() : last;

	if (rc == cudaSuccess)
		rc = last;
	if (rc == cudaSuccess)
		return ASSAY_FAULT_NONE;
	failed(why, "CUDA", rc);
	switch (rc) {
	case cudaErrorMemoryAllocation:
		return ASSAY_FAULT_MEMORY;
	case cudaErrorNoDevice:
	case cudaErrorECCUncorrectable:
	case cudaErrorDevicesUnavailable:
		return ASSAY_FAULT_LOST;
	case cudaErrorIllegalAddress:
	case cudaErrorMisalignedAddress:
	case cudaErrorIllegalInstruction:
	case cudaErrorInvalidAddressSpace:
	case cudaErrorInvalidPc:
	case cudaErrorHardwareStackError:
	case cudaErrorAssert:
	case cudaErrorLaunchFailure:
	case cudaErrorLaunchTimeout:
		return ASSAY_FAULT_STICKY;
	default:
		return ASSAY_FAULT_OTHER;
	}
}

static int device_pin_alloc(void *device, uint64_t bytes, void **ptr, struct assay_reason *why)
{
	cudaError_t rc = cudaMallocHost(ptr, bytes ? bytes : 1);

	(void)device;
	return rc == cudaSuccess ? 0 : failed(why, "cannot pin host memory", rc);
}

static void device_pin_release(void *device, void *ptr)
{
	(void)device;
	cudaFreeHost(ptr);
}

static int device_fill(void *device, void *dst, uint8_t value, uint64_t bytes, struct assay_reason *why)
{
	cudaError_t rc = cudaMemset(dst, value, bytes);

	(void)device;
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize();
	return rc == cudaSuccess ? 0 : failed(why, "cannot fill device memory", rc);
}

#else

/* Only the first two are ever called: there is no device to call the others with. */
static int device_count(struct assay_reason *why)
{
	snprintf(why->text, sizeof(why->text), "built without nvcc");
	return -1;
}

static int device_open(int ordinal, void **device, struct assay_reason *why)
{
	(void)ordinal;
	*device = NULL;
	return device_count(why);
}

static void device_close(void *device)
{
	(void)device;
}

static int device_describe(void *device, char *text, size_t size)
{
	(void)device;
	snprintf(text, size, "built without nvcc");
	return -1;
}

static int device_alloc(void *device, uint64_t bytes, void **ptr, struct assay_reason *why)
{
	(void)device;
	(void)bytes;
	*ptr = NULL;
	return device_count(why);
}

static void device_release(void *device, void *ptr)
{
	(void)device;
	(void)ptr;
}

static int device_upload(void *device, void *dst, const void *src, uint64_t bytes, struct assay_reason *why)
{
	(void)device;
	(void)dst;
	(void)src;
	(void)bytes;
	return device_count(why);
}

#define device_download device_upload

static int assay_cuda_stream_open(void *device, void **stream, struct assay_reason *why)
{
	return device_alloc(device, 0, stream, why);
}

#define assay_cuda_stream_close device_release

static int assay_cuda_timer_start(void *device, void *stream)
{
	(void)device;
	(void)stream;
	return -1;
}

#define assay_cuda_timer_stop assay_cuda_timer_start

static int assay_cuda_timer_read_ns(void *device, void *stream, uint64_t *ns, struct assay_reason *why)
{
	(void)device;
	(void)stream;
	*ns = 0;
	return device_count(why);
}

#endif

const struct assay_device_ops assay_cuda_device = {
	.name = "cuda",
	.device_kind = ASSAY_DEVICE_CUDA,
	.count = device_count,
	.open = device_open,
	.close = device_close,
	.describe = device_describe,
	.alloc = device_alloc,
	.release = device_release,
	.upload = device_upload,
	.download = device_download,
	.stream_open = assay_cuda_stream_open,
	.stream_close = assay_cuda_stream_close,
	.timer_start = assay_cuda_timer_start,
	.timer_stop = assay_cuda_timer_stop,
	.timer_read_ns = assay_cuda_timer_read_ns,
#if ASSAY_CUDA
	.info = device_info,
	.memory = device_memory,
	.fault = device_fault,
	.pin_alloc = device_pin_alloc,
	.pin_release = device_pin_release,
	.fill = device_fill,
	.launch = assay_cuda_stream_launch,
	.wait = assay_cuda_stream_wait,
	.hold = assay_cuda_stream_hold,
	.let_go = assay_cuda_stream_let_go,
	.make = assay_cuda_make,
#endif
};
