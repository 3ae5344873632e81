/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device that is none: its memory is the heap's, and its clock is what run() adds to its stream. It proves that the
 * harness keeps host and device apart and takes time from the device's own timer.
 */
#ifndef TESTS_PLUGINS_MOCK_DEVICE_H
#define TESTS_PLUGINS_MOCK_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <assay/plugin.h>

#define MOCK_MEMORY_BYTES (UINT64_C(96) << 20)
#define MOCK_L2_BYTES     (UINT64_C(1) << 20)
#define MOCK_CORE_HZ      UINT64_C(1000000000)
#define MOCK_NS_LAUNCH    2000u /* that the host takes to start a call, unless the stream is held */

struct mock_stream {
	uint64_t ns, mark; /* what calls have added so far, and at the start of the timer */
	int held;
};

struct mock_device {
	int ordinal;
	uint64_t used_bytes;
	uint32_t fault; /* enum assay_device_fault, of the last failure */
	struct assay_device_state state;
	int ramps; /* its clock rises by 3 % each time that it is asked for, up to the highest */
};

/* How many there are; the environment says otherwise, "0" with a reason. */
static int mock_count(struct assay_reason *why)
{
	const char *n = getenv("MOCK_DEVICES");

	if (n && !atoi(n))
		snprintf(why->text, sizeof(why->text), "the mock driver is not loaded");
	return n ? atoi(n) : 2;
}

static int mock_info(int ordinal, struct assay_device_info *info, struct assay_reason *why)
{
	struct assay_device_info i = {
		.size = sizeof(i),
		.compute_units = 4,
		.memory_bytes = MOCK_MEMORY_BYTES,
		.l2_bytes = MOCK_L2_BYTES,
		.core_hz_max = MOCK_CORE_HZ,
		.memory_bits = 128,
		.ecc = ASSAY_MODE_ON,
		.arch = "mock_1",
		.driver = "1.0",
	};

	snprintf(i.name, sizeof(i.name), "Mock %c", 'A' + ordinal);
	snprintf(i.uuid, sizeof(i.uuid), "MOCK-%d", ordinal);
	memcpy(info, &i, info->size < sizeof(i) ? info->size : sizeof(i));
	return 0;
}

static int mock_open(int ordinal, void **device, struct assay_reason *why)
{
	struct mock_device *d = calloc(1, sizeof(*d));

	if (!d)
		return -1;
	d->ordinal = ordinal;
	d->state.core_hz = MOCK_CORE_HZ;
	*device = d;
	return 0;
}

static void mock_close(void *device)
{
	free(device);
}

static int mock_describe(void *device, char *text, size_t size)
{
	snprintf(text, size, "mock device");
	return 0;
}

static uint32_t mock_fault(void *device, struct assay_reason *why)
{
	return device ? ((struct mock_device *)device)->fault : ASSAY_FAULT_OTHER;
}

/* Fail with a class; everything after a sticky fault or a loss fails like it. */
static int mock_fail(struct mock_device *d, uint32_t fault, const char *text, struct assay_reason *why)
{
	d->fault = fault;
	snprintf(why->text, sizeof(why->text), "%s", text);
	return -1;
}

static int mock_broken(struct mock_device *d, struct assay_reason *why)
{
	return d->fault == ASSAY_FAULT_STICKY ? mock_fail(d, d->fault, "illegal address", why)
	       : d->fault == ASSAY_FAULT_LOST ? mock_fail(d, d->fault, "fell off the bus", why)
					      : 0;
}

/* A block tells its size before what it holds. */
#define MOCK_HEAD 64

static int mock_alloc(void *device, uint64_t bytes, void **ptr, struct assay_reason *why)
{
	struct mock_device *d = device;
	char *block;

	if (mock_broken(d, why))
		return -1;
	if (bytes > MOCK_MEMORY_BYTES - d->used_bytes)
		return mock_fail(d, ASSAY_FAULT_MEMORY, "no room", why);
	block = malloc(bytes + MOCK_HEAD);
	if (!block)
		return mock_fail(d, ASSAY_FAULT_OTHER, "the host has no room", why);
	memcpy(block, &bytes, sizeof(bytes));
	d->used_bytes += bytes;
	*ptr = block + MOCK_HEAD;
	return 0;
}

static void mock_release(void *device, void *ptr)
{
	char *block = (char *)ptr - MOCK_HEAD;
	uint64_t bytes;

	memcpy(&bytes, block, sizeof(bytes));
	((struct mock_device *)device)->used_bytes -= bytes;
	free(block);
}

static int mock_memory(void *device, uint64_t *free_bytes, uint64_t *total_bytes, struct assay_reason *why)
{
	*total_bytes = MOCK_MEMORY_BYTES;
	*free_bytes = MOCK_MEMORY_BYTES - ((const struct mock_device *)device)->used_bytes;
	return mock_broken(device, why);
}

static int mock_pin_alloc(void *device, uint64_t bytes, void **ptr, struct assay_reason *why)
{
	*ptr = malloc(bytes);
	return *ptr ? 0 : -1;
}

static void mock_pin_release(void *device, void *ptr)
{
	free(ptr);
}

static int mock_fill(void *device, void *dst, uint8_t value, uint64_t bytes, struct assay_reason *why)
{
	memset(dst, value, bytes);
	return mock_broken(device, why);
}

static int mock_state(void *device, struct assay_device_state *state, struct assay_reason *why)
{
	struct mock_device *d = device;

	if (d->ramps && d->state.core_hz < MOCK_CORE_HZ)
		d->state.core_hz += MOCK_CORE_HZ / 100 * 3;
	if (d->ramps && d->state.core_hz > MOCK_CORE_HZ)
		d->state.core_hz = MOCK_CORE_HZ;
	memcpy((char *)state + sizeof(state->size), (const char *)&d->state + sizeof(state->size),
	       (state->size < sizeof(d->state) ? state->size : sizeof(d->state)) - sizeof(state->size));
	return mock_broken(device, why);
}

static int mock_copy(void *device, void *dst, const void *src, uint64_t bytes, struct assay_reason *why)
{
	if (mock_broken(device, why))
		return -1;
	memcpy(dst, src, bytes);
	return 0;
}

static int mock_stream_open(void *device, void **stream, struct assay_reason *why)
{
	*stream = calloc(1, sizeof(struct mock_stream));
	return *stream ? 0 : -1;
}

static void mock_stream_close(void *device, void *stream)
{
	free(stream);
}

static int mock_timer_start(void *device, void *stream)
{
	((struct mock_stream *)stream)->mark = ((struct mock_stream *)stream)->ns;
	return 0;
}

static int mock_timer_stop(void *device, void *stream)
{
	return 0;
}

static int mock_timer_read(void *device, void *stream, uint64_t *ns, struct assay_reason *why)
{
	const struct mock_stream *s = stream;

	*ns = s->ns - s->mark;
	return mock_broken(device, why);
}

/* The overhead of calls that start at this moment. */
static uint64_t mock_launch_ns(const void *stream)
{
	return ((const struct mock_stream *)stream)->held ? 0 : MOCK_NS_LAUNCH;
}

static int mock_launch(void *device, void *stream, struct assay_reason *why)
{
	((struct mock_stream *)stream)->ns += mock_launch_ns(stream);
	return 0;
}

static int mock_wait(void *device, void *stream, struct assay_reason *why)
{
	return mock_broken(device, why);
}

static int mock_hold(void *device, void *stream, uint64_t most_ns, struct assay_reason *why)
{
	((struct mock_stream *)stream)->held = 1;
	return 0;
}

static int mock_let_go(void *device, void *stream)
{
	((struct mock_stream *)stream)->held = 0;
	return 0;
}

static const struct assay_device_ops devices[] = {
	{
		.name = "mock",
		.device_kind = ASSAY_DEVICE_OTHER,
		.count = mock_count,
		.open = mock_open,
		.close = mock_close,
		.describe = mock_describe,
		.alloc = mock_alloc,
		.release = mock_release,
		.upload = mock_copy,
		.download = mock_copy,
		.stream_open = mock_stream_open,
		.stream_close = mock_stream_close,
		.timer_start = mock_timer_start,
		.timer_stop = mock_timer_stop,
		.timer_read_ns = mock_timer_read,
		.info = mock_info,
		.memory = mock_memory,
		.fault = mock_fault,
		.pin_alloc = mock_pin_alloc,
		.pin_release = mock_pin_release,
		.fill = mock_fill,
		.state = mock_state,
		.launch = mock_launch,
		.wait = mock_wait,
		.hold = mock_hold,
		.let_go = mock_let_go,
	},
};

#endif
