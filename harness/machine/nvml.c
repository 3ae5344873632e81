/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML through dlopen(), since its header is in no free package. Names, arguments and constants are those of NVIDIA's
 * "NVML API Reference"; the ABI of a name never changes, a new form gets a new name (_v2).
 */
#include "machine/nvml.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MOST_GPUS 64
#define MHZ       UINT64_C(1000000)

enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };

/* nvmlClocksEventReasons…; an idle GPU and clocks that the user set are no throttling. */
#define REASON_SW_POWER_CAP   UINT64_C(0x4)
#define REASON_HW_SLOWDOWN    UINT64_C(0x8)
#define REASON_SYNC_BOOST     UINT64_C(0x10)
#define REASON_SW_THERMAL     UINT64_C(0x20)
#define REASON_HW_THERMAL     UINT64_C(0x40)
#define REASON_HW_POWER_BRAKE UINT64_C(0x80)

typedef void *nvml_device;

struct nvml_memory {
	unsigned long long total, free, used;
};

struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};

struct assay_nvml {
	void *dl;
	unsigned count;
	int (*init)(void);
	int (*shutdown)(void);
	int (*device_count)(unsigned *n);
	int (*handle)(unsigned index, nvml_device *d);
	int (*name)(nvml_device d, char *text, unsigned size);
	int (*clock)(nvml_device d, int type, unsigned *mhz);
	/* those that may be missing */
	const char *(*error)(int rc);
	int (*driver)(char *text, unsigned size);
	int (*uuid)(nvml_device d, char *text, unsigned size);
	int (*memory)(nvml_device d, struct nvml_memory *m);
	int (*capability)(nvml_device d, int *major, int *minor);
	int (*max_clock)(nvml_device d, int type, unsigned *mhz);
	int (*ecc)(nvml_device d, int *current, int *pending);
	int (*mig)(nvml_device d, unsigned *current, unsigned *pending);
	int (*pcie_generation)(nvml_device d, unsigned *generation);
	int (*pcie_width)(nvml_device d, unsigned *lanes);
	int (*bus_width)(nvml_device d, unsigned *bits);
	int (*by_pci)(const char *pci, nvml_device *d);
	int (*index)(nvml_device d, unsigned *index);
	int (*throttle)(nvml_device d, unsigned long long *reasons);
	int (*temperature)(nvml_device d, int sensor, unsigned *celsius);
	int (*power)(nvml_device d, unsigned *milliwatts);
	int (*utilization)(nvml_device d, struct nvml_utilization *u);
	int (*energy)(nvml_device d, unsigned long long *millijoules);
};

#define AT(member) offsetof(struct assay_nvml, member)

static const struct {
	const char *name;
	size_t at;
	bool needed;
} functions[] = {
	{ "nvmlInit_v2", AT(init), true },
	{ "nvmlShutdown", AT(shutdown), true },
	{ "nvmlDeviceGetCount_v2", AT(device_count), true },
	{ "nvmlDeviceGetHandleByIndex_v2", AT(handle), true },
	{ "nvmlDeviceGetName", AT(name), true },
	{ "nvmlDeviceGetClockInfo", AT(clock), true },
	{ "nvmlErrorString", AT(error), false },
	{ "nvmlSystemGetDriverVersion", AT(driver), false },
	{ "nvmlDeviceGetUUID", AT(uuid), false },
	{ "nvmlDeviceGetMemoryInfo", AT(memory), false },
	{ "nvmlDeviceGetCudaComputeCapability", AT(capability), false },
	{ "nvmlDeviceGetMaxClockInfo", AT(max_clock), false },
	{ "nvmlDeviceGetEccMode", AT(ecc), false },
	{ "nvmlDeviceGetMigMode", AT(mig), false },
	{ "nvmlDeviceGetMaxPcieLinkGeneration", AT(pcie_generation), false },
	{ "nvmlDeviceGetMaxPcieLinkWidth", AT(pcie_width), false },
	{ "nvmlDeviceGetMemoryBusWidth", AT(bus_width), false },
	{ "nvmlDeviceGetHandleByPciBusId_v2", AT(by_pci), false },
	{ "nvmlDeviceGetIndex", AT(index), false },
	{ "nvmlDeviceGetCurrentClocksThrottleReasons", AT(throttle), false },
	{ "nvmlDeviceGetTemperature", AT(temperature), false },
	{ "nvmlDeviceGetPowerUsage", AT(power), false },
	{ "nvmlDeviceGetUtilizationRates", AT(utilization), false },
	{ "nvmlDeviceGetTotalEnergyConsumption", AT(energy), false },
};

static int find_functions(struct assay_nvml *n, struct assay_err *err)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *f = dlsym(n->dl, functions[i].name);

		if (!f && functions[i].needed)
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' has no %s: the driver is too old",
					     ASSAY_NVML_LIBRARY, functions[i].name);
		memcpy((char *)n + functions[i].at, &f, sizeof(f));
	}
	return 0;
}

static int failed(const struct assay_nvml *n, const char *what, int code, struct assay_err *err)
{
	const char *text = n->error ? n->error(code) : NULL;

	return assay_err_set(err, ASSAY_EUNAVAILABLE, "NVML cannot %s: %s", what, text ? text : "it does not say why");
}

int assay_nvml_open(struct assay_nvml **out, struct assay_err *err)
{
	struct assay_nvml *n = calloc(1, sizeof(*n));
	int rc, code;

	*out = NULL;
	if (!n)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	n->dl = dlopen(ASSAY_NVML_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!n->dl) {
		free(n);
		return assay_err_set(err, ASSAY_ENOTFOUND, "there is no '%s', which comes with NVIDIA's driver",
				     ASSAY_NVML_LIBRARY);
	}
	rc = find_functions(n, err);
	if (rc) {
		dlclose(n->dl);
		free(n);
		return rc;
	}
	code = n->init();
	if (code) {
		rc = failed(n, "start", code, err);
		dlclose(n->dl);
		free(n);
		return rc;
	}
	code = n->device_count(&n->count);
	if (code) {
		rc = failed(n, "count GPUs", code, err);
		assay_nvml_close(n);
		return rc;
	}
	if (n->count > MOST_GPUS)
		n->count = MOST_GPUS;
	*out = n;
	return 0;
}

void assay_nvml_close(struct assay_nvml *n)
{
	if (!n)
		return;
	n->shutdown();
	dlclose(n->dl);
	free(n);
}

unsigned assay_nvml_count(const struct assay_nvml *n)
{
	return n->count;
}

static uint64_t most_hz(const struct assay_nvml *n, nvml_device d, int type)
{
	unsigned mhz = 0;

	return n->max_clock && !n->max_clock(d, type, &mhz) ? mhz * MHZ : 0;
}

static void read_link(const struct assay_nvml *n, nvml_device d, struct assay_device_info *out)
{
	unsigned generation = 0, lanes = 0, bits = 0;

	if (n->pcie_generation && n->pcie_width && !n->pcie_generation(d, &generation) && !n->pcie_width(d, &lanes)) {
		out->pcie_generation = generation;
		out->pcie_lanes = lanes;
	}
	if (n->bus_width && !n->bus_width(d, &bits))
		out->memory_bits = bits;
}

int assay_nvml_info(const struct assay_nvml *n, unsigned index, struct assay_device_info *out, struct assay_err *err)
{
	int code, major = 0, minor = 0, ecc = 0, pending = 0;
	unsigned mig = 0, mig_pending = 0;
	struct nvml_memory m = { 0 };
	nvml_device d;

	*out = (struct assay_device_info){ .size = sizeof(*out) };
	code = n->handle(index, &d);
	if (!code)
		code = n->name(d, out->name, sizeof(out->name));
	if (code)
		return failed(n, "describe a GPU", code, err);
	if (n->driver && n->driver(out->driver, sizeof(out->driver)))
		out->driver[0] = '\0';
	if (n->uuid && n->uuid(d, out->uuid, sizeof(out->uuid)))
		out->uuid[0] = '\0';
	if (n->memory && !n->memory(d, &m))
		out->memory_bytes = m.total;
	if (n->capability && !n->capability(d, &major, &minor))
		snprintf(out->arch, sizeof(out->arch), "sm_%d%d", major, minor);
	out->core_hz_max = most_hz(n, d, NVML_CLOCK_SM);
	out->memory_hz_max = most_hz(n, d, NVML_CLOCK_MEM);
	if (n->ecc && !n->ecc(d, &ecc, &pending))
		out->ecc = ecc ? ASSAY_MODE_ON : ASSAY_MODE_OFF;
	if (n->mig && !n->mig(d, &mig, &mig_pending))
		out->mig = mig ? ASSAY_MODE_ON : ASSAY_MODE_OFF;
	read_link(n, d, out);
	return 0;
}

bool assay_nvml_find(const struct assay_nvml *n, const char *pci, unsigned *index)
{
	nvml_device d;

	return pci[0] && n->by_pci && n->index && !n->by_pci(pci, &d) && !n->index(d, index) && *index < n->count;
}

static uint32_t throttle_of(unsigned long long reasons)
{
	return (reasons & REASON_SW_POWER_CAP ? ASSAY_THROTTLE_POWER : 0u) |
	       (reasons & (REASON_SW_THERMAL | REASON_HW_THERMAL) ? ASSAY_THROTTLE_THERMAL : 0u) |
	       (reasons & (REASON_HW_SLOWDOWN | REASON_HW_POWER_BRAKE) ? ASSAY_THROTTLE_BRAKE : 0u) |
	       (reasons & REASON_SYNC_BOOST ? ASSAY_THROTTLE_OTHER : 0u);
}

int assay_nvml_state(const struct assay_nvml *n, unsigned index, struct assay_device_state *out, struct assay_err *err)
{
	unsigned core = 0, memory = 0, celsius = 0, milliwatts = 0;
	unsigned long long reasons = 0;
	nvml_device d;
	int code = n->handle(index, &d);

	*out = (struct assay_device_state){ .size = sizeof(*out) };
	if (!code)
		code = n->clock(d, NVML_CLOCK_SM, &core);
	if (code)
		return failed(n, "read the clock of a GPU", code, err);
	out->core_hz = core * MHZ;
	if (!n->clock(d, NVML_CLOCK_MEM, &memory))
		out->memory_hz = memory * MHZ;
	if (n->throttle && !n->throttle(d, &reasons))
		out->throttle = throttle_of(reasons);
	if (n->temperature && !n->temperature(d, NVML_TEMPERATURE_GPU, &celsius))
		out->celsius = celsius;
	if (n->power && !n->power(d, &milliwatts))
		out->watts = milliwatts * 1e-3;
	return 0;
}

int assay_nvml_use(const struct assay_nvml *n, unsigned index, struct assay_nvml_use *out, struct assay_err *err)
{
	unsigned milliwatts = 0, celsius = 0;
	unsigned long long millijoules = 0;
	struct nvml_utilization u = { 0 };
	struct nvml_memory m = { 0 };
	nvml_device d;
	int code = n->handle(index, &d);

	*out = (struct assay_nvml_use){
		.busy_frac = NAN, .memory_busy_frac = NAN, .joules = NAN, .watts = NAN, .celsius = NAN
	};
	if (code)
		return failed(n, "describe a GPU", code, err);
	if (n->utilization && !n->utilization(d, &u)) {
		out->busy_frac = u.gpu * 1e-2;
		out->memory_busy_frac = u.memory * 1e-2;
	}
	if (n->energy && !n->energy(d, &millijoules))
		out->joules = (double)millijoules * 1e-3;
	if (n->power && !n->power(d, &milliwatts))
		out->watts = milliwatts * 1e-3;
	if (n->temperature && !n->temperature(d, NVML_TEMPERATURE_GPU, &celsius))
		out->celsius = celsius;
	if (n->memory && !n->memory(d, &m)) {
		out->memory_bytes = m.total;
		out->used_bytes = m.used;
	}
	return 0;
}
