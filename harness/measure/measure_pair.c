/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process pair from start to end. Both sides prepare and verify one after the other; from the warm-up on they only ever
 * run in turn, in the order and with the hand-over that the samples will have.
 */
#include "measure/measure_pair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay/random.h"
#include "measure/iterations.h"
#include "measure/measure_counters.h"
#include "stats/stats.h"
#include "worker/worker.h"

#define WARMUP_BLOCKS 8
#define WARMUP_TOLERANCE_FRAC 0.01
#define HAND_OVER_NS 20000.0 /* of a turn, both ways, generously: only to divide the time into blocks */
#define MIN_BLOCKS 2
#define MAX_BLOCKS (ASSAY_PAGE_SAMPLES / 2)
#define INJECTED_SAMPLE_NS 400000.0
#define OWN_METRICS 7 /* those of cost_metrics() and keep_metrics() */

struct pair_session {
	const struct assay_measure_options *o;
	const struct assay_pair_options *po;
	const struct assay_case *c;
	const struct assay_case_facts *facts;
	struct assay_pair *p;
	struct assay_err *err;
	struct assay_worker *w[2];
	struct assay_counter_choice choice;
	bool counting; /* in the samples that are kept */
	double sample_ns;
	double stretch_frac; /* of the head's samples */
};

/* 0: go on; 1: a side is over, its status is set; negative: the harness cannot go on. */
static int side_command(struct pair_session *s, int side, enum assay_command cmd, const struct assay_worker_args *args)
{
	struct assay_pair_side *ps = &s->p->side[side];
	int rc = assay_worker_call(s->w[side], cmd, args, &ps->status, ps->reason, sizeof(ps->reason), s->err);

	return rc ? rc : ps->status != ASSAY_STATUS_OK;
}

static int both_command(struct pair_session *s, enum assay_command cmd)
{
	int rc = side_command(s, ASSAY_BASE, cmd, NULL);

	return rc ? rc : side_command(s, ASSAY_HEAD, cmd, NULL);
}

/* Let both take @blocks blocks in turn. */
static int take_turns(struct pair_session *s, uint32_t blocks, uint64_t order_seed)
{
	struct assay_worker_args args[2];
	int rc = 0;

	for (int i = 0; i < 2; i++) {
		args[i] = (struct assay_worker_args){ .iterations = s->p->iterations, .count = blocks, .order_seed = order_seed,
						      .counting = s->counting,
						      .extra_iterations = s->p->extra_iterations[i],
						      .stretch_frac = i == ASSAY_HEAD ? s->stretch_frac : 0 };
		assay_worker_begin(s->w[i], ASSAY_CMD_PAIR, &args[i]);
	}
	for (int i = 0; i < 2; i++) {
		struct assay_pair_side *ps = &s->p->side[i];
		int one = assay_worker_end(s->w[i], s->w[!i], &ps->status, ps->reason, sizeof(ps->reason), s->err);

		if (one)
			return one;
		rc |= ps->status != ASSAY_STATUS_OK;
	}
	return rc;
}

/* Which side is set up first and tells the number of iterations: drawn, so that neither has it better on average. */
static int first_side(const struct pair_session *s)
{
	return (int)(assay_random4(s->po->pair_seed, 3, 0).v[0] & 1);
}

static int prepare_sides(struct pair_session *s)
{
	for (int k = 0; k < 2; k++) {
		const int i = first_side(s) ^ k;
		const struct assay_worker_reply *reply = assay_worker_reply(s->w[i]);
		struct assay_pair_side *ps = &s->p->side[i];
		int rc = side_command(s, i, ASSAY_CMD_PREPARE, NULL);

		memcpy(ps->code_hash, reply->code_hash, sizeof(ps->code_hash));
		if (!rc)
			rc = side_command(s, i, ASSAY_CMD_VERIFY, NULL);
		if (rc)
			return rc;
		ps->max_rel_err = reply->max_rel_err;
		memcpy(ps->digest, reply->digest, sizeof(ps->digest));
	}
	return 0;
}

static int fetch_windows(struct pair_session *s, uint64_t from)
{
	const struct assay_worker_args args = { .iterations = from };
	int rc = side_command(s, ASSAY_BASE, ASSAY_CMD_OUTPUT, &args);

	return rc ? rc : side_command(s, ASSAY_HEAD, ASSAY_CMD_OUTPUT, &args);
}

/* Bytes of an element as one number, as people write it. */
static uint64_t element_bits(const struct assay_worker_reply *r)
{
	uint64_t bits = 0;

	for (uint32_t i = r->element_bytes; i > 0; i--)
		bits = bits << 8 | r->window[i - 1];
	return bits;
}

/* Where do two outputs that should be equal begin to differ? */
static int describe_difference(struct pair_session *s, char *difference)
{
	const struct assay_worker_reply *b = assay_worker_reply(s->w[ASSAY_BASE]), *h = assay_worker_reply(s->w[ASSAY_HEAD]);
	uint64_t from = 0;
	uint32_t i = 0;
	int rc;

	do {
		from += i;
		rc = fetch_windows(s, from);
		for (i = 0; !rc && i < b->window_bytes && i < h->window_bytes && b->window[i] == h->window[i];)
			i++;
	} while (!rc && i && i == b->window_bytes && i == h->window_bytes);
	if (rc)
		return rc;
	if (i >= b->window_bytes || i >= h->window_bytes) {
		snprintf(difference, 256, "outputs differ in length: base %llu bytes, head %llu", (unsigned long long)b->output_bytes,
			 (unsigned long long)h->output_bytes);
		return 0;
	}
	rc = fetch_windows(s, from + i);
	if (!rc)
		rc = fetch_windows(s, b->element_at); /* so that the window begins with the whole element */
	if (!rc)
		snprintf(difference, 256, "element %llu of '%s' differs: base 0x%0*llx, head 0x%0*llx",
			 (unsigned long long)b->element, b->output_name, (int)(2 * b->element_bytes),
			 (unsigned long long)element_bits(b), (int)(2 * h->element_bytes), (unsigned long long)element_bits(h));
	return rc;
}

/*
 * A slowdown of known size. Extra work must be whole iterations, one in every so many; a kernel that takes too long for such
 * samples to pass undisturbed is stretched by time instead.
 */
static void find_injection(struct pair_session *s)
{
	struct assay_pair *p = s->p;
	uint64_t step = (uint64_t)fmax(1, round(1 / s->po->injected_frac)), whole = (p->iterations + step - 1) / step * step;
	double whole_ns = s->sample_ns * (double)whole / (double)p->iterations;

	if (whole_ns > INJECTED_SAMPLE_NS) {
		s->stretch_frac = s->po->injected_frac;
		return;
	}
	s->sample_ns = whole_ns;
	p->iterations = whole;
	p->extra_iterations[ASSAY_HEAD] = whole / step;
}

static int find_iterations(struct pair_session *s)
{
	struct assay_pair *p = s->p;
	double target = assay_iterations_target_ns(s->o->clock);
	const int first = first_side(s);
	struct assay_pair_side *ps = &p->side[first];
	int rc;

	p->iterations = s->po->iterations;
	if (!p->iterations) {
		rc = assay_iterations_find(s->w[first], target, &p->iterations, &s->sample_ns, &ps->status, ps->reason,
					   sizeof(ps->reason), s->err);
	} else {
		const struct assay_worker_args args = { .iterations = p->iterations, .count = 1 };

		rc = side_command(s, first, ASSAY_CMD_SAMPLE, &args);
		if (!rc)
			s->sample_ns = (double)assay_worker_reply(s->w[first])->samples[0].ns;
	}
	if (!rc && s->po->injected_frac > 0)
		find_injection(s);
	return rc;
}

static bool side_steady(const struct assay_worker_reply *reply, double **x, size_t *n)
{
	double *grown = realloc(*x, (*n + reply->n_samples) * sizeof(*grown));

	if (!grown)
		return false;
	*x = grown;
	for (uint32_t i = 0; i < reply->n_samples; i++)
		grown[(*n)++] = (double)reply->samples[i].ns;
	return assay_stats_steady(grown, *n, WARMUP_BLOCKS, WARMUP_TOLERANCE_FRAC);
}

/* In turns, until both are steady; at most as long as the samples will take. */
static int warm_sides(struct pair_session *s)
{
	uint64_t start = assay_worker_monotonic_ns();
	double *x[2] = { NULL, NULL };
	size_t n[2] = { 0, 0 };
	int rc = 0;

	while (!rc && !s->p->steady && assay_worker_monotonic_ns() - start < s->po->sampling_ns / 2) {
		bool steady[2];

		rc = take_turns(s, WARMUP_BLOCKS / 2, s->po->pair_seed ^ n[0]);
		for (int i = 0; i < 2 && !rc; i++)
			steady[i] = side_steady(assay_worker_reply(s->w[i]), &x[i], &n[i]);
		if (!rc && n[0] && n[1])
			s->sample_ns = (x[0][n[0] - 1] + x[1][n[1] - 1]) / 2; /* the slower side takes its time, too */
		s->p->steady = !rc && steady[0] && steady[1];
	}
	free(x[0]);
	free(x[1]);
	return rc;
}

static int sample_sides(struct pair_session *s)
{
	double per_block = 4 * (s->sample_ns * (1 + 0.5 / (double)s->p->iterations) + HAND_OVER_NS);
	double blocks = fmin(MAX_BLOCKS, fmax(MIN_BLOCKS, (double)s->po->sampling_ns / per_block));
	int rc;

	s->counting = true;
	rc = take_turns(s, (uint32_t)blocks, s->po->pair_seed);

	for (int i = 0; i < 2 && !rc; i++) {
		const struct assay_worker_reply *reply = assay_worker_reply(s->w[i]);
		struct assay_pair_side *ps = &s->p->side[i];

		ps->samples = malloc(reply->n_samples * sizeof(*ps->samples) + 1);
		if (!ps->samples)
			return assay_err_set(s->err, ASSAY_ENOMEM, "out of memory for the samples of '%s'", s->c->key);
		memcpy(ps->samples, reply->samples, reply->n_samples * sizeof(*ps->samples));
		s->p->n_blocks = reply->n_samples / 2;
	}
	return rc;
}

static void put_metric(struct assay_pair_side *ps, const char *tag, const char *unit, int better, double value)
{
	struct assay_metric *to = &ps->metrics[ps->n_metrics++];

	snprintf(to->tag, sizeof(to->tag), "%s", tag);
	snprintf(to->unit, sizeof(to->unit), "%s", unit);
	to->better = better;
	to->value = value;
}

/* What the cost and the median of the samples give, so that policies can set floors on it. */
static int cost_metrics(struct pair_session *s, int side)
{
	const struct assay_cost *c = &s->facts->cost;
	struct assay_pair_side *ps = &s->p->side[side];
	size_t n = 2 * s->p->n_blocks;
	double *x = malloc((n + 1) * sizeof(*x)), t;

	if (!x)
		return assay_err_set(s->err, ASSAY_ENOMEM, "out of memory for the metrics of '%s'", s->c->key);
	for (size_t i = 0; i < n; i++)
		x[i] = (double)ps->samples[i].ns / (double)(s->p->iterations + s->p->extra_iterations[side]);
	assay_stats_sort(x, n);
	t = n ? assay_stats_median(x, n) * 1e-9 : 0;
	free(x);
	if (!(t > 0))
		return 0;
	put_metric(ps, "time_s", "s", -1, t);
	if (c->ops > 0)
		put_metric(ps, "ops_per_s", "op/s", 1, c->ops / t);
	if (c->bytes_read + c->bytes_written > 0)
		put_metric(ps, "bytes_per_s", "B/s", 1, (c->bytes_read + c->bytes_written) / t);
	if (c->items > 0)
		put_metric(ps, "items_per_s", "1/s", 1, c->items / t);
	return 0;
}

static int keep_metrics(struct pair_session *s, int side, const struct assay_catalog_op *op)
{
	const struct assay_worker_reply *reply = assay_worker_reply(s->w[side]);
	struct assay_pair_side *ps = &s->p->side[side];
	int rc;

	ps->metrics = calloc(reply->n_metrics + OWN_METRICS, sizeof(*ps->metrics));
	if (!ps->metrics)
		return assay_err_set(s->err, ASSAY_ENOMEM, "out of memory for the metrics of '%s'", s->c->key);
	rc = cost_metrics(s, side);
	if (rc)
		return rc;
	put_metric(ps, "rss_peak_bytes", "B", -1, (double)reply->rss_peak_bytes);
	put_metric(ps, "op_bytes", "B", 0, (double)reply->op_bytes);
	put_metric(ps, "prepare_s", "s", -1, (double)reply->prepare_ns * 1e-9);
	for (uint32_t i = 0; i < reply->n_metrics; i++)
		for (size_t k = 0; k < op->n_metrics; k++) {
			const struct assay_catalog_metric *m = &op->metrics[k];

			if (strcmp(m->tag, reply->metrics[i].tag))
				continue;
			if (assay_metric_check(m->tag, reply->metrics[i].value, m->lo, m->hi, s->err)) {
				ps->status = ASSAY_STATUS_FAILED;
				snprintf(ps->reason, sizeof(ps->reason), "%s", s->err->text);
				return 1;
			}
			put_metric(ps, m->tag, m->unit, m->better, reply->metrics[i].value);
		}
	return assay_measure_take_counters(&s->choice, reply, &ps->counters, &ps->metrics, &ps->n_metrics, s->err);
}

static int drive_pair(struct pair_session *s, const struct assay_catalog_op *op, char *difference)
{
	int rc = prepare_sides(s);

	if (!rc && strcmp(s->p->side[ASSAY_BASE].digest, s->p->side[ASSAY_HEAD].digest)) {
		rc = describe_difference(s, difference);
		return rc < 0 ? rc : 0;
	}
	if (!rc)
		rc = find_iterations(s);
	if (!rc)
		rc = warm_sides(s);
	if (!rc)
		rc = sample_sides(s);
	if (!rc)
		rc = both_command(s, ASSAY_CMD_RECHECK);
	if (!rc)
		rc = both_command(s, ASSAY_CMD_REPORT);
	for (int i = 0; i < 2 && !rc; i++)
		rc = keep_metrics(s, i, op);
	if (!rc)
		rc = both_command(s, ASSAY_CMD_FINISH);
	return rc < 0 ? rc : 0;
}

/* Samples of a pair in which a side went wrong say nothing. */
static void drop_samples(struct assay_pair *p)
{
	for (int i = 0; i < 2; i++) {
		free(p->side[i].samples);
		p->side[i].samples = NULL;
	}
	p->n_blocks = 0;
}

/* Each side has its own: layout is chance, for the base as for the head. Never 0, which would switch it off. */
static uint64_t layout_seed(uint64_t pair_seed, int side)
{
	struct assay_philox draw = assay_random4(pair_seed, 1 + (uint32_t)side, 0);

	return ((uint64_t)draw.v[0] << 32 | draw.v[1]) | 1;
}

int assay_measure_pair(const struct assay_case *c, const struct assay_catalog *cat, const struct assay_case_facts *facts,
		       const struct assay_measure_options *o, const struct assay_pair_options *po, struct assay_pair *out,
		       char *difference, struct assay_err *err)
{
	struct pair_session s = { .o = o, .po = po, .c = c, .facts = facts, .p = out, .err = err };
	const struct assay_catalog_op *op = assay_catalog_op(cat, c->op);
	uint64_t start = assay_worker_monotonic_ns();
	struct assay_worker_options wo[2];
	struct assay_text events = { 0 };
	int *cpus, rc;

	*out = (struct assay_pair){ .seed = po->pair_seed };
	difference[0] = '\0';
	if (!op)
		return assay_err_set(err, ASSAY_EINTERNAL, "op '%s' of case '%s' is not in the catalog", c->op, c->key);
	cpus = malloc(c->threads * sizeof(*cpus));
	if (!cpus)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	rc = assay_placement_pick(o->topology, &o->placement, c->threads, cpus, err);
	if (!rc)
		rc = assay_measure_choose(o, c, op, &s.choice, &events, err);
	for (int i = 0; i < 2; i++)
		wo[i] = (struct assay_worker_options){
			.events = events.s, .multiplex = o->multiplex,
			.plugins = po->plugins[i], .parts = po->parts[i], .c = c, .copies = facts->copies, .cpus = cpus,
			.seed = o->seed, .layout_seed = layout_seed(po->pair_seed, i), .clock = o->clock, .host = o->host,
			.deadline_ns = start + c->timeout_ns, .interrupted = o->interrupted,
		};
	if (!rc)
		rc = assay_worker_start_pair(s.w, wo, err);
	if (!rc) {
		rc = drive_pair(&s, op, difference);
		/* the second worker's page lies in the first one's mapping */
		assay_worker_free(s.w[1]);
		assay_worker_free(s.w[0]);
	}
	assay_counter_choice_release(&s.choice);
	assay_text_release(&events);
	free(cpus);
	out->wall_ns = assay_worker_monotonic_ns() - start;
	if (out->side[0].status != ASSAY_STATUS_OK || out->side[1].status != ASSAY_STATUS_OK)
		drop_samples(out);
	return rc;
}
