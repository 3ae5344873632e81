/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the worker on their own: the thread pool, the ELF reader, the shared page. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "base/file.h"
#include "worker/plugin/loader.h"
#include "worker/protocol.h"
#include "worker/case/thread_pool.h"

struct region {
	struct assay_pool *pool;
	_Atomic uint32_t seen[64], before, wrong;
	uint32_t n;
};

static void count_thread(void *arg, uint32_t tid, uint32_t n)
{
	struct region *r = arg;

	atomic_fetch_add(&r->seen[tid], 1);
	if (n != r->n)
		atomic_fetch_add(&r->wrong, 1);
	for (uint32_t round = 1; round <= 3; round++) {
		atomic_fetch_add(&r->before, 1);
		assay_pool_barrier(r->pool);
		/* nobody passes before all have arrived */
		if (atomic_load(&r->before) < n * round)
			atomic_fetch_add(&r->wrong, 1);
		assay_pool_barrier(r->pool);
	}
}

TEST(pool_runs_every_thread_once)
{
	struct assay_topology *t;
	struct assay_err err = { 0 };
	int cpu0, cpus[8], bound[8];

	assert_int_equal(0, assay_topology_open(&t, NULL, &err));
	assert_int_equal(0, assay_placement_pick(t, &(struct assay_placement_options){ 0 }, 1, &cpu0, &err));
	/*
	 * more threads than this machine may have cores: all on one, where sleeping instead of spinning is what saves
	 * it
	 */
	for (uint32_t n = 1; n <= 5; n++) {
		struct region r = { .n = n };

		for (uint32_t i = 0; i < n; i++)
			cpus[i] = cpu0;
		assert_int_equal(0, assay_pool_new(&r.pool, t, cpus, n, bound, NULL, &err));
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(cpu0, bound[i]);
		for (uint32_t k = 1; k <= 20; k++) {
			atomic_store(&r.before, 0);
			assay_pool_run(r.pool, count_thread, &r);
			for (uint32_t i = 0; i < n; i++)
				assert_int_equal(k, r.seen[i]);
		}
		assert_int_equal(0, r.wrong);
		assay_pool_free(r.pool);
	}
	assay_topology_close(t);
}

TEST(elf_is_read_before_loading)
{
	char dir[4096], path[8192];
	struct assay_plugin_file f;
	struct assay_digest code;
	struct assay_err err = { 0 };
	char *data;
	size_t len;

	assert_int_equal(0, assay_file_exe_dir(dir, sizeof(dir), &err));
	snprintf(path, sizeof(path), "%s/plugins/example_op.so", dir);
	assert_int_equal(0, assay_plugin_file_read(path, &f, &err));
	assert_int_equal(ASSAY_ABI_MAJOR, f.abi_major);
	assert_int_equal(40, strlen(f.build_id));
	assert_int_equal(0, assay_plugin_file_code(path, &code, &err));
	assert_int_equal(32, strlen(code.hex));

	/* cut short anywhere, it is an error and never a crash */
	assert_int_equal(0, assay_file_read(path, &data, &len, &err));
	for (size_t cut = 0; cut < len; cut += 97) {
		char tmp[] = "/tmp/assay-elf-XXXXXX";
		int fd = mkstemp(tmp);

		assert_true(fd >= 0);
		assert_int_equal(cut, write(fd, data, cut));
		close(fd);
		assert_int_not_equal(0, assay_plugin_file_read(tmp, &f, &err));
		assay_plugin_file_code(tmp, &code, &err);
		unlink(tmp);
	}
	free(data);
	assert_int_equal(ASSAY_EPLUGIN, assay_plugin_file_read("/proc/self/cmdline", &f, &err));
	assert_non_null(strstr(err.text, "not a shared object for this processor"));
}

/* Every block is ABBA or BAAB, both occur, and the seed alone decides. */
TEST(pair_order_is_balanced)
{
	unsigned abba = 0;

	for (uint32_t block = 0; block < 1000; block++) {
		unsigned a = assay_pair_owner(7, 4 * block), b = assay_pair_owner(7, 4 * block + 1);

		assert_int_not_equal(a, b);
		assert_int_equal(b, assay_pair_owner(7, 4 * block + 2));
		assert_int_equal(a, assay_pair_owner(7, 4 * block + 3));
		abba += a == 0;
	}
	assert_in_range(abba, 440, 560);
}

UNIT_GROUP(NULL, NULL)
