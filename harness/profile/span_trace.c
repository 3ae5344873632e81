/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in the files are those of their processes; a trace has numbers of its own. */
#include "profile/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/profile.h"
#include "profile/thread_logs.h"

#define MOST_FRAMES 130

struct making {
	const struct assay_thread_logs *logs;
	struct assay_trace *t;
	size_t first; /* track of the logs' first thread */
	struct assay_err *err;
};

static const char *name_of(const struct assay_thread_log *l, const struct assay_thread_span *s)
{
	const struct assay_thread_name *n = NULL;

	if (s->name)
		n = assay_thread_log_at(l, s->name, ASSAY_THREAD_LOG_NAME);
	else
		return assay_wait_call_name(s->call);
	return n && ((const char *)n)[n->head.bytes - 1] == '\0' ? n->text : "?";
}

static int add_tracks(struct making *m)
{
	int rc = 0;

	m->first = m->t->n_tracks;
	for (size_t i = 0; i < m->logs->n_threads && !rc; i++) {
		const struct assay_logged_thread *t = &m->logs->threads[i];
		struct assay_trace_track track = { .process = (unsigned)(t->log - m->logs->v) + 1 };

		snprintf(track.name, sizeof(track.name), "%s", t->name);
		rc = assay_trace_add_track(m->t, &track, m->err);
	}
	return rc;
}

static int add_spans(struct making *m, const struct assay_thread_log *l, const struct assay_thread_chunk *c)
{
	const size_t thread = assay_thread_logs_find(m->logs, l, c->thread);
	int rc = 0;

	for (uint32_t i = 0; thread != SIZE_MAX && i < c->n && i < ASSAY_THREAD_CHUNK && !rc; i++) {
		const struct assay_thread_span *s = &c->spans[i];
		const size_t waker = s->waker ? assay_thread_logs_find(m->logs, l, s->waker) : SIZE_MAX;
		struct assay_trace_span span = { .track = m->first + thread,
						 .begin_ns = s->begin_ns,
						 .end_ns = s->end_ns,
						 .wait = !s->name,
						 .waker = waker == SIZE_MAX ? ASSAY_TRACE_NONE : m->first + waker };

		if (s->end_ns < s->begin_ns)
			continue;
		rc = assay_trace_name(m->t, name_of(l, s), &span.name, m->err);
		if (!rc)
			rc = assay_trace_add_span(m->t, &span, m->err);
	}
	return rc;
}

static int add_log(struct making *m, const struct assay_thread_log *l)
{
	const struct assay_thread_chunk *c;
	const struct assay_thread_count *k;
	uint64_t at = 0;
	int rc = 0;

	while (!rc && (c = assay_thread_log_next(l, ASSAY_THREAD_LOG_CHUNK, &at)))
		rc = add_spans(m, l, c);
	for (at = 0; !rc && (k = assay_thread_log_next(l, ASSAY_THREAD_LOG_COUNT, &at));) {
		struct assay_trace_count count = { .process = (unsigned)(l - m->logs->v) + 1,
						   .at_ns = k->at_ns,
						   .value = k->value };
		const struct assay_thread_span named = { .name = k->name };

		rc = assay_trace_name(m->t, name_of(l, &named), &count.name, m->err);
		if (!rc)
			rc = assay_trace_add_count(m->t, &count, m->err);
	}
	return rc;
}

/* The life of a program's thread: what it did outside of all waits. */
static int add_life(struct making *m, size_t thread)
{
	const struct assay_thread_record *r = m->logs->threads[thread].record;
	struct assay_trace_span span = {
		.track = m->first + thread, .begin_ns = r->begun_ns, .end_ns = r->mark_ns, .waker = ASSAY_TRACE_NONE
	};
	int rc = r->mark_ns > r->begun_ns ? assay_trace_name(m->t, ASSAY_SPAN_RUNNING, &span.name, m->err) : 0;

	return rc || r->mark_ns <= r->begun_ns ? rc : assay_trace_add_span(m->t, &span, m->err);
}

/* ---- the critical path ---- */

/* The timed samples on the thread that calls the variant. */
static int find_samples(const struct making *m, struct assay_trace_window **v, size_t *n)
{
	for (size_t i = 0; i < m->t->n_spans; i++) {
		const struct assay_trace_span *s = &m->t->spans[i];

		if (s->track != m->first || s->parent != ASSAY_TRACE_NONE || s->wait ||
		    strcmp(m->t->names[s->name], ASSAY_SPAN_SAMPLE))
			continue;
		if (assay_grow(v, *n, sizeof(**v)))
			return assay_err_set(m->err, ASSAY_ENOMEM, "out of memory for a trace");
		(*v)[(*n)++] = (struct assay_trace_window){ s->begin_ns, s->end_ns };
	}
	return 0;
}

static int find_path(struct making *m, bool is_case)
{
	const struct assay_thread_record *r = m->logs->n_threads ? m->logs->threads[0].record : NULL;
	struct assay_trace_window *v = NULL, life;
	size_t n = 0;
	int rc = 0;

	if (!r)
		return 0;
	life = (struct assay_trace_window){ r->begun_ns, r->mark_ns };
	if (is_case)
		rc = find_samples(m, &v, &n);
	if (!rc)
		rc = assay_trace_find_path(m->t, m->first, is_case ? v : &life, is_case ? n : 1, m->err);
	free(v);
	return rc;
}

int assay_span_trace_make(const struct assay_thread_logs *l, bool is_case, struct assay_trace *t, struct assay_err *err)
{
	struct making m = { .logs = l, .t = t, .err = err };
	int rc = add_tracks(&m);

	for (size_t i = 0; i < l->n && !rc; i++)
		rc = add_log(&m, &l->v[i]);
	for (size_t i = 0; i < l->n_threads && !rc && !is_case; i++)
		rc = add_life(&m, i);
	if (rc)
		return rc;
	assay_trace_nest(t);
	return find_path(&m, is_case);
}

/* ---- the profile ---- */

/* Room for the numbers of all stacks. */
static int grow_waits(struct assay_profile *p, size_t before, struct assay_err *err)
{
	const size_t n = p->stacks.n_stacks;
	struct assay_wait_count *grown = n > before ? realloc(p->waits, n * sizeof(*grown)) : p->waits;

	if (!grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trace");
	memset(grown + before, 0, (n - before) * sizeof(*grown));
	p->waits = grown;
	return 0;
}

/*
 * Labels of a track and of the spans around @span, the outermost first, behind @before (NULL: nothing). *at is the
 * number of their stack, which weighs @ns more.
 */
static int add_stack(const struct assay_trace *t, struct assay_profile *p, const char *before, size_t track,
		     size_t span, uint64_t ns, size_t *at, struct assay_err *err)
{
	const size_t n = p->stacks.n_stacks;
	char stream[256];
	const char *path[MOST_FRAMES];
	uint32_t frames[MOST_FRAMES + 2];
	struct assay_logged_list list = { .v = frames, .most = MOST_FRAMES + 2 };
	size_t depth = 0;
	int rc = before ? assay_logged_label(&p->stacks, before, &list, err) : 0;

	for (size_t in = span; in != ASSAY_TRACE_NONE && depth < MOST_FRAMES; in = t->spans[in].parent)
		path[depth++] = t->names[t->spans[in].name];
	if (t->tracks[track].gpu)
		snprintf(stream, sizeof(stream), "%s, %s", t->tracks[track].device, t->tracks[track].name);
	if (!rc)
		rc = assay_logged_label(&p->stacks, t->tracks[track].gpu ? stream : t->tracks[track].name, &list, err);
	if (!depth)
		path[depth++] = ASSAY_TRACE_NO_SPAN;
	while (depth && !rc)
		rc = assay_logged_label(&p->stacks, path[--depth], &list, err);
	if (!rc)
		rc = assay_stack_table_put(&p->stacks, list.v, list.n, at, err);
	if (rc)
		return rc;
	p->stacks.stacks[*at].weight += ns;
	p->stacks.weight += ns;
	return grow_waits(p, n, err);
}

/* How often a track was in each of its spans, and how long at most in one of them, of @self_ns of each span. */
static int count_spans(const struct assay_trace *t, struct assay_profile *p, size_t track, const uint64_t *self_ns,
		       struct assay_err *err)
{
	size_t at = 0;
	int rc = 0;

	for (size_t i = 0; i < t->n_spans && !rc; i++) {
		if (t->spans[i].track != track)
			continue;
		rc = add_stack(t, p, NULL, track, i, 0, &at, err);
		if (rc)
			break;
		p->waits[at].waits++;
		if (self_ns[i] > p->waits[at].longest_ns)
			p->waits[at].longest_ns = self_ns[i];
	}
	return rc;
}

static int add_track(const struct assay_trace *t, struct assay_profile *p, size_t track, struct assay_err *err)
{
	struct assay_trace_stretch *v = NULL;
	uint64_t all = 0, *self_ns = calloc(t->n_spans + 1, sizeof(*self_ns));
	size_t n = 0, at = 0;
	int rc = self_ns ? assay_trace_flatten(t, track, &v, &n, err)
			 : assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trace");

	for (size_t i = 0; i < n && !rc; i++) {
		const uint64_t ns = v[i].end_ns - v[i].begin_ns;

		/* between the samples of a case nothing is known, and a stream without work is idle */
		if (v[i].span == ASSAY_TRACE_NONE && (p->is_case || t->tracks[track].gpu))
			continue;
		rc = add_stack(t, p, NULL, track, v[i].span, ns, &at, err);
		all += ns;
		if (v[i].span != ASSAY_TRACE_NONE)
			self_ns[v[i].span] += ns;
	}
	if (!rc)
		rc = count_spans(t, p, track, self_ns, err);
	free(v);
	free(self_ns);
	if (rc || t->tracks[track].gpu)
		return rc;
	snprintf(p->threads[p->n_threads].name, sizeof(p->threads[0].name), "%s", t->tracks[track].name);
	p->threads[p->n_threads++].weight = all;
	return 0;
}

int assay_span_trace_profile(const struct assay_trace *t, struct assay_profile *into, struct assay_err *err)
{
	size_t at = 0;
	int rc = 0;

	snprintf(into->kind, sizeof(into->kind), "trace");
	snprintf(into->unit, sizeof(into->unit), "ns");
	snprintf(into->source, sizeof(into->source), "spans and waiting calls");
	into->overhead_frac = NAN;
	into->threads = calloc(t->n_tracks + 1, sizeof(*into->threads));
	if (!into->threads)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trace");
	for (size_t i = 0; i < t->n_tracks && !rc; i++)
		if (!t->tracks[i].harness)
			rc = add_track(t, into, i, err);
	for (size_t i = 0; i < t->n_path && !rc; i++)
		rc = add_stack(t, into, ASSAY_TRACE_PATH, t->path[i].track, t->path[i].span,
			       t->path[i].end_ns - t->path[i].begin_ns, &at, err);
	return rc;
}
