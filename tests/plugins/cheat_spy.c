/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that look in the memory which their worker shares with others whether a sample is being taken, and do not
 * compute then. The first of them that learns it says so in the file $SPIED.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"
#include "page_finder.h"
#include "worker/protocol.h"

static int cheat(const char *how)
{
	const char *path = getenv("SPIED");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (f) {
		fprintf(f, "%s\n", how);
		fclose(f);
	}
	return 0;
}

/* Reads what it knows of the page. */
static int words(struct assay_job *job)
{
	static const struct assay_page *page;
	size_t bytes;

	if (!page)
		page = find_shared("assay-page", &bytes);
	if (!page)
		return job->host->fail(job, "there is no page");
	if (page->order.command || page->order.args.iterations || page->order.args.count || page->order.args.counting)
		return cheat("the order is there");
	if (page->reply.n_samples || page->reply.samples[0].ns || page->spec.c.op[0])
		return cheat("an answer grows");
	return side_scale(job);
}

/* Knows nothing of it, and sees that it is not as it was while the first call was checked. */
static int change(struct assay_job *job)
{
	static const unsigned char *page;
	static unsigned char before[sizeof(struct assay_page)];
	size_t bytes;

	if (!page) {
		page = find_shared("assay-page", &bytes);
		if (!page)
			return job->host->fail(job, "there is no page");
		memcpy(before, page, sizeof(before));
	}
	return memcmp(before, page, sizeof(before)) ? cheat("the page has changed") : side_scale(job);
}

/*
 * Sees in a pair how the turn goes back and forth. Of the calls after a change it computes only those that are more
 * than ever followed one before: a sample has fewer, what is checked after it has more.
 */
static int turn(struct assay_job *job)
{
	static const struct assay_pair_shared *pair;
	static uint64_t calls, longest;
	static uint32_t last;
	uint32_t slot;
	size_t bytes;

	if (!pair)
		pair = find_shared("assay-pair", &bytes);
	if (!pair)
		return side_scale(job);
	slot = atomic_load(&pair->turn.slot);
	if (slot != last) {
		longest = calls > longest ? calls : longest;
		calls = 0;
	}
	last = slot;
	return ++calls > longest ? side_scale(job) : 0;
}

static const struct assay_variant variants[] = {
	SCALE_THREADS("spy_words", NULL, words),
	SCALE_THREADS("spy_change", NULL, change),
	SCALE_THREADS("spy_turn", NULL, turn),
};

SIDE_PLUGIN("cheat-spy", variants);
