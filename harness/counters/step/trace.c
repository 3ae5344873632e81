/* SPDX-License-Identifier: Apache-2.0 */
/* Memory is asked for piece by piece, behind the piece before, at a place that belongs to the thread. */
#include "counters/step/stepper.h"

#include <errno.h>
#include <sys/mman.h>

#define MARK   (UINT64_C(1) << 40)
#define TARGET (UINT64_C(1) << 41)

/* The most that an entry takes, with the target of the one before. */
#define ENTRY_WORDS (3 + 2 * ASSAY_STEP_ACCESSES_MAX)

/* Between the heap of a program and what is mapped beside its stack nothing lies here. */
#define PLACE        UINT64_C(0x100000000000)
#define THREAD_BYTES (UINT64_C(1) << 36)
#define PIECE_BYTES  (UINT64_C(16) << 20)

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* One more piece at @address. A kernel that does not know the flag takes the address for a wish. */
static bool map_piece(uint64_t address)
{
	void *const there = (void *)(uintptr_t)address;
	const int before = errno; /* of the code that is stepped */
	void *p = mmap(there, PIECE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != MAP_FAILED && p != there)
		munmap(p, PIECE_BYTES);
	errno = before;
	return p == there;
}

int assay_step_words_open(struct assay_step_words *w, unsigned thread, struct assay_err *err)
{
	const uint64_t place = PLACE + thread * THREAD_BYTES;

	if (!map_piece(place))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for steps");
	*w = (struct assay_step_words){ .words = (uint64_t *)(uintptr_t)place,
					.room = PIECE_BYTES / sizeof(*w->words) };
	return 0;
}

void assay_step_words_close(struct assay_step_words *w)
{
	if (w->words)
		munmap(w->words, w->room * sizeof(*w->words));
	*w = (struct assay_step_words){ .words = NULL };
}

void assay_step_words_empty(struct assay_step_words *w)
{
	w->n = 0;
}

bool assay_step_words_need(struct assay_step_words *w)
{
	const size_t bytes = w->room * sizeof(*w->words);

	if (w->room - w->n >= ENTRY_WORDS)
		return true;
	if (bytes >= THREAD_BYTES || !map_piece((uintptr_t)w->words + bytes))
		return false;
	w->room += PIECE_BYTES / sizeof(*w->words);
	return true;
}

size_t assay_step_words_add(struct assay_step_words *w, size_t instruction, const struct assay_step_accesses *acc)
{
	const size_t at = w->n;

	w->words[w->n++] = instruction | (uint64_t)acc->n << 32;
	for (unsigned i = 0; i < acc->n; i++) {
		const struct assay_step_access *a = &acc->a[i];

		w->words[w->n++] = a->address;
		w->words[w->n++] = a->bytes | (uint64_t)a->kind << 32 | (uint64_t)a->non_temporal << 40;
	}
	return at;
}

void assay_step_words_end(struct assay_step_words *w, size_t at, const struct assay_step_outcome *o)
{
	w->words[at] |= (uint64_t)o->instructions << 48 | (uint64_t)o->branches << 52 | (uint64_t)o->taken << 56;
}

void assay_step_words_target(struct assay_step_words *w, size_t at, uint64_t target)
{
	w->words[at] |= TARGET;
	w->words[w->n++] = target;
}

void assay_step_words_mark(struct assay_step_words *w, unsigned mark)
{
	if (assay_step_words_need(w))
		w->words[w->n++] = MARK | mark;
}

struct assay_step_entry assay_step_entry_of(uint64_t word)
{
	return (struct assay_step_entry){
		.instruction = (uint32_t)word,
		.is_mark = word & MARK,
		.has_target = word & TARGET,
		.accesses = word >> 32 & 0xff,
		.instructions = word >> 48 & 15,
		.branches = word >> 52 & 15,
		.taken = word >> 56 & 15,
	};
}

size_t assay_step_entry_words(const struct assay_step_entry *e)
{
	return 1 + 2 * (size_t)e->accesses + e->has_target;
}

struct assay_step_access assay_step_entry_access(const uint64_t *words, unsigned i)
{
	const uint64_t *w = words + 1 + 2 * (size_t)i;

	return (struct assay_step_access){
		.address = w[0], .bytes = (uint32_t)w[1], .kind = (uint8_t)(w[1] >> 32), .non_temporal = w[1] >> 40
	};
}
