/* SPDX-License-Identifier: Apache-2.0 */
/* Counts both sides case by case, so that an interrupted comparison has whole cases. */
#include "drive/exact/exact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/exact_judge.h"
#include "judge/paired.h"
#include "measure/exact.h"

/* The time that a case on one side takes here, for the progress bar. */
#define COUNT_NS 1e9

struct counting {
	const struct assay_compare_plan *plan;
	size_t *chosen; /* cases of the plan, malloc'ed */
	size_t n_chosen;
	struct assay_exact_options options;
	const struct assay_watch *watch;
	const struct assay_request *request;
	struct assay_exact_run *run; /* by side */
	bool alone;                  /* no times are taken */
	size_t n_done;               /* of the chosen */
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

	const size_t most = cmp->n_cases + k->plan->session.plan.n_smaller + 1;

	k->chosen = calloc(most, sizeof(*k->chosen));
	for (int side = 0; side < 2; side++)
		k->run[side].cases = calloc(most, sizeof(*k->run[side].cases));
	if (!k->chosen || !k->run[ASSAY_BASE].cases || !k->run[ASSAY_HEAD].cases)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (wanted(k->plan, q, i) && !failed_in_pair(&cmp->cases[i]) &&
		    (q->take == ASSAY_TAKE_COUNTS || !is_lost(&cmp->cases[i])))
			k->chosen[k->n_chosen++] = i;
	return 0;
}

/* A case to count on both sides, and what each side made of it. */
struct both {
	const struct assay_case *c;
	const struct assay_case_facts *facts;
	struct assay_exact_case side[2];
	enum assay_exact_end end[2];
	bool has_base;
};

/* @how: the way the other side was counted, so that both are alike. */
static int count_side(struct counting *k, int side, struct both *b, enum assay_exact_how how, struct assay_err *err)
{
	const struct assay_compare_plan *p = k->plan;
	struct assay_exact_options o = k->options;
	struct assay_exact_means means = *o.means;

	if (how == ASSAY_EXACT_STEPPED)
		means.source = ASSAY_EXACT_SOURCE_STEPPED;
	o.means = &means;

	o.measure.worker.plugins = &p->side[side].plugins;
	o.measure.worker.parts = p->side[side].parts.s;
	return assay_measure_exact(b->c, side == ASSAY_BASE ? p->base.catalog : p->session.catalog, b->facts, &o,
				   &b->side[side], &b->end[side], err);
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
static int ask_base(struct counting *k, struct both *b, struct assay_err *err)
{
	int rc = count_side(k, ASSAY_BASE, b, ASSAY_EXACT_CALLGRIND, err);

	b->has_base = !rc && b->side[ASSAY_BASE].status == ASSAY_STATUS_OK;
	if (!rc && !b->has_base)
		assay_exact_case_release(&b->side[ASSAY_BASE]);
	return rc;
}

/* The head first: without its counts those of the base tell no more than whether there are any. */
static int count_both(struct counting *k, const struct assay_comparison_case *c, struct both *b, struct assay_err *err)
{
	struct assay_exact_case *head = &b->side[ASSAY_HEAD], *base = &b->side[ASSAY_BASE];
	int rc = 0;

	if (!is_lost(c) && assay_exact_size_small(&k->plan->session.plan, k->request, b->c->key)) {
		b->end[ASSAY_HEAD] = ASSAY_EXACT_END_TOO_LONG;
		refuse(head, b->c, ASSAY_STATUS_SKIPPED, ASSAY_EXACT_SMALL);
		return 0;
	}
	if (same_code(k, c)) {
		b->has_base = true;
		refuse(head, b->c, ASSAY_STATUS_SKIPPED, "identical machine code on both sides needs no count");
		refuse(base, b->c, ASSAY_STATUS_SKIPPED, head->reason);
	} else if (is_lost(c)) {
		refuse(head, b->c, ASSAY_STATUS_FAILED, c->reason[0] ? c->reason : ASSAY_CASE_GONE);
	} else {
		rc = count_side(k, ASSAY_HEAD, b, ASSAY_EXACT_CALLGRIND, err);
	}
	if (!rc && head->status == ASSAY_STATUS_OK && (c->in_base || c->reason[0])) {
		b->has_base = true;
		if (c->in_base)
			rc = count_side(k, ASSAY_BASE, b, head->how, err);
		else
			refuse(base, b->c, ASSAY_STATUS_SKIPPED, c->reason);
		/* callgrind failed on the base alone, which was stepped instead */
		if (!rc && c->in_base && base->status == ASSAY_STATUS_OK && base->how != head->how) {
			assay_exact_case_release(head);
			rc = count_side(k, ASSAY_HEAD, b, base->how, err);
		}
		if (!rc)
			rc = align_names(k->plan, base, err);
	} else if (!rc && head->status == ASSAY_STATUS_SKIPPED && b->end[ASSAY_HEAD] != ASSAY_EXACT_END_TOO_LONG &&
		   !b->has_base && c->in_base && !assay_exact_unavailable(k->options.means)) {
		rc = ask_base(k, b, err);
	}
	return rc;
}

static void release_both(struct both *b)
{
	for (int side = 0; side < 2; side++)
		assay_exact_case_release(&b->side[side]);
}

/* The runs own it then. */
static void put_both(struct counting *k, struct both *b)
{
	struct assay_exact_run *head = &k->run[ASSAY_HEAD], *base = &k->run[ASSAY_BASE];

	head->cases[head->n_cases++] = b->side[ASSAY_HEAD];
	if (b->has_base)
		base->cases[base->n_cases++] = b->side[ASSAY_BASE];
}

/* Of either side. */
static bool is_too_long(const struct both *b)
{
	return b->end[ASSAY_HEAD] == ASSAY_EXACT_END_TOO_LONG || b->end[ASSAY_BASE] == ASSAY_EXACT_END_TOO_LONG;
}

/* Counts of other shapes stand for it: both sides say which, and neither owes more. */
static void refuse_both(struct counting *k, const struct assay_comparison_case *c, struct both *b)
{
	const int side = b->end[ASSAY_HEAD] == ASSAY_EXACT_END_TOO_LONG ? ASSAY_HEAD : ASSAY_BASE;
	struct assay_exact_case said = { .status = ASSAY_STATUS_SKIPPED };

	snprintf(said.reason, sizeof(said.reason), "%s%s", side == ASSAY_BASE ? "the base " : "", b->side[side].reason);
	assay_exact_size_name_smaller(&k->plan->session.plan, b->c->key, &said);
	release_both(b);
	for (int i = 0; i < 2; i++) {
		refuse(&b->side[i], b->c, ASSAY_STATUS_SKIPPED, said.reason);
		b->side[i].skip = said.skip;
	}
	b->has_base = c->in_base;
}

static int count_smaller(struct counting *k, const struct assay_comparison_case *c, struct assay_err *err)
{
	const struct assay_session *s = &k->plan->session;
	int rc = 0;

	for (size_t i = 0; i < s->plan.n_smaller && !rc; i++) {
		struct both b = { .c = &s->plan.smaller[i].c, .facts = &s->smaller_facts[i] };

		if (strcmp(s->plan.cases[s->plan.smaller[i].of].key, c->c.key) ||
		    assay_exact_case_find(&k->run[ASSAY_HEAD], b.c->key))
			continue;
		rc = count_both(k, c, &b, err);
		if (rc)
			release_both(&b);
		else
			put_both(k, &b);
	}
	return rc;
}

static int count_case(struct counting *k, size_t i, struct assay_err *err)
{
	const struct assay_comparison_case *c = &k->plan->cmp.cases[i];
	struct both b = { .c = &c->c, .facts = &k->plan->facts[i] };
	const int rc = count_both(k, c, &b, err);
	const bool too_long = !rc && is_too_long(&b);

	if (rc) {
		release_both(&b);
		return rc;
	}
	if (too_long)
		refuse_both(k, c, &b);
	put_both(k, &b);
	k->n_done++;
	return too_long ? count_smaller(k, c, err) : 0;
}

/* Never silently. */
static void tell_smaller(const struct counting *k)
{
	const struct assay_exact_run *head = &k->run[ASSAY_HEAD];
	const struct assay_exact_case *first = NULL;
	char text[2 * ASSAY_KEY_MAX + 512];
	size_t n = 0;

	for (size_t i = 0; i < head->n_cases; i++) {
		n += assay_exact_is_replaced(&head->cases[i]);
		first = first || !assay_exact_is_replaced(&head->cases[i]) ? first : &head->cases[i];
	}
	if (!n)
		return;
	snprintf(text, sizeof(text), "smaller shapes were counted for %zu case%s, such as '%s', %s", n,
		 n == 1 ? "" : "s", first->key, first->reason);
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_NOTE, .text = text });
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
	tell_smaller(k);
	if (!head->n_cases && k->alone)
		return rc;
	for (; rc == ASSAY_EINTERRUPTED && k->n_done < k->n_chosen; k->n_done++)
		refuse(&head->cases[head->n_cases++], &k->plan->cmp.cases[k->chosen[k->n_done]].c, ASSAY_STATUS_FAILED,
		       "the comparison ended before it was counted");
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
			refuse(&head->cases[head->n_cases++], &c->c, ASSAY_STATUS_SKIPPED, ASSAY_EXACT_UNNAMED);
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
		.options = { .model = &cache,
			     .means = &means,
			     .max_steps = assay_exact_counting_steps(&p->session, q),
			     .on_steps = assay_exact_size_tell,
			     .on_steps_arg = &watch,
			     .tool = setting.tool },
		.watch = w,
		.request = q,
		.run = p->cmp.exact,
		.alone = q->take == ASSAY_TAKE_COUNTS,
	};
	int rc = assay_clock_init(&clock, err);

	if (!rc) {
		k.options.measure = assay_session_measure(&p->session, q, &clock, w);
		rc = assay_exact_setting_take(p->session.topology, assay_exact_counting_model(&p->session, q),
					      q->counter_source, &cache, &setting, &means, err);
	}
	if (!rc)
		rc = choose(&k, q, err);
	if (!rc) {
		for (int side = 0; side < 2; side++)
			name_run(&p->cmp, (enum assay_side)side, &setting);
		rc = count_all(&k, err);
	}
	if (k.alone && (!rc || (rc == ASSAY_EINTERRUPTED && p->cmp.exact[ASSAY_HEAD].n_cases)))
		add_owing(&k, q);
	free(k.chosen);
	return rc;
}
