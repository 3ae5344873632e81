/* SPDX-License-Identifier: Apache-2.0 */
/* Measurements of a device beside the samples. A number that cannot be had is left out. */
#include "worker/case/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_LAUNCHES 20
#define LAUNCHES      101 /* odd: one is the median */
/* The best of a few copies counts: the first one wakes the link. */
#define COPIES 5

void assay_device_memory_look(struct assay_case_job *j, uint64_t *used)
{
	struct assay_device_memory *m = &j->device_memory;
	uint64_t free_bytes = 0, total = 0;
	struct assay_reason why = { "" };

	if (!j->device || !j->device->memory || j->device->memory(j->device_handle, &free_bytes, &total, &why) ||
	    free_bytes > total)
		return;
	m->known = true;
	m->total = total;
	if (total - free_bytes > m->most)
		m->most = total - free_bytes;
	if (used)
		*used = total - free_bytes;
}

static void put(struct assay_case_job *j, const char *tag, double value)
{
	struct assay_page_metric *m = &j->metrics[j->n_metrics];

	if (j->n_metrics == ASSAY_PAGE_METRICS)
		return;
	snprintf(m->tag, sizeof(m->tag), "%s", tag);
	m->value = value;
	j->n_metrics++;
}

static double more_than(uint64_t a, uint64_t b)
{
	return a > b ? (double)(a - b) : 0;
}

void assay_device_metrics_memory(struct assay_case_job *j)
{
	const struct assay_device_memory *m = &j->device_memory;
	uint64_t after = 0;

	assay_device_memory_look(j, &after);
	if (j->device && j->device->make)
		put(j, "device_made_bytes", (double)j->device_made_bytes);
	if (!m->known)
		return;
	put(j, "device_total_bytes", (double)m->total);
	put(j, "device_used_before_bytes", (double)m->before);
	put(j, "device_used_bytes", (double)m->prepared);
	put(j, "device_used_after_bytes", (double)after);
	put(j, "device_peak_bytes", more_than(m->most, m->before));
	put(j, "device_leaked_bytes", more_than(after, m->buffers));
}

static double seconds_since(const struct assay_case_job *j, uint64_t ticks)
{
	const struct assay_clock *c = &j->spec->clock;

	return (double)assay_clock_ticks_to_ns(c, assay_clock_ticks(c) - ticks) * 1e-9;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void time_launches(struct assay_case_job *j)
{
	const struct assay_device_ops *d = j->device;
	struct assay_reason why = { "" };
	double s[LAUNCHES];

	if (!d->launch || !d->wait)
		return;
	for (int i = -WARM_LAUNCHES; i < LAUNCHES; i++) {
		const uint64_t begun = assay_clock_ticks(&j->spec->clock);

		if (d->launch(j->device_handle, j->stream, &why) || d->wait(j->device_handle, j->stream, &why))
			return;
		if (i >= 0)
			s[i] = seconds_since(j, begun);
	}
	qsort(s, LAUNCHES, sizeof(s[0]), compare_doubles);
	put(j, "device_launch_s", s[LAUNCHES / 2]);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static bool any_varies(const struct assay_case_job *j)
{
	for (uint32_t i = 0; i < j->problem.n_tensors; i++)
		if (j->problem.tensors[i].flags & ASSAY_TENSOR_VARIES)
			return true;
	return false;
}

/* Does a call take it to the device, or back? Weights stay there. */
static bool travels(const struct assay_case_job *j, const struct assay_tensor_spec *t, bool back)
{
	if (back)
		return t->role == ASSAY_OUTPUT;
	return t->role == ASSAY_INPUT && (!any_varies(j) || (t->flags & ASSAY_TENSOR_VARIES));
}

static uint64_t bytes_of(const struct assay_case_job *j, bool back)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < j->problem.n_tensors; i++)
		if (travels(j, &j->problem.tensors[i], back))
			bytes += j->tensors[i].bytes;
	return bytes;
}

/* Copy the tensors of a call once, those of the host laid end to end in @pinned unless it is NULL. */
static int copy_once(struct assay_case_job *j, bool back, unsigned char *pinned)
{
	struct assay_reason why = { "" };
	int rc = 0;

	for (uint32_t i = 0; i < j->problem.n_tensors && !rc; i++) {
		const struct assay_tensor *h = &j->tensors[i], *d = &j->device_tensors[i];
		void *host = pinned ? pinned : h->data;

		if (!travels(j, h->spec, back))
			continue;
		rc = back ? j->device->download(j->device_handle, host, d->data, h->bytes, &why)
			  : j->device->upload(j->device_handle, d->data, host, h->bytes, &why);
		if (pinned)
			pinned += h->bytes;
	}
	return rc;
}

/* The least time of some copies, published as a rate; infinite where one failed. */
static double time_copies(struct assay_case_job *j, bool back, unsigned char *pinned, const char *tag)
{
	double least = INFINITY;

	for (int i = 0; i < COPIES; i++) {
		const uint64_t begun = assay_clock_ticks(&j->spec->clock);

		if (copy_once(j, back, pinned))
			return INFINITY;
		least = fmin(least, seconds_since(j, begun));
	}
	least = fmax(least, 1e-9);
	put(j, tag, (double)bytes_of(j, back) / least);
	return least;
}

/* The inputs of copy 0, so that what is copied to the device are they. */
static void fill_pinned(const struct assay_case_job *j, unsigned char *pinned)
{
	for (uint32_t i = 0; i < j->problem.n_tensors; i++)
		if (travels(j, &j->problem.tensors[i], false)) {
			memcpy(pinned, j->tensors[i].data, j->tensors[i].bytes);
			pinned += j->tensors[i].bytes;
		}
}

static void time_all_copies(struct assay_case_job *j)
{
	const uint64_t in = bytes_of(j, false), out = bytes_of(j, true);
	double in_s = 0, out_s = 0;
	struct assay_reason why = { "" };
	void *pinned = NULL;

	put(j, "device_in_bytes", (double)in);
	put(j, "device_out_bytes", (double)out);
	if (in)
		in_s = time_copies(j, false, NULL, "device_in_bytes_per_s");
	if (out)
		out_s = time_copies(j, true, NULL, "device_out_bytes_per_s");
	if ((in || out) && j->device->pin_alloc && j->device->pin_release &&
	    !j->device->pin_alloc(j->device_handle, in > out ? in : out, &pinned, &why)) {
		fill_pinned(j, pinned);
		if (in)
			in_s = fmin(in_s, time_copies(j, false, pinned, "device_in_pinned_bytes_per_s"));
		if (out)
			out_s = fmin(out_s, time_copies(j, true, pinned, "device_out_pinned_bytes_per_s"));
		j->device->pin_release(j->device_handle, pinned);
	}
	if (isfinite(in_s + out_s)) /* the controller adds the time of the call */
		put(j, "device_end_to_end_s", in_s + out_s);
}

void assay_device_metrics_time(struct assay_case_job *j)
{
	if (!j->device || !j->device_tensors)
		return;
	if (j->device_least_hz > 0)
		put(j, "device_clock_hz", j->device_least_hz);
	time_launches(j);
	time_all_copies(j);
}
