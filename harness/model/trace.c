/* SPDX-License-Identifier: Apache-2.0 */
#include "model/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"

#define MOST_DEPTH 128

void assay_trace_release(struct assay_trace *t)
{
	for (size_t i = 0; i < t->n_names; i++)
		free(t->names[i]);
	free(t->names);
	free(t->tracks);
	free(t->spans);
	free(t->counts);
	free(t->path);
	*t = (struct assay_trace){ 0 };
}

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trace");
}

static bool find_name(const struct assay_trace *t, const char *name, size_t *out)
{
	for (*out = 0; *out < t->n_names; ++*out)
		if (!strcmp(t->names[*out], name))
			return true;
	return false;
}

int assay_trace_name(struct assay_trace *t, const char *name, size_t *out, struct assay_err *err)
{
	char *copy;

	if (find_name(t, name, out))
		return 0;
	copy = strdup(name);
	if (copy)
		assay_printable_line(copy, strlen(copy) + 1);
	if (copy && find_name(t, copy, out)) {
		free(copy);
		return 0;
	}
	if (!copy || assay_grow(&t->names, t->n_names, sizeof(*t->names))) {
		free(copy);
		return no_memory(err);
	}
	t->names[t->n_names++] = copy;
	return 0;
}

int assay_trace_add_track(struct assay_trace *t, const struct assay_trace_track *track, struct assay_err *err)
{
	if (assay_grow(&t->tracks, t->n_tracks, sizeof(*t->tracks)))
		return no_memory(err);
	t->tracks[t->n_tracks++] = *track;
	return 0;
}

int assay_trace_add_span(struct assay_trace *t, const struct assay_trace_span *span, struct assay_err *err)
{
	if (assay_grow(&t->spans, t->n_spans, sizeof(*t->spans)))
		return no_memory(err);
	t->spans[t->n_spans++] = *span;
	return 0;
}

int assay_trace_add_count(struct assay_trace *t, const struct assay_trace_count *count, struct assay_err *err)
{
	if (assay_grow(&t->counts, t->n_counts, sizeof(*t->counts)))
		return no_memory(err);
	t->counts[t->n_counts++] = *count;
	return 0;
}

/* ---- nesting ---------------------------------------------------------------------------------------------------- */

/* Of spans that begin together, each lies within the one that ends last; a wait lies in a span of the same time. */
static int by_track_and_time(const void *a, const void *b)
{
	const struct assay_trace_span *x = a, *y = b;

	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return (int)x->wait - (int)y->wait;
}

void assay_trace_nest(struct assay_trace *t)
{
	size_t open[MOST_DEPTH], depth = 0;

	if (t->n_spans)
		qsort(t->spans, t->n_spans, sizeof(*t->spans), by_track_and_time);
	for (size_t i = 0; i < t->n_spans; i++) {
		struct assay_trace_span *s = &t->spans[i];

		while (depth &&
		       (t->spans[open[depth - 1]].track != s->track || t->spans[open[depth - 1]].end_ns <= s->begin_ns))
			depth--;
		s->parent = depth ? open[depth - 1] : ASSAY_TRACE_NONE;
		if (depth && s->end_ns > t->spans[s->parent].end_ns)
			s->end_ns = t->spans[s->parent].end_ns;
		if (depth < MOST_DEPTH)
			open[depth++] = i;
	}
}

/* ---- stretches -------------------------------------------------------------------------------------------------- */

struct flattening {
	struct assay_trace_stretch *v;
	size_t n;
	bool failed;
};

static void add_stretch(struct flattening *f, size_t span, uint64_t begin_ns, uint64_t end_ns)
{
	if (end_ns <= begin_ns || f->failed)
		return;
	if (assay_grow(&f->v, f->n, sizeof(*f->v))) {
		f->failed = true;
		return;
	}
	f->v[f->n++] = (struct assay_trace_stretch){ span, begin_ns, end_ns };
}

/* Leave all spans that end by @until_ns, from the innermost on. */
static size_t leave(const struct assay_trace *t, struct flattening *f, size_t at, uint64_t until_ns, uint64_t *now_ns)
{
	while (at != ASSAY_TRACE_NONE && t->spans[at].end_ns <= until_ns) {
		add_stretch(f, at, *now_ns, t->spans[at].end_ns);
		*now_ns = t->spans[at].end_ns > *now_ns ? t->spans[at].end_ns : *now_ns;
		at = t->spans[at].parent;
	}
	return at;
}

int assay_trace_flatten(const struct assay_trace *t, size_t track, struct assay_trace_stretch **out, size_t *n,
			struct assay_err *err)
{
	struct flattening f = { .n = 0 };
	size_t at = ASSAY_TRACE_NONE;
	uint64_t now_ns = 0;

	for (size_t i = 0; i < t->n_spans; i++) {
		const struct assay_trace_span *s = &t->spans[i];

		if (s->track != track)
			continue;
		now_ns = now_ns ? now_ns : s->begin_ns;
		at = leave(t, &f, at, s->begin_ns, &now_ns);
		add_stretch(&f, at, now_ns, s->begin_ns);
		now_ns = s->begin_ns > now_ns ? s->begin_ns : now_ns;
		at = i;
	}
	leave(t, &f, at, UINT64_MAX, &now_ns);
	*out = f.v;
	*n = f.n;
	return f.failed ? no_memory(err) : 0;
}

/* ---- the critical path ------------------------------------------------------------------------------------------ */

struct walk {
	struct assay_trace *t;
	struct assay_trace_stretch **tracks;
	size_t *n;
	struct assay_err *err;
};

/* The last stretch of @track that begins before @at_ns; NULL: none. */
static const struct assay_trace_stretch *before(const struct walk *w, size_t track, uint64_t at_ns)
{
	size_t lo = 0, hi = w->n[track];

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (w->tracks[track][mid].begin_ns < at_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &w->tracks[track][lo - 1] : NULL;
}

static int add_part(struct walk *w, size_t track, size_t span, uint64_t begin_ns, uint64_t end_ns)
{
	struct assay_trace *t = w->t;

	if (assay_grow(&t->path, t->n_path, sizeof(*t->path)))
		return no_memory(w->err);
	t->path[t->n_path++] = (struct assay_trace_part){ track, span, begin_ns, end_ns };
	return 0;
}

/* Whether the waker of a wait until @now was there in it: who joins a thread that is long gone waits for nobody. */
static bool waker_was_there(const struct walk *w, const struct assay_trace_span *wait, uint64_t now)
{
	const struct assay_trace_stretch *s = before(w, wait->waker, now);

	return s && s->end_ns > wait->begin_ns;
}

/*
 * Whoever ended a wait was at work at its end. Where all that are asked wait themselves, as clocks and wakers that are
 * out of date may have it, the wait is part of the path.
 */
static int walk(struct walk *w, size_t first, uint64_t begin_ns, uint64_t end_ns)
{
	size_t track = first;
	size_t asked = 0;
	uint64_t now = end_ns;
	int rc = 0;

	while (now > begin_ns && !rc) {
		const struct assay_trace_stretch *s = before(w, track, now);
		const struct assay_trace_span *in =
			s && s->end_ns >= now && s->span != ASSAY_TRACE_NONE ? &w->t->spans[s->span] : NULL;
		uint64_t from = !s ? begin_ns : s->end_ns < now ? s->end_ns : s->begin_ns;

		if (in && in->wait && in->waker != ASSAY_TRACE_NONE && in->waker != track && asked < w->t->n_tracks &&
		    waker_was_there(w, in, now)) {
			track = in->waker;
			asked++;
			continue;
		}
		if (!s && track != first) { /* what led to a thread's beginning was elsewhere */
			track = first;
			continue;
		}
		from = from > begin_ns ? from : begin_ns;
		rc = add_part(w, track, in ? s->span : ASSAY_TRACE_NONE, from, now);
		now = from;
		asked = 0;
	}
	return rc;
}

/* It was walked from the end. */
static void turn(struct assay_trace_part *v, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		const struct assay_trace_part swap = v[i];

		v[i] = v[--n];
		v[n] = swap;
	}
}

int assay_trace_find_path(struct assay_trace *t, size_t track, const struct assay_trace_window *v, size_t n,
			  struct assay_err *err)
{
	struct walk w = { .t = t, .err = err };
	int rc = 0;

	w.tracks = calloc(t->n_tracks + 1, sizeof(*w.tracks));
	w.n = calloc(t->n_tracks + 1, sizeof(*w.n));
	if (!w.tracks || !w.n)
		rc = no_memory(err);
	for (size_t i = 0; i < t->n_tracks && !rc; i++)
		rc = assay_trace_flatten(t, i, &w.tracks[i], &w.n[i], err);
	for (size_t i = 0; i < n && !rc; i++) {
		const size_t first = t->n_path;

		rc = walk(&w, track, v[i].begin_ns, v[i].end_ns);
		turn(t->path + first, t->n_path - first);
	}
	for (size_t i = 0; w.tracks && i < t->n_tracks; i++)
		free(w.tracks[i]);
	free(w.tracks);
	free(w.n);
	return rc;
}
