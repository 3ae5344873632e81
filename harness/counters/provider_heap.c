/* SPDX-License-Identifier: Apache-2.0 */
/* What the variant of a case allocates. The worker watches the heap around some of its calls, never around samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/heap.h"
#include "counters/provider.h"

enum { ALLOCATIONS, BYTES, PEAK, LARGEST, LEAKED, N_EVENTS };

static const char *const events[N_EVENTS] = {
	[ALLOCATIONS] = "heap_allocations", [BYTES] = "heap_bytes",         [PEAK] = "heap_peak_bytes",
	[LARGEST] = "heap_largest_bytes",   [LEAKED] = "heap_leaked_bytes",
};

struct heap_set {
	const struct assay_heap_case *heap; /* NULL: no case is counted */
	size_t n;
	unsigned event[N_EVENTS];
};

static unsigned find_event(const char *name, size_t len)
{
	unsigned i = 0;

	while (i < N_EVENTS && (strlen(events[i]) != len || strncmp(events[i], name, len)))
		i++;
	return i;
}

bool assay_heap_wanted(const char *list)
{
	bool found = false;

	for (const char *p = list; *p && !found; p += strspn(p, "\t\n")) {
		size_t len = strcspn(p, "\t\n");

		found = find_event(p, len) < N_EVENTS;
		p += len;
	}
	return found;
}

static void probe(struct assay_counter_context *ctx, struct assay_counter_probe *out)
{
	char path[ASSAY_HEAP_PATH_MAX];
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
	struct heap_set *s = calloc(1, sizeof(*s));

	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	s->heap = ctx->heap;
	*set = s;
	return 0;
}

static int add(void *set, const char *event, struct assay_err *err)
{
	struct heap_set *s = set;
	unsigned i = find_event(event, strlen(event));
	char path[ASSAY_HEAP_PATH_MAX];
	int rc;

	if (i == N_EVENTS)
		return assay_err_set(err, ASSAY_ENOTFOUND, "'%s' is no count of the heap", event);
	if (!s->heap || !s->heap->heap) {
		rc = assay_heap_library(path, sizeof(path), err);
		return rc ? rc : assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' was not loaded before the worker", path);
	}
	if (s->n == N_EVENTS)
		return assay_err_set(err, ASSAY_ELIMIT, "the set is full");
	s->event[s->n++] = i;
	return 0;
}

static int total(void *set, size_t place, double *value, bool *per_iteration, struct assay_err *why)
{
	const struct heap_set *s = set;
	const struct assay_heap_case *h = s->heap;
	double runs = h->runs ? (double)h->runs : 1;

	(void)why;
	*per_iteration = s->event[place] == ALLOCATIONS || s->event[place] == BYTES;
	switch (s->event[place]) {
	case ALLOCATIONS:
		*value = (double)h->run_allocations / runs;
		break;
	case BYTES:
		*value = (double)h->run_bytes / runs;
		break;
	case PEAK:
		*value = (double)h->now.peak_bytes;
		break;
	case LARGEST:
		*value = (double)h->now.largest_bytes;
		break;
	default:
		*value = (double)h->now.live_bytes;
	}
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
	.probe = probe,
	.open = open_set,
	.add = add,
	.close = free,
	.total = total,
	.how = how,
};
