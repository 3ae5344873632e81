/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and throttle reasons, from whoever tells them. */
#include "worker/case/device.h"

#include <math.h>

void assay_device_state_open(struct assay_case_job *j, unsigned ordinal)
{
	struct assay_reason why = { "" };
	struct assay_nvml *nvml;
	unsigned index;

	j->device_info = (struct assay_device_info){ .size = sizeof(j->device_info) };
	if (!j->device->info || j->device->info((int)ordinal, &j->device_info, &why))
		j->device_info = (struct assay_device_info){ .size = 0 };
	j->device_info.pci[sizeof(j->device_info.pci) - 1] = '\0';
	if (j->device->state || !j->device_info.pci[0] || assay_nvml_open(&nvml, NULL))
		return;
	if (assay_nvml_find(nvml, j->device_info.pci, &index))
		j->watch = assay_device_watch_new(nvml, index);
	else
		assay_nvml_close(nvml);
}

void assay_device_state_close(struct assay_case_job *j)
{
	assay_device_watch_free(j->watch);
	j->watch = NULL;
}

/* Ask the plugin of the device, which has no other levels than those of the state, or NVML. */
static int ask(struct assay_case_job *j, struct assay_device_state *s, struct assay_nvml_use *u)
{
	struct assay_reason why = { "" };
	int rc;

	if (!j->device->state)
		return assay_device_watch_look(j->watch, s, u);
	rc = j->device->state(j->device_handle, s, &why);
	*u = (struct assay_nvml_use){
		.busy_frac = NAN, .memory_busy_frac = NAN, .watts = s->watts, .celsius = s->celsius
	};
	return rc;
}

uint32_t assay_device_state_look(struct assay_case_job *j, bool counting, double *core_hz)
{
	struct assay_device_state s = { .size = sizeof(s) };
	struct assay_nvml_use u;
	double hz;

	*core_hz = 0;
	if (!j->device || (!j->device->state && !j->watch) || ask(j, &s, &u))
		return 0;
	if (counting)
		assay_gpu_levels_add(&j->levels, &s, &u);
	*core_hz = hz = (double)s.core_hz;
	if (hz > 0 && counting)
		j->device_least_hz = j->device_least_hz > 0 ? fmin(j->device_least_hz, hz) : hz;
	return s.throttle || (hz > 0 && hz < ASSAY_DEVICE_CLOCK_SHARE * (double)j->device_info.core_hz_max)
		       ? ASSAY_DISTURB_DEVICE
		       : 0;
}
