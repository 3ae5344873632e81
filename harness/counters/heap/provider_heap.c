/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of a case's variant. The worker watches the heap around some of its calls, never around samples. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "counters/heap/heap.h"
#include "counters/provider.h"

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

enum { ALLOCATIONS, BYTES, PEAK, LARGEST, LEAKED };

static const char *const events[] = {
	[ALLOCATIONS] = "heap_allocations", [BYTES] = "heap_bytes",         [PEAK] = "heap_peak_bytes",
	[LARGEST] = "heap_largest_bytes",   [LEAKED] = "heap_leaked_bytes", NULL,
};

bool assay_heap_wanted(const char *list)
{
	bool found = false;

	for (const char *p = list; *p && !found; p += strspn(p, "\t\n")) {
		size_t len = strcspn(p, "\t\n");

		for (size_t i = 0; events[i]; i++)
			found |= strlen(events[i]) == len && !strncmp(events[i], p, len);
		p += len;
	}
	return found;
}

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	char path[ASSAY_PRELOADED_PATH_MAX];
	struct assay_err why = { 0 };

	(void)ctx;
	*out = (struct assay_counter_probe){ .works = !assay_heap_library(path, sizeof(path), &why) };
	snprintf(out->value, sizeof(out->value), "%.255s",
		 out->works ? "allocations of variants, by preloading" : why.text);
	if (!out->works)
		snprintf(out->advice, sizeof(out->advice), "without it, allocations and leaks are unavailable");
}

static int open_set(struct assay_counter_context *ctx, void **set, struct assay_err *err)
{
	char path[ASSAY_PRELOADED_PATH_MAX];
	int rc;

	(void)set;
	if (ctx->heap && ctx->heap->heap)
		return 0;
	if (ctx->children)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "'assay profile heap -- COMMAND' watches a program");
	rc = assay_heap_library(path, sizeof(path), err);
	return rc ? rc : assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' was not loaded before the worker", path);
}

static int total(const struct assay_counter_context *ctx, size_t event, double *value, bool *per_iteration,
		 struct assay_err *why)
{
	const struct assay_heap_case *h = ctx->heap;
	double runs = h->runs ? (double)h->runs : 1;
	const double values[] = {
		[ALLOCATIONS] = (double)h->run_allocations / runs,
		[BYTES] = (double)h->run_bytes / runs,
		[PEAK] = (double)h->now.peak_bytes,
		[LARGEST] = (double)h->now.largest_bytes,
		[LEAKED] = (double)h->now.live_bytes,
	};

	(void)why;
	*per_iteration = event == ALLOCATIONS || event == BYTES;
	*value = values[event];
	return 0;
}

static void how(const struct assay_counter_context *ctx, const char *event, char *buf, size_t size)
{
	(void)event;
	(void)ctx;
	snprintf(buf, size, "malloc interposed, in untimed calls");
}

const struct assay_counter_provider assay_provider_heap = {
	.name = "heap",
	.source = ASSAY_SOURCE_HEAP,
	.shared = true,
	.events = events,
	.probe = probe,
	.open = open_set,
	.total = total,
	.how = how,
};
