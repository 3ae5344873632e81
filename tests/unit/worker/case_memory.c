/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of a case: sizes, guards, parts that lie together, huge pages, files that two sides share out. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
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
