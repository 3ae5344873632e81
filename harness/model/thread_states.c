/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "model/profile.h"

static const struct {
	const char *name, *label;
} states[ASSAY_N_THREAD_STATES] = {
	[ASSAY_STATE_RUNNING] = { "running", "running" },
	[ASSAY_STATE_WAITING] = { "waiting at a barrier", "waiting: " },
	[ASSAY_STATE_BLOCKED] = { "blocked", "blocked: " },
	[ASSAY_STATE_READY] = { "ready", "ready, without a processor" },
};

const char *assay_thread_state_name(enum assay_thread_state s)
{
	return states[s].name;
}

void assay_thread_state_label(enum assay_thread_state s, const char *call, char *buf, size_t size)
{
	const bool has_call = s == ASSAY_STATE_WAITING || s == ASSAY_STATE_BLOCKED;

	snprintf(buf, size, "%s%s", states[s].label, has_call ? call : "");
}

static const struct assay_frame *frame(const struct assay_profile *p, const struct assay_stack *s, uint32_t at)
{
	return &p->stacks.frames[p->stacks.order[s->first + at]];
}

/* The state of @s; false where it has none. */
static bool state_of(const struct assay_profile *p, const struct assay_stack *s, enum assay_thread_state *state)
{
	for (unsigned i = 0; s->n > 1 && i < ASSAY_N_THREAD_STATES; i++)
		if (!strncmp(frame(p, s, 1)->name, states[i].label, strlen(states[i].label))) {
			*state = i;
			return true;
		}
	return false;
}

bool assay_thread_slept(const struct assay_thread_account *a)
{
	const double wall = (double)a->wall_ns, had = wall - (double)a->ns[ASSAY_STATE_READY];

	return (double)a->ns[ASSAY_STATE_RUNNING] < 0.002 * wall && had > 0.5 * wall &&
	       (double)a->ns[ASSAY_STATE_BLOCKED] > 0.9 * had;
}

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the threads of a profile");
}

int assay_thread_accounts(const struct assay_profile *p, struct assay_thread_account **out, size_t *n,
			  struct assay_err *err)
{
	struct assay_thread_account *v = calloc(p->n_threads + 1, sizeof(*v));

	if (!v)
		return no_memory(err);
	for (size_t i = 0; i < p->n_threads; i++)
		v[i].name = p->threads[i].name;
	for (size_t k = 0; k < p->stacks.n_stacks; k++) {
		const struct assay_stack *s = &p->stacks.stacks[k];
		enum assay_thread_state state;

		if (!state_of(p, s, &state))
			continue;
		for (size_t i = 0; i < p->n_threads; i++)
			if (!strcmp(v[i].name, frame(p, s, 0)->name)) {
				v[i].ns[state] += s->weight;
				v[i].wall_ns += s->weight;
			}
	}
	*out = v;
	*n = p->n_threads;
	return 0;
}

struct assay_thread_efficiency assay_thread_efficiency(const struct assay_thread_account *v, size_t n)
{
	struct assay_thread_efficiency e = { NAN, NAN, NAN, NAN };
	double sum = 0, most = 0, ready = 0, wall = 0;

	for (size_t i = 0; i < n; i++) {
		const double useful = (double)v[i].ns[ASSAY_STATE_RUNNING];

		sum += useful;
		wall = fmax(wall, (double)v[i].wall_ns);
		if (useful > most) {
			most = useful;
			ready = (double)v[i].ns[ASSAY_STATE_READY];
		}
	}
	if (most > 0 && wall > ready) {
		e.load_balance = sum / (double)n / most;
		e.serialisation = most / (wall - ready);
		e.scheduling = (wall - ready) / wall;
		e.parallel = e.load_balance * e.serialisation * e.scheduling;
	}
	return e;
}

static bool same_place(const struct assay_profile *p, const struct assay_stack *a, const struct assay_stack *b)
{
	return a->n == b->n && !memcmp(&p->stacks.order[a->first + 1], &p->stacks.order[b->first + 1],
				       (a->n - 1) * sizeof(p->stacks.order[0]));
}

static int by_ns(const void *a, const void *b)
{
	const struct assay_thread_wait *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->stack->first < y->stack->first ? -1 : 1;
}

int assay_thread_waits(const struct assay_profile *p, struct assay_thread_wait **out, size_t *n, struct assay_err *err)
{
	struct assay_thread_wait *v = NULL;
	size_t found = 0;

	for (size_t k = 0; k < p->stacks.n_stacks; k++) {
		const struct assay_stack *s = &p->stacks.stacks[k];
		const struct assay_wait_count *c = p->waits ? &p->waits[k] : NULL;
		enum assay_thread_state state;
		size_t i = 0;

		if (!s->weight || !state_of(p, s, &state) ||
		    (state != ASSAY_STATE_WAITING && state != ASSAY_STATE_BLOCKED))
			continue;
		while (i < found && !same_place(p, v[i].stack, s))
			i++;
		if (i == found) {
			if (assay_grow(&v, found, sizeof(*v))) {
				free(v);
				return no_memory(err);
			}
			v[found++] = (struct assay_thread_wait){ .stack = s, .meets = state == ASSAY_STATE_WAITING };
		}
		v[i].ns += s->weight;
		v[i].threads++;
		v[i].waits += c ? c->waits : 0;
		v[i].longest_ns = c && c->longest_ns > v[i].longest_ns ? c->longest_ns : v[i].longest_ns;
	}
	if (found)
		qsort(v, found, sizeof(*v), by_ns);
	*out = v;
	*n = found;
	return 0;
}

const char *assay_thread_wait_call(const struct assay_profile *p, const struct assay_thread_wait *w)
{
	return frame(p, w->stack, 1)->name + strlen(states[w->meets ? ASSAY_STATE_WAITING : ASSAY_STATE_BLOCKED].label);
}

/* ---- trace states ---- */

/* ---- a trace as stacks ---- */

bool assay_trace_on_path(const struct assay_profile *p, const struct assay_stack *s)
{
	return s->n > 2 && !strcmp(frame(p, s, 0)->name, ASSAY_TRACE_PATH);
}

static int by_path(const void *a, const void *b)
{
	const struct assay_trace_share *x = a, *y = b;

	if (x->path_ns != y->path_ns)
		return x->path_ns < y->path_ns ? 1 : -1;
	if (x->self_ns != y->self_ns)
		return x->self_ns < y->self_ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static struct assay_trace_share *find(struct assay_trace_share *v, size_t *n, const char *name)
{
	for (size_t i = 0; i < *n; i++)
		if (!strcmp(v[i].name, name))
			return &v[i];
	v[*n].name = name;
	return &v[(*n)++];
}

/* Is the frame at @at the outermost of its name? */
static bool is_first(const struct assay_profile *p, const struct assay_stack *s, uint32_t from, uint32_t at)
{
	for (uint32_t i = from; i < at; i++)
		if (!strcmp(frame(p, s, i)->name, frame(p, s, at)->name))
			return false;
	return true;
}

int assay_trace_shares(const struct assay_profile *p, struct assay_trace_share **out, size_t *n, uint64_t *path_ns,
		       struct assay_err *err)
{
	struct assay_trace_share *v = calloc(p->stacks.n_frames + 1, sizeof(*v));

	*n = 0;
	*path_ns = 0;
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a trace");
	for (size_t k = 0; k < p->stacks.n_stacks; k++) {
		const struct assay_stack *s = &p->stacks.stacks[k];
		const bool path = assay_trace_on_path(p, s);
		const uint32_t from = path ? 2 : 1;

		*path_ns += path ? s->weight : 0;
		for (uint32_t i = from; i < s->n; i++) {
			struct assay_trace_share *x = find(v, n, frame(p, s, i)->name);
			const bool last = i + 1 == s->n;

			*(path ? &x->path_ns : &x->self_ns) += last ? s->weight : 0;
			x->times += last && !path && p->waits ? p->waits[k].waits : 0;
			*(path ? &x->path_total_ns : &x->total_ns) += is_first(p, s, from, i) ? s->weight : 0;
		}
	}
	if (*n)
		qsort(v, *n, sizeof(*v), by_path);
	*out = v;
	return 0;
}

uint64_t assay_trace_path_of(const struct assay_profile *p, const char *name)
{
	uint64_t ns = 0;

	for (size_t k = 0; k < p->stacks.n_stacks; k++)
		if (assay_trace_on_path(p, &p->stacks.stacks[k]) &&
		    !strcmp(frame(p, &p->stacks.stacks[k], 1)->name, name))
			ns += p->stacks.stacks[k].weight;
	return ns;
}
