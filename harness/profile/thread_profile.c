/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state's time is what the kernel's numbers leave for it; sites measured their waits by the clock, with the time for
 * which the thread was ready to go on. So that all adds up, the sites of a state share its time in proportion.
 */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters/heap/sites.h"
#include "model/profile.h"
#include "profile/thread_logs.h"

#define LABELS      2
#define MOST_FRAMES (ASSAY_HEAP_SITES_DEPTH * 4 + LABELS)

struct making {
	const struct assay_thread_logs *logs;
	struct assay_profile *into;
	size_t n_waits;
	struct assay_err *err;
};

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the threads of a profile");
}

/* Add @ns to the stack of @list; *at is its number. */
static int add_stack(struct making *m, const struct assay_logged_list *list, uint64_t ns, size_t *at)
{
	struct assay_stack_table *t = &m->into->stacks;
	int rc = assay_stack_table_put(t, list->v, list->n, at, m->err);

	if (rc)
		return rc;
	if (t->n_stacks > m->n_waits) {
		struct assay_wait_count *grown = realloc(m->into->waits, t->n_stacks * sizeof(*grown));

		if (!grown)
			return no_memory(m->err);
		memset(grown + m->n_waits, 0, (t->n_stacks - m->n_waits) * sizeof(*grown));
		m->into->waits = grown;
		m->n_waits = t->n_stacks;
	}
	t->stacks[*at].weight += ns;
	t->weight += ns;
	return 0;
}

static int begin_stack(struct making *m, const struct assay_logged_thread *t, enum assay_thread_state state,
		       const char *call, struct assay_logged_list *list)
{
	char label[96];
	int rc;

	list->n = 0;
	assay_thread_state_label(state, call, label, sizeof(label));
	rc = assay_logged_label(&m->into->stacks, t->name, list, m->err);
	return rc ? rc : assay_logged_label(&m->into->stacks, label, list, m->err);
}

/* A state without frames. */
static int add_state(struct making *m, const struct assay_logged_thread *t, enum assay_thread_state state,
		     const char *call, uint64_t ns)
{
	uint32_t frames[LABELS];
	struct assay_logged_list list = { .v = frames, .most = LABELS };
	size_t at;
	int rc = ns ? begin_stack(m, t, state, call, &list) : 0;

	return ns && !rc ? add_stack(m, &list, ns, &at) : rc;
}

/* For waits of the worker's pool, the functions of the program itself below the caller say nothing. */
static void leave_out_pool(const struct making *m, struct assay_logged_list *list)
{
	const struct assay_frame *f = m->into->stacks.frames;
	uint32_t n = list->n;

	while (n > LABELS && !strcmp(f[list->v[n - 1]].object, f[list->v[list->n - 1]].object))
		n--;
	list->n = n > LABELS ? n : list->n;
}

static int add_site(struct making *m, const struct assay_logged_thread *t, const struct assay_thread_site *s,
		    uint64_t ns)
{
	const enum assay_thread_state state =
		assay_wait_call_meets(s->call) ? ASSAY_STATE_WAITING : ASSAY_STATE_BLOCKED;
	const size_t room = (s->head.bytes - sizeof(*s)) / sizeof(s->frames[0]);
	const uint32_t n = s->n_frames < room ? s->n_frames : (uint32_t)room;
	uint32_t frames[MOST_FRAMES];
	struct assay_logged_list list = { .v = frames, .most = MOST_FRAMES };
	/* the site's share of what the thread was in this state, as its total */
	const uint64_t longest_ns = (uint64_t)((double)s->longest_ns / (double)s->ns * (double)ns);
	struct assay_wait_count *c;
	bool known = false;
	size_t at = 0;
	int rc = begin_stack(m, t, state, assay_wait_call_name(s->call), &list);

	for (uint32_t i = n; i-- > 0 && !rc;)
		rc = assay_logged_frames(t->log->places, &m->into->stacks, s->frames[i] - 1, &list, &known,
					 m->err); /* within the call */
	if (!rc && s->call <= ASSAY_WAIT_POOL_BARRIER)
		leave_out_pool(m, &list);
	if (!rc)
		rc = add_stack(m, &list, ns, &at);
	if (rc)
		return rc;
	c = &m->into->waits[at];
	c->waits += s->waits;
	c->longest_ns = longest_ns > c->longest_ns ? longest_ns : c->longest_ns;
	m->into->truncated += s->whole ? 0 : s->waits;
	m->into->unresolved += known ? 0 : s->waits;
	return 0;
}

/* The sites of a thread, which share @state_ns; the last gets what rounding leaves. */
static int add_sites(struct making *m, const struct assay_logged_thread *t, bool meets, uint64_t state_ns)
{
	uint64_t at = 0, sum = 0, seen = 0, left = state_ns;
	const struct assay_thread_site *s;
	int rc = 0;

	while ((s = assay_thread_log_next(t->log, ASSAY_THREAD_LOG_SITE, &at)))
		if (s->thread == t->record->tid && assay_wait_call_meets(s->call) == meets)
			sum += s->ns;
	for (at = 0; !rc && sum && (s = assay_thread_log_next(t->log, ASSAY_THREAD_LOG_SITE, &at));) {
		uint64_t ns = (uint64_t)((double)s->ns / (double)sum * (double)state_ns);

		if (s->thread != t->record->tid || assay_wait_call_meets(s->call) != meets || !s->ns)
			continue;
		seen += s->ns;
		ns = seen == sum || ns > left ? left : ns;
		rc = add_site(m, t, s, ns);
		left -= ns;
	}
	/* sites that there was no room for */
	return rc ? rc : add_state(m, t, meets ? ASSAY_STATE_WAITING : ASSAY_STATE_BLOCKED, ASSAY_UNKNOWN_CALL, left);
}

/* ---- the timeline ---- */

/* Processes begin at different times; the first one's beginning is 0. */
static uint64_t first_ns(const struct assay_thread_logs *l)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < l->n_threads; i++)
		least = l->threads[i].log->head->base_ns < least ? l->threads[i].log->head->base_ns : least;
	return least;
}

static void add_bin(struct assay_timeline_cell *c, const struct assay_thread_split *t)
{
	c->ns[ASSAY_STATE_RUNNING] += t->running_ns;
	c->ns[ASSAY_STATE_WAITING] += t->waiting_ns;
	c->ns[ASSAY_STATE_BLOCKED] += t->blocked_ns + t->other_ns;
	c->ns[ASSAY_STATE_READY] += t->ready_ns;
}

/* All in bins of one width; what no thread was watched in at the beginning is left out. */
static int make_timeline(struct making *m)
{
	const struct assay_thread_logs *l = m->logs;
	struct assay_timeline *line = &m->into->timeline;
	const uint64_t begin = first_ns(l);
	uint64_t width = 1, from = UINT64_MAX, to = 0;

	for (size_t i = 0; i < l->n_threads; i++)
		width = l->threads[i].record->bin_ns > width ? l->threads[i].record->bin_ns : width;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < l->n_threads; i++) {
			const struct assay_thread_record *r = l->threads[i].record;

			for (unsigned b = 0; b < ASSAY_THREAD_BINS; b++) {
				const uint64_t at = (l->threads[i].log->head->base_ns - begin + b * r->bin_ns) / width;

				if (!r->bins[b].wall_ns)
					continue;
				if (pass)
					add_bin(&line->cells[i * line->n_bins + at - from], &r->bins[b]);
				from = !pass && at < from ? at : from;
				to = !pass && at + 1 > to ? at + 1 : to;
			}
		}
		if (pass || to <= from)
			continue;
		*line = (struct assay_timeline){ .bin_ns = width, .n_bins = to - from, .n_threads = l->n_threads };
		line->cells = calloc(line->n_bins * line->n_threads, sizeof(*line->cells));
		if (!line->cells)
			return no_memory(m->err);
	}
	return 0;
}

int assay_thread_profile_make(const struct assay_thread_logs *l, struct assay_profile *into, struct assay_err *err)
{
	struct making m = { .logs = l, .into = into, .err = err };
	int rc = 0;

	snprintf(into->kind, sizeof(into->kind), "threads");
	snprintf(into->unit, sizeof(into->unit), "ns");
	snprintf(into->source, sizeof(into->source), "waiting calls interposed, schedstat");
	into->overhead_frac = NAN;
	into->lost = l->lost;
	into->threads = calloc(l->n_threads + 1, sizeof(*into->threads));
	if (!into->threads)
		return no_memory(err);
	for (size_t i = 0; i < l->n_threads && !rc; i++) {
		const struct assay_thread_split *d = &l->threads[i].record->total;
		struct assay_profile *p = m.into;

		rc = add_state(&m, &l->threads[i], ASSAY_STATE_RUNNING, "", d->running_ns);
		if (!rc)
			rc = add_state(&m, &l->threads[i], ASSAY_STATE_READY, "", d->ready_ns);
		if (!rc)
			rc = add_sites(&m, &l->threads[i], true, d->waiting_ns);
		if (!rc)
			rc = add_sites(&m, &l->threads[i], false, d->blocked_ns);
		if (!rc)
			rc = add_state(&m, &l->threads[i], ASSAY_STATE_BLOCKED, ASSAY_UNKNOWN_CALL, d->other_ns);
		snprintf(p->threads[p->n_threads].name, sizeof(p->threads[0].name), "%s", l->threads[i].name);
		p->threads[p->n_threads++].weight = d->wall_ns;
	}
	return rc ? rc : make_timeline(&m);
}
