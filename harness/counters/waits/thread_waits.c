/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where threads wait, for how long, and who lets them go. A wait costs two looks at the clock and a look at its stack.
 * The thread's processor time, which costs a call of the kernel, is looked at before and behind one sleep in each kind
 * of call between two marks.
 */
#include "counters/waits/thread_recorder.h"

#include <string.h>

#define POST_BITS 10
#define NO_SITE   UINT32_MAX

_Static_assert(ASSAY_N_WAIT_CALLS <= 32, "measured calls are bits of a word");

/* Who let go the waiters of an object last; another object may have taken its place. */
static struct {
	const void *object;
	uint32_t tid;
} posts[1 << POST_BITS];

/* ---- sites ---- */

static bool is_site(uint32_t number, const struct assay_heap_stack *s, uint32_t call)
{
	const struct assay_thread_site *x = assay_thread_file_at(number);

	return x->call == call && x->n_frames == s->n && !memcmp(x->frames, s->frames, s->n * sizeof(s->frames[0]));
}

static uint32_t find_site(struct assay_thread_self *t, const struct assay_heap_stack *s, uint32_t call)
{
	uint64_t h = call;
	struct assay_thread_site *x = NULL;
	size_t i;

	for (uint32_t k = 0; k < s->n; k++)
		h = (h ^ s->frames[k]) * UINT64_C(0x9E3779B97F4A7C15);
	for (i = h >> (64 - ASSAY_THREAD_SITE_BITS); t->sites[i]; i = (i + 1) % (1 << ASSAY_THREAD_SITE_BITS))
		if (is_site(t->sites[i], s, call))
			return t->sites[i];
	if (t->n_sites == 3u << (ASSAY_THREAD_SITE_BITS - 2))
		return NO_SITE;
	assay_thread_file_lock();
	assay_thread_file_maps(s);
	x = assay_thread_file_record(ASSAY_THREAD_LOG_SITE, sizeof(*x) + s->n * sizeof(x->frames[0]));
	if (x) {
		x->thread = t->record->tid;
		x->call = call;
		x->n_frames = s->n;
		x->whole = s->whole;
		for (uint32_t k = 0; k < s->n; k++)
			x->frames[k] = s->frames[k];
		t->sites[i] = assay_thread_file_number(x);
		t->n_sites++;
		assay_thread_file_end(x);
	}
	assay_thread_file_unlock();
	return x ? t->sites[i] : NO_SITE;
}

/* Stacks are known by their caller alone, hence with the call mixed in: a function may make two. */
static uint32_t site_of(struct assay_thread_self *t, uint32_t call, struct assay_heap_caller from)
{
	struct assay_heap_caller key = from;
	struct assay_heap_stack stack;
	uint32_t at;

	key.frame ^= call;
	at = assay_known_stacks_find(&t->known, key);
	if (at != NO_SITE)
		return at;
	assay_heap_stack_unwind(from, &stack);
	at = find_site(t, &stack, call);
	if (at != NO_SITE)
		assay_known_stacks_add(&t->known, key, &stack, at);
	else
		assay_thread_file_lost();
	return at;
}

/* ---- waits ---- */

static size_t post_of(const void *object)
{
	return ((uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - POST_BITS);
}

void assay_thread_posted(const void *object)
{
	struct assay_thread_self *t =
		assay_thread_recording.on && assay_thread_recording.most_spans ? assay_thread_self() : NULL;
	const size_t i = post_of(object);

	if (!t)
		return;
	__atomic_store_n(&posts[i].tid, t->record->tid, __ATOMIC_RELAXED);
	__atomic_store_n(&posts[i].object, object, __ATOMIC_RELEASE);
}

/*
 * Kernel work that lets a thread sleep in a lock is waiting; in other calls the kernel works for the thread. The first
 * sleep in @call after a mark is measured.
 */
static void goes_to_sleep(struct assay_thread_self *t, uint32_t call)
{
	t->measuring = call < ASSAY_WAIT_SLEEP && !(t->measured >> call & 1);
	if (t->measuring)
		t->asleep_cpu_ns = assay_thread_now_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* The processor time of this sleep of @slept_ns in @call; one that is not measured took as much as earlier ones. */
static uint64_t slept_cpu_ns(struct assay_thread_self *t, uint32_t call, uint64_t slept_ns)
{
	uint64_t *mean = &t->sleep_cpu_ns[call], took;

	if (!t->measuring)
		return *mean < slept_ns ? *mean : slept_ns;
	took = assay_thread_now_ns(CLOCK_THREAD_CPUTIME_ID) - t->asleep_cpu_ns;
	*mean = *mean ? (3 * *mean + took) / 4 : took;
	t->measured |= 1u << call;
	return took;
}

bool assay_thread_wait_begin(enum assay_wait_call call, const void *object, bool asleep, uint32_t holder,
			     struct assay_heap_caller from)
{
	struct assay_thread_self *t = assay_thread_recording.on ? assay_thread_self() : NULL;
	struct assay_thread_record *r;
	uint32_t site;

	if (!t || t->inside || t->record->call)
		return false;
	r = t->record;
	if (assay_thread_recording.windows && !r->watched && call > ASSAY_WAIT_POOL_BARRIER)
		return false;
	t->inside = true;
	site = site_of(t, call, from);
	t->inside = false;
	r->site = site == NO_SITE ? 0 : site;
	t->object = object;
	t->holder = holder;
	r->since_ns = assay_thread_now_ns(CLOCK_MONOTONIC);
	assay_thread_mark_if_due(t, r->since_ns);
	r->asleep_ns = asleep ? r->since_ns : 0;
	if (asleep)
		goes_to_sleep(t, call);
	__atomic_store_n(&r->call, (uint32_t)call, __ATOMIC_RELEASE);
	return true;
}

void assay_thread_wait_sleeps(void)
{
	struct assay_thread_self *t = assay_thread_me;

	if (!t || !t->record->call || t->record->asleep_ns)
		return;
	goes_to_sleep(t, t->record->call);
	t->record->asleep_ns = assay_thread_now_ns(CLOCK_MONOTONIC);
}

static uint32_t waker_of(const struct assay_thread_self *t)
{
	const size_t i = post_of(t->object);

	if (t->holder)
		return t->holder;
	return __atomic_load_n(&posts[i].object, __ATOMIC_ACQUIRE) == t->object ? posts[i].tid : 0;
}

void assay_thread_wait_end(void)
{
	struct assay_thread_self *t = assay_thread_me;
	struct assay_thread_record *r = t ? t->record : NULL;
	uint64_t now, since, asleep;
	struct assay_thread_waits *w;

	if (!t || !r->call)
		return;
	now = assay_thread_now_ns(CLOCK_MONOTONIC);
	since = r->since_ns > r->mark_ns ? r->since_ns : r->mark_ns;
	w = assay_thread_meets(r->call) ? &r->meets : &r->others;
	asleep = !r->asleep_ns ? now : r->asleep_ns > since ? r->asleep_ns : since;
	w->spun_ns += assay_thread_spun_ns(asleep > since ? asleep - since : 0);
	w->slept_ns += now > asleep ? now - asleep : 0;
	w->cpu_ns += r->asleep_ns ? slept_cpu_ns(t, r->call, now > asleep ? now - asleep : 0) : 0;
	if (r->site && r->watched) {
		struct assay_thread_site *s = assay_thread_file_at(r->site);

		s->waits++;
		s->ns += now - r->since_ns;
		s->longest_ns = now - r->since_ns > s->longest_ns ? now - r->since_ns : s->longest_ns;
	}
	if (assay_thread_recording.most_spans && r->watched)
		assay_thread_keep_span(t, &(struct assay_thread_span){ .begin_ns = r->since_ns,
								       .end_ns = now,
								       .call = r->call,
								       .site = r->site,
								       .waker = waker_of(t),
								       .depth = t->depth });
	__atomic_store_n(&r->call, ASSAY_WAIT_NONE, __ATOMIC_RELEASE);
	assay_thread_mark_if_due(t, now);
}
