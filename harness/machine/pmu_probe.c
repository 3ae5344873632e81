/* SPDX-License-Identifier: Apache-2.0 */
/* Opens one perf event, runs a loop of known length, and believes the counter only if it ticked. */
#include "machine/pmu_probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine/host_facts.h"

#define LOOP_TURNS 2000000u
/* For user code; the kernel refuses it above. */
#define NEEDED_PARANOID 2

static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Each turn depends on the one before: at least one cycle each. */
static void run_loop(void)
{
	uint64_t x = 1;

	for (unsigned i = 0; i < LOOP_TURNS; i++) {
		x = x * 3 + 1;
		__asm__ volatile("" : "+r"(x));
	}
}

static bool count_loop(int fd, uint64_t *value, uint64_t *running)
{
	struct {
		uint64_t value, enabled, running;
	} r;

	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return false;
	run_loop();
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) || read(fd, &r, sizeof(r)) != (ssize_t)sizeof(r))
		return false;
	*value = r.value;
	*running = r.running;
	return true;
}

bool assay_perf_paranoid_at(const char *root, char *buf, size_t size)
{
	int64_t paranoid = 0;

	buf[0] = '\0';
	if (!assay_host_number(root, "/proc/sys/kernel/perf_event_paranoid", &paranoid) || paranoid <= NEEDED_PARANOID)
		return false;
	snprintf(buf, size, "kernel.perf_event_paranoid is %d, %d or lower is needed", (int)paranoid, NEEDED_PARANOID);
	return true;
}

static void explain(int error, bool hardware, struct assay_pmu_probe *out)
{
	char paranoid[80];

	switch (error) {
	case EACCES:
	case EPERM:
		if (assay_perf_paranoid_at("", paranoid, sizeof(paranoid))) {
			snprintf(out->value, sizeof(out->value), "forbidden: %s", paranoid);
			snprintf(out->advice, sizeof(out->advice), ASSAY_PERF_PARANOID_ADVICE);
		} else {
			snprintf(out->value, sizeof(out->value), "forbidden by the container or a security module");
			snprintf(out->advice, sizeof(out->advice),
				 "allow perf_event_open, in a container with --cap-add PERFMON and a seccomp profile "
				 "that lets it through");
		}
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		snprintf(out->value, sizeof(out->value), "%s",
			 hardware ? "no PMU exposed by the hypervisor or kernel" : "the kernel has no such event");
		if (hardware)
			snprintf(out->advice, sizeof(out->advice),
				 "use a host or instance type that passes its PMU through; times and exact counts "
				 "(valgrind, stepping) work without it");
		break;
	case ENOSYS:
		snprintf(out->value, sizeof(out->value), "the kernel or sandbox has no perf_event_open");
		break;
	default:
		snprintf(out->value, sizeof(out->value), "perf_event_open fails: %s", strerror(error));
		break;
	}
}

static void probe(uint32_t type, uint64_t config, uint64_t at_least, const char *good, struct assay_pmu_probe *out)
{
	uint64_t value = 0, running = 0;
	int fd = open_event(type, config);

	memset(out, 0, sizeof(*out));
	if (fd < 0) {
		explain(errno, type == PERF_TYPE_HARDWARE, out);
		return;
	}
	if (!count_loop(fd, &value, &running))
		snprintf(out->value, sizeof(out->value), "opens, but cannot be read: %s", strerror(errno));
	else if (!running)
		snprintf(out->value, sizeof(out->value),
			 "opens, but never gets a counter: another program holds them all");
	else if (value < at_least)
		snprintf(out->value, sizeof(out->value), "opens, but counts %llu in a loop of %u turns",
			 (unsigned long long)value, LOOP_TURNS);
	else
		out->works = true;
	if (out->works)
		snprintf(out->value, sizeof(out->value), "%s", good);
	close(fd);
}

void assay_pmu_probe_hardware(struct assay_pmu_probe *out)
{
	probe(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, LOOP_TURNS / 2, "counts cycles of user code", out);
}

void assay_pmu_probe_software(struct assay_pmu_probe *out)
{
	/* Nanoseconds: no CPU does two million dependent turns in 50 us. */
	probe(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 50000, "task clock, faults, switches, migrations", out);
}
