/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, through what their plugin exports. */
#include "worker/case/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "model/quantity.h"

/*
 * The time of calls on a device is that between two marks on its stream, in which the host has done what it does for
 * them. To wait for the stream takes it longer, but not by much. So only series of a length count, there must be
 * several, and none may come near. The host's time is that of its processor: it may have been left without one.
 */
#define LEAST_NS    50000
#define LEAST_SHARE 0.2

struct assay_outcome assay_case_device_open(struct assay_case_job *j)
{
	uint32_t kind = j->variant->device_kind == ASSAY_DEVICE_CPU && j->kernel ? j->kernel->device_kind
										 : j->variant->device_kind;
	struct assay_reason why = { "" };
	char name[ASSAY_NAME_MAX];
	unsigned number = 0;
	struct assay_outcome out;

	if (kind == ASSAY_DEVICE_CPU)
		return assay_outcome_ok();
	j->device = assay_loader_device(&j->loader, kind);
	if (!j->device)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "no plugin provides the device that '%s/%s' runs on",
					 j->spec->c.op, j->spec->c.variant);
	if (!j->spec->c.device[0])
		snprintf(j->device_name, sizeof(j->device_name), "%s:0", j->device->name);
	else if (!assay_device_read(j->spec->c.device, name, &number) || strcmp(name, j->device->name) != 0)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "the case names device '%s', but '%s/%s' runs on %s",
					 j->spec->c.device, j->spec->c.op, j->spec->c.variant, j->device->name);
	else
		memcpy(j->device_name, j->spec->c.device, sizeof(j->device_name));
	if (j->device->open((int)number, &j->device_handle, &why) ||
	    j->device->stream_open(j->device_handle, &j->stream, &why))
		return assay_device_failed(j, "opening it", &why);
	assay_device_state_open(j, number);
	assay_device_memory_look(j, &j->device_memory.before);
	out = assay_device_buffers_open(j);
	assay_device_memory_look(j, &j->device_memory.buffers);
	return out;
}

void assay_case_device_close(struct assay_case_job *j)
{
	assay_device_buffers_close(j);
	assay_device_state_close(j);
	if (j->stream)
		j->device->stream_close(j->device_handle, j->stream);
	if (j->device_handle)
		j->device->close(j->device_handle);
}

static uint64_t calculated_ns(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void compare_clocks(struct assay_device_clock *c, uint64_t host_ns, uint64_t ns)
{
	if (ns < LEAST_NS)
		return;
	c->n_series++;
	c->most_share = fmax(c->most_share, (double)ns / fmax(1, (double)host_ns));
}

/*
 * Calls are enqueued while the stream is held, so that kernels follow each other without the host: what launching them
 * takes is a metric of its own. A stream that is full, or a call that waits for its kernels, lets the hold run out.
 */
#define HOLD_NS 20000000u

static bool is_held(const struct assay_case_job *j, uint64_t iterations)
{
	const struct assay_device_clock *c = &j->device_clock;

	return j->device->hold && j->device->let_go && !j->device_unheld && !(c->overrun && iterations >= c->most_held);
}

/* Enqueue the calls between two marks of the device's timer. */
static struct assay_outcome enqueue(struct assay_case_job *j, int (*loop)(struct assay_case_job *, uint64_t),
				    uint64_t iterations)
{
	const struct assay_clock *clock = &j->spec->clock;
	const bool held = is_held(j, iterations);
	const uint64_t begun = assay_clock_ticks(clock);
	struct assay_reason why = { "" };
	int failed;

	if (held && j->device->hold(j->device_handle, j->stream, HOLD_NS, &why))
		return assay_device_failed(j, "holding its stream", &why);
	failed = j->device->timer_start(j->device_handle, j->stream);
	if (!failed && loop(j, iterations)) {
		if (held)
			j->device->let_go(j->device_handle, j->stream);
		return assay_device_call_failed(j, "running");
	}
	failed = failed || j->device->timer_stop(j->device_handle, j->stream);
	if (held && assay_clock_ticks_to_ns(clock, assay_clock_ticks(clock) - begun) >= HOLD_NS) {
		j->device_clock.overrun = true;
		j->device_clock.most_held = iterations;
	}
	if (held && j->device->let_go(j->device_handle, j->stream))
		failed = 1;
	return failed ? assay_device_failed(j, "timing calls", &why) : assay_outcome_ok();
}

struct assay_outcome assay_case_device_time(struct assay_case_job *j, int (*loop)(struct assay_case_job *, uint64_t),
					    uint64_t iterations, uint64_t *ns)
{
	const bool held = is_held(j, iterations);
	const uint64_t begun = calculated_ns();
	struct assay_reason why = { "" };
	struct assay_outcome out = enqueue(j, loop, iterations);

	if (out.status != ASSAY_STATUS_OK)
		return out;
	if (j->n_fallbacks)
		return assay_outcome_set(ASSAY_STATUS_FAILED, "fell back from device '%s' to the CPU %llu times: %s",
					 j->device_name, (unsigned long long)j->n_fallbacks, j->fallback);
	if (j->device->timer_read_ns(j->device_handle, j->stream, ns, &why))
		return assay_device_failed(j, "running", &why);
	if (!held) /* else launching is in the host's time alone */
		compare_clocks(&j->device_clock, calculated_ns() - begun, *ns);
	return assay_outcome_ok();
}

struct assay_outcome assay_case_device_clock_is_right(const struct assay_case_job *j)
{
	const struct assay_device_clock *c = &j->device_clock;

	if (c->n_series < ASSAY_DEVICE_SERIES || c->most_share >= LEAST_SHARE)
		return assay_outcome_ok();
	return assay_outcome_set(ASSAY_STATUS_WRONG,
				 "the clock of device '%s' counts %.2g of the time that the host calculates",
				 j->device_name, c->most_share);
}

/* ---- words for what a device does wrong ---- */

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
	return assay_outcome_set(
		ASSAY_STATUS_FAILED, "out of memory on device '%s' while %s: the tensors of %s take %s, free: %s%s%s",
		j->device_name, doing, shape[0] ? shape : "the case", need, left, why[0] ? ": " : "", why);
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

/* ---- clocks and throttle reasons, from the plugin or NVML ---- */

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
