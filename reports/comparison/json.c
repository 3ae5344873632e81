/* SPDX-License-Identifier: Apache-2.0 */
/* A stored comparison for scripts: its cases pair by pair, and what was counted on either side. */
#include <string.h>

#include "reports/emitter.h"

#include <math.h>

#include "reports/json_parts.h"

static json_t *samples_json(const struct assay_pair *p, int side)
{
	json_t *a = json_array();

	for (size_t i = 0; i < 2 * p->n_blocks; i++) {
		const struct assay_sample *s = &p->side[side].samples[i];

		json_array_append_new(a, json_pack("{s:I,s:I,s:i,s:i,s:i,s:i,s:I,s:I}", "iterations",
						   (json_int_t)s->iterations, "ns", (json_int_t)s->ns, "flags",
						   (int)s->flags, "switches", (int)s->switches, "faults",
						   (int)s->faults, "steal_ticks", (int)s->steal_ticks, "waited_ns",
						   (json_int_t)s->waited_ns, "stolen_ns", (json_int_t)s->stolen_ns));
	}
	return a;
}

static json_t *side_json(const struct assay_pair *p, int side, bool samples)
{
	const struct assay_result *s = &p->side[side];
	json_t *o = json_pack("{s:s,s:o,s:o,s:o,s:o}", "status", assay_status_name(s->status), "reason",
			      assay_json_text(s->reason), "digest", assay_json_text(s->digest), "code",
			      assay_json_text(s->code_hash), "log", assay_json_text(s->log));

	if (s->raw_metrics && s->raw_metrics[0])
		json_object_set_new(o, "raw_metrics", assay_json_raw_metrics(s));
	if (samples)
		json_object_set_new(o, "samples", samples_json(p, side));
	return o;
}

static json_t *pair_json(const struct assay_pair *p, const struct assay_pair_reading *reading, bool samples)
{
	return json_pack("{s:o,s:I,s:I,s:b,s:b,s:o,s:I,s:I,s:f,s:o,s:o}", "seed", assay_json_u64(p->seed), "iterations",
			 (json_int_t)p->iterations, "extra_iterations", (json_int_t)p->extra_iterations[ASSAY_HEAD],
			 "steady", p->steady, "usable", isfinite(reading->ratio), "ratio",
			 assay_json_number(reading->ratio), "blocks", (json_int_t)p->n_blocks, "dropped_blocks",
			 (json_int_t)reading->n_dropped, "seconds", (double)p->wall_ns * 1e-9, "base",
			 side_json(p, ASSAY_BASE, samples), "head", side_json(p, ASSAY_HEAD, samples));
}

static json_t *sides_json(json_t *base, json_t *head)
{
	return json_pack("{s:o,s:o}", "base", base, "head", head);
}

static json_t *case_json(const struct assay_comparison_case *c, const struct assay_case_reading *reading, bool samples)
{
	static const char *const kinds[] = {
		[ASSAY_CONTROL_NONE] = "none", [ASSAY_CONTROL_AA] = "aa", [ASSAY_CONTROL_SLOWER] = "slower"
	};
	const struct assay_result *base = &reading->counted.side[ASSAY_BASE];
	const struct assay_result *head = &reading->counted.side[ASSAY_HEAD];
	json_t *pairs = json_array(), *o;

	for (size_t i = 0; i < c->n_pairs; i++)
		json_array_append_new(pairs, pair_json(&c->pairs[i], &reading->pairs[i], samples));
	o = json_pack("{s:s,s:s,s:f,s:b,s:b,s:o,s:o,s:o}", "key", c->c.key, "control", kinds[c->control], "injected",
		      assay_comparison_injected(c), "in_base", c->in_base, "in_head", c->in_head, "reason",
		      assay_json_text(c->reason), "difference", assay_json_text(c->difference), "pairs", pairs);
	if (c->base_variant[0])
		json_object_set_new(o, "base_variant", assay_json_text(c->base_variant));
	json_object_set_new(o, "undecided", assay_json_text(reading->undecided));
	assay_json_add_because(o, &reading->because);
	json_object_set_new(o, "metrics",
			    sides_json(assay_json_metrics(base->metrics, base->n_metrics),
				       assay_json_metrics(head->metrics, head->n_metrics)));
	json_object_set_new(o, "counters",
			    sides_json(assay_json_counters(&base->counters), assay_json_counters(&head->counters)));
	json_object_set_new(
		o, "unavailable",
		sides_json(assay_json_unavailable(&base->counters), assay_json_unavailable(&head->counters)));
	return o;
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

static json_t *revision_json(const struct assay_build *b)
{
	struct assay_commit c = { .dirty = b->dirty };

	memcpy(c.hash, b->commit, sizeof(c.hash));
	return assay_json_commit(&c);
}

json_t *assay_json_comparison(const struct assay_report_comparison *v)
{
	const struct assay_comparison *cmp = v->cmp;
	json_t *cases = json_array();

	for (size_t i = 0; i < cmp->n_cases; i++)
		json_array_append_new(cases, case_json(&cmp->cases[i], &v->readings[i], v->samples));
	return json_pack("{s:i,s:{s:I,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:f,s:i,s:i},"
			 "s:o,s:o}",
			 "schema", 1, "comparison", "id", (json_int_t)cmp->id, "base", assay_json_text(cmp->base),
			 "head", assay_json_text(cmp->head), "suite", assay_json_text(cmp->suite), "seed",
			 assay_json_u64(cmp->seed), "started", assay_json_time(cmp->started_ns), "ended",
			 assay_json_time(cmp->ended_ns), "machine", assay_json_text(cmp->machine.label),
			 "machine_facts", assay_json_facts(cmp->machine.facts, cmp->machine.n_facts), "base_build",
			 assay_json_build(&cmp->build[ASSAY_BASE]), "head_build",
			 assay_json_build(&cmp->build[ASSAY_HEAD]), "base_revision",
			 revision_json(&cmp->build[ASSAY_BASE]), "head_revision",
			 revision_json(&cmp->build[ASSAY_HEAD]), "program", assay_json_commit(&cmp->program), "verdict",
			 assay_json_text(v->verdict), "alpha", cmp->alpha, "budget_s", (double)cmp->budget_ns * 1e-9,
			 "max_pairs", (int)cmp->max_pairs, "family", (int)cmp->family, "cases", cases, "exact",
			 cmp->exact[ASSAY_HEAD].n_cases ? counts_json(cmp) : json_null());
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_json_print(assay_json_comparison(&r->comparison), out);
}

ASSAY_EMITTER(comparison_json, ASSAY_REPORT_COMPARISON, "json", write_json);
