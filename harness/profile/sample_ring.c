/* SPDX-License-Identifier: Apache-2.0 */
/* See perf_event_open(2) for the layout of records and rings. */
#include "profile/sample_ring.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char dwarf_order[] = ASSAY_RECORD_DWARF_ORDER;

/* A reader of one record; past its end it reads zeros. */
struct cursor {
	const unsigned char *at, *end;
};

static uint64_t read_u64(struct cursor *c)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->at) < sizeof(v)) {
		c->at = c->end;
		return 0;
	}
	memcpy(&v, c->at, sizeof(v));
	c->at += sizeof(v);
	return v;
}

/* struct { header; u64 ip; u32 pid, tid; u64 time; u64 abi; u64 regs[]; u64 size; char data[size]; u64 dyn_size; } */
static bool read_sample(struct cursor c, bool leaf, struct assay_cpu_sample *out)
{
	uint64_t ids, given[64] = { 0 }, bytes;

	out->ip = read_u64(&c);
	ids = read_u64(&c);
	out->pid = (pid_t)(uint32_t)ids;
	out->tid = (pid_t)(uint32_t)(ids >> 32);
	out->time_ns = read_u64(&c);
	out->stack = NULL;
	out->stack_bytes = 0;
	out->sp = 0;
	if (leaf)
		return true;
	if (read_u64(&c) != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (unsigned bit = 0; bit < 64; bit++)
		if (ASSAY_RECORD_REGISTER_MASK >> bit & 1)
			given[bit] = read_u64(&c);
	for (unsigned i = 0; i < ASSAY_RECORD_REGISTERS; i++)
		out->registers[i] = given[dwarf_order[i]];
	out->sp = out->registers[ASSAY_RECORD_SP];
	bytes = read_u64(&c);
	if (bytes && bytes + sizeof(uint64_t) <= (size_t)(c.end - c.at)) {
		out->stack = c.at;
		c.at += bytes;
		out->stack_bytes = (size_t)read_u64(&c);
		if (out->stack_bytes > bytes)
			out->stack_bytes = 0;
	}
	return true;
}

static const unsigned char *record_at(struct assay_sample_ring *r, uint64_t tail, struct perf_event_header *h)
{
	const size_t at = (size_t)(tail & (r->bytes - 1)), left = r->bytes - at;

	memcpy(h, r->data + at, sizeof(*h)); /* records are aligned to 8 bytes: a header never goes round */
	if (h->size <= left)
		return r->data + at;
	if (!r->copy)
		r->copy = malloc(UINT16_MAX + 1);
	if (!r->copy)
		return NULL;
	memcpy(r->copy, r->data + at, left);
	memcpy(r->copy + left, r->data, h->size - left);
	return r->copy;
}

/* struct { header; u32 pid, tid; u64 addr, len, pgoff; u32 maj, min; u64 ino, gen; u32 prot, flags; char name[] } */
static void tell_mapped(struct cursor c, const struct assay_cpu_listener *l)
{
	const pid_t pid = (pid_t)(uint32_t)read_u64(&c);
	const uint64_t start = read_u64(&c), bytes = read_u64(&c), offset = read_u64(&c);

	for (int i = 0; i < 4; i++)
		read_u64(&c);
	if (c.at < c.end && memchr(c.at, '\0', (size_t)(c.end - c.at)))
		l->mapped(l->arg, pid, (const char *)c.at, start, bytes, offset);
}

/* struct { header; u32 pid, ppid; u32 tid, ptid; u64 time; }: threads are no new processes. */
static void tell_forked(struct cursor c, const struct assay_cpu_listener *l)
{
	const uint64_t ids = read_u64(&c);
	const pid_t pid = (pid_t)(uint32_t)ids, parent = (pid_t)(uint32_t)(ids >> 32);

	if (pid != parent)
		l->forked(l->arg, parent, pid);
}

static void tell_process(const struct perf_event_header *h, struct cursor c, const struct assay_cpu_listener *l)
{
	if (h->type == PERF_RECORD_MMAP2)
		tell_mapped(c, l);
	else if (h->type == PERF_RECORD_FORK)
		tell_forked(c, l);
	else if (h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC)
		l->executed(l->arg, (pid_t)(uint32_t)read_u64(&c));
}

/* How many samples it says were dropped. */
static uint64_t tell_sample(const struct assay_sample_ring *r, const struct perf_event_header *h, struct cursor c,
			    const struct assay_cpu_listener *l)
{
	struct assay_cpu_sample sample;

	if (h->type == PERF_RECORD_LOST) {
		read_u64(&c); /* id */
		return read_u64(&c);
	}
	if (h->type == PERF_RECORD_SAMPLE && read_sample(c, r->leaves, &sample))
		l->sampled(l->arg, &sample);
	return 0;
}

/* The record at @at of the ring, with a cursor past its header; false for nonsense, or where there is no memory. */
static bool read_record(struct assay_sample_ring *r, uint64_t at, struct perf_event_header *h, struct cursor *c)
{
	const unsigned char *p = record_at(r, at, h);

	if (!p || h->size < sizeof(*h))
		return false;
	*c = (struct cursor){ p + sizeof(*h), p + h->size };
	return true;
}

/* From r->next on. */
static void find_process(struct assay_sample_ring *r)
{
	struct perf_event_header h;
	struct cursor c;

	for (; r->next < r->end && read_record(r, r->next, &h, &c); r->next += h.size)
		if (h.type == PERF_RECORD_MMAP2 || h.type == PERF_RECORD_FORK || h.type == PERF_RECORD_COMM) {
			c.at = c.end - sizeof(uint64_t);
			r->next_ns = read_u64(&c);
			return;
		}
	r->next_ns = UINT64_MAX;
}

static void drain_processes(struct assay_sample_ring *rings, size_t n, const struct assay_cpu_listener *l)
{
	struct perf_event_header h;
	struct cursor c;

	for (;;) {
		struct assay_sample_ring *first = NULL;

		for (size_t i = 0; i < n; i++)
			if (rings[i].head && rings[i].next_ns != UINT64_MAX &&
			    (!first || rings[i].next_ns < first->next_ns))
				first = &rings[i];
		if (!first || !read_record(first, first->next, &h, &c))
			return;
		tell_process(&h, c, l);
		first->next += h.size;
		find_process(first);
	}
}

/* Give back the room of records that were read. */
static uint64_t drain_samples(struct assay_sample_ring *r, const struct assay_cpu_listener *l)
{
	uint64_t tail = *r->tail, lost = 0;
	struct perf_event_header h;
	struct cursor c;

	for (; tail < r->end && read_record(r, tail, &h, &c); tail += h.size)
		lost += tell_sample(r, &h, c, l);
	lost += tail < r->end;
	__atomic_store_n(r->tail, r->end, __ATOMIC_RELEASE);
	return lost;
}

uint64_t assay_sample_rings_drain(struct assay_sample_ring *rings, size_t n, const struct assay_cpu_listener *l)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < n; i++) {
		struct assay_sample_ring *r = &rings[i];

		if (!r->head)
			continue;
		r->end = __atomic_load_n(r->head, __ATOMIC_ACQUIRE);
		r->next = *r->tail;
		find_process(r);
	}
	drain_processes(rings, n, l);
	for (size_t i = 0; i < n; i++)
		if (rings[i].head)
			lost += drain_samples(&rings[i], l);
	return lost;
}
