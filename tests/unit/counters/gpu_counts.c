/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's counts, by libraries that stand in the places of CUPTI and of CUDA's driver. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_fixture.h"
#include "base/file.h"
#include "counters/gpu/cupti_library.h"
#include "counters/gpu/counts.h"

/*
 * The loader reads its path when a program starts: the test begins anew with the library of @age, "new" or "older", and
 * with the tests for it. One of CUDA's driver is beside it.
 */
static int start_again(const char *age, char *program)
{
	char name[] = "gpu_counts", *argv[] = { program, name, NULL };
	char dir[4096], to[8192], from[8192], path[5000];

	assay_file_exe_dir(dir, sizeof(dir), NULL);
	snprintf(path, sizeof(path), "%s/cupti-%s", dir, age);
	if (assay_file_mkdirs(path, NULL))
		return 1;
	for (int i = 0; i < 2; i++) {
		snprintf(to, sizeof(to), "%s/plugins/cupti_%sstandin.so", dir, i || age[0] == 'n' ? "" : "older_");
		snprintf(from, sizeof(from), "%s/%s", path, i ? "libcuda.so.1" : "libcupti.so.13");
		unlink(from);
		if (symlink(to, from))
			return 1;
	}
	if (setenv("LD_LIBRARY_PATH", path, 1) || setenv("GPU_COUNTS_TEST", age, 1))
		return 1;
	execv("/proc/self/exe", argv);
	return 1;
}

struct runs {
	int n, fails_at;
};

static int run(void *arg)
{
	struct runs *r = arg;

	return ++r->n == r->fails_at;
}

static void take(const char *standin, struct runs *r, struct assay_gpu_case *c)
{
	*c = (struct assay_gpu_case){ .wanted = true };
	setenv("CUPTI_STANDIN", standin, 1);
	assay_gpu_counts_take(c, run, r);
	unsetenv("CUPTI_STANDIN");
}

/* 102 kernels of the stand-in take 90 us. Passes: 1 + 2 + 3 + 1, after the call whose kernels are watched. */
TEST(kernels_and_counters)
{
	static const double want[ASSAY_N_GPU_COUNTS] = { 102, 90000, 0.625, 1048576, 4096, 0.875 };
	struct assay_gpu_case c;
	struct runs r = { 0 };

	take("whole", &r, &c);
	assert_int_equal(r.n, 8);
	for (unsigned i = 0; i < ASSAY_N_GPU_COUNTS; i++) {
		if (!c.v[i].counted)
			fail_msg("%u: %s", i, c.v[i].reason);
		assert_true(c.v[i].value == want[i]);
	}
	assert_string_equal(c.v[ASSAY_GPU_KERNELS].how, "CUPTI 130000, an untimed call");
	assert_string_equal(c.v[ASSAY_GPU_KERNEL_NS].how,
			    "CUPTI 130000, an untimed call: 101 gemv<float> 66000 ns, 1 softmax 24000 ns");
	assert_string_equal(c.v[ASSAY_GPU_DRAM_WRITTEN].how,
			    "CUPTI 130000, dram__bytes_write.sum of gh100, 3 untimed calls");
}

/* An event that cannot be counted has a reason, and does not affect others. */
TEST(what_cannot_be_counted)
{
#define ADMINISTRATORS                                                                                                 \
	"ERR_NVGPUCTRPERM: the driver shows GPU counters to administrators only. Load its module with "                \
	"NVreg_RestrictProfilingToAdminUsers=0, run as root, or start the container with --cap-add=SYS_ADMIN"
	static const struct {
		const char *standin;
		unsigned counted; /* bits */
		enum assay_gpu_count which;
		const char *reason;
		int runs;
	} rows[] = {
		{ "forbidden", 3, ASSAY_GPU_L2_HIT_RATE, ADMINISTRATORS, 1 },
		{ "late", 3, ASSAY_GPU_OCCUPANCY, ADMINISTRATORS, 1 },
		{ "vgpu", 3, ASSAY_GPU_DRAM_READ, "the host of this virtual GPU does not let it count: its ", 1 },
		{ "lacks", 31, ASSAY_GPU_L2_HIT_RATE, "CUPTI cannot count it on this GPU: CUPTI_SUCCESS", 7 },
		{ "endless", 3, ASSAY_GPU_OCCUPANCY, "CUPTI asked for more than 64 passes", 1 + 4 * 64 },
		{ "drops", 3, ASSAY_GPU_DRAM_READ, "CUPTI dropped 1 ranges", 8 },
		{ "dropping", 60, ASSAY_GPU_KERNEL_NS, "CUPTI lost 2 records of kernels", 8 },
		{ "no-context", 3, ASSAY_GPU_OCCUPANCY, "the CUDA driver has no context in this thread", 1 },
		{ "old", 0, ASSAY_GPU_KERNELS, "CUPTI 9 is older than CUDA 10's, which is the first known", 0 },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gpu_case c;
		struct runs r = { 0 };
		unsigned counted = 0;

		take(rows[i].standin, &r, &c);
		for (unsigned k = 0; k < ASSAY_N_GPU_COUNTS; k++) {
			counted |= (unsigned)c.v[k].counted << k;
			assert_true(c.v[k].counted || c.v[k].reason[0]);
		}
		if (counted != rows[i].counted || r.n != rows[i].runs ||
		    strncmp(c.v[rows[i].which].reason, rows[i].reason, strlen(rows[i].reason)) != 0)
			fail_msg("%s: %u counted in %d runs: '%s'", rows[i].standin, counted, r.n,
				 c.v[rows[i].which].reason);
	}
}

/* The call that fails is the last one. */
TEST(a_call_that_fails)
{
	struct assay_gpu_case c;

	for (int at = 1; at <= 4; at += 3) {
		struct runs r = { .fails_at = at };

		take("whole", &r, &c);
		assert_int_equal(r.n, at);
		assert_int_equal(c.v[ASSAY_GPU_KERNELS].counted, at > 1);
		assert_int_equal(c.v[ASSAY_GPU_OCCUPANCY].counted, at > 1);
		assert_false(c.v[ASSAY_GPU_DRAM_READ].counted || c.v[ASSAY_GPU_L2_HIT_RATE].counted);
		assert_string_equal(c.v[at > 1 ? ASSAY_GPU_DRAM_READ : ASSAY_GPU_KERNELS].reason,
				    at > 1 ? "the call that was counted failed" : "the call that was watched failed");
		assert_string_equal(c.v[ASSAY_GPU_L2_HIT_RATE].reason, "an earlier call that was counted failed");
	}
}

TEST_WITH(the_driver_says_who_may_count, hosts_make, folder_remove)
{
	struct assay_err why = { 0 };

	assert_true(assay_cupti_is_forbidden(host("intel-v2"), false, &why));
	assert_non_null(strstr(why.text, "NVreg_RestrictProfilingToAdminUsers=0"));
	assert_false(assay_cupti_is_forbidden(host("intel-v2"), true, NULL));
	assert_false(assay_cupti_is_forbidden("/nowhere", false, NULL));
}

TEST(an_older_cupti_watches_kernels_alone)
{
	struct assay_gpu_case c;
	struct runs r = { 0 };

	take("whole", &r, &c);
	assert_int_equal(r.n, 1);
	assert_true(c.v[ASSAY_GPU_KERNEL_NS].counted && !c.v[ASSAY_GPU_OCCUPANCY].counted);
	assert_string_equal(c.v[ASSAY_GPU_OCCUPANCY].reason,
			    "CUPTI 130000 does not count in ranges: CUDA 12.6's is the first");
}

static int run_as(char **argv)
{
	const char *age = getenv("GPU_COUNTS_TEST");
	int status = 1;
	pid_t child;

	if (age) {
		(age[0] == 'n' ? cmocka_set_skip_filter : cmocka_set_test_filter)("an_older_*");
		return UNIT_RUN(NULL, NULL);
	}
	child = fork();
	if (!child)
		_exit(start_again("older", argv[0]));
	return waitpid(child, &status, 0) != child || status ? 1 : start_again("new", argv[0]);
}

UNIT_GROUP_WITH(NULL, NULL, run_as, NULL)
