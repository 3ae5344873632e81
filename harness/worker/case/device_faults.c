/* SPDX-License-Identifier: Apache-2.0 */
/* Words for what a device does wrong. */
#include "worker/case/device.h"

#include <stdio.h>

#include "model/quantity.h"

/* "m=64,n=1" */
static void shape_text(const struct assay_case_job *j, char *buf, size_t size)
{
	size_t at = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < j->op->n_axes && i < j->spec->c.n_axes && at < size; i++) {
		const struct assay_axis *a = assay_op_axis(j->op, i);

		if (a->symbols)
			at += (size_t)snprintf(buf + at, size - at, "%s%s=%s", i ? "," : "", a->name,
					       a->symbols[j->spec->c.axes[i].value]);
		else
			at += (size_t)snprintf(buf + at, size - at, "%s%s=%lld", i ? "," : "", a->name,
					       (long long)j->spec->c.axes[i].value);
	}
}

struct assay_outcome assay_device_is_full(const struct assay_case_job *j, const char *doing, const char *why)
{
	uint64_t free_bytes = 0, total = 0;
	char shape[160], need[64], left[64];
	struct assay_reason no = { "" };

	shape_text(j, shape, sizeof(shape));
	assay_quantity_text((double)j->device_bytes, "B", true, need, sizeof(need));
	if (!j->device->memory || j->device->memory(j->device_handle, &free_bytes, &total, &no))
		snprintf(left, sizeof(left), "an unknown size");
	else
		assay_quantity_text((double)free_bytes, "B", true, left, sizeof(left));
	return assay_outcome_set(ASSAY_STATUS_FAILED,
				 "out of memory on device '%s' while %s: the tensors of %s take %s, free are %s%s%s",
				 j->device_name, doing, shape[0] ? shape : "the case", need, left, why[0] ? ": " : "",
				 why);
}

/* A device may forget a failure once it has told of it, so it is asked but once. */
static struct assay_outcome failed_by(const struct assay_case_job *j, const char *doing, uint32_t fault,
				      const char *text)
{
	if (fault == ASSAY_FAULT_MEMORY)
		return assay_device_is_full(j, doing, text);
	if (fault == ASSAY_FAULT_STICKY)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "a kernel faulted on device '%s', found while %s: %s",
					 j->device_name, doing, text);
	if (fault == ASSAY_FAULT_LOST)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "device '%s' was lost while %s: %s", j->device_name,
					 doing, text);
	return assay_outcome_set(ASSAY_STATUS_FAILED, "device '%s' failed while %s: %s", j->device_name, doing, text);
}

struct assay_outcome assay_device_failed(const struct assay_case_job *j, const char *doing, struct assay_reason *why)
{
	struct assay_reason detail = { "" };
	const uint32_t fault =
		j->device->fault ? j->device->fault(j->device_handle, &detail) : (uint32_t)ASSAY_FAULT_OTHER;
	const char *text;

	why->text[sizeof(why->text) - 1] = detail.text[sizeof(detail.text) - 1] = '\0';
	text = why->text[0] ? why->text : detail.text;
	return failed_by(j, doing, fault, text[0] || fault == ASSAY_FAULT_MEMORY ? text : "it gives no reason");
}

struct assay_outcome assay_device_call_failed(const struct assay_case_job *j, const char *what)
{
	struct assay_reason why = { "" };
	const uint32_t fault =
		j->device && j->device->fault ? j->device->fault(j->device_handle, &why) : (uint32_t)ASSAY_FAULT_NONE;

	if (fault != ASSAY_FAULT_MEMORY && fault != ASSAY_FAULT_STICKY && fault != ASSAY_FAULT_LOST)
		return assay_case_job_failed(j, what);
	return failed_by(j, what, fault, j->failure[0] ? j->failure : why.text);
}
