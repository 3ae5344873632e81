/* SPDX-License-Identifier: Apache-2.0 */
/* Spans and counts of a thread, in chunks of its own. */
#include "counters/waits/thread_recorder.h"

void assay_thread_keep_span(struct assay_thread_self *t, const struct assay_thread_span *s)
{
	if (!assay_thread_recording.most_spans)
		return;
	if (__atomic_fetch_add(&assay_thread_file->spans, 1, __ATOMIC_RELAXED) >= assay_thread_recording.most_spans) {
		assay_thread_file_lost();
		return;
	}
	if (!t->chunk || t->chunk->n == ASSAY_THREAD_CHUNK) {
		assay_thread_file_lock();
		t->chunk = assay_thread_file_record(ASSAY_THREAD_LOG_CHUNK, sizeof(*t->chunk));
		if (t->chunk) {
			t->chunk->thread = t->record->tid;
			assay_thread_file_end(t->chunk);
		}
		assay_thread_file_unlock();
	}
	if (!t->chunk) {
		assay_thread_file_lost();
		return;
	}
	t->chunk->spans[t->chunk->n] = *s;
	__atomic_store_n(&t->chunk->n, t->chunk->n + 1, __ATOMIC_RELEASE);
}

void assay_thread_span_begin(const char *name)
{
	struct assay_thread_self *t = assay_thread_recording.most_spans ? assay_thread_self() : NULL;

	if (!t || !t->record->watched)
		return;
	if (t->depth < ASSAY_THREAD_MOST_DEPTH) {
		assay_thread_file_lock();
		t->open[t->depth].name = assay_thread_file_name(name);
		assay_thread_file_unlock();
		t->open[t->depth].begin_ns = assay_thread_now_ns(CLOCK_MONOTONIC);
	}
	t->depth++;
}

void assay_thread_span_end(void)
{
	struct assay_thread_self *t = assay_thread_me;

	if (!t || !t->depth)
		return;
	if (--t->depth < ASSAY_THREAD_MOST_DEPTH && t->open[t->depth].name)
		assay_thread_keep_span(t, &(struct assay_thread_span){ .begin_ns = t->open[t->depth].begin_ns,
								       .end_ns = assay_thread_now_ns(CLOCK_MONOTONIC),
								       .name = t->open[t->depth].name,
								       .depth = t->depth });
	else
		assay_thread_file_lost();
}

bool assay_thread_spans(void)
{
	return assay_thread_recording.on && assay_thread_recording.most_spans;
}

void assay_thread_count(const char *name, double value)
{
	struct assay_thread_count *c;

	if (!assay_thread_recording.on || !assay_thread_recording.most_spans)
		return;
	assay_thread_file_lock();
	{
		const uint32_t number = assay_thread_file_name(name);

		c = number ? assay_thread_file_record(ASSAY_THREAD_LOG_COUNT, sizeof(*c)) : NULL;
		if (c) {
			c->name = number;
			c->at_ns = assay_thread_now_ns(CLOCK_MONOTONIC);
			c->value = value;
			assay_thread_file_end(c);
		}
	}
	assay_thread_file_unlock();
}
