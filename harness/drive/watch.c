/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/watch.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

void assay_watch_tell(const struct assay_watch *w, const struct assay_event *e)
{
	if (w->event)
		w->event(w->arg, e);
}

void assay_watch_warn(const struct assay_watch *w, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_WARNING, .text = text });
}

int assay_watch_check(const struct assay_watch *w, struct assay_err *err)
{
	return w->interrupted && *w->interrupted ? assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted") : 0;
}

/* Who reads the database has the rest: the run, its results. */
static const char *const names[] = {
	[ASSAY_EVENT_WARNING] = "warning", [ASSAY_EVENT_BUILDING] = "building", [ASSAY_EVENT_LOG] = "log",
	[ASSAY_EVENT_HEAD] = "head",       [ASSAY_EVENT_CASES] = "cases",       [ASSAY_EVENT_ROUND] = "round",
	[ASSAY_EVENT_CASE] = "case",       [ASSAY_EVENT_NOTE] = "note",         [ASSAY_EVENT_PART] = "part",
	[ASSAY_EVENT_SPAN] = "span",       [ASSAY_EVENT_SHARE] = "share",       [ASSAY_EVENT_DONE] = "done",
	[ASSAY_EVENT_READY] = "ready",     [ASSAY_EVENT_FAILED] = "failed",
};

/* The newest sample and, of this process alone, the median and its interval, which tells when to stop. */
static void add_so_far(json_t *o, const struct assay_result *r)
{
	const struct assay_sample *s = &r->samples[r->n_samples - 1];

	json_object_set_new(o, "samples", json_integer((json_int_t)r->n_samples));
	if (s->iterations)
		json_object_set_new(o, "sample_ns", json_real((double)s->ns / (double)s->iterations));
	if (r->median_ns > 0)
		json_object_set_new(o, "median_ns", json_real(r->median_ns));
	if (r->ci95_hi_ns > 0)
		json_object_set_new(o, "ci95_ns", json_pack("[f,f]", r->ci95_lo_ns, r->ci95_hi_ns));
}

char *assay_event_line(const struct assay_event *e, const struct assay_case *cases, size_t n_cases)
{
	json_t *o = names[e->kind] ? json_pack("{s:s}", "event", names[e->kind]) : NULL;
	char *line;

	if (!o)
		return NULL;
	if (e->text)
		json_object_set_new(o, "text", json_string(e->text));
	switch (e->kind) {
	case ASSAY_EVENT_CASES:
		json_object_set_new(o, "n", json_integer((json_int_t)e->n_cases));
		json_object_set_new(o, "rounds", json_integer(e->rounds));
		break;
	case ASSAY_EVENT_ROUND:
		json_object_set_new(o, "round", json_integer(e->round));
		break;
	case ASSAY_EVENT_CASE:
		json_object_set_new(o, "at", json_integer((json_int_t)e->at));
		json_object_set_new(o, "n", json_integer((json_int_t)n_cases));
		if (e->at < n_cases)
			json_object_set_new(o, "case", json_string(cases[e->at].key));
		break;
	case ASSAY_EVENT_FAILED:
		json_object_set_new(o, "code", json_integer(e->code));
		break;
	case ASSAY_EVENT_SPAN:
		json_object_set_new(o, "expected_s", json_real(e->expected_ns * 1e-9));
		break;
	case ASSAY_EVENT_PART:
	case ASSAY_EVENT_SHARE:
		/* the last round may take longer than was planned */
		json_object_set_new(o, "done_frac", json_real(e->done_frac < 1 ? e->done_frac : 1));
		if (e->so_far && e->so_far->n_samples)
			add_so_far(o, e->so_far);
		break;
	default:
		break;
	}
	line = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	return line;
}
