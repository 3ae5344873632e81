/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room in the file is reserved before it is used: a full disk costs records, which are counted, and never the program.
 * The lock is a word of its own, because the functions of locks are those that are watched.
 */
#include "counters/waits/thread_recorder.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "counters/preload/recording.h"

#define MOST_NAMES 4096

struct assay_thread_log_header *assay_thread_file;
static struct assay_growing_file growing;
static char before[ASSAY_GROWING_FILE_PATH];
static struct assay_mapped_code mapped;
static struct {
	const char *text;
	uint32_t number;
} names[MOST_NAMES]; /* by their address */
static uint32_t lock;

void assay_thread_file_lock(void)
{
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

void assay_thread_file_unlock(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

void assay_thread_file_unlock_anew(void)
{
	lock = 0;
}

bool assay_thread_file_open(void)
{
	struct assay_thread_log_header *h = assay_growing_file_new(
		&growing, getenv(ASSAY_THREAD_LOG_FOLDER), ASSAY_THREAD_LOG_ENDING, ASSAY_THREAD_LOG_BYTES, before);
	struct timespec now;

	assay_thread_file = NULL;
	if (!h)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	h->used = sizeof(*h);
	h->pid = getpid();
	h->base_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	assay_growing_file_program(h->name, sizeof(h->name));
	h->magic = ASSAY_THREAD_LOG_MAGIC;
	assay_thread_file = h;
	return true;
}

struct assay_thread_log_header *assay_thread_file_before(void)
{
	const int fd = before[0] ? open(before, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, ASSAY_THREAD_LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? NULL : p;
}

void assay_thread_file_forget(void)
{
	if (assay_thread_file)
		munmap(assay_thread_file, ASSAY_THREAD_LOG_BYTES);
	assay_thread_file = NULL;
	mapped.n = 0;
	memset(names, 0, sizeof(names));
}

void *assay_thread_file_record(enum assay_thread_log_kind kind, size_t bytes)
{
	struct assay_thread_log_header *file = assay_thread_file;
	const uint64_t size = (bytes + 7) & ~UINT64_C(7);
	struct assay_thread_log_head *r = (void *)((char *)file + file->used);

	if (!assay_growing_file_reserve(&growing, file->used + size))
		return NULL;
	*r = (struct assay_thread_log_head){ kind, (uint32_t)size };
	return r;
}

void assay_thread_file_end(const void *record)
{
	const struct assay_thread_log_head *r = record;

	__atomic_store_n(&assay_thread_file->used, assay_thread_file->used + r->bytes, __ATOMIC_RELEASE);
}

uint32_t assay_thread_file_number(const void *record)
{
	return (uint32_t)(((const char *)record - (const char *)assay_thread_file) / 8);
}

void *assay_thread_file_at(uint32_t number)
{
	return (char *)assay_thread_file + (uint64_t)number * 8;
}

static bool add_map(uint64_t start, uint64_t end, uint64_t file_offset, const char *name)
{
	const size_t len = strlen(name) + 1;
	struct assay_thread_map *m = assay_thread_file_record(ASSAY_THREAD_LOG_MAP, sizeof(*m) + len);

	if (!m)
		return false;
	m->start = start;
	m->end = end;
	m->file_offset = file_offset;
	memcpy(m->path, name, len);
	assay_thread_file_end(m);
	return true;
}

void assay_thread_file_maps(const struct assay_heap_stack *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (!assay_mapped_code_has(&mapped, s->frames[i] - 1)) {
			assay_mapped_code_read(&mapped, add_map);
			return;
		}
}

/* The number of the name @text, which is static; 0 where there is no room. With the lock held. */
static uint32_t thread_file_name(const char *text)
{
	const size_t len = strlen(text) + 1;
	size_t i = ((uintptr_t)text * UINT64_C(0x9E3779B97F4A7C15)) >> 52; /* MOST_NAMES is 1 << 12 */
	struct assay_thread_name *r;

	for (unsigned tries = 0; names[i].text && tries < MOST_NAMES; tries++, i = (i + 1) % MOST_NAMES)
		if (names[i].text == text)
			return names[i].number;
	r = names[i].text ? NULL : assay_thread_file_record(ASSAY_THREAD_LOG_NAME, sizeof(*r) + len);
	if (!r)
		return 0;
	memcpy(r->text, text, len);
	assay_thread_file_end(r);
	names[i].text = text;
	names[i].number = assay_thread_file_number(r);
	return names[i].number;
}

void assay_thread_file_lost(void)
{
	__atomic_fetch_add(&assay_thread_file->lost, 1, __ATOMIC_RELAXED);
}

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
		t->open[t->depth].name = thread_file_name(name);
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
		const uint32_t number = thread_file_name(name);

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
