/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown is what is stored, and of each pair what the judge takes from it; verdicts are left to assay judge. */
#include "cli/show_comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/show_comparison_counts.h"
#include "judge/paired.h"
#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/gate_words.h"
#include "reports/json_parts.h"
#include "stats/stats.h"

static void control_text(const struct assay_comparison_case *c, char *buf, size_t size)
{
	switch (c->control) {
	case ASSAY_CONTROL_AA:
		snprintf(buf, size, "base against base");
		break;
	case ASSAY_CONTROL_SLOWER:
		snprintf(buf, size, "head with %.3g %% more work", 100 * c->injected_frac);
		break;
	default:
		snprintf(buf, size, "%s", !c->in_head ? "lost" : !c->in_base ? "new" : "");
		break;
	}
}

/* What the judge takes from @p; a pair of which a side is not ok has no estimate. */
static int estimate(const struct assay_pair *p, struct assay_pair_estimate *e, struct assay_err *err)
{
	double *tmp = malloc((p->n_blocks + 1) * sizeof(*tmp));

	*e = (struct assay_pair_estimate){ 0 };
	if (!tmp)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	if (p->side[ASSAY_BASE].status == ASSAY_STATUS_OK && p->side[ASSAY_HEAD].status == ASSAY_STATUS_OK)
		*e = assay_pair_estimate(p, tmp);
	free(tmp);
	return 0;
}

static json_t *samples_json(const struct assay_pair *p, int side)
{
	json_t *a = json_array();

	for (size_t i = 0; i < 2 * p->n_blocks; i++) {
		const struct assay_sample *s = &p->side[side].samples[i];

		json_array_append_new(a, json_pack("{s:I,s:I,s:i,s:i,s:i,s:i}", "iterations", (json_int_t)s->iterations,
						   "ns", (json_int_t)s->ns, "flags", (int)s->flags, "switches",
						   (int)s->switches, "faults", (int)s->faults, "steal_ticks",
						   (int)s->steal_ticks));
	}
	return a;
}

static json_t *side_json(const struct assay_pair *p, int side, bool samples)
{
	const struct assay_pair_side *s = &p->side[side];
	json_t *o = json_pack("{s:s,s:o,s:o,s:o}", "status", assay_status_name(s->status), "reason",
			      assay_json_text(s->reason), "digest", assay_json_text(s->digest), "code",
			      assay_json_text(s->code_hash));

	if (samples)
		json_object_set_new(o, "samples", samples_json(p, side));
	return o;
}

static json_t *pair_json(const struct assay_pair *p, bool samples, struct assay_err *err)
{
	struct assay_pair_estimate e;

	if (estimate(p, &e, err))
		return NULL;
	return json_pack("{s:o,s:I,s:I,s:b,s:b,s:o,s:I,s:I,s:f,s:o,s:o}", "seed", assay_json_u64(p->seed), "iterations",
			 (json_int_t)p->iterations, "extra_iterations", (json_int_t)p->extra_iterations[ASSAY_HEAD],
			 "steady", p->steady, "usable", e.usable, "ratio",
			 assay_json_number(e.usable ? exp(e.log_ratio) : NAN), "blocks", (json_int_t)p->n_blocks,
			 "dropped_blocks", (json_int_t)e.n_dropped, "seconds", (double)p->wall_ns * 1e-9, "base",
			 side_json(p, ASSAY_BASE, samples), "head", side_json(p, ASSAY_HEAD, samples));
}

static json_t *case_json(const struct assay_comparison_case *c, bool samples, struct assay_err *err)
{
	static const char *const kinds[] = {
		[ASSAY_CONTROL_NONE] = "none", [ASSAY_CONTROL_AA] = "aa", [ASSAY_CONTROL_SLOWER] = "slower"
	};
	json_t *pairs = json_array(), *o;

	for (size_t i = 0; i < c->n_pairs; i++)
		json_array_append_new(pairs, pair_json(&c->pairs[i], samples, err));
	o = json_pack("{s:s,s:s,s:f,s:b,s:b,s:o,s:o,s:o}", "key", c->c.key, "control", kinds[c->control], "injected",
		      c->injected_frac, "in_base", c->in_base, "in_head", c->in_head, "reason",
		      assay_json_text(c->reason), "difference", assay_json_text(c->difference), "pairs", pairs);
	if (o && assay_show_counts_json(c, o, err)) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Mean and spread over the pairs, as far as they are usable. */
static int case_row(struct assay_columns *t, const struct assay_comparison_case *c, struct assay_err *err)
{
	char pairs[24], used[24], sd_text[32] = "", change[32] = "", kind[64], name[ASSAY_KEY_MAX + 80];
	double sum = 0, sd;
	size_t usable = 0, n;
	int rc = assay_paired_spread(c, &sd, &n, err);

	for (size_t i = 0; i < c->n_pairs && !rc; i++) {
		struct assay_pair_estimate e;

		rc = estimate(&c->pairs[i], &e, err);
		usable += e.usable;
		sum += e.usable ? e.log_ratio : 0;
	}
	if (rc)
		return rc;
	snprintf(pairs, sizeof(pairs), "%zu", c->n_pairs);
	snprintf(used, sizeof(used), "%zu", usable);
	if (usable)
		assay_gate_words_change(exp(sum / (double)usable), true, change, sizeof(change));
	if (usable > 1)
		snprintf(sd_text, sizeof(sd_text), "%.3f %%", 100 * sd);
	control_text(c, kind, sizeof(kind));
	snprintf(name, sizeof(name), "%s%s%s", c->c.key, kind[0] ? ", " : "", kind);
	assay_columns_tail(t, (const char *const[]){ pairs, used, change, sd_text }, 4, name);
	if (c->reason[0])
		assay_columns_line(t, 4, c->reason);
	if (c->difference[0])
		assay_columns_line(t, 4, c->difference);
	return 0;
}

static void block_rows(const struct assay_pair *p, struct assay_text *out)
{
	struct assay_columns t = { .align = "rrrrr", .indent = "      " };

	assay_columns_row(&t, (const char *const[]){ "block", "base ns", "base ns", "head ns", "head ns" });
	for (size_t b = 0; b < p->n_blocks; b++) {
		char cell[5][32];

		snprintf(cell[0], sizeof(cell[0]), "%zu", b);
		for (int k = 0; k < 4; k++)
			snprintf(cell[k + 1], sizeof(cell[0]), "%" PRIu64,
				 p->side[k / 2].samples[2 * b + (size_t)k % 2].ns);
		assay_columns_row(&t, (const char *const[]){ cell[0], cell[1], cell[2], cell[3], cell[4] });
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
}

static int pair_row(struct assay_columns *t, const struct assay_pair *p, size_t i, struct assay_err *err)
{
	const struct assay_pair_side *bad =
		p->side[ASSAY_HEAD].status != ASSAY_STATUS_OK ? &p->side[ASSAY_HEAD] : &p->side[ASSAY_BASE];
	char no[24], change[32] = "", blocks[24], dropped[24], it[24], took[32], note[640] = "";
	struct assay_pair_estimate e;
	int rc = estimate(p, &e, err);

	if (rc)
		return rc;
	snprintf(no, sizeof(no), "%zu", i + 1);
	if (e.usable)
		assay_gate_words_change(exp(e.log_ratio), true, change, sizeof(change));
	snprintf(blocks, sizeof(blocks), "%zu", p->n_blocks);
	snprintf(dropped, sizeof(dropped), "%zu", e.n_dropped);
	snprintf(it, sizeof(it), "%" PRIu64, p->iterations);
	assay_quantity_text((double)p->wall_ns * 1e-9, "s", assay_cli_style().utf8, took, sizeof(took));
	if (bad->status != ASSAY_STATUS_OK)
		snprintf(note, sizeof(note), "%s %s: %s", bad == &p->side[ASSAY_HEAD] ? "head" : "base",
			 assay_status_name(bad->status), bad->reason);
	else if (!e.usable)
		snprintf(note, sizeof(note), "not used: too disturbed");
	else if (!p->steady)
		snprintf(note, sizeof(note), "not steady after the warm-up");
	assay_columns_row(t, (const char *const[]){ no, change, blocks, dropped, it, took });
	if (note[0])
		assay_columns_line(t, 6, note);
	return 0;
}

static int case_pairs(const struct assay_comparison_case *c, bool samples, struct assay_text *out,
		      struct assay_err *err)
{
	const struct assay_emit_style style = assay_cli_style();
	struct assay_columns t = { .align = "rrrrrr", .indent = "  ", .width = style.width };
	char kind[64];
	int rc = 0;

	control_text(c, kind, sizeof(kind));
	assay_text_addf(out, "\n%s%s%s%s%s\n", style.colour ? "\033[1m" : "", c->c.key, style.colour ? "\033[0m" : "",
			kind[0] ? ", " : "", kind);
	if (c->reason[0])
		assay_text_addf(out, "  %s\n", c->reason);
	if (c->difference[0])
		assay_text_addf(out, "  %s\n", c->difference);
	if (c->n_pairs)
		assay_columns_row(&t,
				  (const char *const[]){ "pair", "change", "blocks", "dropped", "iterations", "took" });
	for (size_t i = 0; i < c->n_pairs && !rc; i++)
		rc = pair_row(&t, &c->pairs[i], i, err);
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (!rc)
		rc = assay_show_counts(c, &style, out, err);
	for (size_t i = 0; i < c->n_pairs && !rc && samples; i++) {
		assay_text_addf(out, "    pair %zu\n", i + 1);
		block_rows(&c->pairs[i], out);
	}
	return rc;
}

static void header(const struct assay_comparison *cmp, const char *verdict, struct assay_text *out)
{
	char when[32];

	assay_cli_when(cmp->started_ns, when, sizeof(when));
	assay_text_addf(out, "comparison %" PRId64 " of suite '%s', %s, seed %" PRIu64 "\n", cmp->id, cmp->suite, when,
			cmp->seed);
	assay_text_addf(out, "head     %s\nbase     %s\nmachine  %s\n", cmp->head, cmp->base, cmp->machine.label);
	assay_text_addf(out, "verdict  %s\n",
			verdict[0] ? verdict : "unfinished, or under way: only what follows was measured");
}

static int comparison_text(const struct assay_comparison *cmp, const char *verdict, const char *only, bool samples,
			   struct assay_text *out, struct assay_err *err)
{
	struct assay_columns t = { .align = "rrrrl", .indent = "  ", .width = assay_cli_style().width };
	int rc = 0;

	header(cmp, verdict, out);
	if (!only && cmp->n_cases) {
		assay_text_add(out, "\n");
		assay_columns_row(&t, (const char *const[]){ "pairs", "used", "change", "pair sd", "case" });
	}
	for (size_t i = 0; i < cmp->n_cases && !rc; i++) {
		if (!only)
			rc = case_row(&t, &cmp->cases[i], err);
		else if (assay_glob_match(only, cmp->cases[i].c.key))
			rc = case_pairs(&cmp->cases[i], samples, out, err);
	}
	assay_columns_print(&t, out);
	assay_columns_release(&t);
	if (!rc && cmp->exact[ASSAY_HEAD].n_cases) {
		struct assay_emit_style style = assay_cli_style();

		style.verbose = only;
		assay_text_add(out, "\n");
		rc = assay_emit_exact_sides(&cmp->exact[ASSAY_BASE], &cmp->exact[ASSAY_HEAD], &style, out, err);
	}
	return rc;
}

static json_t *counts_json(const struct assay_comparison *cmp)
{
	json_t *sides = json_object();

	for (int side = 0; side < 2; side++) {
		json_t *o = json_object();

		assay_json_add_exact(o, &cmp->exact[side]);
		json_object_set_new(sides, side == ASSAY_BASE ? "base" : "head", o);
	}
	return sides;
}

static int comparison_json(const struct assay_comparison *cmp, const char *verdict, const char *only, bool samples,
			   struct assay_text *out, struct assay_err *err)
{
	json_t *cases = json_array();

	for (size_t i = 0; i < cmp->n_cases; i++)
		if ((!only || assay_glob_match(only, cmp->cases[i].c.key)) &&
		    json_array_append_new(cases, case_json(&cmp->cases[i], samples, err))) {
			json_decref(cases);
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		}
	return assay_json_print(
		json_pack("{s:i,s:{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:f,s:i,s:i},s:o,s:o}", "schema", 1,
			  "comparison", "id", (json_int_t)cmp->id, "base", assay_json_text(cmp->base), "head",
			  assay_json_text(cmp->head), "suite", assay_json_text(cmp->suite), "seed",
			  assay_json_u64(cmp->seed), "started", assay_json_time(cmp->started_ns), "ended",
			  assay_json_time(cmp->ended_ns), "machine", assay_json_text(cmp->machine.label), "verdict",
			  assay_json_text(verdict), "alpha", cmp->alpha, "budget_s", (double)cmp->budget_ns * 1e-9,
			  "max_pairs", (int)cmp->max_pairs, "family", (int)cmp->family, "cases", cases, "exact",
			  cmp->exact[ASSAY_HEAD].n_cases ? counts_json(cmp) : json_null()),
		out, err);
}

int assay_show_comparison(struct assay_store *store, int64_t id, const char *only, bool samples, bool json,
			  struct assay_text *out, struct assay_err *err)
{
	struct assay_comparison cmp = { 0 };
	char verdict[ASSAY_STORE_VERDICT_MAX] = "";
	int rc = assay_store_comparison_load(store, id, &cmp, verdict, NULL, err);
	bool any = !only;

	for (size_t i = 0; i < cmp.n_cases && !any; i++)
		any = assay_glob_match(only, cmp.cases[i].c.key);
	for (int side = 0; side < 2 && only; side++)
		any |= assay_exact_run_keep(&cmp.exact[side], only) > 0;
	if (!rc && !any)
		rc = assay_err_set(err, ASSAY_EUSAGE,
				   "no case of comparison %" PRId64 " matches '%s': 'assay show comparisons %" PRId64
				   "' lists them",
				   cmp.id, only, cmp.id);
	if (!rc)
		rc = json ? comparison_json(&cmp, verdict, only, samples, out, err)
			  : comparison_text(&cmp, verdict, only, samples, out, err);
	assay_comparison_release(&cmp);
	return rc;
}
