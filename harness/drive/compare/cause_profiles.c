/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judged samples are never profiled: this takes process pairs of its own, after the verdict. Several short ones, since
 * processes differ by layout. Of a program, each runs from its start to its end.
 */
#include "drive/compare/cause_profiles.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge/function_blame.h"
#include "judge/paired.h"
#include "measure/profile.h"
#include "measure/program.h"
#include "store/comparison.h"

#define MOST_CASES 5
#define PAIRS      10
#define FEW_PAIRS  5 /* of programs that run for long */
#define MOST_PAIRS 20
/* To read the names in the code of both processes of a pair. */
#define NAMES_NS 3e8
#define RATE_HZ  39989 /* of the place alone, without its callers; prime: in step with no timer */

struct blaming {
	struct assay_compare_plan *plan;
	const struct assay_compare_request *q;
	const struct assay_watch *watch;
	const struct assay_because_keeping *keep;
	struct assay_clock clock;
	struct assay_side_codes codes[2]; /* of plugins */
	size_t done, n;                   /* process pairs, of all cases */
};

static bool is_wanted(const struct assay_compare_request *q, const struct assay_comparison_case *c,
		      const struct assay_gate_case *row)
{
	if (row->same_code || row->ratio == 1 || !assay_function_blame_applies(c, row))
		return false;
	return q->profile == ASSAY_PROFILE_ALL || row->verdict == ASSAY_REGRESSED || row->verdict == ASSAY_IMPROVED;
}

static int by_change(const void *a, const void *b)
{
	const struct assay_gate_case *const *x = a, *const *y = b;
	const double p = fabs(log((*x)->ratio)), q = fabs(log((*y)->ratio));

	return p < q ? 1 : p > q ? -1 : 0;
}

static size_t find(const struct assay_comparison *cmp, const char *key)
{
	for (size_t i = 0; i < cmp->n_cases; i++)
		if (cmp->cases[i].control == ASSAY_CONTROL_NONE && !strcmp(cmp->cases[i].c.key, key))
			return i;
	return cmp->n_cases;
}

/* The rows of those that changed most, one of a case; all that there are where the user wants all. */
static struct assay_gate_case **choose(const struct assay_compare_request *q, const struct assay_comparison *cmp,
				       struct assay_gate_report *r, size_t *n)
{
	struct assay_gate_case **v = calloc(r->n_cases + 1, sizeof(struct assay_gate_case *));

	*n = 0;
	for (size_t i = 0; v && i < r->n_cases; i++) {
		const size_t at = find(cmp, r->cases[i].key);
		bool has = false;

		for (size_t k = 0; k < *n; k++)
			has |= !strcmp(v[k]->key, r->cases[i].key);
		if (!has && at < cmp->n_cases && is_wanted(q, &cmp->cases[at], &r->cases[i]))
			v[(*n)++] = &r->cases[i];
	}
	if (v)
		qsort(v, *n, sizeof(struct assay_gate_case *), by_change);
	if (q->profile != ASSAY_PROFILE_ALL && *n > MOST_CASES)
		*n = MOST_CASES;
	return v;
}

/* The program of a case; NULL: it is a kernel. */
static const struct assay_catalog_op *program_of(const struct assay_compare_plan *p, size_t at)
{
	const struct assay_catalog_op *op = assay_catalog_op(p->session.catalog, p->cmp.cases[at].c.op);

	return op && op->program ? op : NULL;
}

static double for_ns_of(const struct assay_compare_request *q)
{
	return (double)(q->profile_for_ns ? q->profile_for_ns : ASSAY_BECAUSE_FOR_NS);
}

/* The time of a process of a program while it was compared, its start included. */
static double process_ns(const struct assay_comparison_case *c)
{
	double wall_ns = 0, n = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		wall_ns += (double)c->pairs[i].wall_ns;
		n += 4 * (double)c->pairs[i].n_blocks;
	}
	return n > 0 ? wall_ns / n : 0;
}

static unsigned pairs_of(const struct assay_compare_plan *p, const struct assay_compare_request *q, size_t at)
{
	const double ns = process_ns(&p->cmp.cases[at]);

	if (!program_of(p, at))
		return PAIRS;
	return (unsigned)fmax(FEW_PAIRS, fmin(MOST_PAIRS, ns > 0 ? for_ns_of(q) / (2 * ns) : MOST_PAIRS));
}

/* The machine code of what a case runs: of its program, where that lies in the side's own folder, or of plugins. */
static int codes_of_program(const struct blaming *k, size_t at, struct assay_side_codes codes[2], struct assay_err *err)
{
	const struct assay_catalog_op *op = program_of(k->plan, at);
	struct assay_strings words = { 0 };
	int rc = assay_program_words(op, &k->plan->cmp.cases[at].c, &words, err);

	for (unsigned side = 0; side < 2 && !rc; side++) {
		struct assay_strings files = { 0 };
		char path[PATH_MAX];

		assay_program_path(k->plan->side[side].folder, &words, path, sizeof(path));
		rc = assay_strings_add(&files, path, err);
		if (!rc)
			rc = assay_side_codes_read(&codes[side], &files, err);
		assay_strings_release(&files);
	}
	assay_strings_release(&words);
	return rc;
}

/*
 * Does a program take longer because it waits? Samples are of processor time, so that those of both sides would be as
 * many: how many there are must have changed by half as much as its time, which the comparison knows better than a few
 * processes that are profiled.
 */
static bool waits(const struct assay_comparison_case *c, const struct assay_because_evidence *e)
{
	struct assay_paired_readings took;
	double weight[2] = { 0, 0 }, sampled;

	for (size_t i = 0; i < e->n_pairs; i++)
		for (size_t f = 0; f < e->n; f++)
			for (unsigned side = 0; side < 2; side++)
				weight[side] += (double)e->functions[f].weight[side][i];
	sampled = log(weight[1] / weight[0]);
	return !assay_paired_readings(c, NULL, &took, NULL) && isfinite(sampled) && isfinite(took.mean) &&
	       sampled * (took.mean < 0 ? -1 : 1) < fabs(took.mean) / 2;
}

/* One pair more into @e; a case that fails here, after it was measured, ends it with the reason in @end. */
static int add_pair(const struct blaming *k, size_t at, const struct assay_side_codes codes[2],
		    struct assay_because_evidence *e, struct assay_profile_end *end, struct assay_err *err)
{
	struct assay_compare_plan *p = k->plan;
	const struct assay_comparison_case *c = &p->cmp.cases[at];
	const struct assay_catalog_op *program = program_of(p, at);
	const struct assay_measure_options o = assay_compare_plan_loop(p, k->q->what, &k->clock, k->watch).measure;
	struct assay_profile_pair pair = { .iteration_ns = { NAN, NAN } };
	struct assay_case base_case;
	struct assay_profile_pair_options po = {
		.plugins = { &p->side[ASSAY_BASE].plugins, &p->side[ASSAY_HEAD].plugins },
		.parts = { p->side[ASSAY_BASE].parts.s, p->side[ASSAY_HEAD].parts.s },
		.folders = { p->side[ASSAY_BASE].folder, p->side[ASSAY_HEAD].folder },
		.base_case = c->base_variant[0] ? &base_case : NULL,
		.sampling = { { .rate_hz = RATE_HZ, .leaves = true, .own_case = !program },
			      { .rate_hz = RATE_HZ, .leaves = true, .own_case = !program } },
		.for_ns = (k->q->profile_for_ns ? k->q->profile_for_ns : ASSAY_BECAUSE_FOR_NS) / PAIRS,
		.layout_seed = p->cmp.seed + e->n_pairs + 1,
	};
	int rc = assay_comparison_base_case(c, &base_case, err);

	if (rc)
		return rc;
	rc = program ? assay_program_profile_pair(&c->c, program, &o, &po, &pair, end, err)
		     : assay_measure_profile_pair(&c->c, &p->facts[at], &o, &po, &pair, end, err);
	if (!rc && end->status == ASSAY_STATUS_OK && !(pair.iteration_ns[0] > 0 && pair.iteration_ns[1] > 0))
		rc = assay_err_set(err, ASSAY_EWORKER, "no call was timed");
	if (!rc && end->status == ASSAY_STATUS_OK)
		rc = assay_because_add_pair(e, pair.side, pair.iteration_ns, codes, err);
	e->seconds += program ? pair.side[0].seconds + pair.side[1].seconds : (double)po.for_ns * 1e-9;
	for (unsigned side = 0; side < 2; side++)
		assay_profile_release(&pair.side[side]);
	return rc;
}

static void tell(const struct blaming *k, const char *key)
{
	assay_watch_tell(k->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							  .done_frac = (double)k->done / (double)k->n,
							  .text = key });
}

/* If a case cannot be profiled, the reason is kept in place of its causes. */
static int gather(struct blaming *k, size_t at, struct assay_err *err)
{
	struct assay_comparison_case *c = &k->plan->cmp.cases[at];
	struct assay_because_evidence *e = calloc(1, sizeof(*e));
	const struct assay_catalog_op *program = program_of(k->plan, at);
	const unsigned pairs = pairs_of(k->plan, k->q, at);
	struct assay_side_codes own[2] = { { .n = 0 }, { .n = 0 } };
	struct assay_profile_end end = { .status = ASSAY_STATUS_OK };
	int rc = 0;

	if (!e)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	c->because = e;
	if (program)
		rc = codes_of_program(k, at, own, err);
	for (unsigned i = 0; i < pairs && !rc && end.status == ASSAY_STATUS_OK; i++) {
		rc = assay_watch_check(k->watch, err);
		if (!rc)
			rc = add_pair(k, at, program ? own : k->codes, e, &end, err);
		k->done++;
		tell(k, c->c.key);
	}
	if (!rc && end.status != ASSAY_STATUS_OK)
		rc = assay_err_set(err, ASSAY_EWORKER, "%s: %.300s", assay_status_name(end.status), end.reason);
	assay_side_codes_release(&own[0]);
	assay_side_codes_release(&own[1]);
	if (!rc)
		assay_because_add_counts(e, k->plan->cmp.exact, c->c.key);
	if (!rc && program && !program->program->reads && waits(c, e))
		rc = assay_err_set(err, ASSAY_EWORKER,
				   "its processor time did not change as much as its time: it waits for something");
	if (rc == ASSAY_ENOMEM || rc == ASSAY_EINTERRUPTED) {
		assay_because_evidence_free(e);
		c->because = NULL;
		return rc;
	}
	if (rc)
		snprintf(e->unknown, sizeof(e->unknown), "%.400s", err->text);
	return assay_store_because_add(k->keep->store, k->keep->case_ids[at], e, err);
}

static int gather_all(struct blaming *k, struct assay_gate_case **v, size_t n, struct assay_err *err)
{
	int rc = assay_clock_init(&k->clock, err);

	for (unsigned side = 0; side < 2 && !rc; side++)
		rc = assay_side_codes_read(&k->codes[side], &k->plan->side[side].plugins, err);
	for (size_t i = 0; i < n; i++)
		k->n += pairs_of(k->plan, k->q, find(&k->plan->cmp, v[i]->key));
	for (size_t i = 0; i < n && !rc; i++)
		rc = gather(k, find(&k->plan->cmp, v[i]->key), err);
	for (unsigned side = 0; side < 2; side++)
		assay_side_codes_release(&k->codes[side]);
	return rc;
}

/*
 * The time of profiling a case: beside the samples each pair starts and prepares both processes, as its pairs of the
 * comparison did, and reads the names in their code.
 */
static double expected_ns(const struct assay_compare_plan *p, const struct assay_compare_request *q, size_t at)
{
	const struct assay_comparison_case *c = &p->cmp.cases[at];
	double beside_ns = 0;

	if (program_of(p, at))
		return pairs_of(p, q, at) * (2 * process_ns(c) + NAMES_NS);

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct assay_pair *pair = &c->pairs[i];
		double ns = (double)pair->wall_ns;

		for (unsigned side = 0; side < 2; side++)
			for (size_t k = 0; pair->side[side].samples && k < 2 * pair->n_blocks; k++)
				ns -= (double)pair->side[side].samples[k].ns;
		beside_ns += fmax(0, ns) / (double)c->n_pairs;
	}
	return for_ns_of(q) + PAIRS * (beside_ns + NAMES_NS);
}

int assay_profile_because(struct assay_compare_plan *plan, const struct assay_compare_request *q,
			  const struct assay_watch *w, const struct assay_because_keeping *keep,
			  struct assay_gate_report *r, struct assay_err *err)
{
	struct blaming k = { .plan = plan, .q = q, .watch = w, .keep = keep };
	struct assay_gate_case **v;
	size_t n = 0;
	int rc = 0;

	if (q->profile == ASSAY_PROFILE_NO)
		return 0;
	v = choose(q, &plan->cmp, r, &n);
	if (!v)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (n) {
		double all_ns = 0;
		char text[128];

		for (size_t i = 0; i < n; i++)
			all_ns += expected_ns(plan, q, find(&plan->cmp, v[i]->key));
		snprintf(text, sizeof(text), "profiling %zu case%s to find the cause: about %.0f s%s", n,
			 n == 1 ? "" : "s", all_ns * 1e-9, keep->shared ? " if the cores were idle" : "");
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_NOTE, .text = text });
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = all_ns });
		rc = gather_all(&k, v, n, err);
		assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	}
	free(v);
	return rc ? rc : assay_function_blame_cases(&plan->cmp, r, err);
}
