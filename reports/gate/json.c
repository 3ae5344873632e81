/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate or a comparison for scripts, as one object. "controls" is {} where there are none, else {"trusted",
 * "undecided", "items": [{"key", "kind": "aa" | "slower", "injected", "verdict", "ratio", "ci", "pairs", "ok",
 * "reason"}]}.
 */
#include "reports/emitter.h"

#include "reports/gate/words.h"
#include "reports/json_parts.h"

static json_t *interval(double lo, double hi)
{
	return lo == lo && hi == hi ? json_pack("[o,o]", assay_json_number(lo), assay_json_number(hi)) : json_null();
}

static json_t *pairs(size_t n)
{
	return n ? json_integer((json_int_t)n) : json_null();
}

static json_t *because_part(const struct assay_gate_because *b, const struct assay_because_part *p)
{
	static const char *const evidence[] = { "sampled", "code", "exact" };

	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "text", assay_json_text(b->text),
			 "function", assay_json_text(p->function), "object", assay_json_text(p->object), "file",
			 assay_json_text(p->file), "lines",
			 p->line ? json_pack("[i,i]", (int)p->line, (int)p->last_line) : json_null(), "delta_ns",
			 assay_json_number(p->change_ns), "ci", interval(p->ci_lo_ns, p->ci_hi_ns), "whole_ns",
			 assay_json_number(b->whole_ns), "whole_ci", interval(b->whole_lo_ns, b->whole_hi_ns),
			 "seconds", assay_json_number(b->seconds), "samples", assay_json_u64(b->samples), "evidence",
			 evidence[p->evidence]);
}

void assay_json_add_because(json_t *o, const struct assay_gate_because *b)
{
	json_t *list;

	if (!b->asked)
		return;
	if (!b->n_parts) {
		json_object_set_new(o, "because_unknown", assay_json_text(b->text));
		return;
	}
	list = json_array();
	for (size_t i = 0; i < b->n_parts; i++)
		json_array_append_new(list, because_part(b, &b->parts[i]));
	json_object_set_new(o, "because", list);
	if (b->rest_ns != 0)
		json_object_set_new(o, "because_rest_ns", assay_json_number(b->rest_ns));
}

json_t *assay_json_gate_case(const struct assay_gate_case *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "key", assay_json_text(c->key));
	json_object_set_new(o, "metric", assay_json_text(c->metric));
	json_object_set_new(o, "evidence", json_string(assay_evidence_name(c->evidence)));
	json_object_set_new(o, "verdict", json_string(assay_verdict_name(c->verdict)));
	json_object_set_new(o, "reason", assay_json_text(c->reason));
	json_object_set_new(o, "ratio", assay_json_number(c->ratio));
	json_object_set_new(o, "ci", interval(c->ci_lo, c->ci_hi));
	json_object_set_new(o, "margin", assay_json_number(c->margin_frac));
	json_object_set_new(o, "pairs", pairs(c->pairs));
	json_object_set_new(o, "dropped_frac", assay_json_number(c->dropped_frac));
	json_object_set_new(o, "smallest_detectable", assay_json_number(c->smallest_detectable_frac));
	json_object_set_new(o, "value", assay_json_number(c->value));
	json_object_set_new(o, "limit", assay_json_number(c->limit));
	json_object_set_new(o, "suspect", json_boolean(c->suspect));
	json_object_set_new(o, "skipped", json_boolean(c->skipped));
	assay_json_add_because(o, &c->because);
	if (c->base_variant[0]) {
		json_object_set_new(o, "base_variant", assay_json_text(c->base_variant));
		json_object_set_new(o, "speedup", assay_json_number(1 / c->ratio));
		json_object_set_new(o, "speedup_ci", interval(1 / c->ci_hi, 1 / c->ci_lo));
	}
	return o;
}

static json_t *control_object(const struct assay_gate_control *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "key", assay_json_text(c->key));
	json_object_set_new(o, "kind", json_string(c->kind == ASSAY_CONTROL_SLOWER ? "slower" : "aa"));
	json_object_set_new(o, "injected", assay_json_number(c->kind == ASSAY_CONTROL_SLOWER ? c->injected_frac : 0));
	json_object_set_new(o, "verdict", json_string(assay_verdict_name(c->verdict)));
	json_object_set_new(o, "ratio", assay_json_number(c->ratio));
	json_object_set_new(o, "ci", interval(c->ci_lo, c->ci_hi));
	json_object_set_new(o, "pairs", pairs(c->pairs));
	json_object_set_new(o, "ok", json_boolean(c->ok));
	json_object_set_new(o, "reason", assay_json_text(c->reason));
	return o;
}

/* {} where there are none, as in every gate against a stored baseline. */
static json_t *controls_object(const struct assay_gate_report *r)
{
	json_t *o = json_object(), *items;

	if (!r->n_controls && !r->untrusted)
		return o;
	items = json_array();
	for (size_t i = 0; i < r->n_controls; i++)
		json_array_append_new(items, control_object(&r->controls[i]));
	json_object_set_new(o, "trusted", json_boolean(!r->untrusted));
	json_object_set_new(o, "undecided", json_integer((json_int_t)assay_gate_words_undecided_controls(r)));
	json_object_set_new(o, "items", items);
	return o;
}

json_t *assay_json_gate(const struct assay_gate_report *r)
{
	json_t *cases = json_array(), *root = json_object();
	struct assay_text headline = { 0 };
	const size_t undecided = assay_gate_words_count(r).of[ASSAY_INCONCLUSIVE];

	assay_text_add(&headline, assay_verdict_name(r->verdict));
	assay_gate_words_headline(r, &headline);
	for (size_t i = 0; i < r->n_cases; i++)
		json_array_append_new(cases, assay_json_gate_case(&r->cases[i]));
	json_object_set_new(root, "schema", json_integer(1));
	json_object_set_new(root, "exit", json_integer(r->exit));
	json_object_set_new(root, "verdict", json_string(assay_verdict_name(r->verdict)));
	json_object_set_new(root, "headline", assay_json_text(headline.s ? headline.s : ""));
	json_object_set_new(root, "undecided", json_integer((json_int_t)undecided));
	json_object_set_new(root, "suspects", json_integer((json_int_t)assay_gate_words_suspects(r)));
	json_object_set_new(root, "base", assay_json_text(r->base[0] ? r->base : "none"));
	json_object_set_new(root, "head", assay_json_text(r->head));
	if (r->rule) {
		json_object_set_new(root, "base_revision", assay_json_commit(&r->revision[0]));
		json_object_set_new(root, "head_revision", assay_json_commit(&r->revision[1]));
	}
	if (r->manifest[0])
		json_object_set_new(root, "manifest", assay_json_text(r->manifest));
	json_object_set_new(root, "alpha", assay_json_number(r->alpha));
	json_object_set_new(root, "no_baseline", json_boolean(r->no_baseline));
	if (r->rule)
		json_object_set_new(root, "rule", json_integer(r->rule));
	json_object_set_new(root, "comparison", r->comparison_id ? json_integer(r->comparison_id) : json_null());
	json_object_set_new(root, "seconds", r->seconds > 0 ? assay_json_number(r->seconds) : json_null());
	json_object_set_new(root, "fitness", r->fitness[0] ? assay_json_text(r->fitness) : json_null());
	if (r->unchecked[0])
		json_object_set_new(root, "unchecked", assay_json_text(r->unchecked));
	json_object_set_new(root, "controls", controls_object(r));
	json_object_set_new(root, "cases", cases);
	if (headline.failed) {
		json_decref(root);
		root = NULL;
	}
	assay_text_release(&headline);
	return root;
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	(void)style;
	assay_json_print(assay_json_gate(r->gate.gate), out);
}

ASSAY_EMITTER(gate_json, ASSAY_REPORT_GATE, "json", write_json);
