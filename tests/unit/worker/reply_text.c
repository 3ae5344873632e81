/* SPDX-License-Identifier: Apache-2.0 */
/* No text of a worker's answer leaves as it came, however many entries the answer claims. */
#include "worker/reply_text.h"

#include "unit.h"

static struct assay_worker_reply r;

#define SPOIL(text)                                                                                                    \
	do {                                                                                                           \
		memset(text, 'z', sizeof(text));                                                                       \
		memcpy(text, "a\033[1m\n\xff", 7);                                                                     \
	} while (0)
#define assert_clean(text)                                                                                             \
	do {                                                                                                           \
		assert_int_equal(sizeof(text) - 1, strlen(text));                                                      \
		assert_memory_equal("a?[1m ?z", text, 8);                                                              \
	} while (0)

TEST(all_texts)
{
	r.n_metrics = r.n_counts = r.n_missing = UINT32_MAX;
	SPOIL(r.reason);
	SPOIL(r.output_name);
	for (size_t i = 0; i < ASSAY_PAGE_METRICS; i++)
		SPOIL(r.metrics[i].tag);
	for (size_t i = 0; i < ASSAY_PAGE_COUNTS; i++) {
		SPOIL(r.counts[i].name);
		SPOIL(r.counts[i].source);
		SPOIL(r.counts[i].how);
		SPOIL(r.missing[i].name);
		SPOIL(r.missing[i].source);
		SPOIL(r.missing[i].reason);
	}
	assay_reply_make_printable(&r);
	assert_clean(r.reason);
	assert_clean(r.output_name);
	for (size_t i = 0; i < ASSAY_PAGE_METRICS; i++)
		assert_clean(r.metrics[i].tag);
	for (size_t i = 0; i < ASSAY_PAGE_COUNTS; i++) {
		assert_clean(r.counts[i].name);
		assert_clean(r.counts[i].source);
		assert_clean(r.counts[i].how);
		assert_clean(r.missing[i].name);
		assert_clean(r.missing[i].source);
		assert_clean(r.missing[i].reason);
	}
}

/* Entries that nobody counted are not looked at. */
TEST(no_more_than_there_are)
{
	r.n_metrics = 1;
	SPOIL(r.metrics[0].tag);
	SPOIL(r.metrics[1].tag);
	assay_reply_make_printable(&r);
	assert_clean(r.metrics[0].tag);
	assert_int_equal('\033', r.metrics[1].tag[1]);
}

UNIT_GROUP(NULL, NULL)
