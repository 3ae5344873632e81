/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensor buffers. A write a few bytes past a buffer hits a canary and is found by the next check; a write further out
 * hits a guard page and is a crash, but for what alloc_pool.c keeps together. Copies of one tensor share a mapping,
 * since thousands of small ones would run out of mappings.
 */
#include "worker/case/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assay/random.h"

#define ALIGN      64u
#define CANARY     0xA5u
#define HUGE_BYTES (2u << 20)
/* Of a drawn layout: far from where programs, libraries, stacks and sanitizers lie. */
#define FIRST_DRAWN_ADDRESS ((uintptr_t)1 << 45)
#define ADDRESS_PAGES       (1u << 24)
/* The same for what assay_layout_calloc() gives. */
#define FIRST_DRAWN_PAGES (FIRST_DRAWN_ADDRESS + ((uintptr_t)1 << 42))
#define DRAWN_PAGES_BYTES ((uintptr_t)ADDRESS_PAGES * ASSAY_LAYOUT_ALIGN)
#define SHIFT_PAGES       (1u << 16)
#define HEAP_PAGES        (1u << 12)
#define LARGEST_PIECE     (1u << 20)
#define PIECE_STEP        16
#define MOST_PIECES       1024
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1 */
#endif

uint64_t assay_dtype_bytes(uint32_t dtype)
{
	switch (dtype) {
	case ASSAY_U8:
	case ASSAY_I8:
		return 1;
	case ASSAY_F16:
	case ASSAY_BF16:
		return 2;
	case ASSAY_I32:
	case ASSAY_U32:
	case ASSAY_F32:
		return 4;
	case ASSAY_I64:
	case ASSAY_F64:
		return 8;
	default:
		return 0;
	}
}

bool assay_tensor_size(const struct assay_tensor_spec *t, uint64_t *bytes)
{
	*bytes = assay_dtype_bytes(t->dtype);
	if (t->rank > ASSAY_MAX_RANK)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dims[i] < 0 || __builtin_mul_overflow(*bytes, (uint64_t)t->dims[i], bytes))
			return false;
	return true;
}

uint64_t assay_tensor_bytes(const struct assay_tensor_spec *t)
{
	uint64_t bytes;

	return assay_tensor_size(t, &bytes) ? bytes : 0;
}

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static bool is_drawn(uintptr_t at)
{
	return at >= FIRST_DRAWN_PAGES && at - FIRST_DRAWN_PAGES < 2 * DRAWN_PAGES_BYTES;
}

/* 0: too many. */
static size_t whole_pages(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || bytes > SIZE_MAX / 2)
		return 0;
	return round_up(bytes + !bytes, ASSAY_LAYOUT_ALIGN);
}

/* NULL: they are taken. */
static void *map_drawn(uintptr_t at, size_t bytes)
{
	void *p = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE | MAP_FIXED_NOREPLACE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void *assay_layout_calloc(uintptr_t *at, size_t n, size_t size)
{
	const size_t bytes = whole_pages(n, size);
	void *p;

	if (!bytes)
		return NULL;
	p = at && is_drawn(*at) && bytes < DRAWN_PAGES_BYTES ? map_drawn(*at, bytes) : NULL;
	if (p) {
		*at += bytes;
		return p;
	}
	p = aligned_alloc(ASSAY_LAYOUT_ALIGN, bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

void assay_layout_free(void *p, size_t n, size_t size)
{
	if (is_drawn((uintptr_t)p))
		munmap(p, whole_pages(n, size));
	else
		free(p);
}

uintptr_t assay_layout_pages(uint64_t seed)
{
	return FIRST_DRAWN_PAGES + (uintptr_t)(assay_random4(seed, 0, 3).v[0] % ADDRESS_PAGES) * ASSAY_LAYOUT_ALIGN;
}

uintptr_t assay_layout_address(uint64_t seed)
{
	return FIRST_DRAWN_ADDRESS + (uintptr_t)(assay_random4(seed, 0, 1).v[0] % ADDRESS_PAGES) * ASSAY_LAYOUT_ALIGN;
}

static unsigned char *reserve(size_t bytes)
{
	return mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/*
 * The kernel puts a mapping into the highest gap that has room for it. So the gaps between those there are filled,
 * too, from large pieces to small ones: otherwise a plugin would lie where it always does. Kernels that map upwards
 * keep those gaps. Where address space is limited, none is spent.
 */
void assay_layout_shift(uint64_t seed)
{
	const struct assay_philox draw = assay_random4(seed, 0, 2);
	const unsigned char *drawn;
	struct rlimit most;

	if (getrlimit(RLIMIT_AS, &most) || most.rlim_cur != RLIM_INFINITY)
		return;
	sbrk((intptr_t)(draw.v[1] % HEAP_PAGES * ASSAY_LAYOUT_ALIGN));
	drawn = reserve((1 + draw.v[0] % SHIFT_PAGES) * (size_t)ASSAY_LAYOUT_ALIGN);
	for (size_t piece = LARGEST_PIECE; drawn != MAP_FAILED && piece >= ASSAY_LAYOUT_ALIGN; piece /= PIECE_STEP) {
		unsigned char *p = reserve(piece);

		/* some kernels map upwards, and find no end of gaps */
		for (int n = 0; n < MOST_PIECES && p != MAP_FAILED && p > drawn; n++)
			p = reserve(piece);
		if (p != MAP_FAILED)
			munmap(p, piece);
	}
}

bool assay_arena_is_huge(size_t bytes, bool whole_huge)
{
	return bytes >= (whole_huge ? HUGE_BYTES / 2 : HUGE_BYTES);
}

/*
 * a->map: guard page, room for @body bytes, guard page. What is large ends on the boundary of a huge page, so that all
 * of it but less than one huge page at its front can lie on them: fewer TLB misses, and fewer ways for page placement
 * to differ from one process to the next. One of many buffers that are read from memory in turn, each smaller than a
 * huge page, takes a whole one: on small pages, the misses of the TLB made cold processes differ by 10 %. Alone, such a
 * buffer lies in the cache of its core, where luck with one page moved processes by 5 % and with many by half of that.
 */
static int map_pages(struct assay_arena *a, const struct assay_arena_options *o, size_t body, size_t page,
		     struct assay_err *err)
{
	const bool whole = o->whole_huge && !o->address && assay_arena_is_huge(body, true);
	const size_t align = whole || (!o->address && assay_arena_is_huge(body, false)) ? HUGE_BYTES : page;
	void *address = (void *)(o->address ? o->address : o->near);
	size_t spare = align - page, head;
	unsigned char *p;

	a->map_bytes = round_up(body, whole ? align : page) + 2 * page;
	p = mmap(address, a->map_bytes + spare, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | (o->address ? MAP_FIXED_NOREPLACE : 0), -1, 0);
	if (p == MAP_FAILED)
		return assay_err_set(err, ASSAY_ENOMEM, "cannot map %zu bytes: %s", a->map_bytes, strerror(errno));
	head = spare - (size_t)((uintptr_t)(p + a->map_bytes + spare - page) % align);
	a->map = p + head;
	if (head)
		munmap(p, head);
	if (spare - head)
		munmap(a->map + a->map_bytes, spare - head);
	if (mprotect(a->map, page, PROT_NONE) || mprotect(a->map + a->map_bytes - page, page, PROT_NONE))
		return assay_err_set(err, ASSAY_ENOMEM, "cannot protect a guard page: %s", strerror(errno));
	if (align == HUGE_BYTES)
		madvise(a->map + page, a->map_bytes - 2 * page, MADV_HUGEPAGE);
	return 0;
}

#define STREAM_DEAL 11u /* of the seed of a layout */

/* Where byte @at of this process lies in @file: its huge page number i is one of the file's pages 2 i and 2 i + 1. */
static size_t place_in(const struct assay_arena_file *file, size_t at)
{
	size_t i;
	unsigned drawn;

	if (!file->dealt_from)
		return at;
	i = (at - file->dealt_from) / HUGE_BYTES;
	drawn = assay_random4(file->seed, STREAM_DEAL, i).v[0] & 1;
	return file->dealt_from + (2 * i + (drawn ^ file->side)) * HUGE_BYTES + at % HUGE_BYTES;
}

/* Put the next bytes of @file behind what lies between the guard pages; both end on the boundary of a huge page. */
static int map_file(struct assay_arena *a, struct assay_arena_file *file, size_t page, struct assay_err *err)
{
	const size_t bytes = a->map_bytes - 2 * page, align = bytes < HUGE_BYTES ? page : HUGE_BYTES;
	const size_t end = round_up(file->end + bytes, align), dealt = file->dealt_from;
	const size_t least = dealt ? dealt + 2 * round_up(end - dealt, HUGE_BYTES) : end;
	unsigned char *p = a->map + page;
	struct stat st;

	if (fstat(file->fd, &st) || ((size_t)st.st_size < least && ftruncate(file->fd, (off_t)least)))
		return assay_err_set(err, ASSAY_ENOMEM, "cannot make %zu bytes of shared memory: %s", bytes,
				     strerror(errno));
	for (size_t at = end - bytes, next; at < end; p += next - at, at = next) {
		const size_t left = HUGE_BYTES - at % HUGE_BYTES; /* of this huge page */

		next = dealt && left < end - at ? at + left : end;
		if (mmap(p, next - at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->fd,
			 (off_t)place_in(file, at)) == MAP_FAILED)
			return assay_err_set(err, ASSAY_ENOMEM, "cannot map %zu bytes of shared memory: %s", bytes,
					     strerror(errno));
	}
	file->end = end;
	return 0;
}

/*
 * Shared memory gets huge pages by collapsing, which needs one page of each to be there; asking for them beforehand, as
 * private memory does, takes a setting of the system. Where it fails, small pages remain.
 */
static void collapse(const struct assay_arena *a, size_t page)
{
	unsigned char *from = a->map + page, *end = a->map + a->map_bytes - page;

	if (end - from < (ptrdiff_t)HUGE_BYTES)
		return;
	for (volatile unsigned char *p = end - HUGE_BYTES; p >= from; p -= HUGE_BYTES)
		(void)*p;
	madvise(from, (size_t)(end - from), MADV_COLLAPSE);
}

/* Zeros in the first @n copies, canaries around all. */
static void clear(const struct assay_arena *a, uint64_t n, size_t page)
{
	unsigned char *at = a->map + page, *const end = a->map + a->map_bytes - page;

	for (uint64_t i = 0; i < a->copies; i++) {
		unsigned char *copy = assay_arena_copy(a, i);

		memset(at, CANARY, (size_t)(copy - at));
		if (i < n)
			memset(copy, 0, a->bytes);
		at = copy + a->bytes;
	}
	memset(at, CANARY, (size_t)(end - at));
}

size_t assay_arena_stride(size_t bytes)
{
	return round_up(bytes, ALIGN) + ALIGN;
}

/* A copy is [front canary][data][canary up to the stride]; the last copy ends at the guard page. */
int assay_arena_init(struct assay_arena *a, const struct assay_arena_options *o, struct assay_err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), body;
	int rc;

	*a = (struct assay_arena){ .bytes = o->bytes, .copies = o->copies };
	a->stride = assay_arena_stride(o->bytes);
	if (__builtin_mul_overflow(a->stride, (size_t)o->copies, &body) || body > SIZE_MAX / 2)
		return assay_err_set(err, ASSAY_ENOMEM, "%llu copies of %zu bytes do not fit in memory",
				     (unsigned long long)o->copies, o->bytes);
	body += ALIGN + o->offset_bytes; /* front canary of the first copy, and the room behind the last */
	rc = map_pages(a, o, body, page, err);
	if (!rc && o->file)
		rc = map_file(a, o->file, page, err);
	if (rc)
		goto out;
	if (o->topology && o->cpu >= 0)
		rc = assay_bind_memory(o->topology, a->map + page, a->map_bytes - 2 * page, o->cpu, err);
	if (rc)
		goto out;
	a->base = a->map + a->map_bytes - page - body + ALIGN;
	if (o->touch && !o->keep)
		o->touch(o->touch_arg, a->map + page, a->map_bytes - 2 * page);
	if (o->file)
		collapse(a, page);
	if (o->file && (o->keep || o->first_only)) /* no sample is to be the first that touches a page */
		madvise(a->map + page, a->map_bytes - 2 * page, MADV_POPULATE_WRITE);
	if (o->keep)
		return 0;
	clear(a, o->first_only ? 1 : a->copies, page);
	return 0;
out:
	assay_arena_release(a);
	return rc;
}

struct assay_arena assay_arena_part(const struct assay_arena *whole, size_t at, size_t bytes)
{
	const struct assay_arena part = {
		.base = whole->base + at, .stride = assay_arena_stride(bytes), .bytes = bytes, .copies = 1
	};

	memset(part.base, 0, bytes);
	memset(part.base + bytes, CANARY, part.stride - bytes);
	return part;
}

void assay_arena_release(struct assay_arena *a)
{
	if (a->map)
		munmap(a->map, a->map_bytes);
	*a = (struct assay_arena){ 0 };
}

void *assay_arena_copy(const struct assay_arena *a, uint64_t copy)
{
	return a->base + copy * a->stride;
}

bool assay_arena_intact(const struct assay_arena *a, uint64_t *copy, int64_t *where)
{
	for (uint64_t i = 0; i < a->copies; i++) {
		const unsigned char *data = assay_arena_copy(a, i);

		for (int64_t k = i ? 0 : -(int64_t)ALIGN; k < 0; k++)
			if (data[k] != CANARY) {
				*copy = i;
				*where = k;
				return false;
			}
		for (size_t k = a->bytes; k < a->stride; k++)
			if (data[k] != CANARY) {
				*copy = i;
				*where = (int64_t)k;
				return false;
			}
	}
	return true;
}

/* ---- branch memory ---- */

/*
 * So many times 64 branches. On Zen 4, which learns 4096 branches of a kernel in one call, half as many make a call on
 * known data 0.9 times as long as on new data.
 */
#define ROUNDS 2000

/* xorshift64 (Marsaglia, 2003). */
static uint64_t next(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

/* No compiler makes a conditional move of a branch around an asm. */
#define BRANCH(bit)                                                                                                    \
	if (bits >> (bit)&1)                                                                                           \
		__asm__ volatile("nop");
#define BRANCHES(bit)                                                                                                  \
	BRANCH(bit)                                                                                                    \
	BRANCH((bit) + 1)                                                                                              \
	BRANCH((bit) + 2)                                                                                              \
	BRANCH((bit) + 3)                                                                                              \
	BRANCH((bit) + 4)                                                                                              \
	BRANCH((bit) + 5)                                                                                              \
	BRANCH((bit) + 6)                                                                                              \
	BRANCH((bit) + 7)

void assay_branch_memory_clear(uint64_t seed)
{
	uint64_t bits = seed | 1;

	for (int i = 0; i < ROUNDS; i++) {
		bits = next(bits);
		BRANCHES(0)
		BRANCHES(8)
		BRANCHES(16)
		BRANCHES(24)
		BRANCHES(32)
		BRANCHES(40)
		BRANCHES(48)
		BRANCHES(56)
	}
}

/* ---- page layout ---- */

/* Whole pages, so that what AddressSanitizer keeps free between variables is copied as well. */
__attribute__((no_sanitize_address)) static void copy(uint64_t *to, const volatile uint64_t *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*to); i++)
		to[i] = from[i];
}

void assay_pages_remap(void *at, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)at % page;
	const size_t whole = (before + bytes + page - 1) / page * page;
	unsigned char *const first = (unsigned char *)at - before;
	unsigned char *kept;

	if (!bytes || page != ASSAY_LAYOUT_ALIGN)
		return;
	kept = mmap(NULL, 2 * whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (kept == MAP_FAILED)
		return;
	copy((uint64_t *)(void *)(kept + whole), (const volatile uint64_t *)(void *)first, whole);
	if (mremap(kept + whole, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, first) == MAP_FAILED)
		munmap(kept, 2 * whole);
}

/* ---- code ---- */

/*
 * Write to each page the byte that it already holds, so that the process gets a copy of its own. A page may begin with
 * bytes that AddressSanitizer keeps free between constants.
 */
__attribute__((no_sanitize_address)) static void write_same(unsigned char *from, const unsigned char *end, size_t page)
{
	for (volatile unsigned char *p = from; p < end; p += page)
		*p = *p;
}

/* SELinux may forbid to run what was written to: then the file is mapped again. */
static void map_again(const char *path, unsigned char *at, size_t bytes, int prot, off_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	mmap(at, bytes, prot, MAP_PRIVATE | MAP_FIXED, fd, offset);
	close(fd);
}

static void draw_segment(const char *path, unsigned char *base, const ElfW(Phdr) * h, size_t page)
{
	const size_t before = h->p_vaddr % page, bytes = (before + h->p_filesz + page - 1) / page * page;
	const int prot = PROT_READ | (h->p_flags & PF_X ? PROT_EXEC : 0);
	unsigned char *const at = base + h->p_vaddr - before;

	/* executable all the while: the plugin may have threads already */
	if (!bytes || mprotect(at, bytes, prot | PROT_WRITE))
		return;
	write_same(at, at + bytes, page);
	if (mprotect(at, bytes, prot))
		map_again(path, at, bytes, prot, (off_t)(h->p_offset - before));
}

static int draw_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct link_map *map = arg;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)size;
	if (info->dlpi_addr != map->l_addr)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && !(h->p_flags & PF_W))
			draw_segment(map->l_name, (unsigned char *)info->dlpi_addr, h, page);
	}
	return 1;
}

void assay_code_pages_draw(void *dl)
{
	struct link_map *map = NULL;

	if (!dlinfo(dl, RTLD_DI_LINKMAP, &map) && map)
		dl_iterate_phdr(draw_object, map);
}
