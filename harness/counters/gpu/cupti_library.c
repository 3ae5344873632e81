/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI and the driver through dlopen(). Functions for ranges may be missing, those for kernels may not. */
#include "counters/gpu/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define AT(member) offsetof(struct assay_cupti, member)

static const struct {
	const char *name;
	size_t at;
} kernel_functions[] = {
	{ "cuptiGetVersion", AT(get_version) },
	{ "cuptiGetResultString", AT(text) },
	{ "cuptiActivityRegisterCallbacks", AT(callbacks) },
	{ "cuptiActivityEnable", AT(enable) },
	{ "cuptiActivityDisable", AT(disable) },
	{ "cuptiActivityFlushAll", AT(flush) },
	{ "cuptiActivityGetNextRecord", AT(next) },
	{ "cuptiActivityGetNumDroppedRecords", AT(dropped) },
}, range_functions[] = {
	{ "cuptiProfilerInitialize", AT(init) },
	{ "cuptiDeviceGetChipName", AT(chip) },
	{ "cuptiProfilerGetCounterAvailability", AT(availability) },
	{ "cuptiProfilerHostInitialize", AT(host) },
	{ "cuptiProfilerHostDeinitialize", AT(host_end) },
	{ "cuptiProfilerHostConfigAddMetrics", AT(host_metrics) },
	{ "cuptiProfilerHostGetConfigImageSize", AT(host_size) },
	{ "cuptiProfilerHostGetConfigImage", AT(host_image) },
	{ "cuptiProfilerHostGetNumOfPasses", AT(host_passes) },
	{ "cuptiProfilerHostEvaluateToGpuValues", AT(host_values) },
	{ "cuptiRangeProfilerEnable", AT(range_open) },
	{ "cuptiRangeProfilerDisable", AT(range_close) },
	{ "cuptiRangeProfilerGetCounterDataSize", AT(range_size) },
	{ "cuptiRangeProfilerCounterDataImageInitialize", AT(range_image) },
	{ "cuptiRangeProfilerSetConfig", AT(range_config) },
	{ "cuptiRangeProfilerStart", AT(range_start) },
	{ "cuptiRangeProfilerPushRange", AT(range_push) },
	{ "cuptiRangeProfilerPopRange", AT(range_pop) },
	{ "cuptiRangeProfilerStop", AT(range_stop) },
	{ "cuptiRangeProfilerDecodeData", AT(range_decode) },
};

#define N_KERNEL_FUNCTIONS (sizeof(kernel_functions) / sizeof(kernel_functions[0]))
#define N_RANGE_FUNCTIONS  (sizeof(range_functions) / sizeof(range_functions[0]))

int assay_cupti_open(struct assay_cupti *c, struct assay_err *err)
{
	static const char *const names[] = { CUPTI_LIBRARIES };
	void *dl = NULL, *f[N_RANGE_FUNCTIONS];
	size_t found = 0;
	int rc;

	*c = (struct assay_cupti){ 0 };
	for (size_t i = 0; !dl && i < sizeof(names) / sizeof(names[0]); i++)
		dl = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!dl)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "there is no libcupti.so, which comes with the CUDA toolkit: LD_LIBRARY_PATH may "
				     "name its folder");
	for (size_t i = 0; i < N_KERNEL_FUNCTIONS; i++) {
		void *one = dlsym(dl, kernel_functions[i].name);

		if (!one)
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "CUPTI has no %s: it is too old",
					     kernel_functions[i].name);
		memcpy((char *)c + kernel_functions[i].at, &one, sizeof(one));
	}
	for (size_t i = 0; i < N_RANGE_FUNCTIONS; i++)
		found += (f[i] = dlsym(dl, range_functions[i].name)) != NULL;
	for (size_t i = 0; i < N_RANGE_FUNCTIONS && found == N_RANGE_FUNCTIONS; i++)
		memcpy((char *)c + range_functions[i].at, &f[i], sizeof(f[i]));
	rc = c->get_version(&c->version);
	if (rc)
		return assay_cupti_refused(c, "tell its version", rc, err);
	if (c->version < CUPTI_LEAST_VERSION)
		return assay_err_set(err, ASSAY_EUNAVAILABLE,
				     "CUPTI %u is older than CUDA 10's, which is the first known", c->version);
	return 0;
}

int assay_cupti_has_ranges(const struct assay_cupti *c, struct assay_err *err)
{
	if (c->range_open)
		return 0;
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "CUPTI %u does not count in ranges: CUDA 12.6's is the first",
			     c->version);
}

int assay_cupti_context(void **context, int *device, struct assay_err *err)
{
	void *dl = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *f[2];
	int (*current)(void **context);
	int (*device_of)(int *device);

	if (!dl)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "no CUDA driver (libcuda.so.1)");
	f[0] = dlsym(dl, "cuCtxGetCurrent");
	f[1] = dlsym(dl, "cuCtxGetDevice");
	memcpy(&current, &f[0], sizeof(current));
	memcpy(&device_of, &f[1], sizeof(device_of));
	*context = NULL;
	if (!current || !device_of || current(context) || !*context || device_of(device))
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "the CUDA driver has no context in this thread");
	return 0;
}

#define ADMINISTRATORS                                                                                                 \
	"ERR_NVGPUCTRPERM: the driver shows GPU counters to administrators only. Load its module with "                \
	"NVreg_RestrictProfilingToAdminUsers=0, run as root, or start the container with --cap-add=SYS_ADMIN"

int assay_cupti_refused(const struct assay_cupti *c, const char *what, int result, struct assay_err *err)
{
	const char *text = NULL;

	if (result == CUPTI_NOT_PERMITTED)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, ADMINISTRATORS);
	if (result == CUPTI_VGPU_NOT_PERMITTED)
		return assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"the host of this virtual GPU does not let it count: its administrator can set the "
			"vGPU's parameter enable_profiling=1");
	if (c->text(result, &text) || !text)
		text = "it does not say why";
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "CUPTI cannot %s: %s", what, text);
}

bool assay_cupti_is_forbidden(const char *root, bool administrator, struct assay_err *err)
{
	char path[4096], line[256];
	bool forbidden = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc/driver/nvidia/params", root);
	f = administrator ? NULL : fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		forbidden |= !strncmp(line, "RmProfilingAdminOnly: 1", 23);
	if (f)
		fclose(f);
	if (forbidden)
		assay_err_set(err, ASSAY_EUNAVAILABLE, ADMINISTRATORS);
	return forbidden;
}
