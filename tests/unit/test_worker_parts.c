/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the worker on their own: guarded buffers, the thread pool, the ELF reader, the shared page. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "base/file.h"
#include "worker/alloc_pool.h"
#include "worker/case_memory.h"
#include "worker/plugin_file.h"
#include "worker/protocol.h"
#include "worker/thread_pool.h"

TEST(tensor_bytes)
{
	static const struct {
		struct assay_tensor_spec spec;
		uint64_t want;
	} cases[] = {
		{ { .name = "a", .role = ASSAY_INPUT, .dtype = ASSAY_F32, .rank = 2, .dims = { 3, 5 } }, 60 },
		{ { .name = "b", .role = ASSAY_INPUT, .dtype = ASSAY_I8, .rank = 1, .dims = { 7 } }, 7 },
		{ { .name = "c", .role = ASSAY_INPUT, .dtype = ASSAY_BF16, .rank = 3, .dims = { 2, 2, 2 } }, 16 },
		{ { .name = "d", .role = ASSAY_INPUT, .dtype = ASSAY_I64, .rank = 1, .dims = { INT64_MAX } }, 0 },
		{ { .name = "e", .role = ASSAY_INPUT, .dtype = ASSAY_I64, .rank = 1, .dims = { -1 } }, 0 },
		{ { .name = "f", .role = ASSAY_INPUT, .dtype = 77, .rank = 1, .dims = { 4 } }, 0 },
		{ { .name = "g", .role = ASSAY_INPUT, .dtype = ASSAY_U8, .rank = ASSAY_MAX_RANK + 1, .dims = { 4 } },
		  0 },
	};

	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(cases[i].want, assay_tensor_bytes(&cases[i].spec));
}

TEST(buffers_are_guarded)
{
	static const size_t sizes[] = { 1, 63, 64, 65, 4095, 4096, 4097, 3u << 20 };

	for (size_t i = 0; i < N_OF(sizes); i++)
		for (uint64_t copies = 1; copies <= 3; copies++) {
			const struct assay_arena_options o = { .bytes = sizes[i], .copies = copies, .cpu = -1 };
			struct assay_arena a;
			uint64_t copy;
			int64_t where;

			assert_int_equal(0, assay_arena_init(&a, &o, NULL));
			for (uint64_t c = 0; c < copies; c++) {
				unsigned char *p = assay_arena_copy(&a, c);

				assert_int_equal(0, (uintptr_t)p % 64);
				assert_int_equal(0, p[0] | p[sizes[i] - 1]);
				memset(p, 0xff, sizes[i]); /* all of it may be written */
				assert_true(assay_arena_intact(&a, &copy, &where));
				p[sizes[i]] ^= 1;
				assert_false(assay_arena_intact(&a, &copy, &where));
				assert_int_equal(c, copy);
				assert_int_equal(sizes[i], where);
				p[sizes[i]] ^= 1;
			}
			((unsigned char *)assay_arena_copy(&a, 0))[-1] ^= 1;
			assert_false(assay_arena_intact(&a, &copy, &where));
			assert_int_equal(-1, where);
			assay_arena_release(&a);
		}
}

/* Parts of one chunk lie one behind the other, each between canaries, and are used again when none is left. */
TEST(pooled_buffers_are_guarded)
{
	const struct assay_arena_options o = { .bytes = 299968, .cpu = -1 }; /* six to a chunk */
	struct assay_alloc_pool pool = { 0 };
	struct assay_arena a[8], again;
	uint64_t copy;
	int64_t where;

	assert_true(assay_alloc_pool_takes(16384) && assay_alloc_pool_takes(300000));
	assert_false(assay_alloc_pool_takes(16383) || assay_alloc_pool_takes(1 << 20));
	assert_null(assay_alloc_pool_newest(&pool));
	for (size_t i = 0; i < N_OF(a); i++) {
		unsigned char *p;

		assert_int_equal(0, assay_alloc_pool_add(&pool, &o, &a[i], NULL));
		p = assay_arena_copy(&a[i], 0);
		assert_true((uintptr_t)p % 64 == 0 && !p[0] && !p[o.bytes - 1]);
		assert_true(i % 6 ? p == a[i - 1].base + a[i - 1].stride : !i || p < a[0].base || p > a[5].base);
		memset(p, 0xff, o.bytes);
		if (i == 3)
			p[o.bytes] ^= 1; /* the next one does not mend it */
	}
	for (size_t i = 0; i < N_OF(a); i++)
		assert_int_equal(assay_arena_intact(&a[i], &copy, &where), i != 3 && i != 4); /* it is between them */
	assert_false(assay_arena_intact(&a[3], &copy, &where));
	assert_int_equal(where, o.bytes);
	a[0].base[-1] ^= 1;
	assert_true(!assay_arena_intact(&a[0], &copy, &where) && where == -1);
	assay_alloc_pool_remove(&pool, &a[6]);
	assert_int_equal(0, assay_alloc_pool_add(&pool, &o, &again, NULL));
	assert_ptr_equal(again.base, a[7].base + a[7].stride); /* one part is left there */
	assay_alloc_pool_remove(&pool, &a[7]);
	assay_alloc_pool_remove(&pool, &again);
	assert_int_equal(0, assay_alloc_pool_add(&pool, &o, &again, NULL));
	assert_true(again.base == a[6].base && !again.base[0] && !again.base[o.bytes - 1]);
	assay_alloc_pool_release(&pool);
	assert_null(assay_alloc_pool_newest(&pool));
}

/* The first parts, less than a huge page of them, are few. */
TEST(many_parts_are_known)
{
	struct assay_alloc_pool pool = { 0 };

	assert_false(assay_alloc_pool_many(&pool, 100u << 20)); /* that is one, however large */
	for (int i = 0; i < 100; i++)
		assert_false(assay_alloc_pool_many(&pool, 100)); /* and these gain nothing */
	assert_false(assay_alloc_pool_many(&pool, 1 << 20));
	assert_false(assay_alloc_pool_many(&pool, (1 << 20) - 1));
	assert_true(assay_alloc_pool_many(&pool, 16384));
	assert_true(assay_alloc_pool_many(&pool, 1 << 20));
}

/* What is large ends on the boundary of a huge page, and nowhere before the guard page. */
TEST(test_large_buffers_fit_huge_pages)
{
	static const size_t sizes[] = { (2 << 20) - 64, 2 << 20, (4 << 20) + 1, 5000000 };
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), huge = 2 << 20;

	for (size_t i = 0; i < N_OF(sizes); i++) {
		const struct assay_arena_options o = { .bytes = sizes[i], .copies = 2, .cpu = -1 };
		struct assay_arena a;
		unsigned char *end;

		assert_int_equal(0, assay_arena_init(&a, &o, NULL));
		end = a.map + a.map_bytes - page;
		assert_int_equal((uintptr_t)end % huge, 0);
		assert_true((unsigned char *)assay_arena_copy(&a, 1) + sizes[i] <= end);
		assert_true((unsigned char *)assay_arena_copy(&a, 1) + sizes[i] + 128 > end);
		assert_true(a.map_bytes < 2 * sizes[i] + 4 * page);
		assay_arena_release(&a);
	}
}

/* Bytes of the mapping at @p that lie on huge pages, whether the system gives them by itself or not. */
static size_t on_huge_pages(const void *p)
{
	static const char name[] = "ShmemPmdMapped:";
	FILE *f = fopen("/proc/self/smaps", "r");
	unsigned long long from, to, kib = 0;
	bool within = false;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
			within = from <= (uintptr_t)p && (uintptr_t)p < to;
		else if (within && !strncmp(line, name, sizeof(name) - 1))
			kib = strtoull(line + sizeof(name) - 1, NULL, 10);
	}
	fclose(f);
	return kib << 10;
}

/* Does this kernel give huge pages to shared memory that asks for them afterwards? */
static bool shared_memory_collapses(void)
{
	enum { HUGE = 2 << 20, COLLAPSE = 25 };
	const int fd = memfd_create("test", 0);
	unsigned char *p, *at;
	bool can;

	assert_true(fd >= 0 && !ftruncate(fd, HUGE));
	p = mmap(NULL, 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(p != MAP_FAILED);
	at = p + (HUGE - (uintptr_t)p % HUGE) % HUGE;
	assert_true(mmap(at, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == at);
	*at = 1;
	can = !madvise(at, HUGE, COLLAPSE);
	munmap(p, 2 * HUGE);
	close(fd);
	return can;
}

TEST(shared_memory_lies_on_huge_pages)
{
	const int fd = memfd_create("test", 0);
	struct assay_arena_file file = { .fd = fd };
	const struct assay_arena_options o = { .bytes = 5 << 20, .copies = 1, .cpu = -1, .file = &file };
	size_t huge = 0;

	assert_true(fd >= 0);
	if (!shared_memory_collapses()) {
		close(fd);
		skip();
	}
	/* the kernel may have too few free huge pages at the moment */
	for (int i = 0; i < 10 && huge != 4 << 20; i++) {
		struct assay_arena a;

		assert_int_equal(0, assay_arena_init(&a, &o, NULL));
		huge = on_huge_pages(assay_arena_copy(&a, 0));
		assay_arena_release(&a);
	}
	assert_int_equal(huge, 4 << 20);
	close(fd);
}

/*
 * Two processes share out a file by huge pages: whatever sizes each takes, no byte is of both, and the seed draws whose
 * each page is.
 */
TEST(two_sides_share_out_a_file)
{
	enum { SEEDS = 16, PAGES = 3, HUGE = 2 << 20 };
	static const size_t sizes[2][2] = { { 3 << 20, HUGE - 128 }, { HUGE - 128, 2 * HUGE - 128 } };
	unsigned of_head[PAGES] = { 0 };

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const int fd = memfd_create("test", 0);
		uint64_t copy;
		int64_t where;
		struct assay_arena a[2][2];

		assert_true(fd >= 0);
		for (unsigned side = 0; side < 2; side++) {
			struct assay_arena_file file = {
				.fd = fd, .end = HUGE, .dealt_from = HUGE, .seed = seed, .side = side
			};

			for (int i = 0; i < 2; i++) {
				const struct assay_arena_options o = { .bytes = sizes[side][i],
								       .copies = 1,
								       .cpu = -1,
								       .whole_huge = true,
								       .file = &file };

				assert_int_equal(0, assay_arena_init(&a[side][i], &o, NULL));
				memset(assay_arena_copy(&a[side][i], 0), 1 + (int)side, sizes[side][i]);
			}
		}
		for (unsigned side = 0; side < 2; side++)
			for (int i = 0; i < 2; i++) {
				const unsigned char *p = assay_arena_copy(&a[side][i], 0);

				assert_int_equal(p[0], 1 + side);
				assert_memory_equal(p, p + 1, sizes[side][i] - 1);
				assert_true(assay_arena_intact(&a[side][i], &copy, &where));
			}
		for (size_t k = 0; k < PAGES; k++) {
			unsigned char first, second;

			/* the middle of a page is no canary */
			assert_int_equal(pread(fd, &first, 1, (off_t)((2 * k + 1) * HUGE + HUGE / 2 + 4096)), 1);
			assert_int_equal(pread(fd, &second, 1, (off_t)((2 * k + 2) * HUGE + HUGE / 2 + 4096)), 1);
			assert_int_equal(first + second, 3);
			of_head[k] += first == 2;
		}
		for (int i = 0; i < 4; i++)
			assay_arena_release(&a[i / 2][i % 2]);
		close(fd);
	}
	for (size_t k = 0; k < PAGES; k++)
		assert_in_range(of_head[k], SEEDS / 4, SEEDS - SEEDS / 4);
}

/* One of many that is smaller than a huge page takes a whole one, if it fills half of it. */
TEST(one_of_many_takes_a_huge_page)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), huge = 2 << 20;
	static const struct {
		size_t bytes, huge_pages;
		bool whole;
	} rows[] = { { 1000000, 0, true }, { 1100000, 1, true }, { 1100000, 0, false }, { 3000000, 2, true } };

	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct assay_arena_options o = {
			.bytes = rows[i].bytes, .copies = 1, .cpu = -1, .whole_huge = rows[i].whole
		};
		struct assay_arena a;
		size_t room;

		assert_int_equal(0, assay_arena_init(&a, &o, NULL));
		room = a.map_bytes - 2 * page;
		if (rows[i].huge_pages)
			assert_int_equal(room, rows[i].huge_pages * huge);
		else
			assert_true(room < rows[i].bytes + 2 * page);
		assert_true((unsigned char *)assay_arena_copy(&a, 0) + rows[i].bytes + 128 > a.map + page + room);
		assay_arena_release(&a);
	}
}

/* Far beyond a buffer there is no memory to harm. */
TEST(guard_page_kills)
{
	const struct assay_arena_options o = { .bytes = 100, .copies = 1, .cpu = -1 };
	struct assay_arena a;
	int status;
	pid_t pid;

	assert_int_equal(0, assay_arena_init(&a, &o, NULL));
	pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL); /* cmocka's own handler would go on with the other tests in here */
		((volatile unsigned char *)assay_arena_copy(&a, 0))[100 + 4096] = 1;
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assay_arena_release(&a);
}

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

static void nothing(void *arg, uint32_t tid, uint32_t n)
{
	(void)arg;
	(void)tid;
	(void)n;
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
		assert_int_equal(0, assay_pool_new(&r.pool, t, cpus, n, bound, &err));
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

/* Two pools have the same words in turns, and what is left there of another one, or of nobody, harms none. */
TEST(pools_share_words)
{
	static struct assay_pool_words words;
	struct region r[2] = { { .n = 3 }, { .n = 3 } };
	struct assay_topology *t;
	struct assay_err err = { 0 };
	int cpus[3], bound[3];

	assert_int_equal(0, assay_topology_open(&t, NULL, &err));
	assert_int_equal(0, assay_placement_pick(t, &(struct assay_placement_options){ 0 }, 1, cpus, &err));
	cpus[1] = cpus[2] = cpus[0];
	for (int i = 0; i < 2; i++)
		assert_int_equal(0, assay_pool_new(&r[i].pool, t, cpus, 3, bound, &err));
	for (uint32_t k = 1; k <= 20; k++)
		for (int i = 0; i < 2; i++) {
			memset(&words, 0x5a, sizeof(words));
			assay_pool_borrow(r[i].pool, &words);
			for (uint32_t region = 1; region <= 2; region++) {
				atomic_store(&r[i].before, 0);
				assay_pool_run(r[i].pool, count_thread, &r[i]);
				assert_int_equal(2 * (k - 1) + region, r[i].seen[2]);
			}
			assert_int_equal(0, words.pending);
			assay_pool_park(r[i].pool);
			/* the pool's own words do for what is between two turns, and for its end */
			memset(&words, 0xa5, sizeof(words));
			if (k == 10)
				assay_pool_run(r[i].pool, nothing, NULL);
		}
	for (int i = 0; i < 2; i++) {
		for (uint32_t tid = 0; tid < 3; tid++)
			assert_int_equal(40, r[i].seen[tid]);
		assert_int_equal(0, r[i].wrong);
		assay_pool_free(r[i].pool);
	}
	assay_topology_close(t);
}

TEST(pool_names_a_bad_cpu)
{
	struct assay_topology *t;
	struct assay_pool *pool = NULL;
	struct assay_err err = { 0 };
	int cpus[2] = { 0, 4095 }, bound[2];

	assert_int_equal(0, assay_topology_open(&t, NULL, &err));
	assert_int_equal(0, assay_placement_pick(t, &(struct assay_placement_options){ 0 }, 1, cpus, &err));
	assert_int_not_equal(0, assay_pool_new(&pool, t, cpus, 2, bound, &err));
	assert_non_null(strstr(err.text, "4095"));
	assay_topology_close(t);
}

TEST(elf_is_read_before_loading)
{
	char dir[4096], path[8192];
	struct assay_plugin_file f;
	struct assay_err err = { 0 };
	char *data;
	size_t len;

	assert_int_equal(0, assay_file_exe_dir(dir, sizeof(dir), &err));
	snprintf(path, sizeof(path), "%s/plugins/example_op.so", dir);
	assert_int_equal(0, assay_plugin_file_read(path, &f, &err));
	assert_int_equal(ASSAY_ABI_MAJOR, f.abi_major);
	assert_int_equal(40, strlen(f.build_id));
	assert_int_equal(32, strlen(f.code.hex));

	/* cut short anywhere, it is an error and never a crash */
	assert_int_equal(0, assay_file_read(path, &data, &len, &err));
	for (size_t cut = 0; cut < len; cut += 97) {
		char tmp[] = "/tmp/assay-elf-XXXXXX";
		int fd = mkstemp(tmp);

		assert_true(fd >= 0);
		assert_int_equal(cut, write(fd, data, cut));
		close(fd);
		assert_int_not_equal(0, assay_plugin_file_read(tmp, &f, &err));
		unlink(tmp);
	}
	free(data);
	assert_int_equal(ASSAY_EPLUGIN, assay_plugin_file_read("/proc/self/cmdline", &f, &err));
	assert_non_null(strstr(err.text, "not a shared object for this processor"));
}

TEST(text_behind_a_page_reaches_the_worker)
{
	const char *const texts[] = { "<topology/>", "", NULL };
	struct assay_err err = { 0 };

	for (int i = 0; i < 3; i++) {
		struct assay_page *page;
		char *text;
		int fd;

		assert_int_equal(0, assay_page_create(&page, texts[i], &fd, &err));
		text = assay_page_text(fd);
		if (i == 0)
			assert_string_equal(texts[0], text);
		else
			assert_null(text);
		free(text);
		assay_page_unmap(page);
		close(fd);
	}
}

TEST(page_refuses_another_version)
{
	struct assay_page *page, *other;
	struct assay_err err = { 0 };
	char want[80];
	int fd;

	assert_int_equal(0, assay_page_create(&page, NULL, &fd, &err));
	assert_int_equal(0, assay_page_attach(&other, fd, &err));
	assay_page_give(other, ASSAY_TURN_WORKER);
	assert_true(assay_page_wait(page, ASSAY_TURN_WORKER, 1000000));
	assert_false(assay_page_wait(page, ASSAY_TURN_CONTROLLER, 1000000));
	assay_page_unmap(other);
	page->version++;
	assert_int_equal(ASSAY_EABI, assay_page_attach(&other, fd, &err));
	snprintf(want, sizeof(want), "worker speaks protocol %u, the controller %u", ASSAY_PAGE_VERSION,
		 ASSAY_PAGE_VERSION + 1);
	assert_string_equal(want, err.text);
	assay_page_unmap(page);
	close(fd);
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

UNIT_MAIN(NULL, NULL)
