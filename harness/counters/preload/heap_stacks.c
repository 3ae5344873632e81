/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To unwind takes a microsecond or more, and a program allocates from few places. A stack that was unwound is kept with
 * the addresses at which its return addresses lie. While the call comes from the same instruction with the same stack
 * and frame pointers, and these words are the same, so is the stack: each frame is known to begin where the one below
 * ends. To look costs a comparison a frame.
 */
#include "counters/preload/heap_stacks.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unwind.h>

struct assay_known_stack {
	struct assay_heap_caller from; /* to 0: none */
	uint32_t site, n;
	uintptr_t values[ASSAY_HEAP_SITES_DEPTH], slots[ASSAY_HEAP_SITES_DEPTH];
};

struct walk {
	struct assay_heap_stack *out;
	uintptr_t first;
	bool begun;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *c, void *arg)
{
	struct walk *w = arg;
	struct assay_heap_stack *s = w->out;
	const uintptr_t ip = _Unwind_GetIP(c), slot = _Unwind_GetCFA(c) - sizeof(uintptr_t);

	w->begun |= ip == w->first;
	if (!w->begun || !ip)
		return _URC_NO_REASON;
	if (s->n == ASSAY_HEAP_SITES_DEPTH) {
		s->whole = false;
		return _URC_END_OF_STACK;
	}
#if defined(__x86_64__)
	/* of the first frame it is the caller that is compared */
	if (s->n && *(uintptr_t *)slot != ip)
		s->kept = false;
#else
	s->kept = false; /* where the return address lies is up to each function */
#endif
	s->frames[s->n] = ip;
	s->slots[s->n++] = slot;
	return _URC_NO_REASON;
}

void assay_heap_stack_unwind(struct assay_heap_caller from, struct assay_heap_stack *out)
{
	struct walk w = { out, from.to, false };

	out->n = 0;
	out->whole = out->kept = true;
	_Unwind_Backtrace(add_frame, &w);
	if (!out->n) {
		out->frames[out->n++] = from.to;
		out->whole = out->kept = false;
	}
}

static struct assay_known_stack *slot_of(const struct assay_known_stacks *k, struct assay_heap_caller f)
{
	const uint64_t h = (f.to ^ (f.at + f.frame * 31) * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0x9E3779B97F4A7C15);

	return &k->v[h >> (64 - k->bits)];
}

uint32_t assay_known_stacks_find(const struct assay_known_stacks *known, struct assay_heap_caller from)
{
	const struct assay_known_stack *k = slot_of(known, from);

	if (k->from.to != from.to || k->from.at != from.at || k->from.frame != from.frame)
		return UINT32_MAX;
	/* from the innermost on: what lies above the first difference may not even be mapped */
	for (uint32_t i = 1; i < k->n; i++)
		if (*(volatile uintptr_t *)k->slots[i] != k->values[i])
			return UINT32_MAX;
	return k->site;
}

void assay_known_stacks_add(struct assay_known_stacks *known, struct assay_heap_caller from,
			    const struct assay_heap_stack *s, uint32_t site)
{
	struct assay_known_stack *k = slot_of(known, from);

	if (!s->kept)
		return;
	k->from = from;
	k->site = site;
	k->n = s->n;
	memcpy(k->values, s->frames, s->n * sizeof(s->frames[0]));
	memcpy(k->slots, s->slots, s->n * sizeof(s->slots[0]));
}

bool assay_known_stacks_init(struct assay_known_stacks *k, unsigned bits)
{
	void *p = mmap(NULL, sizeof(*k->v) << bits, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*k = (struct assay_known_stacks){ p == MAP_FAILED ? NULL : p, bits };
	return k->v;
}

void assay_known_stacks_release(struct assay_known_stacks *k)
{
	if (k->v)
		munmap(k->v, sizeof(*k->v) << k->bits);
	k->v = NULL;
}

void assay_known_stacks_forget(struct assay_known_stacks *k)
{
	for (size_t i = 0; i < (size_t)1 << k->bits; i++)
		k->v[i].from.to = 0;
}
