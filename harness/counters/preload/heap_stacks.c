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

#define KNOWN_BITS 12

struct known {
	struct assay_heap_caller from; /* to 0: none */
	uint32_t site, n;
	uintptr_t values[ASSAY_HEAP_SITES_DEPTH], slots[ASSAY_HEAP_SITES_DEPTH];
};

static struct known *known; /* 1 << KNOWN_BITS */

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

static struct known *slot_of(struct assay_heap_caller f)
{
	const uint64_t h = (f.to ^ (f.at + f.frame * 31) * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0x9E3779B97F4A7C15);

	return &known[h >> (64 - KNOWN_BITS)];
}

uint32_t assay_heap_stack_known(struct assay_heap_caller from)
{
	const struct known *k = slot_of(from);

	if (k->from.to != from.to || k->from.at != from.at || k->from.frame != from.frame)
		return UINT32_MAX;
	/* from the innermost on: what lies above the first difference may not even be mapped */
	for (uint32_t i = 1; i < k->n; i++)
		if (*(volatile uintptr_t *)k->slots[i] != k->values[i])
			return UINT32_MAX;
	return k->site;
}

void assay_heap_stack_remember(struct assay_heap_caller from, const struct assay_heap_stack *s, uint32_t site)
{
	struct known *k = slot_of(from);

	if (!s->kept)
		return;
	k->from = from;
	k->site = site;
	k->n = s->n;
	memcpy(k->values, s->frames, s->n * sizeof(s->frames[0]));
	memcpy(k->slots, s->slots, s->n * sizeof(s->slots[0]));
}

bool assay_heap_stacks_init(void)
{
	known = mmap(NULL, sizeof(*known) << KNOWN_BITS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return known != MAP_FAILED;
}

void assay_heap_stacks_forget(void)
{
	for (size_t i = 0; i < (size_t)1 << KNOWN_BITS; i++)
		known[i].from.to = 0;
}
