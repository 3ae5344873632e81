/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In the place of libnvidia-ml.so.1: two GPUs, the second of which tells only what it must. NVML_STANDIN=broken: its
 * driver does not run; none: there is no GPU; cool: no throttle reason is set. NVML_STANDIN_NAME names the first. Each
 * question for the energy finds 2 J more used.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
/* The codes of NVML. */
enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

struct gpu {
	unsigned index;
};

static struct gpu gpus[2] = { { 0 }, { 1 } };

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlShutdown(void);
EXPORT const char *nvmlErrorString(int rc);
EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size);
EXPORT int nvmlDeviceGetCount_v2(unsigned *n);
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu **d);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, struct gpu **d);
EXPORT int nvmlDeviceGetIndex(const struct gpu *d, unsigned *index);
EXPORT int nvmlDeviceGetName(const struct gpu *d, char *text, unsigned size);
EXPORT int nvmlDeviceGetMemoryInfo(const struct gpu *d, unsigned long long m[3]);
EXPORT int nvmlDeviceGetCudaComputeCapability(const struct gpu *d, int *major, int *minor);
EXPORT int nvmlDeviceGetEccMode(const struct gpu *d, int *current, int *pending);
EXPORT int nvmlDeviceGetMigMode(const struct gpu *d, unsigned *current, unsigned *pending);
EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(const struct gpu *d, unsigned *generation);
EXPORT int nvmlDeviceGetMaxPcieLinkWidth(const struct gpu *d, unsigned *lanes);
EXPORT int nvmlDeviceGetClockInfo(const struct gpu *d, int type, unsigned *mhz);
EXPORT int nvmlDeviceGetMaxClockInfo(const struct gpu *d, int type, unsigned *mhz);
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(const struct gpu *d, unsigned long long *reasons);
EXPORT int nvmlDeviceGetTemperature(const struct gpu *d, int sensor, unsigned *celsius);
EXPORT int nvmlDeviceGetPowerUsage(const struct gpu *d, unsigned *milliwatts);
EXPORT int nvmlDeviceGetUtilizationRates(const struct gpu *d, unsigned u[2]);
EXPORT int nvmlDeviceGetTotalEnergyConsumption(const struct gpu *d, unsigned long long *millijoules);
EXPORT int nvmlDeviceGetUUID(const struct gpu *d, char *text, unsigned size);

int nvmlInit_v2(void)
{
	const char *how = getenv("NVML_STANDIN");

	return how && !strcmp(how, "broken") ? DRIVER_NOT_LOADED : SUCCESS;
}

int nvmlShutdown(void)
{
	return SUCCESS;
}

const char *nvmlErrorString(int rc)
{
	return rc == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown Error";
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
	snprintf(text, size, "570.1");
	return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
	const char *how = getenv("NVML_STANDIN");

	*n = how && !strcmp(how, "none") ? 0 : 2;
	return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct gpu **d)
{
	if (index > 1)
		return NOT_FOUND;
	*d = &gpus[index];
	return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, struct gpu **d)
{
	if (strcmp(pci, "0000:3b:00.0") && strcmp(pci, "0000:17:00.0") && strcmp(pci, "0000:01:00.0"))
		return NOT_FOUND;
	*d = &gpus[!strcmp(pci, "0000:3b:00.0")];
	return SUCCESS;
}

int nvmlDeviceGetIndex(const struct gpu *d, unsigned *index)
{
	*index = d->index;
	return SUCCESS;
}

int nvmlDeviceGetName(const struct gpu *d, char *text, unsigned size)
{
	const char *name = getenv("NVML_STANDIN_NAME");

	snprintf(text, size, "%s", d->index ? "Standin Lite" : name ? name : "Standin");
	return SUCCESS;
}

int nvmlDeviceGetMemoryInfo(const struct gpu *d, unsigned long long m[3])
{
	m[0] = 80ULL << 30;
	m[1] = 79ULL << 30;
	m[2] = 1ULL << 30;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(const struct gpu *d, int *major, int *minor)
{
	*major = 9;
	*minor = 0;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetEccMode(const struct gpu *d, int *current, int *pending)
{
	*current = *pending = 1;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMigMode(const struct gpu *d, unsigned *current, unsigned *pending)
{
	*current = *pending = 0;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMaxPcieLinkGeneration(const struct gpu *d, unsigned *generation)
{
	*generation = 5;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMaxPcieLinkWidth(const struct gpu *d, unsigned *lanes)
{
	*lanes = 16;
	return SUCCESS;
}

int nvmlDeviceGetClockInfo(const struct gpu *d, int type, unsigned *mhz)
{
	*mhz = type == 1 ? 1500 : 2619;
	return d->index && type != 1 ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetMaxClockInfo(const struct gpu *d, int type, unsigned *mhz)
{
	*mhz = type == 1 ? 1980 : 2619;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

/* Idle and limited by the user count for nothing; the other two do. */
int nvmlDeviceGetCurrentClocksThrottleReasons(const struct gpu *d, unsigned long long *reasons)
{
	const char *how = getenv("NVML_STANDIN");

	*reasons = d->index || (how && !strcmp(how, "cool")) ? 0x1 | 0x2 : 0x4 | 0x40;
	return SUCCESS;
}

int nvmlDeviceGetTemperature(const struct gpu *d, int sensor, unsigned *celsius)
{
	*celsius = 61;
	return d->index || sensor ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetPowerUsage(const struct gpu *d, unsigned *milliwatts)
{
	*milliwatts = 350500;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetUtilizationRates(const struct gpu *d, unsigned u[2])
{
	u[0] = 75;
	u[1] = 20;
	return d->index ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(const struct gpu *d, unsigned long long *millijoules)
{
	static unsigned long long used = 1000000;

	if (d->index)
		return NOT_SUPPORTED;
	*millijoules = used += 2000;
	return SUCCESS;
}

int nvmlDeviceGetUUID(const struct gpu *d, char *text, unsigned size)
{
	snprintf(text, size, "GPU-00000000-0000-0000-0000-00000000000%u", d->index);
	return SUCCESS;
}
