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

struct mock_stream {
	uint64_t ns, mark; /* what calls have added so far, and at the start of the timer */
};

static int mock_count(struct assay_reason *why)
{
	return 1;
}

static int mock_open(int ordinal, void **device, struct assay_reason *why)
{
	*device = calloc(1, 1);
	return *device ? 0 : -1;
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

static int mock_alloc(void *device, uint64_t bytes, void **ptr, struct assay_reason *why)
{
	*ptr = malloc(bytes);
	return *ptr ? 0 : -1;
}

static void mock_release(void *device, void *ptr)
{
	free(ptr);
}

static int mock_copy(void *device, void *dst, const void *src, uint64_t bytes, struct assay_reason *why)
{
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
	},
};

#endif
