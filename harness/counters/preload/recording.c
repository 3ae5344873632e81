/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To unwind takes a microsecond or more, and a program allocates from few places. A stack that was unwound is kept with
 * the addresses at which its return addresses lie. While the call comes from the same instruction with the same stack
 * and frame pointers, and these words are the same, so is the stack: each frame is known to begin where the one below
 * ends. To look costs a comparison a frame.
 */
#include "counters/preload/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "counters/preloaded.h"

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

/* ---- files ---- */

/* A full disk fails in posix_fallocate() and never in a write to the mapping, which would be SIGBUS. */

#define MOST_FILES 1000 /* of one process, which may become another program */

void *assay_growing_file_new(struct assay_growing_file *f, const char *dir, const char *ending, uint64_t most_bytes,
			     char *before)
{
	void *p;
	int fd = -1;

	if (before)
		before[0] = '\0';
	for (unsigned i = 0; dir && fd < 0 && i < MOST_FILES; i++) {
		if (i && before)
			memcpy(before, f->path, sizeof(f->path));
		snprintf(f->path, sizeof(f->path), "%s/%d.%u%s", dir, (int)getpid(), i, ending);
		fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		return NULL;
	p = posix_fallocate(fd, 0, ASSAY_PRELOADED_ROOM_BYTES)
		    ? MAP_FAILED
		    : mmap(NULL, most_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return NULL;
	f->room_bytes = ASSAY_PRELOADED_ROOM_BYTES;
	f->most_bytes = most_bytes;
	return p;
}

bool assay_growing_file_reserve(struct assay_growing_file *f, uint64_t bytes)
{
	while (bytes > f->room_bytes) {
		int fd, failed;

		if (f->room_bytes + ASSAY_PRELOADED_ROOM_BYTES > f->most_bytes)
			return false;
		fd = open(f->path, O_RDWR | O_CLOEXEC);
		failed = fd < 0 || posix_fallocate(fd, 0, (off_t)(f->room_bytes + ASSAY_PRELOADED_ROOM_BYTES));
		if (fd >= 0)
			close(fd);
		if (failed)
			return false;
		f->room_bytes += ASSAY_PRELOADED_ROOM_BYTES;
	}
	return true;
}

void assay_growing_file_program(char *name, size_t size)
{
	const int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n;

	name[0] = '\0';
	if (fd < 0)
		return;
	n = read(fd, name, size - 1);
	name[n > 0 ? n - 1 : 0] = '\0'; /* without the newline */
	close(fd);
}

/* ---- mapped code ---- */

bool assay_mapped_code_has(const struct assay_mapped_code *m, uint64_t address)
{
	for (size_t i = 0; i < m->n; i++)
		if (address >= m->maps[i].start && address < m->maps[i].end)
			return true;
	return false;
}

/* "start-end rwxp offset dev inode   /path" */
static void read_line(struct assay_mapped_code *m, char *line, assay_mapped_fn keep)
{
	char *at = line, *slash = strchr(line, '/');
	const uint64_t start = strtoull(at, &at, 16), end = strtoull(at + 1, &at, 16);

	if (strlen(at) < 6 || at[3] != 'x' || assay_mapped_code_has(m, start) || m->n == ASSAY_MAPPED_MOST)
		return;
	if (!keep(start, end, strtoull(at + 6, NULL, 16), slash ? slash : ""))
		return;
	m->maps[m->n].start = start;
	m->maps[m->n++].end = end;
}

void assay_mapped_code_read(struct assay_mapped_code *m, assay_mapped_fn keep)
{
	const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	while (fd >= 0 && (n = read(fd, m->text + len, sizeof(m->text) - 1 - len)) > 0) {
		char *line = m->text, *end;

		len += (size_t)n;
		m->text[len] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			read_line(m, line, keep);
		}
		len -= (size_t)(line - m->text);
		memmove(m->text, line, len);
		if (len == sizeof(m->text) - 1)
			len = 0; /* no line is so long */
	}
	if (fd >= 0)
		close(fd);
}
