/* SPDX-License-Identifier: Apache-2.0 */
/* Counts both sides case by case, so that an interrupted comparison has whole cases. */
#include "drive/exact_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/exact_counting.h"
#include "judge/exact_judge.h"
#include "judge/paired.h"
#include "measure/measure_exact.h"

/* What a case on one side takes here, for the progress bar. */
#define COUNT_NS 1e9

struct counting {
	const struct assay_compare_plan *plan;
	size_t *chosen; /* cases of the plan, malloc'ed */
	size_t n_chosen;
	struct assay_exact_options options;
	const struct assay_watch *watch;
	struct assay_exact_run *run; /* by side */
	bool alone;                  /* no times are taken */
};

static bool wanted(const struct assay_compare_plan *p, const struct assay_request *q, size_t i)
{
	return p->cmp.cases[i].control == ASSAY_CONTROL_NONE &&
	       (p->exact[i] || assay_exact_counting_all(&p->session, q));
}

int assay_exact_compare_check(const struct assay_compare_plan *p, const struct assay_request *q, struct assay_err *err)
{
	for (size_t i = 0; i < p->cmp.n_cases; i++)
		if (wanted(p, q, i))
			return 0;
	return assay_err_set(
		err, ASSAY_EUSAGE,
		"nothing to compare: suite '%s' names no case of '%s' for exact counts; choose some with --only",
		p->cmp.suite, p->source[ASSAY_HEAD].name);
}

/* The head has it no more, or refuses what the base runs. */
static bool is_lost(const struct assay_comparison_case *c)
{
	return !c->in_head || (c->in_base && c->reason[0]);
}

/* Was it wrong, did it crash or hang? Counting it would only take longer to say so. */
static bool failed_in_pair(const struct assay_comparison_case *c)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		for (int side = 0; side < 2; side++)
			if (c->pairs[i].side[side].status != ASSAY_STATUS_OK)
				return true;
	return c->difference[0];
}

static int choose(struct counting *k, const struct assay_request *q, struct assay_err *err)
{
	const struct assay_comparison *cmp = &k->plan->cmp;

	k->chosen = calloc(cmp->n_cases + 1, sizeof(*k->chosen));
	for (int side = 0; side < 2; side++)
		k->run[side].cases = calloc(cmp->n_cases + 1, sizeof(*k->run[side].cases));
	if (!k->chosen || !k->run[ASSAY_BASE].cases || !k->run[ASSAY_HEAD].cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (wanted(k->plan, q, i) && !failed_in_pair(&cmp->cases[i]) &&
		    (q->take == ASSAY_TAKE_COUNTS || !is_lost(&cmp->cases[i])))
			k->chosen[k->n_chosen++] = i;
	return 0;
}

/* @how: the way the other side was counted, so that both are alike. */
static int count_side(struct counting *k, int side, size_t i, enum assay_exact_how how, struct assay_exact_case *out,
		      struct assay_err *err)
{
	const struct assay_compare_plan *p = k->plan;
	struct assay_exact_options o = k->options;
	struct assay_exact_means means = *o.means;
	bool too_long;

	if (how == ASSAY_EXACT_STEPPED)
		means.source = ASSAY_EXACT_SOURCE_STEPPED;
	o.means = &means;

	o.plugins = &p->side[side].plugins;
	o.parts = p->side[side].parts.s;
	return assay_measure_exact(&p->cmp.cases[i].c, side == ASSAY_BASE ? p->base.catalog : p->session.catalog,
				   &p->facts[i], &o, out, &too_long, err);
}

/* A case of one side that is known not to run there. */
static void refuse(struct assay_exact_case *out, const struct assay_case *c, enum assay_status status,
		   const char *reason)
{
	*out = (struct assay_exact_case){ .status = status, .all_threads = c->all_threads };
	memcpy(out->key, c->key, sizeof(out->key));
	snprintf(out->reason, sizeof(out->reason), "%s", reason);
}

/*
 * Equal code counts equally, and is counted only where the policy demands a count of it; who asks for counts where
 * there is no simulator is told so all the same.
 */
static bool same_code(const struct counting *k, const struct assay_comparison_case *c)
{
	return !assay_exact_unavailable(k->options.means) && c->in_base && assay_paired_same_code(c) &&
	       !assay_limits_require(&k->plan->policy, &c->c, true);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Functions are told apart by the file they are in. Where each side is one file, both stand for the same, whatever
 * their names: the base's functions get the head's file name.
 */
static int align_names(const struct assay_compare_plan *p, struct assay_exact_case *base, struct assay_err *err)
{
	const struct assay_strings *b = &p->source[ASSAY_BASE].plugins, *h = &p->source[ASSAY_HEAD].plugins;
	struct assay_exact_case renamed = *base;
	int rc = 0;

	if (b->n != 1 || h->n != 1)
		return 0;
	renamed.functions = NULL;
	renamed.n_functions = 0;
	renamed.total = (struct assay_exact_counts){ 0 };
	for (size_t i = 0; i < base->n_functions && !rc; i++) {
		struct assay_exact_function f = base->functions[i];

		if (!strcmp(f.object, file_name(b->v[0])))
			snprintf(f.object, sizeof(f.object), "%.*s", (int)sizeof(f.object) - 1, file_name(h->v[0]));
		rc = assay_exact_add_function(&renamed, &f);
	}
	base->detail = NULL; /* which stays */
	assay_exact_case_drop_counts(base);
	*base = renamed;
	return rc ? assay_err_set(err, ASSAY_ENOMEM, "out of memory") : 0;
}

/*
 * The base of a case that cannot be counted in the head: a head that has become uncountable hides what it costs. What
 * cannot be counted in the base either is the same as before.
 */
static int ask_base(struct counting *k, size_t i, struct assay_exact_case *base, bool *has_base, struct assay_err *err)
{
	int rc = count_side(k, ASSAY_BASE, i, ASSAY_EXACT_CALLGRIND, base, err);

	*has_base = !rc && base->status == ASSAY_STATUS_OK;
	if (!rc && !*has_base)
		assay_exact_case_release(base);
	return rc;
}

/* The head first: without its counts those of the base tell no more than whether there are any. */
static int count_case(struct counting *k, size_t i, struct assay_err *err)
{
	const struct assay_comparison_case *c = &k->plan->cmp.cases[i];
	struct assay_exact_run *run = k->run;
	struct assay_exact_case *head = &run[ASSAY_HEAD].cases[run[ASSAY_HEAD].n_cases];
	struct assay_exact_case *base = &run[ASSAY_BASE].cases[run[ASSAY_BASE].n_cases];
	bool has_base = false;
	int rc = 0;

	if (same_code(k, c)) {
		has_base = true;
		refuse(head, &c->c, ASSAY_STATUS_SKIPPED, "identical machine code on both sides needs no count");
		refuse(base, &c->c, ASSAY_STATUS_SKIPPED, head->reason);
	} else if (is_lost(c)) {
		refuse(head, &c->c, ASSAY_STATUS_FAILED, c->reason[0] ? c->reason : ASSAY_CASE_GONE);
	} else {
		rc = count_side(k, ASSAY_HEAD, i, ASSAY_EXACT_CALLGRIND, head, err);
	}
	if (!rc && head->status == ASSAY_STATUS_OK && (c->in_base || c->reason[0])) {
		has_base = true;
		if (c->in_base)
			rc = count_side(k, ASSAY_BASE, i, head->how, base, err);
		else
			refuse(base, &c->c, ASSAY_STATUS_SKIPPED, c->reason);
		if (!rc)
			rc = align_names(k->plan, base, err);
	} else if (!rc && head->status == ASSAY_STATUS_SKIPPED && !has_base && c->in_base &&
		   !assay_exact_unavailable(k->options.means)) {
		rc = ask_base(k, i, base, &has_base, err);
	}
	if (rc) {
		assay_exact_case_release(head);
		assay_exact_case_release(base);
		return rc;
	}
	run[ASSAY_HEAD].n_cases++;
	run[ASSAY_BASE].n_cases += has_base;
	return 0;
}

/* After an interrupt the cases that are left say so, unless nothing at all is known. */
static int count_all(struct counting *k, struct assay_err *err)
{
	struct assay_exact_run *head = &k->run[ASSAY_HEAD];
	int rc = 0;

	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN,
							  .expected_ns = 2 * COUNT_NS * (double)k->n_chosen });
	for (size_t n = 0; n < k->n_chosen && !rc; n++) {
		assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
								  .done_frac = (double)n / (double)k->n_chosen,
								  .text = k->plan->cmp.cases[k->chosen[n]].c.key });
		rc = assay_watch_check(k->watch, err);
		if (!rc)
			rc = count_case(k, k->chosen[n], err);
	}
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	if (!head->n_cases && k->alone)
		return rc;
	while (rc == ASSAY_EINTERRUPTED && head->n_cases < k->n_chosen) {
		refuse(&head->cases[head->n_cases], &k->plan->cmp.cases[k->chosen[head->n_cases]].c,
		       ASSAY_STATUS_FAILED, "the comparison ended before it was counted");
		head->n_cases++;
	}
	return rc;
}

/*
 * Cases that are not counted and of which the policy demands something. No pairs tell of them, and what is stored must
 * give the same verdicts again.
 */
static void add_owing(struct counting *k, const struct assay_request *q)
{
	struct assay_exact_run *head = &k->run[ASSAY_HEAD];
	const struct assay_comparison *cmp = &k->plan->cmp;

	for (size_t i = 0; i < cmp->n_cases; i++) {
		const struct assay_comparison_case *c = &cmp->cases[i];

		if (c->control != ASSAY_CONTROL_NONE || wanted(k->plan, q, i) ||
		    !assay_limits_require(&k->plan->policy, &c->c, false))
			continue;
		if (c->in_head)
			refuse(&head->cases[head->n_cases++], &c->c, ASSAY_STATUS_SKIPPED, ASSAY_NOT_NAMED_FOR_COUNTS);
		else
			refuse(&head->cases[head->n_cases++], &c->c, ASSAY_STATUS_FAILED,
			       c->reason[0] ? c->reason : ASSAY_CASE_GONE);
	}
}

/* All but the cases. */
static void name_run(struct assay_comparison *cmp, enum assay_side side, const struct assay_exact_setting *setting)
{
	struct assay_exact_run *run = &cmp->exact[side];

	memcpy(run->suite, cmp->suite, sizeof(run->suite));
	run->seed = cmp->seed;
	run->started_ns = assay_clock_unix_ns();
	run->build = cmp->build[side];
	run->setting = *setting;
}

int assay_exact_compare(struct assay_compare_plan *p, const struct assay_request *q, const struct assay_watch *w,
			struct assay_err *err)
{
	struct assay_exact_setting setting;
	struct assay_cache_model cache;
	struct assay_clock clock;
	struct assay_exact_means means;
	struct assay_watch watch = *w;
	struct counting k = {
		.plan = p,
		.options = { .topology = p->session.topology,
			     .clock = &clock,
			     .placement = q->placement,
			     .seed = q->seed,
			     .vector_bits = p->session.host.vector_bits,
			     .model = &cache,
			     .means = &means,
			     .max_steps = assay_exact_counting_steps(&p->session, q),
			     .on_steps = assay_exact_counting_tell,
			     .on_steps_arg = &watch,
			     .tool = setting.tool },
		.watch = w,
		.run = p->cmp.exact,
		.alone = q->take == ASSAY_TAKE_COUNTS,
	};
	int rc = assay_clock_init(&clock, err);

	if (!rc)
		rc = assay_exact_setting_take(p->session.topology, assay_exact_counting_model(&p->session, q),
					      q->counter_source, &cache, &setting, &means, err);
	if (!rc)
		rc = choose(&k, q, err);
	if (!rc) {
		for (int side = 0; side < 2; side++)
			name_run(&p->cmp, (enum assay_side)side, &setting);
		k.options.interrupted = w->interrupted;
		rc = count_all(&k, err);
	}
	if (k.alone && (!rc || (rc == ASSAY_EINTERRUPTED && p->cmp.exact[ASSAY_HEAD].n_cases)))
		add_owing(&k, q);
	free(k.chosen);
	return rc;
}
