/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory: anonymous files that are sealed and mapped by all sides, and futexes for the turns. */
#include "worker/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "assay/random.h"
#include "base/monotonic.h"

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

/*
 * An anonymous file of @bytes, mapped, and of @further ones that are not. A mapping of what a file no longer holds
 * kills whoever looks there, so the file is sealed; @seals says against what besides shrinking.
 */
struct shared_file {
	const char *name;
	size_t bytes, further;
	int seals;
};

static int create(const struct shared_file *s, void **map, int *fd, struct assay_err *err)
{
	int f = memfd_create(s->name, MFD_ALLOW_SEALING), rc;

	if (f < 0)
		return assay_err_set(err, ASSAY_EIO, "cannot create memory shared with workers: %s", strerror(errno));
	if (ftruncate(f, (off_t)(s->bytes + s->further)) ||
	    fcntl(f, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL | s->seals)) {
		rc = assay_err_set(err, ASSAY_EIO, "cannot size the memory shared with workers: %s", strerror(errno));
		close(f);
		return rc;
	}
	*map = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	if (*map == MAP_FAILED) {
		rc = assay_err_set(err, ASSAY_ENOMEM, "cannot map the memory shared with workers: %s", strerror(errno));
		close(f);
		return rc;
	}
	*fd = f;
	return 0;
}

static int attach(size_t bytes, int fd, void **map, struct assay_err *err)
{
	*map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*map == MAP_FAILED)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot map the memory shared with the controller: %s",
				     strerror(errno));
	return 0;
}

int assay_page_create(struct assay_page **page, const char *text, int *fd, struct assay_err *err)
{
	const struct shared_file file = {
		.name = "assay-page", .bytes = sizeof(**page), .further = text ? strlen(text) : 0, .seals = F_SEAL_GROW
	};
	void *map;
	int rc = create(&file, &map, fd, err);

	if (rc)
		return rc;
	if (pwrite(*fd, text, file.further, sizeof(**page)) != (ssize_t)file.further) {
		rc = assay_err_set(err, ASSAY_EIO, "cannot write to the memory shared with workers: %s",
				   strerror(errno));
		munmap(map, sizeof(**page));
		close(*fd);
		return rc;
	}
	*page = map;
	(*page)->magic = ASSAY_PAGE_MAGIC;
	(*page)->version = ASSAY_PAGE_VERSION;
	(*page)->size = sizeof(**page);
	return 0;
}

char *assay_page_text(int fd)
{
	const off_t begin = sizeof(struct assay_page), bytes = lseek(fd, 0, SEEK_END) - begin;
	char *text = bytes > 0 ? calloc(1, (size_t)bytes + 1) : NULL;

	if (text && pread(fd, text, (size_t)bytes, begin) == bytes)
		return text;
	free(text);
	return NULL;
}

int assay_page_attach(struct assay_page **page, int fd, struct assay_err *err)
{
	const struct assay_page *p;
	void *map;
	int rc = attach(sizeof(**page), fd, &map, err);

	if (rc)
		return rc;
	p = map;
	if (p->magic != ASSAY_PAGE_MAGIC || p->version != ASSAY_PAGE_VERSION || p->size != sizeof(*p)) {
		uint32_t version = p->version;

		munmap(map, sizeof(*p));
		return assay_err_set(err, ASSAY_EABI, "worker speaks protocol %u, the controller %u",
				     ASSAY_PAGE_VERSION, version);
	}
	*page = map;
	return 0;
}

void assay_page_unmap(struct assay_page *page)
{
	if (page)
		munmap(page, sizeof(*page));
}

int assay_pair_create(struct assay_pair_shared **pair, int *fd, struct assay_err *err)
{
	void *map;
	int rc = create(&(struct shared_file){ .name = "assay-pair", .bytes = sizeof(**pair) }, &map, fd, err);

	if (rc)
		return rc;
	*pair = map;
	assay_pair_reset(*pair);
	return 0;
}

uint64_t assay_token_draw(void)
{
	uint64_t token;

	/* soon after the system started there may be no chance to draw from */
	return getrandom(&token, sizeof(token), GRND_NONBLOCK) == sizeof(token) ? token : assay_monotonic_ns();
}

void assay_pair_reset(struct assay_pair_shared *pair)
{
	memset(pair, 0, offsetof(struct assay_pair_shared, pool));
	atomic_store(&pair->turn.slot, (uint32_t)assay_token_draw() | 1);
	atomic_store(&pair->turn.ready, (uint32_t)assay_token_draw() & ~1u);
}

int assay_pair_attach(struct assay_pair_shared **pair, int fd, struct assay_err *err)
{
	void *map;
	int rc = attach(sizeof(**pair), fd, &map, err);

	if (!rc)
		*pair = map;
	return rc;
}

void assay_pair_unmap(struct assay_pair_shared *pair)
{
	if (pair)
		munmap(pair, sizeof(*pair));
}

unsigned assay_pair_owner(uint64_t order_seed, uint32_t slot)
{
	struct assay_philox draw = assay_random4(order_seed, 0, slot / 512);
	uint32_t block = slot / 4 % 128, flip = draw.v[block / 32] >> (block % 32) & 1;

	/* positions 0 and 3 of a block belong to one side, 1 and 2 to the other: linear drift cancels */
	return (slot % 4 == 1 || slot % 4 == 2) ^ flip;
}

/* Of `slice`: the side that may run, or nobody. */
#define SLICE_BITS   3u
#define SLICE_NOBODY 2u

/* The name of slot @slot of this order in the shared word. */
static uint32_t word_of(uint64_t order_seed, uint32_t slot)
{
	return 2 * (assay_random4(order_seed, 1, 0).v[0] + slot);
}

void assay_pair_randomize_slot(struct assay_pair_turn *turn, uint64_t seed, uint64_t n)
{
	const struct assay_philox draw = assay_random4(seed, 2, n);

	atomic_store_explicit(&turn->slot, draw.v[0] | 1, memory_order_relaxed);
	atomic_store_explicit(&turn->slice, (draw.v[1] & ~SLICE_BITS) | (atomic_load(&turn->slice) & SLICE_BITS),
			      memory_order_relaxed);
}

void assay_pair_hold(struct assay_pair_turn *turn, uint64_t order_seed)
{
	atomic_store(&turn->slot, word_of(order_seed, UINT32_MAX));
	atomic_store(&turn->slice, (word_of(order_seed, 0) & ~SLICE_BITS) | SLICE_NOBODY);
	for (int side = 0; side < 2; side++)
		atomic_store(&turn->finished[side], word_of(order_seed, 0));
}

void assay_pair_await(struct assay_pair_turn *turn, unsigned side)
{
	uint32_t seen;

	while (((seen = atomic_load_explicit(&turn->slice, memory_order_acquire)) & SLICE_BITS) != side)
		syscall(SYS_futex, &turn->slice, FUTEX_WAIT, seen, NULL, NULL, 0);
}

void assay_pair_pass(struct assay_pair_turn *turn, unsigned side)
{
	const uint32_t seen = atomic_load_explicit(&turn->slice, memory_order_relaxed);

	atomic_store_explicit(&turn->slice, ((seen | SLICE_BITS) + 1) | side, memory_order_release);
	syscall(SYS_futex, &turn->slice, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void assay_pair_finish(struct assay_pair_turn *turn, uint64_t order_seed, unsigned side, uint32_t call)
{
	atomic_store_explicit(&turn->finished[side], word_of(order_seed, call + 1), memory_order_release);
}

bool assay_pair_finished(struct assay_pair_turn *turn, uint64_t order_seed, unsigned side, uint32_t call)
{
	return atomic_load_explicit(&turn->finished[side], memory_order_acquire) == word_of(order_seed, call + 1);
}

/* Who begins is ahead by a part of a slice, so the sides take turns with that as well. */
unsigned assay_pair_beginner(uint64_t order_seed, uint32_t call)
{
	return assay_pair_owner(order_seed, 4 * (call / 2) + call % 2);
}

static unsigned slice_owner(uint64_t order_seed, uint64_t slice)
{
	return ((unsigned)__builtin_parityll(slice) ^ order_seed) & 1;
}

uint64_t assay_pair_slice_ns(uint64_t order_seed, unsigned side, uint64_t now_ns, uint64_t slice_ns)
{
	uint64_t slice = (now_ns + slice_ns / 4) / slice_ns + 1;

	while (slice_owner(order_seed, slice) != side)
		slice++;
	return slice * slice_ns;
}

void assay_pair_join(struct assay_pair_turn *turn, uint64_t order_seed, bool slices)
{
	const bool last = atomic_fetch_add(&turn->ready, 1) % 2;

	if (last && slices)
		assay_pair_pass(turn, assay_pair_beginner(order_seed, 0));
	else if (last)
		assay_pair_give(turn, order_seed, 0);
}

void assay_pair_give(struct assay_pair_turn *turn, uint64_t order_seed, uint32_t slot)
{
	atomic_store_explicit(&turn->slot, word_of(order_seed, slot), memory_order_release);
	syscall(SYS_futex, &turn->slot, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void assay_pair_wait(struct assay_pair_turn *turn, uint64_t order_seed, uint32_t slot)
{
	const uint32_t mine = word_of(order_seed, slot);
	uint32_t seen;

	while ((seen = atomic_load_explicit(&turn->slot, memory_order_acquire)) != mine)
		syscall(SYS_futex, &turn->slot, FUTEX_WAIT, seen, NULL, NULL, 0);
}

void assay_page_give(struct assay_page *page, enum assay_turn to)
{
	atomic_store_explicit(&page->turn, (uint32_t)to, memory_order_release);
	syscall(SYS_futex, &page->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

bool assay_page_wait(struct assay_page *page, enum assay_turn mine, uint64_t timeout_ns)
{
	const uint64_t start = assay_monotonic_ns();
	uint32_t seen;

	/* a worker's plugin may change or wake the word at any time, so each look at it is also one at the clock */
	while ((seen = atomic_load_explicit(&page->turn, memory_order_acquire)) != (uint32_t)mine) {
		uint64_t gone = timeout_ns ? assay_monotonic_ns() - start : 0, left = timeout_ns - gone;
		const struct timespec rest = { .tv_sec = (time_t)(left / 1000000000u),
					       .tv_nsec = (long)(left % 1000000000u) };

		if (timeout_ns && gone >= timeout_ns)
			return false;
		syscall(SYS_futex, &page->turn, FUTEX_WAIT, seen, timeout_ns ? &rest : NULL, NULL, 0);
	}
	return true;
}
