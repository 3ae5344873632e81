/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and throttle reasons, from whoever tells them. */
#include "worker/device_state.h"

#include <math.h>

void assay_device_state_open(struct assay_case_job *j, unsigned ordinal)
{
	struct assay_reason why = { "" };

	j->device_info = (struct assay_device_info){ .size = sizeof(j->device_info) };
	if (!j->device->info || j->device->info((int)ordinal, &j->device_info, &why))
		j->device_info = (struct assay_device_info){ .size = 0 };
	j->device_info.pci[sizeof(j->device_info.pci) - 1] = '\0';
	if (j->device->state || !j->device_info.pci[0] || assay_nvml_open(&j->nvml, NULL))
		return;
	if (!assay_nvml_find(j->nvml, j->device_info.pci, &j->nvml_index)) {
		assay_nvml_close(j->nvml);
		j->nvml = NULL;
	}
}

void assay_device_state_close(struct assay_case_job *j)
{
	assay_nvml_close(j->nvml);
	j->nvml = NULL;
}

uint32_t assay_device_state_look(struct assay_case_job *j)
{
	struct assay_device_state s = { .size = sizeof(s) };
	struct assay_reason why = { "" };
	double hz;

	if (!j->device || (!j->device->state && !j->nvml))
		return 0;
	if (j->device->state ? j->device->state(j->device_handle, &s, &why)
			     : assay_nvml_state(j->nvml, j->nvml_index, &s, NULL))
		return 0;
	hz = (double)s.core_hz;
	if (hz > 0)
		j->device_least_hz = j->device_least_hz > 0 ? fmin(j->device_least_hz, hz) : hz;
	return s.throttle || (hz > 0 && hz < ASSAY_DEVICE_CLOCK_SHARE * (double)j->device_info.core_hz_max)
		       ? ASSAY_DISTURB_DEVICE
		       : 0;
}
