/* SPDX-License-Identifier: Apache-2.0 */
/* Placement on machines we do not have (hwloc XML), and binding on the one we run on. */
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded_machine.h"

#define MAX_CPUS 64

static void join(const int *cpus, size_t n, char *buf, size_t size)
{
	size_t len = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%d", i ? "," : "", cpus[i]);
}

static const struct {
	const char *machine;
	enum assay_placement_policy policy;
	bool smt;
	size_t n; /* 0: as many as there are */
	const char *want;
} picks[] = {
	/* two sockets of 8 cores; CPU i and i + 16 are siblings */
	{ "two-sockets", ASSAY_PLACE_COMPACT, false, 1, "0" },
	{ "two-sockets", ASSAY_PLACE_COMPACT, false, 0, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15" },
	{ "two-sockets", ASSAY_PLACE_COMPACT, true, 5, "0,16,1,17,2" },
	{ "two-sockets", ASSAY_PLACE_COMPACT, true, 18, "0,16,1,17,2,18,3,19,4,20,5,21,6,22,7,23,8,24" },
	{ "two-sockets", ASSAY_PLACE_SCATTER, false, 4, "0,8,1,9" },
	{ "two-sockets", ASSAY_PLACE_SCATTER, true, 20, "0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15,16,24,17,25" },
	/* two sockets with two level 3 caches each, 4 cores on a cache */
	{ "four-l3", ASSAY_PLACE_COMPACT, false, 6, "0,1,2,3,4,5" },
	{ "four-l3", ASSAY_PLACE_SCATTER, false, 6, "0,8,4,12,1,9" },
	{ "four-l3", ASSAY_PLACE_SCATTER, false, 0, "0,8,4,12,1,9,5,13,2,10,6,14,3,11,7,15" },
	/* 8 slow cores, listed first, in two clusters of 4; then 4 fast cores of two threads */
	{ "hybrid", ASSAY_PLACE_COMPACT, false, 4, "8,10,12,14" },
	{ "hybrid", ASSAY_PLACE_COMPACT, false, 0, "8,10,12,14,0,1,2,3,4,5,6,7" },
	{ "hybrid", ASSAY_PLACE_COMPACT, true, 0, "8,9,10,11,12,13,14,15,0,1,2,3,4,5,6,7" },
	{ "hybrid", ASSAY_PLACE_SCATTER, false, 7, "8,10,12,14,0,4,1" },
	{ "hybrid", ASSAY_PLACE_SCATTER, true, 0, "8,10,12,14,0,4,1,5,2,6,3,7,9,11,13,15" },
	{ "cpuset-4-7", ASSAY_PLACE_COMPACT, false, 0, "4,5,6,7" },
	{ "cpuset-4-7", ASSAY_PLACE_SCATTER, true, 2, "4,5" },
	{ "one-core", ASSAY_PLACE_COMPACT, false, 0, "0" },
	{ "one-core", ASSAY_PLACE_SCATTER, true, 0, "0" },
};

TEST(test_picks)
{
	for (size_t i = 0; i < N_OF(picks); i++) {
		struct assay_placement_options o = { .policy = picks[i].policy, .smt = picks[i].smt };
		struct assay_topology *t = machine_open(picks[i].machine);
		struct assay_err err = { 0 };
		int cpus[MAX_CPUS];
		size_t n = picks[i].n ? picks[i].n : assay_placement_max(t, &o);
		char got[256];

		assert_in_range(n, 1, MAX_CPUS);
		if (assay_placement_pick(t, &o, n, cpus, &err))
			fail_msg("row %zu, %s: %s", i, picks[i].machine, err.text);
		join(cpus, n, got, sizeof(got));
		if (strcmp(got, picks[i].want))
			fail_msg("row %zu, %s: got %s, want %s", i, picks[i].machine, got, picks[i].want);
		assay_topology_close(t);
	}
}

static const struct {
	const char *machine;
	int cpus[4];
	size_t n_cpus, n;
	bool smt;
	const char *want; /* in the message; NULL: it works */
} lists[] = {
	{ "two-sockets", { 9, 3, 25 }, 3, 3, false, NULL },
	{ "two-sockets", { 9, 3, 25 }, 3, 2, false, NULL },
	{ "two-sockets", { 9, 3 }, 2, 3, false, "the list of CPUs names 2" },
	{ "two-sockets", { 0, 32 }, 2, 1, false, "cannot use CPU '32': this machine has CPUs 0-31" },
	{ "two-sockets", { -1 }, 1, 1, false, "this machine has CPUs 0-31" },
	{ "two-sockets", { 5, 6, 5 }, 3, 2, false, "cannot use CPU '5' twice" },
	{ "cpuset-4-7", { 7, 4 }, 2, 2, false, NULL },
	{ "cpuset-4-7", { 4, 3 }, 2, 2, false, "cannot use CPU '3': it is outside the cpuset 4-7" },
	{ "cpuset-4-7", { 8 }, 1, 1, false, "cannot use CPU '8': it is offline" },
	{ "cpuset-4-7", { 9 }, 1, 1, false, "cannot use CPU '9': this machine has CPUs 0-7" },
	{ "cpuset-4-7", { 0 }, 0, 5, false, "cpuset 4-7 has room for 4" },
	{ "two-sockets", { 0 }, 0, 17, false, "cpuset 0-31 has 16 cores; ask for at most 16, or allow SMT siblings" },
	{ "two-sockets", { 0 }, 0, 33, true, "cpuset 0-31 has room for 32" },
	{ "one-core", { 0 }, 0, 2, true, "cpuset 0 has room for 1" },
	{ "one-core", { 0 }, 0, 0, false, "ask for at least one" },
};

TEST(test_lists_and_refusals)
{
	for (size_t i = 0; i < N_OF(lists); i++) {
		struct assay_placement_options o = { .smt = lists[i].smt, .n_cpus = lists[i].n_cpus };
		struct assay_topology *t = machine_open(lists[i].machine);
		struct assay_err err = { 0 };
		int cpus[MAX_CPUS], rc;

		o.cpus = lists[i].n_cpus ? lists[i].cpus : NULL;
		rc = assay_placement_pick(t, &o, lists[i].n, cpus, &err);
		if (lists[i].want) {
			assert_int_equal(rc, ASSAY_EUSAGE);
			if (!strstr(err.text, lists[i].want))
				fail_msg("row %zu: got '%s', want '%s'", i, err.text, lists[i].want);
		} else {
			assert_int_equal(rc, 0);
			assert_memory_equal(cpus, lists[i].cpus, lists[i].n * sizeof(int));
		}
		assay_topology_close(t);
	}
}

static const struct {
	const char *machine;
	uint32_t n_cores;
	uint64_t l1d, l2, llc, memory;
	int cpu, node;
	struct assay_machine_size size;
	const char *summary;
} machines[] = {
	/* clang-format off */
	{ "two-sockets", 16, 49152, 1 << 20, 32 << 20, 128ull << 30, 25, 1,
	  { 2, 16, 32, 2, 2, 49152, 1 << 20, 32 << 20 },
	  "2 sockets, 16 cores, 32 threads, L1d 48 KiB, L2 1 MiB, 2 x L3 32 MiB, 2 NUMA nodes" },
	{ "four-l3", 16, 32768, 1 << 20, 32 << 20, 128ull << 30, 7, 0,
	  { 2, 16, 16, 2, 4, 32768, 1 << 20, 32 << 20 },
	  "2 sockets, 16 cores, 16 threads, L1d 32 KiB, L2 1 MiB, 4 x L3 32 MiB, 2 NUMA nodes" },
	{ "hybrid", 12, 49152, 1310720, 30 << 20, 32ull << 30, 15, 0,
	  { 1, 12, 16, 1, 1, 49152, 1310720, 30 << 20 },
	  "1 socket, 12 cores (4 fast), 16 threads, L1d 48 KiB, L2 1.25 MiB, L3 30 MiB, 1 NUMA node" },
	{ "cpuset-4-7", 4, 32768, 1 << 20, 16 << 20, 16ull << 30, 2, 0,
	  { 1, 8, 8, 1, 1, 32768, 1 << 20, 16 << 20 },
	  "1 socket, 8 cores, 8 threads, L1d 32 KiB, L2 1 MiB, L3 16 MiB, 1 NUMA node, of which CPUs 4-7 may be used" },
	{ "one-core", 1, 32768, 512 << 10, 512 << 10, 2ull << 30, 1, -1,
	  { 1, 1, 1, 1, 0, 32768, 512 << 10, 512 << 10 },
	  "1 socket, 1 core, 1 thread, L1d 32 KiB, L2 512 KiB, last level 512 KiB, 1 NUMA node" },
	/* it is told that each core had the 508 MiB of a whole EPYC to itself */
	{ "amd-guest", 2, 49152, 1 << 20, 96 << 20, 24ull << 30, 1, 0,
	  { 1, 2, 2, 1, 2, 49152, 1 << 20, 96 << 20 },
	  "1 socket, 2 cores, 2 threads, L1d 48 KiB, L2 1 MiB, 2 x L3 96 MiB, 1 NUMA node" },
	/* clang-format on */
};

TEST(test_machines)
{
	for (size_t i = 0; i < N_OF(machines); i++) {
		struct assay_topology *t = machine_open(machines[i].machine);
		struct assay_host_info host;
		struct assay_machine_size size;
		char summary[256];

		assay_topology_host_info(t, &host);
		assert_int_equal(host.size, sizeof(host));
		assert_int_equal(host.n_cores, machines[i].n_cores);
		assert_int_equal(host.l1d_bytes, machines[i].l1d);
		assert_int_equal(host.l2_bytes, machines[i].l2);
		assert_int_equal(host.llc_bytes, machines[i].llc);
		assert_int_equal(host.memory_bytes, machines[i].memory);
		assert_int_equal(assay_topology_node_of_cpu(t, machines[i].cpu), machines[i].node);
		assay_topology_machine(t, &size);
		assert_memory_equal(&size, &machines[i].size, sizeof(size));
		assay_topology_summary(t, summary, sizeof(summary));
		assert_string_equal(summary, machines[i].summary);
		assay_topology_close(t);
	}
}

TEST(test_bad_files)
{
	struct assay_topology *t = NULL;
	struct assay_err err = { 0 };

	assert_int_equal(assay_topology_open(&t, "tests/fixtures/topology/absent.xml", &err), ASSAY_EIO);
	assert_non_null(strstr(err.text, "absent.xml"));
	assert_null(t);
	assert_int_equal(assay_topology_open(&t, "tests/unit/machine/topology.c", &err), ASSAY_EIO);
	assert_null(t);
}

TEST(test_bind_here)
{
	const size_t bytes = 1 << 20;
	struct assay_placement_options o = { .smt = true };
	struct assay_topology *t = NULL;
	struct assay_err err = { 0 };
	int cpus[4096];
	size_t n;
	void *mem;

	assert_int_equal(assay_topology_open(&t, NULL, &err), 0);
	n = assay_placement_max(t, &o);
	assert_in_range(n, 1, 4096);
	assert_int_equal(assay_placement_pick(t, &o, n, cpus, &err), 0);
	for (size_t i = 0; i < n; i++) {
		if (assay_bind_thread(t, cpus[i], &err))
			fail_msg("%s", err.text);
		assert_int_equal(assay_bind_current_cpu(), cpus[i]);
	}
	assert_int_equal(assay_bind_thread(t, INT_MAX, &err), ASSAY_EUNAVAILABLE);
	assert_int_equal(err.code, ASSAY_EUNAVAILABLE);
	assert_non_null(strstr(err.text, "this machine has CPUs"));

	mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(mem, MAP_FAILED);
	if (assay_bind_memory(t, mem, bytes, cpus[0], &err))
		fail_msg("%s", err.text);
	memset(mem, 1, bytes);
	munmap(mem, bytes);
	assay_topology_close(t);
}

/* From here on, sched_setaffinity returns -@error and does nothing, as under a container's filter. */
static bool refuse_affinity(unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = N_OF(code), .filter = code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum refusal {
	REFUSAL_AS_WANTED = 0,
	REFUSAL_CANNOT_FILTER = 77,
	REFUSAL_WRONG = 1,
};

static enum refusal bind_refused(unsigned error, const char *want)
{
	struct assay_placement_options o = { .smt = true };
	struct assay_topology *t = NULL;
	struct assay_err err = { 0 };
	int cpu;

	if (assay_topology_open(&t, NULL, &err) || assay_placement_pick(t, &o, 1, &cpu, &err))
		return REFUSAL_WRONG;
	/* A pretended success shows only where the thread had a choice. */
	if ((!error && assay_placement_max(t, &o) < 2) || !refuse_affinity(error))
		return REFUSAL_CANNOT_FILTER;
	if (assay_bind_thread(t, cpu, &err) == ASSAY_EUNAVAILABLE && strstr(err.text, want))
		return REFUSAL_AS_WANTED;
	fprintf(stderr, "got '%s', want '%s'\n", err.text, want);
	return REFUSAL_WRONG;
}

TEST(test_refused_binding_says_why)
{
	static const struct {
		unsigned error;
		const char *want;
	} rows[] = {
		{ EPERM, "permission denied by the container's or sandbox's system call filter" },
		{ ENOSYS, "no such call" },
		{ EINVAL, "the cpuset of this process no longer contains it" },
		{ 0, "the thread may still run on" },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		pid_t pid = fork();
		int status = 0;

		assert_true(pid >= 0);
		if (!pid)
			_exit(bind_refused(rows[i].error, rows[i].want));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_true(WEXITSTATUS(status) == REFUSAL_AS_WANTED || WEXITSTATUS(status) == REFUSAL_CANNOT_FILTER);
	}
}

TEST(test_narrowed_process)
{
	struct assay_placement_options o = { .smt = true };
	struct assay_topology *t = NULL;
	struct assay_err err = { 0 };
	struct stat threads;
	int cpu[2];
	bool restricted;

	/* an emulator, such as qemu-user, has a thread of its own, which stays where it was started */
	if (!stat("/proc/self/task", &threads) && threads.st_nlink != 2 + 1)
		skip();
	/* test_bind_here left this thread, the only one, on its last CPU: a process that was started under taskset. */
	cpu[0] = assay_bind_current_cpu();
	assert_int_equal(assay_topology_open(&t, NULL, &err), 0);
	assert_int_equal(assay_placement_max(t, &o), 1);
	assert_int_equal(assay_placement_pick(t, &o, 1, cpu + 1, &err), 0);
	assert_int_equal(cpu[0], cpu[1]);
	assert_int_equal(atoi(assay_topology_allowed(t, &restricted)), cpu[0]);
	assay_topology_close(t);
}

TEST(test_other_machine_is_not_bound)
{
	struct assay_topology *t = machine_open("one-core");
	struct assay_err err = { 0 };
	char byte;

	assert_int_equal(assay_bind_thread(t, 0, &err), ASSAY_EUNAVAILABLE);
	assert_int_equal(assay_bind_memory(t, &byte, 1, 0, &err), ASSAY_EUNAVAILABLE);
	assay_topology_close(t);
}

UNIT_GROUP(NULL, NULL)
