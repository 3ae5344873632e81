/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a case: sizes, guards, parts that lie together, huge pages, files that two sides share out. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "worker/case/alloc_pool.h"
#include "worker/case/memory.h"

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

/* A large buffer ends on the boundary of a huge page, right before the guard page. */
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

UNIT_GROUP(NULL, NULL)
