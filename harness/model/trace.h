/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of threads in order of time: spans that nest, waits among them, numbers over time, the critical path. */
#ifndef ASSAY_MODEL_TRACE_H
#define ASSAY_MODEL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ASSAY_TRACE_NONE SIZE_MAX

/* A thread, the harness itself, or a stream of a GPU. */
struct assay_trace_track {
	char name[64];
	unsigned process; /* tracks of one process, or of one GPU, have one number */
	bool harness, gpu;
	char device[160]; /* of a stream: what its GPU is called */
};

/* Times are ns of CLOCK_MONOTONIC. A span lies within its parent, or does not meet it. */
struct assay_trace_span {
	size_t track;
	size_t name; /* of the trace's names */
	uint64_t begin_ns, end_ns;
	bool wait;
	size_t waker;  /* track that ended the wait; ASSAY_TRACE_NONE: not known */
	size_t parent; /* span that it lies in directly; ASSAY_TRACE_NONE: none */
};

/* A number from this moment on. */
struct assay_trace_count {
	size_t name;
	unsigned process;
	uint64_t at_ns;
	double value;
};

/* A stretch of the critical path: on a track, in a span (ASSAY_TRACE_NONE: in none). They follow each other. */
struct assay_trace_part {
	size_t track, span;
	uint64_t begin_ns, end_ns;
};

/* All-zero is empty. */
struct assay_trace {
	char **names;
	size_t n_names;
	struct assay_trace_track *tracks;
	size_t n_tracks;
	struct assay_trace_span *spans;
	size_t n_spans;
	struct assay_trace_count *counts;
	size_t n_counts;
	struct assay_trace_part *path;
	size_t n_path;
};

void assay_trace_release(struct assay_trace *t);
/* The number of @name, which is added where there is none. */
int assay_trace_name(struct assay_trace *t, const char *name, size_t *out, struct assay_err *err);
int assay_trace_add_track(struct assay_trace *t, const struct assay_trace_track *track, struct assay_err *err);
int assay_trace_add_span(struct assay_trace *t, const struct assay_trace_span *span, struct assay_err *err);
int assay_trace_add_count(struct assay_trace *t, const struct assay_trace_count *count, struct assay_err *err);

/*
 * Sort all spans by track and beginning, and find their parents. One that leaves its parent, as clocks of two cores may
 * have it, is cut there.
 */
void assay_trace_nest(struct assay_trace *t);

/* A stretch of a track in one span, or in none; they cover the track without a gap from its first span to its last. */
struct assay_trace_stretch {
	size_t span;
	uint64_t begin_ns, end_ns;
};
/* Those of @track, of a trace that is nested. *out is malloc'ed. */
int assay_trace_flatten(const struct assay_trace *t, size_t track, struct assay_trace_stretch **out, size_t *n,
			struct assay_err *err);

struct assay_trace_window {
	uint64_t begin_ns, end_ns;
};
/*
 * The critical path of each of the @n windows, which end on @track: backwards, through each wait to the thread that
 * ended it. A wait that nobody is known to have ended is part of it. Parts add up to the time of the windows.
 */
int assay_trace_find_path(struct assay_trace *t, size_t track, const struct assay_trace_window *v, size_t n,
			  struct assay_err *err);

#endif
