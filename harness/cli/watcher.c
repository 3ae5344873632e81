/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/watcher.h"

#include <stdio.h>

#include "cli/cli.h"
#include "cli/interrupt.h"

static void warn(struct assay_watcher *w, const char *text)
{
	if (w->hold && !assay_strings_add(&w->late, text, NULL))
		return;
	if (w->busy)
		assay_progress_hide(&w->progress);
	assay_cli_warn("%s", text);
}

static void show_head(const struct assay_watcher *w, const struct assay_run *run)
{
	const struct assay_report r = { .kind = ASSAY_REPORT_RUN, .run = { .run = run } };
	struct assay_text head = { 0 };

	if (w->show_head && !assay_emit(&r, "header", &w->style, &head, NULL)) {
		assay_cli_put(&head);
		fflush(stdout);
	}
	assay_text_release(&head);
}

static void on_event(void *arg, const struct assay_event *e)
{
	struct assay_watcher *w = arg;

	if (e->kind == ASSAY_EVENT_BUILDING || e->kind == ASSAY_EVENT_CASES || e->kind == ASSAY_EVENT_SPAN)
		assay_interrupt_catch();
	switch (e->kind) {
	case ASSAY_EVENT_WARNING:
		warn(w, e->text);
		break;
	case ASSAY_EVENT_BUILDING:
		fprintf(stderr, "assay: %s\n", e->text);
		break;
	case ASSAY_EVENT_LOG:
		fprintf(stderr, "%s\n", e->text);
		break;
	case ASSAY_EVENT_RUN:
		show_head(w, e->run);
		break;
	case ASSAY_EVENT_CASES:
		w->busy = true;
		assay_progress_begin(&w->progress, e->cases, e->n_cases, e->rounds);
		if (e->in_turn)
			assay_progress_in_turn(&w->progress, e->in_turn);
		break;
	case ASSAY_EVENT_ROUND:
		assay_progress_round(&w->progress, e->round, e->wanted);
		break;
	case ASSAY_EVENT_CASE:
		assay_progress_case(&w->progress, e->at);
		break;
	case ASSAY_EVENT_PART:
		assay_progress_part(&w->progress, e->done_frac);
		break;
	case ASSAY_EVENT_SPAN:
		w->busy = true;
		assay_progress_begin_for(&w->progress, e->expected_ns);
		break;
	case ASSAY_EVENT_SHARE:
		assay_progress_show(&w->progress, e->done_frac, e->text);
		break;
	case ASSAY_EVENT_DONE:
		w->busy = false;
		assay_progress_hide(&w->progress);
		break;
	}
}

void assay_watcher_begin(struct assay_watcher *w)
{
	*w = (struct assay_watcher){ .style = assay_cli_style() };
	w->watch = (struct assay_watch){ .event = on_event, .arg = w, .interrupted = assay_interrupt_flag() };
}

void assay_watcher_end(struct assay_watcher *w)
{
	assay_interrupt_release();
	for (size_t i = 0; i < w->late.n; i++)
		assay_cli_warn("%s", w->late.v[i]);
	assay_strings_release(&w->late);
}
