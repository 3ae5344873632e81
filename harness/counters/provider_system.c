/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole machine's work meanwhile, by /proc, other programs included. It is counted only where it is asked for, to
 * see whether a case was slow because something else was busy.
 */
#include <stdio.h>

#include "counters/provider.h"
#include "machine/environment.h"

/* In the order of read_system(). */
static const char *const events[] = {
	"system_cpu_ns",          "system_network_in_bytes",   "system_network_out_bytes",
	"system_disk_read_bytes", "system_disk_written_bytes", NULL,
};

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	struct assay_system_state s;

	(void)ctx;
	assay_system_state("", ".", &s);
	*out = (struct assay_counter_probe){ .works = s.cpu_s > 0 };
	snprintf(out->value, sizeof(out->value), "%s",
		 out->works ? "CPU time, network and disks of the whole machine" : "/proc/stat cannot be read here");
}

static int open_system(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	struct assay_counter_probe p;

	*set = NULL;
	probe(ctx, &p);
	return p.works ? 0 : assay_err_set(err, ASSAY_EUNAVAILABLE, "%s", p.value);
}

static int read_system(void *set, uint64_t *values)
{
	struct assay_system_state s;

	(void)set;
	assay_system_state("", ".", &s);
	*values++ = (uint64_t)(s.cpu_busy_s * 1e9);
	*values++ = s.network_in_bytes;
	*values++ = s.network_out_bytes;
	*values++ = s.disk_read_bytes;
	*values = s.disk_written_bytes;
	return 0;
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)ctx;
	(void)event;
	snprintf(buf, size, "/proc, of the whole machine");
}

const struct assay_counter_provider assay_provider_system = {
	.name = "system",
	.source = ASSAY_SOURCE_OS,
	.shared = true,
	.events = events,
	.probe = probe,
	.open = open_system,
	.read = read_system,
	.how = how,
};
