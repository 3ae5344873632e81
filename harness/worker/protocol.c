/* SPDX-License-Identifier: Apache-2.0 */
/* The shared pages: an anonymous file mapped by all sides, and futexes for the turns. */
#include "worker/protocol.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "assay/random.h"

const char *assay_phase_name(enum assay_phase p)
{
	static const char *const names[ASSAY_N_PHASES] = {
		[ASSAY_PHASE_START] = "starting",
		[ASSAY_PHASE_LOAD] = "loading plugins",
		[ASSAY_PHASE_ALLOCATE] = "allocating buffers",
		[ASSAY_PHASE_FILL] = "making inputs",
		[ASSAY_PHASE_PREPARE] = "preparing",
		[ASSAY_PHASE_RUN] = "running",
		[ASSAY_PHASE_CHECK] = "checking the output",
		[ASSAY_PHASE_REPORT] = "reporting metrics",
		[ASSAY_PHASE_RELEASE] = "releasing",
		[ASSAY_PHASE_TURN] = "waiting for its turn",
		[ASSAY_PHASE_IDLE] = "waiting for work",
	};

	return (unsigned)p < ASSAY_N_PHASES ? names[p] : "in an unknown phase";
}

int assay_shared_create(struct assay_shared **shared, int *fd, struct assay_err *err)
{
	void *map;
	int f = memfd_create("assay-pages", 0);

	if (f < 0)
		return assay_err_set(err, ASSAY_EIO, "cannot create the pages shared with workers: %s",
				     strerror(errno));
	if (ftruncate(f, sizeof(struct assay_shared))) {
		close(f);
		return assay_err_set(err, ASSAY_EIO, "cannot size the pages shared with workers: %s", strerror(errno));
	}
	map = mmap(NULL, sizeof(struct assay_shared), PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	if (map == MAP_FAILED) {
		close(f);
		return assay_err_set(err, ASSAY_ENOMEM, "cannot map the pages shared with workers: %s",
				     strerror(errno));
	}
	*shared = map;
	assay_shared_reset(*shared);
	*fd = f;
	return 0;
}

void assay_shared_reset(struct assay_shared *shared)
{
	memset(shared, 0, sizeof(*shared));
	for (int i = 0; i < 2; i++) {
		shared->page[i].magic = ASSAY_PAGE_MAGIC;
		shared->page[i].version = ASSAY_PAGE_VERSION;
		shared->page[i].size = sizeof(struct assay_page);
	}
}

int assay_shared_attach(struct assay_shared **shared, int fd, struct assay_err *err)
{
	struct assay_shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const struct assay_page *p = s->page;

	if (s == MAP_FAILED)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot map the pages shared with the controller: %s",
				     strerror(errno));
	if (p->magic != ASSAY_PAGE_MAGIC || p->version != ASSAY_PAGE_VERSION || p->size != sizeof(*p)) {
		uint32_t version = p->version;

		munmap(s, sizeof(*s));
		return assay_err_set(err, ASSAY_EABI, "worker speaks protocol %u, the controller %u",
				     ASSAY_PAGE_VERSION, version);
	}
	*shared = s;
	return 0;
}

void assay_shared_unmap(struct assay_shared *shared)
{
	if (shared)
		munmap(shared, sizeof(*shared));
}

unsigned assay_pair_owner(uint64_t order_seed, uint32_t slot)
{
	struct assay_philox draw = assay_random4(order_seed, 0, slot / 512);
	uint32_t block = slot / 4 % 128, flip = draw.v[block / 32] >> (block % 32) & 1;

	/* positions 0 and 3 of a block belong to one side, 1 and 2 to the other: linear drift cancels */
	return (slot % 4 == 1 || slot % 4 == 2) ^ flip;
}

void assay_pair_give(struct assay_pair_turn *pair, uint32_t slot)
{
	atomic_store_explicit(&pair->slot, slot, memory_order_release);
	syscall(SYS_futex, &pair->slot, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void assay_pair_wait(struct assay_pair_turn *pair, uint32_t slot)
{
	uint32_t seen;

	while ((seen = atomic_load_explicit(&pair->slot, memory_order_acquire)) != slot)
		syscall(SYS_futex, &pair->slot, FUTEX_WAIT, seen, NULL, NULL, 0);
}

void assay_page_give(struct assay_page *page, enum assay_turn to)
{
	atomic_store_explicit(&page->turn, (uint32_t)to, memory_order_release);
	syscall(SYS_futex, &page->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool assay_page_wait(struct assay_page *page, enum assay_turn mine, uint64_t timeout_ns)
{
	struct timespec deadline, *until = NULL;

	if (timeout_ns) {
		clock_gettime(CLOCK_MONOTONIC, &deadline);
		deadline.tv_sec += (time_t)(timeout_ns / 1000000000u);
		deadline.tv_nsec += (long)(timeout_ns % 1000000000u);
		if (deadline.tv_nsec >= 1000000000L) {
			deadline.tv_nsec -= 1000000000L;
			deadline.tv_sec++;
		}
		until = &deadline;
	}
	for (;;) {
		uint32_t seen = atomic_load_explicit(&page->turn, memory_order_acquire);

		if (seen == (uint32_t)mine)
			return true;
		/*
		 * the bitset form takes an absolute deadline on CLOCK_MONOTONIC, so that signals do not lengthen the
		 * wait
		 */
		if (syscall(SYS_futex, &page->turn, FUTEX_WAIT_BITSET, seen, until, NULL, FUTEX_BITSET_MATCH_ANY) &&
		    errno == ETIMEDOUT)
			return atomic_load_explicit(&page->turn, memory_order_acquire) == (uint32_t)mine;
	}
}
