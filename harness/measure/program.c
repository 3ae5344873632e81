/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every process is new, so nothing is warmed up or calibrated, and no two samples share an address space. Waiting for a
 * CPU is no reason to leave a sample out: a program that sleeps, or that has several processes, waits all the time, and
 * what others take hits both sides of a pair alike, as their order is drawn.
 */
#include "measure/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/monotonic.h"
#include "measure/case_metrics.h"
#include "measure/case_needs.h"
#include "model/quantity.h"
#include "model/summary.h"
#include "stats/stats.h"

/* A pair takes about this share of the budget, so that the looks that may decide fit into it. */
#define PAIRS_IN_BUDGET 24
#define MAX_BLOCKS      64
/* Of a round of a run: as many as make an interval over three rounds. */
#define LEAST_RUNS 2
#define MAX_RUNS   10000
#define FIXED_RUNS 3 /* of a deterministic run */
/* Of a benchmark, the calls that a sample stands for take so long, as far as so many do. */
#define LEAST_SAMPLE_NS 1e8
#define MOST_CALLS      UINT64_C(1000000000000)
/* Of what a process printed, the end is kept with the case. */
#define LOG_MAX 8192

static int no_memory(struct assay_err *err)
{
	return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a program");
}

/* ---- processes ---- */

static int count(struct assay_result *to, const char *name, double value)
{
	struct assay_count c = { .source = ASSAY_SOURCE_OS,
				 .how = "wait4, of a process",
				 .value = value,
				 .per_iteration = true,
				 .running_frac = 1 };

	snprintf(c.name, sizeof(c.name), "%s", name);
	return assay_counters_add(&to->counters, &c);
}

int assay_program_usage(const struct assay_time_process *p, size_t n, struct assay_result *to, struct assay_err *err)
{
	double user_s = 0, system_s = 0, faults = 0, switches = 0;
	uint64_t peak = 0;
	int rc;

	for (size_t i = 0; i < n; i++) {
		user_s += p[i].user_s / (double)n;
		system_s += p[i].system_s / (double)n;
		faults += (double)p[i].faults / (double)n;
		switches += (double)p[i].switches / (double)n;
		peak = p[i].peak_bytes > peak ? p[i].peak_bytes : peak;
	}
	rc = assay_result_set_metric(to, "user_s", "s", -1, user_s);
	if (!rc)
		rc = assay_result_set_metric(to, "system_s", "s", -1, system_s);
	if (!rc && peak)
		rc = assay_result_set_metric(to, "rss_peak_bytes", "B", -1, (double)peak);
	if (!rc)
		rc = count(to, ASSAY_COUNT_FAULTS, faults);
	if (!rc)
		rc = count(to, ASSAY_COUNT_SWITCHES, switches);
	return rc ? no_memory(err) : 0;
}

int assay_program_blocks(struct assay_pair *p, assay_program_once *once, void *arg, struct assay_err *err)
{
	struct assay_time_process *runs[2] = { NULL, NULL };
	size_t n[2] = { 0, 0 };
	bool failed = false;
	int rc = 0;

	for (int side = 0; side < 2 && !rc; side++) {
		runs[side] = calloc(2 * p->n_blocks, sizeof(*runs[side]));
		p->side[side].samples = calloc(2 * p->n_blocks, sizeof(*p->side[side].samples));
		if (!runs[side] || !p->side[side].samples)
			rc = no_memory(err);
	}
	for (uint32_t slot = 0; slot < 4 * p->n_blocks && !rc && !failed; slot++) {
		const unsigned side = assay_pair_owner(p->seed, slot);
		struct assay_time_process *run = &runs[side][n[side]];

		rc = once(arg, (enum assay_side)side, run, &p->side[side].samples[n[side]], err);
		n[side] += !rc;
		failed = !rc && run->status != ASSAY_STATUS_OK;
		if (failed) {
			p->side[side].status = run->status;
			snprintf(p->side[side].reason, sizeof(p->side[side].reason), "%s", run->reason);
		}
	}
	for (int side = 0; side < 2 && !rc && !failed; side++) {
		p->side[side].n_samples = n[side];
		rc = assay_program_usage(runs[side], n[side], &p->side[side], err);
	}
	if (failed)
		assay_pair_drop_samples(p);
	free(runs[0]);
	free(runs[1]);
	return rc;
}

size_t assay_program_blocks_in(double budget_ns, double block_ns)
{
	return block_ns > 0 ? (size_t)fmax(1, fmin(MAX_BLOCKS, budget_ns / PAIRS_IN_BUDGET / block_ns)) : 1;
}

/* ---- a case ---- */

/* The values of a metric, one a process. */
struct values {
	struct assay_metric m; /* but for its value */
	double *v;             /* malloc'ed */
	size_t n;
	struct assay_histogram h; /* what all processes printed; empty: it is no histogram */
};

static void drop_values(struct values *x)
{
	free(x->v);
	x->v = NULL;
	x->n = 0;
	assay_histogram_release(&x->h);
}

/* A side of a pair, or the only one. */
struct program_side {
	const char *folder;
	struct assay_strings words;
	struct values *metrics; /* malloc'ed */
	size_t n_metrics;
	struct assay_program_counts counts;
	struct assay_text raw;              /* what each process gave: a line of raw_metrics each */
	char *log;                          /* malloc'ed */
	uint64_t last_ns;                   /* the wall time of its last process */
	struct assay_program_asking asking; /* of the process that runs, where it writes a format */
};

struct program_session {
	const struct assay_case *c;
	const struct assay_catalog_op *op;
	struct assay_program_runner runner;
	struct program_side side[2];
	const struct assay_format *format; /* that the program writes its benchmarks in; NULL: it has none */
	uint64_t calls;     /* that a sample stands for, so that whole nanoseconds are exact enough; 0: not known yet */
	double slower_frac; /* of the head */
	struct assay_counter_choice choice;
	cpu_set_t cpus;
};

struct filling {
	const struct assay_catalog_op *op;
	const struct assay_case *c;
	char threads[16];
};

/* Axes of a benchmark may have any name: only those that the bench has stand in its command. */
static const char *value_of(const void *arg, const char *name)
{
	const struct filling *f = arg;
	const unsigned first = f->c->n_axes - (unsigned)f->op->n_axes;

	for (unsigned i = 0; i < f->op->n_axes; i++)
		if (!strcmp(f->op->axes[i].name, name))
			return f->c->axes[first + i].text;
	return strcmp(name, "threads") ? NULL : f->threads;
}

int assay_program_words(const struct assay_catalog_op *op, const struct assay_case *c, struct assay_strings *out,
			struct assay_err *err)
{
	struct filling f = { .op = op, .c = c };
	int rc = 0;

	snprintf(f.threads, sizeof(f.threads), "%u", c->threads);
	for (size_t i = 0; i < op->program->words.n && !rc; i++) {
		char *word = assay_words_fill(op->program->words.v[i], value_of, &f);

		rc = word ? assay_strings_add(out, word, err) : no_memory(err);
		free(word);
	}
	return rc;
}

int assay_program_place(const struct assay_case *c, const struct assay_measure_options *o, int **cpus, cpu_set_t *set,
			struct assay_err *err)
{
	int rc;

	*cpus = calloc(c->threads, sizeof(**cpus));
	if (!*cpus)
		return no_memory(err);
	rc = assay_placement_pick(o->worker.topology, &o->placement, c->threads, *cpus, err);
	CPU_ZERO(set);
	for (unsigned i = 0; i < c->threads && !rc; i++)
		if ((*cpus)[i] < CPU_SETSIZE)
			CPU_SET((*cpus)[i], set);
	return rc;
}

/* Then standard error is what people would read. */
static bool writes_to_stdout(const struct program_session *s)
{
	return s->format && s->format->program.place == ASSAY_FORMAT_STDOUT;
}

static int open_session(struct program_session *s, const struct assay_measure_options *o, int sides,
			struct assay_err *err)
{
	struct assay_text events = { 0 };
	int rc = 0;

	assay_program_runner_init(&s->runner);
	s->runner.cpus = &s->cpus;
	s->runner.timeout_ns = s->c->timeout_ns;
	s->runner.limit = "its bench";
	s->runner.interrupted = o->worker.interrupted;
	if (s->op->program->reads)
		rc = assay_format_find(s->op->program->reads, &s->format, err);
	for (int side = 0; side < sides && !rc; side++)
		rc = assay_program_words(s->op, s->c, &s->side[side].words, err);
	if (!rc && !o->verify_only)
		rc = assay_measure_choose(o, s->c, s->op, &s->choice, &events, err);
	for (int side = 0; side < sides && !rc; side++)
		rc = assay_program_counts_open(&s->side[side].counts, events.s, s->choice.multiplex, err);
	assay_text_release(&events);
	return rc ? rc : assay_program_keep(&s->runner, writes_to_stdout(s), err);
}

static void close_session(struct program_session *s)
{
	assay_program_runner_release(&s->runner);
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < s->side[side].n_metrics; i++)
			drop_values(&s->side[side].metrics[i]);
		free(s->side[side].metrics);
		assay_text_release(&s->side[side].raw);
		free(s->side[side].log);
		assay_program_counts_close(&s->side[side].counts);
		assay_strings_release(&s->side[side].words);
	}
	assay_counter_choice_release(&s->choice);
}

static void fail(struct assay_time_process *run, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fail(struct assay_time_process *run, const char *fmt, ...)
{
	va_list ap;

	if (run->status == ASSAY_STATUS_OK)
		run->status = ASSAY_STATUS_FAILED;
	va_start(ap, fmt);
	vsnprintf(run->reason, sizeof(run->reason), fmt, ap);
	va_end(ap);
	assay_printable_line(run->reason, sizeof(run->reason));
}

/* NULL without memory. */
static struct values *values_of(struct program_side *side, const char *tag, const char *unit, int better)
{
	struct values *x;

	for (size_t i = 0; i < side->n_metrics; i++)
		if (!strcmp(side->metrics[i].m.tag, tag))
			return &side->metrics[i];
	if (assay_grow(&side->metrics, side->n_metrics, sizeof(*x)))
		return NULL;
	x = &side->metrics[side->n_metrics++];
	*x = (struct values){ .m = { .better = better } };
	snprintf(x->m.tag, sizeof(x->m.tag), "%s", tag);
	snprintf(x->m.unit, sizeof(x->m.unit), "%s", unit);
	return x;
}

static int add_value(struct program_side *side, const char *tag, const char *unit, int better, double value,
		     struct assay_err *err)
{
	struct values *x = values_of(side, tag, unit, better);

	if (!x)
		return no_memory(err);
	if (assay_grow(&x->v, x->n, sizeof(*x->v)))
		return no_memory(err);
	x->v[x->n++] = value;
	assay_text_addf(&side->raw, "%s\t%.17g\t", tag, value);
	return 0;
}

/* All that the pattern of @m, a histogram, finds; @why: what is wrong with it, "" for nothing. */
static int add_values(struct program_session *s, struct program_side *side, const struct assay_catalog_metric *m,
		      const char *text, char why[224])
{
	const size_t i = (size_t)(m - s->op->metrics);
	struct values *x = values_of(side, m->tag, m->unit, m->better);
	struct assay_program_numbers all;
	int rc = 0;

	why[0] = '\0';
	if (!x)
		return ASSAY_ENOMEM;
	if (!assay_program_find_numbers(text, s->op->program->patterns.v[i], &all, why, 224))
		return 0;
	x->h.better = m->better;
	memcpy(x->h.tag, x->m.tag, sizeof(x->h.tag));
	memcpy(x->h.unit, x->m.unit, sizeof(x->h.unit));
	for (size_t k = 0; k < all.n && !rc && !why[0]; k++) {
		const double value = all.v[k] * s->op->program->factors[i];

		if (value >= 0 && value < ASSAY_HISTOGRAM_END)
			rc = assay_histogram_add(&x->h, assay_histogram_bucket(value), 1);
		else
			snprintf(why, 224, "its pattern found %g, and a histogram has values from 0 to %g", all.v[k],
				 ASSAY_HISTOGRAM_END);
	}
	free(all.v);
	return rc;
}

static int find_metrics(struct program_session *s, struct program_side *side, const struct assay_text *text,
			struct assay_time_process *run, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->op->n_metrics && run->status == ASSAY_STATUS_OK && !rc; i++) {
		const struct assay_catalog_metric *m = &s->op->metrics[i];
		char why[224];
		double value;

		if (m->kind == ASSAY_METRIC_HISTOGRAM) {
			rc = add_values(s, side, m, text->s ? text->s : "", why) ? no_memory(err) : 0;
			if (why[0])
				fail(run, "'%.60s': metric '%s': %s", side->words.v[0], m->tag, why);
		} else if (assay_program_find_number(text->s ? text->s : "", s->op->program->patterns.v[i], &value, why,
						     sizeof(why)))
			rc = add_value(side, m->tag, m->unit, m->better, value * s->op->program->factors[i], err);
		else
			fail(run, "'%.60s': metric '%s': %s", side->words.v[0], m->tag, why);
	}
	return rc;
}

/* The bench's word on which direction is better wins: formats do not know it of what users count. */
static int better_of(const struct assay_catalog_op *op, const struct assay_metric *m)
{
	for (size_t i = 0; i < op->n_metrics; i++)
		if (!strcmp(op->metrics[i].tag, m->tag) && op->metrics[i].better)
			return op->metrics[i].better;
	return m->better;
}

/* The benchmark's own time is the sample, in place of its process's. */
static int take_benchmark(struct program_session *s, struct program_side *side, const struct assay_result *r,
			  struct assay_sample *sample, struct assay_err *err)
{
	int rc = add_value(side, "wall_s", "s", -1, (double)sample->ns * 1e-9, err);

	if (!s->calls)
		for (s->calls = 1; r->median_ns * (double)s->calls < LEAST_SAMPLE_NS && s->calls < MOST_CALLS;)
			s->calls *= 10;
	sample->iterations = s->calls;
	sample->ns = (uint64_t)llround(fmax(1, r->median_ns * (double)s->calls));
	for (size_t i = 0; i < r->n_metrics && !rc; i++)
		if (strcmp(r->metrics[i].tag, "time_s") != 0)
			rc = add_value(side, r->metrics[i].tag, r->metrics[i].unit, better_of(s->op, &r->metrics[i]),
				       r->metrics[i].value, err);
	return rc;
}

/* Keep the end of it with the case, whole lines where there are any. */
static void keep_log(struct program_side *side, const struct assay_text *text)
{
	const size_t from = text->len > LOG_MAX ? text->len - LOG_MAX : 0;
	const char *begin = text->s + from, *line = from ? strchr(begin, '\n') : NULL;

	if (!text->len)
		return;
	free(side->log);
	side->log = strdup(line && line[1] ? line + 1 : begin);
	if (side->log)
		assay_printable_lines(side->log, strlen(side->log));
}

/* The output and the outcome of the process. */
static int read_output(struct program_session *s, struct program_side *side, struct assay_time_process *run,
		       struct assay_sample *sample, struct assay_err *err)
{
	struct assay_text text = { 0 }, shown = { 0 };
	struct assay_result r = { 0 };
	char why[ASSAY_PROGRAM_WHY_MAX], last[96], reason[sizeof(run->reason)];
	int rc = assay_program_kept(&s->runner, 0, &text, err);

	if (!rc && writes_to_stdout(s))
		rc = assay_program_kept(&s->runner, 1, &shown, err);
	else if (!rc)
		assay_text_addn(&shown, text.s ? text.s : "", text.len);
	if (rc)
		goto out;
	assay_program_as_shown(&shown);
	keep_log(side, &shown);
	if (run->status != ASSAY_STATUS_OK) {
		assay_text_last_line(&shown, last, sizeof(last));
		memcpy(reason, run->reason, sizeof(reason));
		fail(run, "'%.60s': %.90s%s%s", side->words.v[0], reason, last[0] ? ": " : "", last);
	} else if (s->format) {
		rc = assay_program_asking_read(&side->asking, &text, &r, why, err);
		last[0] = '\0';
		if (!text.len) /* it may have said why not */
			assay_text_last_line(&shown, last, sizeof(last));
		if (!rc && why[0])
			fail(run, "'%.60s': %s%s%s", side->words.v[0], why, last[0] ? ": " : "", last);
		else if (!rc)
			rc = take_benchmark(s, side, &r, sample, err);
	} else {
		rc = find_metrics(s, side, &shown, run, err);
	}
out:
	assay_result_release(&r);
	assay_text_release(&shown);
	assay_text_release(&text);
	return rc;
}

/* Let the processor work for @ns, as a program would that has more to do. */
static void work_for(uint64_t ns)
{
	const uint64_t began_ns = assay_monotonic_ns();

	while (assay_monotonic_ns() - began_ns < ns)
		;
}

static int run_process(struct program_session *s, enum assay_side which, struct assay_time_process *run,
		       struct assay_sample *sample, struct assay_err *err)
{
	struct program_side *side = &s->side[which];
	struct assay_err why = { 0 };
	int rc;

	s->runner.folder = side->folder;
	rc = assay_program_counts_run(&side->counts, &s->runner, s->format ? &side->asking.words : &side->words, run,
				      &why);
	if (rc == ASSAY_EUSAGE) {
		fail(run, "%.240s", why.text);
		return 0;
	}
	if (rc)
		return assay_err_set(err, rc, "%s", why.text);
	if (which == ASSAY_HEAD && s->slower_frac > 0) {
		const uint64_t began_ns = assay_monotonic_ns();

		work_for((uint64_t)((double)run->wall_ns * s->slower_frac));
		run->wall_ns += assay_monotonic_ns() - began_ns;
	}
	side->last_ns = run->wall_ns;
	*sample = (struct assay_sample){ .iterations = 1, .ns = run->wall_ns, .faults = (uint32_t)run->faults };
	return read_output(s, side, run, sample, err);
}

static int run_once(struct program_session *s, enum assay_side which, struct assay_time_process *run,
		    struct assay_sample *sample, struct assay_err *err)
{
	struct program_side *side = &s->side[which];
	int rc = 0;

	*run = (struct assay_time_process){ 0 };
	side->asking = (struct assay_program_asking){ .format = s->format, .benchmark = s->c->benchmark };
	if (s->format)
		rc = assay_program_asking_begin(&side->asking, ASSAY_ASK_MEASURE, &side->words, err);
	if (!rc)
		rc = run_process(s, which, run, sample, err);
	assay_program_asking_end(&side->asking);
	return rc;
}

/* One that counts. */
static int take_process(void *arg, enum assay_side which, struct assay_time_process *run, struct assay_sample *sample,
			struct assay_err *err)
{
	struct program_session *s = arg;
	int rc = run_once(s, which, run, sample, err);

	if (!rc)
		assay_program_counts_keep(&s->side[which].counts);
	if (s->side[which].raw.len)
		assay_text_add(&s->side[which].raw, "\n");
	return rc;
}

/* A mean of numbers that are counted shows if one of them differs, and a median of others does not follow outliers. */
static int put_metrics(struct program_side *side, struct assay_result *to, struct assay_err *err)
{
	for (size_t i = 0; i < side->n_metrics; i++) {
		struct values *x = &side->metrics[i];
		const struct assay_metric *m = &x->m;
		double value;

		if (x->h.n && assay_result_add_histogram(to, &x->h))
			return no_memory(err);
		if (!x->n)
			continue;
		assay_stats_sort(x->v, x->n);
		value = assay_unit_is_counted(m->unit) ? assay_stats_mean(x->v, x->n) : assay_stats_median(x->v, x->n);
		if (assay_result_set_metric(to, m->tag, m->unit, m->better, value))
			return no_memory(err);
	}
	return 0;
}

static void take_log(struct program_side *side, struct assay_result *to)
{
	to->log = side->log;
	side->log = NULL;
}

static int take_raw(struct program_side *side, struct assay_result *to, struct assay_err *err)
{
	to->raw_metrics = assay_text_take(&side->raw);
	return to->raw_metrics ? 0 : no_memory(err);
}

static int take_cpus(const struct assay_case *c, const int *cpus, struct assay_result *to, struct assay_err *err)
{
	to->cpus = calloc(c->threads, sizeof(*to->cpus));
	if (!to->cpus)
		return no_memory(err);
	memcpy(to->cpus, cpus, c->threads * sizeof(*cpus));
	to->n_cpus = c->threads;
	return 0;
}

/* ---- alone ---- */

static int take_runs(struct program_session *s, const struct assay_measure_options *o, struct assay_result *r,
		     struct assay_time_process **runs, struct assay_err *err)
{
	const uint64_t began_ns = assay_monotonic_ns(), budget_ns = r->c.budget_ns;
	uint64_t spent_ns = 0;
	size_t n = 0;
	int rc = 0;

	do {
		struct assay_sample sample = { 0 };

		if (assay_grow(runs, n, sizeof(**runs)) || assay_grow(&r->samples, n, sizeof(sample)))
			return no_memory(err);
		rc = take_process(s, ASSAY_BASE, &(*runs)[n], &sample, err);
		if (rc)
			return rc;
		if ((*runs)[n].status != ASSAY_STATUS_OK) {
			r->status = (*runs)[n].status;
			snprintf(r->reason, sizeof(r->reason), "%s", (*runs)[n].reason);
			return 0;
		}
		sample.flags |= n ? ASSAY_SAMPLE_NEW_ROUND : 0;
		r->samples[n++] = sample;
		r->n_samples = n;
		spent_ns = assay_monotonic_ns() - began_ns;
		if (o->progress)
			o->progress(o->progress_arg, ASSAY_STAGE_SAMPLE, fmin(1, (double)spent_ns / (double)budget_ns),
				    r);
	} while (o->verify_only     ? false
		 : o->deterministic ? n < FIXED_RUNS
				    : n < LEAST_RUNS || (spent_ns < budget_ns && n < MAX_RUNS));
	return 0;
}

static int sum_up(struct program_session *s, struct assay_result *r, const struct assay_time_process *runs,
		  struct assay_err *err)
{
	static const struct assay_cost none;
	int rc;

	r->checked = r->correct = r->steady = true; /* what a program says about its own result */
	rc = assay_summary_fill(r, err);
	if (!rc)
		rc = assay_time_metrics(r, &none, err);
	if (!rc)
		rc = put_metrics(&s->side[ASSAY_BASE], r, err);
	if (!rc)
		rc = take_raw(&s->side[ASSAY_BASE], r, err);
	if (!rc)
		rc = assay_program_counts_take(&s->side[ASSAY_BASE].counts, &s->choice, r, err);
	return rc ? rc : assay_program_usage(runs, r->n_samples, r, err);
}

int assay_program_case(const struct assay_case *c, const struct assay_catalog_op *op,
		       const struct assay_measure_options *o, struct assay_result *out, struct assay_err *err)
{
	struct program_session s = { .c = c, .op = op, .side = { { .folder = o->folder } } };
	struct assay_time_process *runs = NULL;
	struct assay_err why = { 0 };
	int *cpus, rc = assay_program_place(c, o, &cpus, &s.cpus, &why);

	if (rc == ASSAY_EUSAGE) {
		out->status = ASSAY_STATUS_FAILED;
		memcpy(out->reason, why.text, sizeof(out->reason));
		free(cpus);
		return 0;
	}
	if (rc)
		rc = assay_err_set(err, rc, "%s", why.text);
	if (!rc)
		rc = open_session(&s, o, 1, err);
	if (!rc)
		rc = take_cpus(c, cpus, out, err);
	if (!rc)
		rc = take_runs(&s, o, out, &runs, err);
	if (!rc && out->status == ASSAY_STATUS_OK && !o->verify_only)
		rc = sum_up(&s, out, runs, err);
	out->checked = out->correct = out->status == ASSAY_STATUS_OK;
	if (o->verify_only) {
		free(out->samples);
		out->samples = NULL;
		out->n_samples = 0;
	}
	take_log(&s.side[ASSAY_BASE], out);
	close_session(&s);
	free(cpus);
	free(runs);
	if (!rc && out->status != ASSAY_STATUS_OK)
		assay_result_drop_numbers(out);
	return rc;
}

/* ---- pairs ---- */

/* A run of either side that does not count tells how long they take, and has read the files of both. */
static int try_both(struct program_session *s, struct assay_pair *p, struct assay_err *err)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc && p->side[ASSAY_BASE].status == ASSAY_STATUS_OK; i++) {
		struct assay_time_process run;
		struct assay_sample sample;

		rc = run_once(s, (enum assay_side)i, &run, &sample, err);
		if (rc)
			break;
		p->side[i].status = run.status;
		snprintf(p->side[i].reason, sizeof(p->side[i].reason), "%s", run.reason);
	}
	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < s->side[i].n_metrics; k++)
			drop_values(&s->side[i].metrics[k]);
		assay_text_release(&s->side[i].raw);
	}
	return rc;
}

static bool is_ok(const struct assay_pair *p)
{
	return p->side[ASSAY_BASE].status == ASSAY_STATUS_OK && p->side[ASSAY_HEAD].status == ASSAY_STATUS_OK;
}

static int take_pair(struct program_session *s, const struct assay_pair_options *po,
		     struct assay_pair_calibration *calibration, struct assay_pair *p, struct assay_err *err)
{
	int rc = 0;

	if (!(calibration->sample_ns > 0)) {
		rc = try_both(s, p, err);
		if (rc || !is_ok(p))
			return rc;
		calibration->sample_ns = (double)(s->side[ASSAY_BASE].last_ns + s->side[ASSAY_HEAD].last_ns) / 2;
	}
	p->n_blocks = po->alone ? 1 : assay_program_blocks_in((double)po->sampling_ns, 4 * calibration->sample_ns);
	rc = assay_program_blocks(p, take_process, s, err);
	p->iterations = s->calls ? s->calls : 1;
	calibration->sample_ns = (double)(s->side[ASSAY_BASE].last_ns + s->side[ASSAY_HEAD].last_ns) / 2;
	for (int i = 0; i < 2 && !rc && is_ok(p); i++) {
		static const struct assay_cost none;

		rc = assay_summary_fill(&p->side[i], err);
		if (!rc)
			rc = assay_time_metrics(&p->side[i], &none, err);
		if (!rc)
			rc = put_metrics(&s->side[i], &p->side[i], err);
		if (!rc)
			rc = take_raw(&s->side[i], &p->side[i], err);
		if (!rc)
			rc = assay_program_counts_take(&s->side[i].counts, &s->choice, &p->side[i], err);
	}
	return rc < 0 ? rc : 0;
}

int assay_program_pair(const struct assay_case *c, const struct assay_catalog_op *op,
		       const struct assay_measure_options *o, const struct assay_pair_options *po,
		       struct assay_pair_calibration *calibration, struct assay_pair *out, struct assay_err *err)
{
	struct program_session s = { .c = c,
				     .op = op,
				     .side = { { .folder = po->folders[0] }, { .folder = po->folders[1] } },
				     .slower_frac = po->injected_frac };
	const uint64_t began_ns = assay_monotonic_ns();
	int *cpus, rc = assay_program_place(c, o, &cpus, &s.cpus, err);

	*out = (struct assay_pair){ .seed = po->pair_seed,
				    .iterations = 1,
				    .steady = true,
				    .side = { { .c = *c, .max_rel_err = -1 }, { .c = *c, .max_rel_err = -1 } } };
	if (!rc)
		rc = open_session(&s, o, 2, err);
	if (!rc)
		rc = take_pair(&s, po, calibration, out, err);
	for (int i = 0; i < 2 && !rc; i++) {
		rc = take_cpus(c, cpus, &out->side[i], err);
		take_log(&s.side[i], &out->side[i]);
	}
	close_session(&s);
	free(cpus);
	out->wall_ns = assay_monotonic_ns() - began_ns;
	return rc;
}
