/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lock guards blocks, sites and the file; stacks are unwound outside of it, because unwinding may wait for a thread
 * that loads a library and allocates meanwhile. Room in the file is reserved before it is used: a full disk costs
 * records, which are counted, and never the program.
 */
#include "counters/preload/heap_recorder.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counters/preload/recording.h"

/* ---- sampling ---- */

/* Own logarithm and exponential: the object that stands before malloc brings no library into programs. */

#define OF_THREAD __thread __attribute__((tls_model("initial-exec"))) /* needs no memory */

static OF_THREAD double left_bytes; /* to the next byte that is drawn */
static OF_THREAD uint64_t state;    /* 0: nothing was drawn yet */

/* Of 0 < x <= 1: by halves to [0.7, 1.4], then the series of the inverse hyperbolic tangent. */
static double log_of(double x)
{
	double t, t2, sum = 0, e = 0;

	for (; x < 0.7; x *= 2)
		e -= 1;
	t = (x - 1) / (x + 1);
	t2 = t * t;
	for (int k = 19; k > 0; k -= 2)
		sum = sum * t2 + 1.0 / k;
	return 2 * t * sum + e * 0.69314718055994530942;
}

/* 1 - exp(-x), x >= 0. */
static double drawn(double x)
{
	double term = 1, sum = 0;

	if (x > 40)
		return 1;
	if (x > 0.5) {
		const double half = drawn(x / 2);

		return half * (2 - half);
	}
	for (int k = 1; k < 16; k++) {
		term *= -x / k;
		sum -= term;
	}
	return sum;
}

static uint64_t mixed(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

static double draw(double mean)
{
	state += UINT64_C(0x9E3779B97F4A7C15);
	return -mean * log_of(((double)(mixed(state) >> 11) + 0.5) * 0x1p-53);
}

static void seed(double mean)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	state = mixed((uint64_t)t.tv_nsec ^ (uint64_t)t.tv_sec << 30 ^ (uint64_t)syscall(SYS_gettid) << 44) | 1;
	left_bytes = draw(mean);
}

/* Is a block of @bytes of this thread seen? @mean: bytes from one drawn byte to the next. An empty block has one. */
static bool heap_sampled(size_t bytes, double mean)
{
	if (!state)
		seed(mean);
	left_bytes -= bytes ? (double)bytes : 1;
	if (left_bytes > 0)
		return false;
	left_bytes = draw(mean); /* memoryless: what of this block follows the drawn byte changes nothing */
	return true;
}

/* How many blocks of @bytes one that is seen stands for. */
static double heap_sample_weight(size_t bytes, double mean)
{
	return 1 / drawn((bytes ? (double)bytes : 1) / mean);
}

#define INDEX_BITS 18
#define NO_SITE    UINT32_MAX
#define KNOWN_BITS 12

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct assay_heap_sites_header *file; /* NULL: there is none */
static struct assay_growing_file growing;
static double mean_bytes; /* 0: every allocation is seen */
static uint32_t *sites;   /* by the hash of their frames: offset in the file by 8; 0: none */
static uint32_t n_sites;
static struct assay_mapped_code mapped;
static struct assay_known_stacks known;
static bool on;
static __thread bool inside __attribute__((tls_model("initial-exec"))); /* unwinding may allocate */

/* ---- the file ---- */

/* A new one for this process; false where there can be none. */
static bool open_file(void)
{
	const char *sample = getenv(ASSAY_HEAP_SITES_SAMPLE);
	struct assay_heap_sites_header *h = assay_growing_file_new(
		&growing, getenv(ASSAY_HEAP_SITES_FOLDER), ASSAY_HEAP_SITES_ENDING, ASSAY_HEAP_SITES_BYTES, NULL);

	file = NULL;
	if (!h)
		return false;
	mean_bytes = sample ? strtod(sample, NULL) : 0;
	h->sample_bytes = (uint64_t)mean_bytes;
	h->used = sizeof(*h);
	h->pid = getpid();
	assay_growing_file_program(h->name, sizeof(h->name));
	h->magic = ASSAY_HEAP_SITES_MAGIC;
	file = h;
	return true;
}

/* Room for a record; NULL where there is none. */
static void *new_record(enum assay_heap_record kind, size_t bytes)
{
	const uint64_t size = (bytes + 7) & ~UINT64_C(7);
	struct assay_heap_record_head *r = (void *)((char *)file + file->used);

	if (!assay_growing_file_reserve(&growing, file->used + size))
		return NULL;
	*r = (struct assay_heap_record_head){ kind, (uint32_t)size };
	return r;
}

/* Everything written from here on belongs to the file. */
static void end_record(const void *record)
{
	const struct assay_heap_record_head *r = record;

	__atomic_store_n(&file->used, file->used + r->bytes, __ATOMIC_RELEASE);
}

static bool add_map(uint64_t start, uint64_t end, uint64_t file_offset, const char *name)
{
	const size_t len = strlen(name) + 1;
	struct assay_heap_map *m = new_record(ASSAY_HEAP_RECORD_MAP, sizeof(*m) + len);

	if (!m)
		return false;
	m->start = start;
	m->end = end;
	m->file_offset = file_offset;
	memcpy(m->path, name, len);
	end_record(m);
	return true;
}

/* ---- sites ---- */

static struct assay_heap_site *site_at(uint32_t at)
{
	return (void *)((char *)file + (uint64_t)at * 8);
}

static bool is_site(uint32_t at, const struct assay_heap_stack *s)
{
	const struct assay_heap_site *x = site_at(at);

	return x->n_frames == s->n && !memcmp(x->frames, s->frames, s->n * sizeof(s->frames[0]));
}

static uint32_t find_site(const struct assay_heap_stack *s)
{
	uint64_t h = s->n;
	struct assay_heap_site *x;
	size_t i;

	for (uint32_t k = 0; k < s->n; k++)
		h = (h ^ s->frames[k]) * UINT64_C(0x9E3779B97F4A7C15);
	for (i = h >> (64 - INDEX_BITS); sites[i]; i = (i + 1) & (((size_t)1 << INDEX_BITS) - 1))
		if (is_site(sites[i], s))
			return sites[i];
	for (uint32_t k = 0; k < s->n; k++)
		if (!assay_mapped_code_has(&mapped, s->frames[k] - 1)) {
			assay_mapped_code_read(&mapped, add_map);
			break;
		}
	x = n_sites < (1u << (INDEX_BITS - 1))
		    ? new_record(ASSAY_HEAP_RECORD_SITE, sizeof(*x) + s->n * sizeof(x->frames[0]))
		    : NULL;
	if (!x)
		return NO_SITE;
	x->n_frames = s->n;
	x->whole = s->whole;
	for (uint32_t k = 0; k < s->n; k++)
		x->frames[k] = s->frames[k];
	sites[i] = (uint32_t)(file->used / 8);
	n_sites++;
	end_record(x);
	return sites[i];
}

/* Of what is about to change: what lived when the last peak ended. */
static void note_peak(struct assay_heap_site *x)
{
	if (x->epoch == file->epoch)
		return;
	x->epoch = file->epoch;
	x->peak_blocks = x->its.live_blocks;
	x->peak_bytes = x->its.live_bytes;
}

static void count_taken(struct assay_heap_numbers *n, size_t bytes, double weight)
{
	n->blocks += weight;
	n->bytes += weight * (double)bytes;
	n->live_blocks += weight;
	n->live_bytes += weight * (double)bytes;
	n->most_blocks = n->live_blocks > n->most_blocks ? n->live_blocks : n->most_blocks;
	n->most_bytes = n->live_bytes > n->most_bytes ? n->live_bytes : n->most_bytes;
	n->largest_bytes = bytes > n->largest_bytes ? bytes : n->largest_bytes;
	n->samples++;
}

static void count_given(struct assay_heap_numbers *n, size_t bytes, double weight, double age)
{
	n->live_blocks -= weight;
	n->live_bytes -= weight * (double)bytes;
	n->age_bytes += weight * age;
}

static double weight_of(size_t bytes)
{
	return mean_bytes > 0 ? heap_sample_weight(bytes, mean_bytes) : 1;
}

static void keep(void *p, size_t bytes, uint32_t at)
{
	struct assay_heap_site *x = site_at(at);
	struct assay_heap_block *b;

	note_peak(x);
	b = assay_heap_blocks_put(p, bytes);
	b->site = at;
	b->born_bytes = file->all.bytes;
	count_taken(&x->its, bytes, weight_of(bytes));
	count_taken(&file->all, bytes, weight_of(bytes));
	if (file->all.live_bytes == file->all.most_bytes)
		file->peak_clock = file->all.bytes;
}

/* ---- for the functions that stand before malloc's ---- */

void assay_heap_sites_taken(void *p, size_t bytes, struct assay_heap_caller from)
{
	struct assay_heap_stack stack;
	uint32_t at;

	if (!p || !on || inside || !file || (mean_bytes > 0 && !heap_sampled(bytes, mean_bytes)))
		return;
	pthread_mutex_lock(&lock);
	at = assay_known_stacks_find(&known, from);
	if (at == NO_SITE) {
		pthread_mutex_unlock(&lock);
		inside = true;
		assay_heap_stack_unwind(from, &stack);
		inside = false;
		pthread_mutex_lock(&lock);
		at = find_site(&stack);
		if (at != NO_SITE)
			assay_known_stacks_add(&known, from, &stack, at);
	}
	if (at != NO_SITE)
		keep(p, bytes, at);
	else
		file->lost++;
	pthread_mutex_unlock(&lock);
}

bool assay_heap_sites_given(const void *p, size_t *bytes)
{
	struct assay_heap_block *b;

	if (!assay_heap_blocks_may_hold(p))
		return false;
	pthread_mutex_lock(&lock);
	b = assay_heap_blocks_find(p);
	if (b) {
		const double weight = weight_of(b->bytes), age = file->all.bytes - b->born_bytes;

		if (file->all.live_bytes == file->all.most_bytes)
			file->epoch++;
		note_peak(site_at(b->site));
		count_given(&site_at(b->site)->its, b->bytes, weight, age);
		count_given(&file->all, b->bytes, weight, age);
		*bytes = b->bytes;
		assay_heap_blocks_erase(b);
	}
	pthread_mutex_unlock(&lock);
	return b;
}

bool assay_heap_sites_begin(void)
{
	if (!getenv(ASSAY_HEAP_SITES_FOLDER) || !assay_known_stacks_init(&known, KNOWN_BITS) || !open_file())
		return false;
	sites = mmap(NULL, sizeof(*sites) << INDEX_BITS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sites == MAP_FAILED)
		file = NULL;
	on = !getenv(ASSAY_HEAP_SITES_WAIT);
	return file;
}

void assay_heap_sites_watch(bool watched)
{
	on = watched;
}

bool assay_heap_sites_watched(void)
{
	return on;
}

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* Blocks that the child inherited belong to its parent's counts. */
static void in_child(void)
{
	pthread_mutex_init(&lock, NULL);
	assay_heap_blocks_forget();
	assay_known_stacks_forget(&known);
	memset(sites, 0, sizeof(*sites) << INDEX_BITS);
	n_sites = 0;
	mapped.n = 0;
	munmap(file, ASSAY_HEAP_SITES_BYTES);
	open_file();
}

void assay_heap_sites_follow_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}
