/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bar with the time left. Cases count by the time they are expected to take; the estimate is corrected by how long
 * those that are done have really taken.
 */
#include "cli/progress.h"

#include <langinfo.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/text.h"

/* Starting a worker, making inputs, checking: what a case takes beside its sampling, before anything is known. */
#define SETUP_NS 0.4e9
/* A case that takes turns with what bounds it, mostly one or two limits: times what it takes alone. */
#define IN_TURN_TIMES 3
#define REDRAW_NS     100000000u
/* A task that is over in two seconds needs no bar. */
#define WORTH_NS 2e9

static double times(const struct assay_progress *p, size_t i)
{
	return p->in_turn && p->in_turn[i] ? IN_TURN_TIMES : 1;
}

/* Of case @i in one round. */
static double weight(const struct assay_progress *p, size_t i)
{
	if (p->cases[i].skip_reason[0] || (p->wanted && !p->wanted[i]))
		return 0;
	return times(p, i) * (SETUP_NS + (p->rounds ? 1.2 * (double)p->cases[i].budget_ns / p->rounds : 0));
}

static double weight_of_round(const struct assay_progress *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n; i++)
		sum += weight(p, i);
	return sum;
}

static void expect(struct assay_progress *p, double total)
{
	p->total = total;
	p->on = isatty(STDERR_FILENO) && p->total > WORTH_NS;
}

void assay_progress_begin(struct assay_progress *p, const struct assay_case *cases, size_t n, unsigned rounds)
{
	*p = (struct assay_progress){
		.rounds = rounds, .round = 1, .cases = cases, .n = n, .began_ns = assay_monotonic_ns()
	};
	expect(p, weight_of_round(p) * (rounds ? rounds : 1));
}

void assay_progress_in_turn(struct assay_progress *p, const bool *in_turn)
{
	p->in_turn = in_turn;
	expect(p, weight_of_round(p) * (p->rounds ? p->rounds : 1));
}

static unsigned columns(void)
{
	struct winsize ws;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col ? ws.ws_col : 80;
}

/* @head stands between bar and label. */
static void draw_bar(double share, const char *head, const char *label)
{
	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	unsigned width = columns(), cells = 24, full = (unsigned)(cells * share);
	char bar[24 * 3 + 1] = "", shown[512];
	int used = (int)(cells + strlen(head));

	for (unsigned i = 0; i < cells; i++)
		strcat(bar, i < full ? (utf8 ? "█" : "#") : (utf8 ? "░" : "."));
	snprintf(shown, sizeof(shown), "%.*s", (int)width > used + 4 ? (int)width - used - 4 : 0, label);
	assay_printable_line(shown, sizeof(shown));
	fprintf(stderr, "\r%s%s%s\033[K", bar, head, shown);
	fflush(stderr);
}

static void draw(struct assay_progress *p, double part)
{
	double done = p->done + part * weight(p, p->at);
	double elapsed = (double)(assay_monotonic_ns() - p->began_ns);
	/* the first tenth is too little to learn from */
	double left = (p->total - done) * (done > p->total / 10 ? elapsed / done : 1) * 1e-9;
	char head[160], round[48] = "";

	if (p->rounds > 1)
		snprintf(round, sizeof(round), "round %u/%u, ", p->round, p->rounds);
	snprintf(head, sizeof(head), " %s%zu/%zu  %u:%02u left  ", round, p->at + 1, p->n, (unsigned)left / 60,
		 (unsigned)left % 60);
	draw_bar(p->total > 0 ? done / p->total : 0, head, p->cases[p->at].key);
}

void assay_progress_round(struct assay_progress *p, unsigned round, const bool *wanted)
{
	/* the rounds before are over, and those to come are like this one */
	for (; p->at < p->n; p->at++)
		p->done += weight(p, p->at);
	p->wanted = wanted;
	p->round = round;
	p->at = 0;
	p->total = p->done + weight_of_round(p) * (p->rounds - round + 1);
}

void assay_progress_begin_for(struct assay_progress *p, double expected_ns)
{
	*p = (struct assay_progress){ .began_ns = assay_monotonic_ns() };
	expect(p, expected_ns);
}

void assay_progress_show(struct assay_progress *p, double done_frac, const char *label)
{
	uint64_t t = assay_monotonic_ns();
	double elapsed = (double)(t - p->began_ns), left;
	char head[160];
	bool learnt;

	/* what was thought to be over soon and is not */
	if (!p->on && (double)(t - p->began_ns) > WORTH_NS)
		p->on = isatty(STDERR_FILENO);
	if (!p->on || t - p->drawn_ns < REDRAW_NS)
		return;
	p->drawn_ns = t;
	/* what is known by now tells more than a guess that did not hold */
	learnt = done_frac > 0.1 || (done_frac > 0 && elapsed > p->total);
	left = (learnt ? elapsed * (1 - done_frac) / done_frac : p->total * (1 - done_frac)) * 1e-9;
	snprintf(head, sizeof(head), " %3.0f %%  %u:%02u left  ", 100 * done_frac, (unsigned)left / 60,
		 (unsigned)left % 60);
	draw_bar(done_frac, head, label);
}

void assay_progress_case(struct assay_progress *p, size_t i)
{
	if (!p->on)
		return;
	for (; p->at < i; p->at++)
		p->done += weight(p, p->at);
	p->drawn_ns = assay_monotonic_ns();
	draw(p, 0);
}

void assay_progress_part(struct assay_progress *p, double part)
{
	uint64_t t = assay_monotonic_ns();

	if (!p->on || t - p->drawn_ns < REDRAW_NS)
		return;
	p->drawn_ns = t;
	draw(p, (part < 0 ? 0 : part > 1 ? 1 : part) / times(p, p->at));
}

void assay_progress_hide(struct assay_progress *p)
{
	if (p->on) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
}
