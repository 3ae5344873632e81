/* SPDX-License-Identifier: Apache-2.0 */
/* Memory on new physical pages, and pages that lie where a seed says: content and addresses are what they were. */
#include "unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "worker/case/memory.h"

#define PAGES 5u

/* The frame that @at lies on; 0: this user may not know. */
static uint64_t frame(const void *at)
{
	uint64_t entry = 0;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)at / 4096 * sizeof(entry))) != sizeof(entry))
		entry = 0;
	close(fd);
	return entry & (((uint64_t)1 << 55) - 1);
}

static unsigned char byte(size_t i)
{
	return (unsigned char)(i * 7 + i / 4096);
}

/* The pages that hold the bytes move, and no others. */
TEST(content_stays_on_other_pages)
{
	unsigned char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before[PAGES];

	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	assert_true(p != MAP_FAILED);
	for (size_t i = 0; i < PAGES * 4096; i++)
		p[i] = byte(i);
	for (size_t i = 0; i < PAGES; i++)
		before[i] = frame(p + i * 4096);
	assay_pages_remap(p + 4096 + 100, 2 * 4096);
	assay_pages_remap(p, 0);
	for (size_t i = 0; i < PAGES * 4096; i++)
		assert_int_equal(p[i], byte(i));
	for (size_t i = 0; i < PAGES && before[i]; i++)
		assert_int_equal(frame(p + i * 4096) != before[i], i >= 1 && i <= 3);
	p[4096] = 1;
	assert_int_equal(p[4096], 1);
	munmap(p, PAGES * 4096);
}

/* Without room for more pages. */
TEST(what_is_refused_stays)
{
	unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rlimit usual;

	assert_true(p != MAP_FAILED);
	p[9] = 9;
	assert_int_equal(getrlimit(RLIMIT_AS, &usual), 0);
	assert_int_equal(setrlimit(RLIMIT_AS, &(struct rlimit){ 0, usual.rlim_max }), 0);
	assay_pages_remap(p, 4096);
	assert_int_equal(setrlimit(RLIMIT_AS, &usual), 0);
	assert_int_equal(p[9], 9);
	munmap(p, 4096);
}

#define PIECES 3u

static void take(uint64_t seed, unsigned char *p[PIECES])
{
	uintptr_t at = assay_layout_pages(seed);

	for (size_t i = 0; i < PIECES; i++) {
		p[i] = assay_layout_calloc(&at, i + 1, 4000);
		assert_non_null(p[i]);
		assert_int_equal((uintptr_t)p[i] % ASSAY_LAYOUT_ALIGN, 0);
		for (size_t k = 0; k < (i + 1) * 4000; k++)
			assert_int_equal(p[i][k], 0);
		p[i][0] = 1;
	}
}

static void give_back(unsigned char *p[PIECES])
{
	for (size_t i = 0; i < PIECES; i++)
		assay_layout_free(p[i], i + 1, 4000);
}

/* The heap does not, and what is taken is not replaced. */
TEST(a_seed_says_where_pages_lie)
{
	unsigned char *p[4][PIECES], *volatile heap;

	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	take(1, p[0]);
	take(1, p[1]);
	give_back(p[0]);
	heap = malloc(5000);
	take(1, p[2]);
	take(2, p[3]);
	assert_memory_equal(p[2], p[0], sizeof(p[0]));
	for (size_t i = 0; i < PIECES; i++) {
		assert_ptr_not_equal(p[1][i], p[0][i]);
		assert_ptr_not_equal(p[3][i], p[0][i]);
		assert_int_equal(p[1][i][0], 1);
	}
	for (size_t i = 1; i < 4; i++)
		give_back(p[i]);
	free(heap);
}

/* Without a seed, and with sizes that no memory has. */
TEST(pages_without_a_seed)
{
	unsigned char *p = assay_layout_calloc(NULL, 3, 5000);

	assert_non_null(p);
	assert_int_equal((uintptr_t)p % ASSAY_LAYOUT_ALIGN, 0);
	for (size_t i = 0; i < 15000; i++)
		assert_int_equal(p[i], 0);
	assay_layout_free(p, 3, 5000);
	assay_layout_free(NULL, 3, 5000);
	assert_null(assay_layout_calloc(NULL, SIZE_MAX / 2, 3));
	assert_null(assay_layout_calloc(NULL, SIZE_MAX, 1));
}

UNIT_GROUP(NULL, NULL)
