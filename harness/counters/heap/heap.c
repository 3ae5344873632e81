/* SPDX-License-Identifier: Apache-2.0 */
/* Finding the preloaded object, on both sides, and reading it around the calls of a variant. */
#include "counters/heap/heap.h"

#include <dlfcn.h>

int assay_heap_library(char *path, size_t size, struct assay_err *err)
{
	return assay_preloaded_path("assay-heap.so", "malloc", path, size, err);
}

void assay_heap_case_init(struct assay_heap_case *h)
{
	const struct assay_heap *heap = dlsym(RTLD_DEFAULT, ASSAY_HEAP_SYMBOL);

	*h = (struct assay_heap_case){ .heap = heap && heap->size == sizeof(*heap) ? heap : NULL };
}

void assay_heap_case_begin(struct assay_heap_case *h)
{
	if (!h->heap)
		return;
	h->heap->read(&h->before);
	h->heap->watch(true);
}

void assay_heap_case_end(struct assay_heap_case *h, uint64_t runs)
{
	if (!h->heap)
		return;
	h->heap->watch(false);
	h->heap->read(&h->now);
	if (runs) {
		h->runs = runs;
		h->run_allocations = h->now.allocations - h->before.allocations;
		h->run_bytes = h->now.bytes - h->before.bytes;
	}
}

bool assay_heap_case_pause(struct assay_heap_case *h)
{
	return h->heap && h->heap->watch(false);
}

void assay_heap_case_resume(struct assay_heap_case *h, bool paused, void *p, size_t bytes)
{
	if (!paused)
		return;
	if (p)
		h->heap->taken(p, bytes);
	h->heap->watch(true);
}

void assay_heap_case_given(struct assay_heap_case *h, void *p)
{
	if (h->heap)
		h->heap->given(p);
}
