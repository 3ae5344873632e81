/* SPDX-License-Identifier: Apache-2.0 */
/* Variants on the mock device that do less when they are timed, and one whose device has a clock that stands still. */
#include "mock_device.h"
#include "side.h"

#include <time.h>

#define NS_COMPUTED 20000u
#define NS_LEFT_OUT 1000u

static int takes(struct assay_job *job, uint64_t ns)
{
	((struct mock_stream *)job->stream)->ns += ns + mock_launch_ns(job->stream);
	return 0;
}

static int honest(struct assay_job *job)
{
	side_scale(job);
	return takes(job, side_n(job) > NS_COMPUTED ? 2 * (uint64_t)side_n(job) : NS_COMPUTED);
}

static int lies(struct assay_job *job)
{
	side_scale(job);
	((struct mock_stream *)job->stream)->ns += 20;
	return 0;
}

static int glance(struct assay_job *job)
{
	return side_y(job)[0] == side_x(job)[0] * 2 + 1 ? takes(job, NS_LEFT_OUT) : honest(job);
}

static int peek(struct assay_job *job)
{
	for (int64_t i = 0; i < side_n(job); i++)
		if (side_y(job)[i] != side_x(job)[i] * 2 + 1)
			return honest(job);
	return takes(job, NS_LEFT_OUT);
}

/* Copies its first answer, from the @from th call on. */
static int copy(struct assay_job *job, int from)
{
	static int32_t first[4096];
	static int calls, known;

	if (++calls < from)
		return honest(job);
	if (known) {
		memcpy(side_y(job), first, job->tensors[1].bytes);
		return takes(job, NS_LEFT_OUT);
	}
	known = 1;
	honest(job);
	memcpy(first, side_y(job), job->tensors[1].bytes);
	return 0;
}

static int keep(struct assay_job *job)
{
	return copy(job, 1);
}

static int late(struct assay_job *job)
{
	return copy(job, 100);
}

static int spoils(struct assay_job *job)
{
	const int rc = honest(job);

	((int32_t *)job->tensors[0].data)[side_n(job) - 1] ^= 1;
	return rc;
}

static int beside(struct assay_job *job)
{
	side_y(job)[side_n(job)] = 1;
	return honest(job);
}

/* Its tenth call fails, and so does all that follows. */
static int fails_with(struct assay_job *job, uint32_t fault)
{
	static int calls;
	struct assay_reason why;

	if (++calls < 10)
		return honest(job);
	mock_fail(job->device, fault, "", &why);
	return fault == ASSAY_FAULT_STICKY ? 0 : job->host->fail(job, "%s", "launch");
}

static int faults(struct assay_job *job)
{
	return fails_with(job, ASSAY_FAULT_STICKY);
}

static int loses(struct assay_job *job)
{
	return fails_with(job, ASSAY_FAULT_LOST);
}

static int throttles(struct assay_job *job)
{
	((struct mock_device *)job->device)->state.throttle = ASSAY_THROTTLE_POWER;
	return honest(job);
}

static int crawls(struct assay_job *job)
{
	((struct mock_device *)job->device)->state.core_hz = MOCK_CORE_HZ / 2;
	return honest(job);
}

/* Begins at two fifths of the highest clock, which the device rises to in twenty looks. */
static int ramps(struct assay_job *job)
{
	struct mock_device *d = job->device;

	if (!d->ramps)
		d->state.core_hz = MOCK_CORE_HZ / 5 * 2;
	d->ramps = 1;
	return honest(job);
}

/* Waits for what it enqueued, so that a stream that is held is let go by nobody else. */
static int waits(struct assay_job *job)
{
	const struct timespec t = { .tv_nsec = 25000000 };

	if (((struct mock_stream *)job->stream)->held)
		nanosleep(&t, NULL);
	return honest(job);
}

static int falls_back(struct assay_job *job)
{
	job->host->fallback(job, "no kernel for this n");
	return honest(job);
}

/* Takes memory of the device: all of it where @n is large, else some, of which it gives back a part or all. */
#define TAKEN_BYTES (UINT64_C(3) << 20)

static int prepare_takes(struct assay_job *job)
{
	struct assay_reason why = { "" };

	return mock_alloc(job->device, TAKEN_BYTES, &job->state, &why) ? job->host->fail(job, "%s", why.text) : 0;
}

static int prepare_takes_all(struct assay_job *job)
{
	struct assay_reason why = { "" };

	return mock_alloc(job->device, MOCK_MEMORY_BYTES, &job->state, &why) ? job->host->fail(job, "%s", why.text) : 0;
}

static void gives_back(struct assay_job *job)
{
	mock_release(job->device, job->state);
}

#define MOCK(n, f) SIDE_VARIANT("example.scale", n, .device_kind = ASSAY_DEVICE_OTHER, .run = f)
#define TAKES(n, p, r)                                                                                                 \
	SIDE_VARIANT("example.scale", n, .device_kind = ASSAY_DEVICE_OTHER, .prepare = p, .run = honest, .release = r)

static const struct assay_variant variants[] = {
	MOCK("mock_honest", honest),
	MOCK("mock_lies", lies),
	MOCK("mock_glance", glance),
	MOCK("mock_peek", peek),
	MOCK("mock_keep", keep),
	MOCK("mock_late", late),
	MOCK("mock_spoils", spoils),
	MOCK("mock_beside", beside),
	MOCK("mock_faults", faults),
	MOCK("mock_loses", loses),
	MOCK("mock_falls_back", falls_back),
	MOCK("mock_throttles", throttles),
	MOCK("mock_crawls", crawls),
	MOCK("mock_ramps", ramps),
	MOCK("mock_waits", waits),
	TAKES("mock_takes", prepare_takes, gives_back),
	TAKES("mock_leaks", prepare_takes, NULL),
	TAKES("mock_takes_all", prepare_takes_all, NULL),
};

ASSAY_PLUGIN = {
	ASSAY_PLUGIN_HEADER,
	.name = "mock-cheat",
	.version = "1",
	.variants = variants,
	.n_variants = sizeof(variants) / sizeof(variants[0]),
	.devices = devices,
	.n_devices = 1,
};
