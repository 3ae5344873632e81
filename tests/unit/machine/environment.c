/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded hosts: container limits, steal, memory, fingerprint, environment and what doctor says of them. */
#include <time.h>

#include "base/file.h"
#include "folder_fixture.h"
#include "host_fixture.h"
#include "recorded_machine.h"
#include "machine/environment.h"
#include "machine/host_facts.h"
#include "machine/lost_time.h"
#include "machine/pmu_probe.h"
#include "model/result.h"

#define MIB UINT64_C(1048576)

static const struct {
	const char *root;
	double cpus;
	const char *where;
	bool shows_throttling;
	uint64_t throttled_ns;
	size_t threads;
	const char *refused; /* NULL: so many threads may run */
} quotas[] = {
	{ "intel-v2", 1.5, "/sys/fs/cgroup/kubepods.slice/pod1.slice/cpu.max", true, 5300000, 1, NULL },
	{ "intel-v2", 1.5, "/sys/fs/cgroup/kubepods.slice/pod1.slice/cpu.max", true, 5300000, 2,
	  "cannot keep 2 threads running: the container's quota allows 1.5 CPUs; "
	  "raise '/sys/fs/cgroup/kubepods.slice/pod1.slice/cpu.max' or use --threads 1" },
	{ "docker-v1", 0.5, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", true, 7700000, 1,
	  "cannot keep 1 thread running: the container's quota allows 0.5 CPUs; "
	  "raise '/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us'" },
	{ "no-limits", 0, "", false, 0, 256, NULL },
	{ "absent", 0, "", false, 0, 256, NULL },
};

TEST(test_cpu_quota)
{
	for (size_t i = 0; i < N_OF(quotas); i++) {
		struct assay_cpu_quota q;
		struct assay_err err = { 0 };
		int rc = assay_cpu_quota_check_at(host(quotas[i].root), quotas[i].threads, &err);

		assert_int_equal(rc, quotas[i].refused ? ASSAY_EUNAVAILABLE : 0);
		assert_string_equal(err.text, quotas[i].refused ? quotas[i].refused : "");
		assay_cpu_quota_read(host(quotas[i].root), &q);
		assert_true(q.cpus == quotas[i].cpus);
		assert_string_equal(q.where, quotas[i].where);
		assert_int_equal(q.shows_throttling, quotas[i].shows_throttling);
		assert_int_equal(q.throttled_ns, quotas[i].throttled_ns);
	}
}

static const struct {
	const char *root;
	uint64_t total, available, limit, usable, used;
} memories[] = {
	/* the parent's 4 GiB bind: 3 GiB used, half a GiB of it idle page cache */
	{ "intel-v2", 128000 * MIB, 1536 * MIB, 4096 * MIB, 4096 * MIB, 2560 * MIB },
	{ "docker-v1", 16000 * MIB, 384 * MIB, 512 * MIB, 512 * MIB, 128 * MIB },
	{ "no-limits", 4000 * MIB, 1000 * MIB, 0, 4000 * MIB, 3000 * MIB },
};

TEST(test_memory)
{
	struct assay_memory_state m;
	struct assay_err err = { 0 };

	for (size_t i = 0; i < N_OF(memories); i++) {
		assert_int_equal(assay_memory_state_at(host(memories[i].root), &m, &err), 0);
		assert_int_equal(m.total_bytes, memories[i].total);
		assert_int_equal(m.available_bytes, memories[i].available);
		assert_int_equal(m.limit_bytes, memories[i].limit);
		assert_int_equal(m.usable_bytes, memories[i].usable);
		assert_int_equal(m.used_bytes, memories[i].used);
	}
	assert_int_equal(assay_memory_state_at(host("absent"), &m, &err), ASSAY_EUNAVAILABLE);
	assert_int_equal(assay_memory_state(&m, &err), 0);
	assert_true(m.total_bytes > 0 && m.available_bytes <= m.total_bytes);
}

/* Of disks only whole ones, of networks all but the loopback. */
TEST(test_system_state)
{
	struct assay_system_state s;
	const double hz = (double)sysconf(_SC_CLK_TCK);

	assay_system_state(host("intel-v2"), "/", &s);
	assert_true(s.cpu_s == 100000 / hz && s.cpu_busy_s == 1900 / hz && s.load == 3.5);
	assert_true(s.threads_running == 1 && s.threads == 234);
	assert_int_equal(s.network_in_bytes, 3000);
	assert_int_equal(s.network_out_bytes, 700);
	assert_int_equal(s.disk_read_bytes, 3000 * 512);
	assert_int_equal(s.disk_written_bytes, 5000 * 512);
	assert_int_equal(s.memory_bytes, 4096 * MIB);
	assert_int_equal(s.memory_used_bytes, 2560 * MIB);
	assay_system_state(host("absent"), "/", &s);
	assert_true(s.cpu_s == 0 && s.memory_bytes == 0 && s.network_in_bytes == 0 && s.disk_bytes > 0);
	assay_system_state("", "/", &s);
	assert_true(s.cpu_s >= s.cpu_busy_s && s.cpu_busy_s > 0 && s.uptime_s > 0 && s.process_bytes > 0);
	assert_true(s.threads_running > 0 && s.threads >= s.threads_running);
}

TEST(test_steal)
{
	static const struct {
		const char *root;
		int cpus[2];
		size_t n;
		bool shown;
		uint64_t ticks;
	} rows[] = {
		{ "intel-v2", { 0 }, 1, true, 100 },     { "intel-v2", { 1 }, 1, true, 150 },
		{ "intel-v2", { 10, 0 }, 2, true, 150 }, { "intel-v2", { 0, 7 }, 2, false, 100 },
		{ "docker-v1", { 0 }, 1, false, 0 }, /* a kernel without that column */
		{ "absent", { 0 }, 1, false, 0 },        { "intel-v2", { 0 }, 0, false, 0 },
	};
	double frac;

	for (size_t i = 0; i < N_OF(rows); i++) {
		uint64_t ticks = 99;

		assert_int_equal(assay_steal_ticks_at(host(rows[i].root), rows[i].cpus, rows[i].n, &ticks),
				 rows[i].shown);
		assert_int_equal(ticks, rows[i].ticks);
	}
	assert_true(assay_steal_frac_at(host("intel-v2"), &frac));
	assert_true(frac == 0.003);
	assert_false(assay_steal_frac_at(host("docker-v1"), &frac));
}

static const char *fact(const struct assay_fact *f, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(f[i].name, name))
			return f[i].value;
	fail_msg("no fact '%s'", name);
	return NULL;
}

static const struct {
	const char *root, *name, *want;
} environments[] = {
	{ "intel-v2", "governor", "powersave" },
	{ "intel-v2", "frequency_driver", "intel_pstate" },
	{ "intel-v2", "turbo", "on" },
	{ "intel-v2", "smt", "active" },
	{ "intel-v2", "aslr", "full" },
	{ "intel-v2", "transparent_huge_pages", "never" },
	{ "intel-v2", "numa_balancing", "on" },
	{ "intel-v2", "load_1min", "3.50" },
	{ "intel-v2", "steal", "0.3 % since boot" },
	{ "intel-v2", "isolation", "none" },
	{ "intel-v2", "cpus_allowed", "0-7" },
	{ "intel-v2", "container_cpu_limit", "1.5 CPUs" },
	{ "intel-v2", "container_memory_limit", "4 GiB" },
	{ "intel-v2", "memory_available", "1.5 GiB" },
	{ "intel-v2", "kernel_clocksource", "tsc" },
	{ "intel-v2", "clock", "TSC" },
	{ "intel-v2", "clock_resolution_ns", "10" },
	{ "intel-v2", "clock_overhead_ns", "21.5" },
	{ "intel-v2", "clock_why", "because" },
	{ "docker-v1", "governor", "mixed (performance, powersave)" }, /* CPU 1 is offline */
	{ "docker-v1", "turbo", "off" },
	{ "docker-v1", "smt", "not supported" },
	{ "docker-v1", "aslr", "off" },
	{ "docker-v1", "transparent_huge_pages", "always" },
	{ "docker-v1", "numa_balancing", ASSAY_NOT_EXPOSED },
	{ "docker-v1", "steal", ASSAY_NOT_EXPOSED },
	{ "docker-v1", "isolation", "CPUs 2-3, nohz_full 2-3" },
	{ "docker-v1", "container_cpu_limit", "0.5 CPUs" },
	{ "no-limits", "container_cpu_limit", "none" },
	{ "no-limits", "container_memory_limit", "none" },
	{ "no-limits", "governor", ASSAY_NOT_EXPOSED },
	{ "absent", "memory_available", "unknown" },
	{ "absent", "cpus_allowed", "unknown" },
	{ "absent", "aslr", ASSAY_NOT_EXPOSED },
};

static const struct assay_clock test_clock = {
	.source = ASSAY_CLOCK_TSC,
	.ns_per_tick = 0.5,
	.resolution_ns = 10,
	.overhead_ns = 21.5,
	.why = "because",
};

TEST(test_environment)
{
	for (size_t i = 0; i < N_OF(environments); i++) {
		struct assay_fact *f = NULL;
		struct assay_err err = { 0 };
		size_t n = 0;

		assert_int_equal(assay_environment_take_at(host(environments[i].root), &test_clock, &f, &n, &err), 0);
		assert_string_equal(fact(f, n, environments[i].name), environments[i].want);
		free(f);
	}
}

TEST(test_fingerprint)
{
	static const char *const want[][2] = {
		{ "cpu_model", "Intel(R) Xeon(R) Platinum 8480+" },
		{ "cpu_stepping", "family 6 model 143 stepping 8" },
		{ "cpu_microcode", "0x2b000590" },
		{ "sockets", "2" },
		{ "cores", "16" },
		{ "threads", "32" },
		{ "numa_nodes", "2" },
		{ "l1d", "48 KiB" },
		{ "l2", "1 MiB" },
		{ "llc", "2 x 32 MiB" },
		{ "memory", "128 GiB" }, /* zones, not the 125 GiB of MemTotal */
		{ "gpu_driver", "560.35.03" },
		{ "gpu", "2 x NVIDIA H200" },
		{ "kernel", "6.8.0-45-generic" },
		{ "hypervisor", "no" },
	};
	struct assay_topology *big = machine_open("two-sockets");
	struct assay_topology *small = machine_open("one-core");
	struct assay_fingerprint a, b;
	struct assay_err err = { 0 };

	assert_int_equal(assay_fingerprint_take_at(host("intel-v2"), big, &a, &err), 0);
	for (size_t i = 0; i < N_OF(want); i++)
		assert_string_equal(fact(a.facts, a.n_facts, want[i][0]), want[i][1]);
	assert_string_equal(a.label, "Intel(R) Xeon(R) Platinum 8480+, 16 cores, 128 GiB, 2 x NVIDIA H200");
	assert_int_equal(strlen(a.id), ASSAY_DIGEST_LEN);
	assert_int_equal(assay_fingerprint_take_at(host("intel-v2"), big, &b, &err), 0);
	assert_string_equal(a.id, b.id);
	assert_int_equal(assay_fingerprint_take_at(host("intel-v2"), small, &b, &err), 0);
	assert_string_not_equal(a.id, b.id);

	assert_int_equal(assay_fingerprint_take_at(host("docker-v1"), small, &b, &err), 0);
	assert_string_equal(b.label, "Arm Neoverse V1, 1 core, 16 GiB");
	assert_string_equal(fact(b.facts, b.n_facts, "gpu"), "none");
	assert_string_equal(fact(b.facts, b.n_facts, "cpu_microcode"), "unknown");
	assert_string_equal(fact(b.facts, b.n_facts, "kernel"), "unknown");
	assay_topology_close(big);
	assay_topology_close(small);
}

/* A cpuset narrows what a run may use, not what the machine is. */
TEST(test_fingerprint_ignores_the_cpuset)
{
	struct assay_topology *part = machine_open("cpuset-4-7");
	struct assay_fingerprint f;
	struct assay_err err = { 0 };

	assert_int_equal(assay_fingerprint_take_at(host("no-limits"), part, &f, &err), 0);
	assert_string_equal(fact(f.facts, f.n_facts, "cores"), "8");
	assay_topology_close(part);
}

static const struct {
	const char *root, *name;
	enum assay_health health;
	const char *value, *advice; /* parts */
} findings[] = {
	{ "intel-v2", "cpu", ASSAY_HEALTH_GOOD, "8480+, microcode 0x2b000590", "" },
	{ "intel-v2", "isa", ASSAY_HEALTH_GOOD, "avx512_vnni", "" },
	{ "intel-v2", "clock", ASSAY_HEALTH_GOOD, "resolution 10 ns, a read takes 22 ns (because)", "" },
	{ "intel-v2", "cpuset", ASSAY_HEALTH_WARN, "only CPUs 4-7 may be used", "taskset" },
	{ "intel-v2", "cpu_quota", ASSAY_HEALTH_WARN, "quota of 1.5 CPUs", "pod1.slice/cpu.max" },
	{ "intel-v2", "memory", ASSAY_HEALTH_WARN, "1.5 GiB available of 125 GiB, container limit 4 GiB", "raise" },
	{ "intel-v2", "governor", ASSAY_HEALTH_WARN, "powersave", "cpupower frequency-set -g performance" },
	{ "intel-v2", "turbo", ASSAY_HEALTH_WARN, "on", "intel_pstate/no_turbo" },
	{ "intel-v2", "smt", ASSAY_HEALTH_WARN, "active", "smt/control" },
	{ "intel-v2", "steal", ASSAY_HEALTH_WARN, "0.3 %", "other guests" },
	{ "intel-v2", "isolation", ASSAY_HEALTH_WARN, "none", "isolcpus" },
	{ "intel-v2", "load", ASSAY_HEALTH_WARN, "3.50", "stop them" },
	{ "intel-v2", "aslr", ASSAY_HEALTH_GOOD, "full", "" },
	{ "intel-v2", "huge_pages", ASSAY_HEALTH_WARN, "never", "madvise" },
	{ "intel-v2", "gpu", ASSAY_HEALTH_WARN, "2 x NVIDIA H200, driver 560.35.03", "libcuda.so.1 is missing" },
	{ "intel-v2", "openblas", ASSAY_HEALTH_MISSING, "not found", "libopenblas0-pthread" },
	{ "docker-v1", "governor", ASSAY_HEALTH_WARN, "mixed", "performance" },
	{ "docker-v1", "turbo", ASSAY_HEALTH_GOOD, "off", "" },
	{ "docker-v1", "smt", ASSAY_HEALTH_GOOD, "not supported", "" },
	{ "docker-v1", "steal", ASSAY_HEALTH_MISSING, ASSAY_NOT_EXPOSED, "" },
	{ "docker-v1", "isolation", ASSAY_HEALTH_GOOD, "CPUs 2-3", "--cpus" },
	{ "docker-v1", "aslr", ASSAY_HEALTH_WARN, "off", "randomize_va_space=2" },
	{ "docker-v1", "gpu", ASSAY_HEALTH_MISSING, "CUDA variants cannot run", "" },
	{ "no-limits", "cpu_quota", ASSAY_HEALTH_GOOD, "none", "" },
	{ "no-limits", "isa", ASSAY_HEALTH_WARN, "no vector extension", "-cpu host" },
	{ "absent", "proc", ASSAY_HEALTH_MISSING, "not mounted", "mount -t proc proc /proc" },
	{ "absent", "sys", ASSAY_HEALTH_MISSING, "not mounted: frequency", "mount -t sysfs sys /sys" },
	{ "absent", "memory", ASSAY_HEALTH_MISSING, "unknown", "" },
	{ "absent", "cpu_quota", ASSAY_HEALTH_MISSING, "unknown: no cgroup file system", "mount /sys/fs/cgroup" },
	{ "absent", "isolation", ASSAY_HEALTH_MISSING, ASSAY_NOT_EXPOSED, "" },
};

TEST(test_doctor)
{
	struct assay_topology *t = machine_open("cpuset-4-7");

	for (size_t i = 0; i < N_OF(findings); i++) {
		struct assay_findings all = { 0 };
		struct assay_err err = { 0 };
		const struct assay_finding *f;
		size_t j = 0;

		assert_int_equal(assay_doctor_at(host(findings[i].root), t, &test_clock, &all, &err), 0);
		f = all.v;
		while (j < all.n && strcmp(f[j].name, findings[i].name))
			j++;
		if (j == all.n)
			fail_msg("row %zu: no finding '%s'", i, findings[i].name);
		if (f[j].health != findings[i].health || !strstr(f[j].value, findings[i].value) ||
		    !strstr(f[j].advice, findings[i].advice) || !findings[i].advice[0] != !f[j].advice[0])
			fail_msg("row %zu: %s: health %d, '%s', '%s'", i, f[j].name, (int)f[j].health, f[j].value,
				 f[j].advice);
		assay_findings_release(&all);
	}
	assay_topology_close(t);
}

/* The findings of a probe depend on the host, but it must always explain itself. */
TEST(test_paranoid)
{
	static const struct {
		const char *root, *want;
	} cases[] = {
		{ "docker-v1", "kernel.perf_event_paranoid is 4, 2 or lower is needed" },
		{ "no-limits", "" },
		{ "intel-v2", "" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		char why[80] = "before";

		assert_int_equal(assay_perf_paranoid_at(host(cases[i].root), why, sizeof(why)),
				 cases[i].want[0] != '\0');
		assert_string_equal(why, cases[i].want);
	}
}

/* ---- disturbance ---- */

/* Changes between two polls, from files of a made-up host. */

#define STAT      "proc/stat"
#define PRESSURE  "proc/pressure/cpu"
#define FREQUENCY "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq"

static void put(const char *path, const char *text)
{
	char full[256], *slash;

	snprintf(full, sizeof(full), "%s/%s", folder, path);
	slash = strrchr(full, '/');
	*slash = '\0';
	assert_int_equal(0, assay_file_mkdirs(full, NULL));
	*slash = '/';
	assert_int_equal(0, assay_file_write(full, text, strlen(text), NULL));
}

/* user nice system idle iowait irq softirq steal */
static const char *const before_stat = "cpu  9 0 9 9 0 0 0 5\ncpu0 1 0 1 1 0 0 0 2\ncpu1 1 0 1 1 0 0 0 3\n";

TEST(polls_see_changes)
{
	static const struct {
		const char *name, *path, *text;
		uint32_t flags, ticks;
	} cases[] = {
		{ "nothing", STAT, "cpu  9 0 9 9 0 0 0 5\ncpu0 1 0 1 1 0 0 0 2\ncpu1 9 0 9 9 0 0 0 3\n", 0, 0 },
		{ "steal of another CPU", STAT, "cpu  9 0 9 9 0 0 0 9\ncpu0 1 0 1 1 0 0 0 6\ncpu1 1 0 1 1 0 0 0 3\n", 0,
		  0 },
		{ "steal of ours", STAT, "cpu  9 0 9 9 0 0 0 9\ncpu0 1 0 1 1 0 0 0 2\ncpu1 1 0 1 1 0 0 0 7\n",
		  ASSAY_DISTURB_STEAL, 4 },
		{ "pressure", PRESSURE, "some avg10=0.00 avg60=0.00 avg300=0.00 total=101\n", ASSAY_DISTURB_PRESSURE,
		  0 },
		{ "frequency hunts", FREQUENCY, "2960000\n", 0, 0 },
		{ "frequency drops", FREQUENCY, "2400000\n", ASSAY_DISTURB_FREQUENCY, 0 },
	};
	const int cpus[] = { 1 };

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_disturbance d;
		uint32_t flags, ticks;

		put(STAT, before_stat);
		put(PRESSURE, "some avg10=0.00 avg60=0.00 avg300=0.00 total=100\n");
		put(FREQUENCY, "3000000\n");
		assay_disturbance_begin(&d, folder, cpus, 1);
		assert_int_equal(0, assay_disturbance_poll(&d, &ticks));
		put(cases[i].path, cases[i].text);
		flags = assay_disturbance_poll(&d, &ticks);
		if (flags != cases[i].flags || ticks != cases[i].ticks)
			fail_msg("%s: flags %x, ticks %u", cases[i].name, flags, ticks);
		/* what was told once is not told again */
		assert_int_equal(0, assay_disturbance_poll(&d, &ticks));
		assert_int_equal(0, ticks);
	}
}

/* ---- lost time ---- */

/* The time that a thread lost, from two readings of its clocks. */

TEST(from_two_readings)
{
	static const struct {
		const char *name;
		uint64_t wall_ns, cpu_ns, waited_ns; /* that went by */
		bool waits_told;
		uint64_t voluntary, involuntary;
		struct assay_lost_time want;
		bool coarse;
	} rows[] = {
		{ "all its own", 1000, 1000, 0, true, 0, 0, { 0, 0, true }, false },
		{ "a clock that is a little ahead", 1000, 1003, 0, true, 0, 0, { 0, 0, true }, false },
		{ "others had the CPU", 1000, 600, 400, true, 0, 1, { 400, 0, true }, false },
		{ "the hypervisor had it", 1000, 600, 0, true, 0, 0, { 0, 400, true }, false },
		{ "both", 1000, 600, 100, true, 0, 1, { 100, 300, true }, false },
		{ "no more than all", 1000, 600, 700, true, 0, 1, { 400, 0, true }, false },
		{ "asleep is not lost", 1000, 600, 100, true, 3, 1, { 100, 0, true }, false },
		{ "a wait that nobody tells, by a switch", 1000, 600, 0, false, 0, 1, { 400, 0, true }, false },
		{ "nobody tells, no switch", 1000, 600, 0, false, 0, 0, { 0, 400, true }, false },
		{ "nobody tells, and asleep", 1000, 600, 0, false, 1, 1, { 0, 0, false }, false },
		{ "waking up is not lost", 1000, 600, 100, true, 3, 0, { 0, 0, true }, false },
		{ "asleep, nobody tells, no switch", 1000, 600, 0, false, 3, 0, { 0, 0, true }, false },
		{ "a coarse clock", 1000, 0, 100, true, 0, 1, { 100, 0, true }, true },
		{ "a coarse clock, and nobody tells", 1000, 0, 0, false, 0, 1, { 0, 0, false }, true },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_thread_time before = { 50, 20, 7, rows[i].waits_told, !rows[i].coarse };
		const struct assay_thread_time after = { 50 + rows[i].wall_ns, 20 + rows[i].cpu_ns,
							 7 + rows[i].waited_ns, rows[i].waits_told, !rows[i].coarse };
		struct assay_lost_time lost =
			assay_lost_time_between(&before, &after, rows[i].voluntary, rows[i].involuntary);

		if (lost.waited_ns != rows[i].want.waited_ns || lost.stolen_ns != rows[i].want.stolen_ns ||
		    lost.told != rows[i].want.told)
			fail_msg("%s: waited %llu, stolen %llu, told %d", rows[i].name,
				 (unsigned long long)lost.waited_ns, (unsigned long long)lost.stolen_ns, lost.told);
	}
}

UNIT_GROUP(hosts_make, folder_remove)
