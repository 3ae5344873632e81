/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in the JSON of Chrome's trace viewer, which Perfetto opens, as "Trace Event Format" (Google, 2016) has it:
 * complete events (X) nest by time on their thread, M names processes and threads, C is a number over time, a pair of s
 * and f is an arrow. Times are µs from the first event.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json_parts.h"
#include "reports/profile/parts.h"

#define HARNESS_PID 1
#define PATH_TID    1000000 /* of the process of the first thread */

struct writing {
	const struct assay_profile *p;
	const struct assay_trace *t;
	struct assay_text *out;
	char **names; /* as JSON strings */
	uint64_t zero_ns;
	bool any;
};

static char *json_text(const char *s)
{
	json_t *v = assay_json_text(s);
	char *text = v ? json_dumps(v, JSON_ENCODE_ANY) : NULL;

	json_decref(v);
	return text;
}

static void begin_event(struct writing *w)
{
	assay_text_add(w->out, w->any ? ",\n" : "\n");
	w->any = true;
}

static unsigned pid_of(const struct writing *w, size_t track)
{
	return HARNESS_PID + (w->t->tracks[track].harness ? 0 : w->t->tracks[track].process);
}

static double us(const struct writing *w, uint64_t ns)
{
	return (double)(ns - w->zero_ns) * 1e-3;
}

static void add_name(struct writing *w, const char *what, unsigned pid, size_t tid, const char *name)
{
	char *text = json_text(name);

	begin_event(w);
	assay_text_addf(w->out, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%zu,\"args\":{\"name\":%s}}", what,
			pid, tid, text ? text : "\"\"");
	w->out->failed |= !text;
	free(text);
}

/* The first track of its process. */
static bool is_first(const struct writing *w, size_t track)
{
	for (size_t i = 0; i < track; i++)
		if (pid_of(w, i) == pid_of(w, track))
			return false;
	return true;
}

static void add_names(struct writing *w)
{
	for (size_t i = 0; i < w->t->n_tracks; i++) {
		const unsigned pid = pid_of(w, i);
		struct assay_text process = { 0 };

		if (is_first(w, i)) {
			if (w->t->tracks[i].gpu)
				assay_text_add(&process, w->t->tracks[i].device);
			else if (pid == HARNESS_PID)
				assay_text_add(&process, "harness");
			else if (w->p->is_case)
				assay_text_add(&process, w->p->what);
			else
				assay_text_addf(&process, "%s (process %u)", w->p->what, pid - HARNESS_PID);
			add_name(w, "process_name", pid, 0, process.s ? process.s : "");
			w->out->failed |= process.failed;
			assay_text_release(&process);
		}
		add_name(w, "thread_name", pid, i + 1, w->t->tracks[i].name);
		begin_event(w);
		assay_text_addf(w->out,
				"{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%u,\"tid\":%zu,"
				"\"args\":{\"sort_index\":%zu}}",
				pid, i + 1, i + 1);
	}
}

static void add_spans(struct writing *w)
{
	for (size_t i = 0; i < w->t->n_spans; i++) {
		const struct assay_trace_span *s = &w->t->spans[i];
		const struct assay_trace_span *parent = s->parent == ASSAY_TRACE_NONE ? NULL : &w->t->spans[s->parent];

		begin_event(w);
		assay_text_addf(w->out,
				"{\"ph\":\"X\",\"name\":%s,\"cat\":\"%s\",\"pid\":%u,\"tid\":%zu,\"ts\":%.3f,"
				"\"dur\":%.3f,\"args\":{\"id\":%zu",
				w->names[s->name], s->wait ? "wait" : "span", pid_of(w, s->track), s->track + 1,
				us(w, s->begin_ns), (double)(s->end_ns - s->begin_ns) * 1e-3, i + 1);
		if (parent)
			assay_text_addf(w->out, ",\"parent\":%zu", s->parent + 1);
		assay_text_add(w->out, "}}");
	}
}

/* From the thread that ended a wait to the one that waited. */
static void add_arrows(struct writing *w)
{
	for (size_t i = 0; i < w->t->n_spans; i++) {
		const struct assay_trace_span *s = &w->t->spans[i];

		if (!s->wait || s->waker == ASSAY_TRACE_NONE || s->waker == s->track)
			continue;
		begin_event(w);
		assay_text_addf(
			w->out,
			"{\"ph\":\"s\",\"id\":%zu,\"name\":\"wakes\",\"cat\":\"wake\",\"pid\":%u,\"tid\":%zu,"
			"\"ts\":%.3f},\n{\"ph\":\"f\",\"bp\":\"e\",\"id\":%zu,\"name\":\"wakes\",\"cat\":\"wake\","
			"\"pid\":%u,\"tid\":%zu,\"ts\":%.3f}",
			i + 1, pid_of(w, s->waker), s->waker + 1, us(w, s->end_ns), i + 1, pid_of(w, s->track),
			s->track + 1, us(w, s->end_ns));
	}
}

static void add_counts(struct writing *w)
{
	for (size_t i = 0; i < w->t->n_counts; i++) {
		const struct assay_trace_count *c = &w->t->counts[i];

		begin_event(w);
		assay_text_addf(w->out,
				"{\"ph\":\"C\",\"name\":%s,\"pid\":%u,\"tid\":0,\"ts\":%.3f,\"args\":{\"bytes\":%.0f}}",
				w->names[c->name], HARNESS_PID + c->process, us(w, c->at_ns), c->value);
	}
}

static void add_path(struct writing *w)
{
	const struct assay_trace *t = w->t;
	const unsigned pid = t->n_path ? pid_of(w, t->path[0].track) : 0;

	if (!t->n_path)
		return;
	add_name(w, "thread_name", pid, PATH_TID, "critical path");
	for (size_t i = 0; i < t->n_path; i++) {
		const struct assay_trace_part *x = &t->path[i];
		const size_t name = x->span == ASSAY_TRACE_NONE ? 0 : t->spans[x->span].name;

		begin_event(w);
		assay_text_addf(
			w->out,
			"{\"ph\":\"X\",\"name\":%s,\"cat\":\"path\",\"pid\":%u,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,"
			"\"args\":{\"thread\":%zu}}",
			x->span == ASSAY_TRACE_NONE ? "\"in no span\"" : w->names[name], pid, PATH_TID,
			us(w, x->begin_ns), (double)(x->end_ns - x->begin_ns) * 1e-3, x->track + 1);
	}
}

static uint64_t first_ns(const struct assay_trace *t)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < t->n_spans; i++)
		least = t->spans[i].begin_ns < least ? t->spans[i].begin_ns : least;
	for (size_t i = 0; i < t->n_counts; i++)
		least = t->counts[i].at_ns < least ? t->counts[i].at_ns : least;
	for (size_t i = 0; i < t->n_path; i++)
		least = t->path[i].begin_ns < least ? t->path[i].begin_ns : least;
	return least;
}

static void profile_trace(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_trace *t = &r->profile.p->trace;
	struct writing w = { .p = r->profile.p, .t = t, .out = out, .zero_ns = first_ns(t) };
	bool named = true;

	(void)style;
	w.names = calloc(t->n_names + 1, sizeof(*w.names));
	for (size_t i = 0; w.names && i < t->n_names; i++) {
		w.names[i] = json_text(t->names[i]);
		named &= w.names[i] != NULL;
	}
	if (w.names && named) {
		assay_text_add(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
		add_names(&w);
		add_spans(&w);
		add_arrows(&w);
		add_counts(&w);
		add_path(&w);
		assay_text_add(out, "\n]}\n");
	}
	out->failed |= !w.names || !named;
	for (size_t i = 0; w.names && i < t->n_names; i++)
		free(w.names[i]);
	free(w.names);
}

ASSAY_EMITTER(profile_trace, ASSAY_REPORT_PROFILE, "trace", profile_trace);
