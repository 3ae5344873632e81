/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A diff for scripts: {"schema":1,"base":{…},"head":{…},"uncovered","measure","controls":{…},"cases":[…]}. `ratio` is
 * head time over base time, as in a comparison; `speedup` is one over it.
 */
#include "reports/json_parts.h"

#include <math.h>

#include "reports/emitter.h"

static json_t *side_json(const struct assay_diff_side *s)
{
	return json_pack("{s:o,s:I,s:I,s:o,s:{s:o,s:o},s:o}", "name", assay_json_text(s->name), "run",
			 (json_int_t)s->run, "runs", (json_int_t)s->n_runs, "started",
			 s->started_ns ? assay_json_time(s->started_ns) : json_null(), "machine", "id",
			 assay_json_text(s->machine_id), "label", assay_json_text(s->machine_label), "build",
			 assay_json_build(&s->build));
}

static json_t *pair_json(double a, double b)
{
	return json_pack("[o,o]", assay_json_number(a), assay_json_number(b));
}

static json_t *numbers_json(const struct assay_diff_case *c)
{
	json_t *o = json_object();

	for (size_t i = 0; i < c->n_numbers; i++) {
		const struct assay_diff_number *m = &c->numbers[i];

		json_object_set_new(o, m->name,
				    json_pack("{s:o,s:o,s:o,s:s,s:o,s:o}", "base", assay_json_number(m->value[0]),
					      "head", assay_json_number(m->value[1]), "ratio",
					      assay_json_number(m->value[1] / m->value[0]), "unit", m->unit, "better",
					      assay_json_better(m->better), "source", assay_json_text(m->source)));
	}
	return o;
}

static json_t *because_json(const struct assay_diff_because *b)
{
	if (!b->name[0])
		return json_null();
	return json_pack("[{s:s,s:o,s:o,s:o,s:o,s:s}]", "name", b->name, "evidence", assay_json_text(b->source), "base",
			 assay_json_number(b->value[0]), "head", assay_json_number(b->value[1]), "explained_frac",
			 assay_json_number(b->explained_frac), "text", b->text);
}

static json_t *case_json(const struct assay_diff_case *c)
{
	const bool timed = assay_diff_compared(c);
	json_t *o = json_object();

	json_object_set_new(o, "key", assay_json_text(c->c.key));
	json_object_set_new(o, "base_key", assay_json_text(c->base_key[0] ? c->base_key : c->c.key));
	json_object_set_new(o, "variant", assay_json_text(c->c.variant));
	json_object_set_new(o, "base_variant", assay_json_text(c->base_variant[0] ? c->base_variant : c->c.variant));
	json_object_set_new(o, "result", json_string(assay_diff_result_name(c->result)));
	json_object_set_new(o, "reason", assay_json_text(c->reason));
	json_object_set_new(o, "base_ns", assay_json_number(c->ns[ASSAY_DIFF_BASE]));
	json_object_set_new(o, "head_ns", assay_json_number(c->ns[ASSAY_DIFF_HEAD]));
	json_object_set_new(o, "ratio", assay_json_number(c->ratio));
	json_object_set_new(o, "ci", isfinite(c->lo) ? pair_json(c->lo, c->hi) : json_null());
	json_object_set_new(o, "speedup", assay_json_number(1 / c->ratio));
	json_object_set_new(o, "speedup_ci", isfinite(c->lo) ? pair_json(1 / c->hi, 1 / c->lo) : json_null());
	json_object_set_new(o, "same_code", timed ? json_boolean(c->same_code) : json_null());
	json_object_set_new(o, "slow_core", json_pack("[b,b]", c->slow_core[0], c->slow_core[1]));
	json_object_set_new(o, "because", because_json(&c->because));
	json_object_set_new(o, "because_unknown", assay_json_text(c->because.name[0] ? "" : c->because.text));
	json_object_set_new(o, "numbers", numbers_json(c));
	return o;
}

static void write_json(const struct assay_report *r, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_diff *d = r->diff.diff;

	(void)style;
	assay_text_add(out, "{\n  \"schema\": 1,");
	assay_json_part("\n  \"by\": ", json_string(d->by_variant ? "variant" : "run"), 1, out);
	assay_json_part(",\n  \"base\": ", side_json(&d->side[ASSAY_DIFF_BASE]), 1, out);
	assay_json_part(",\n  \"head\": ", side_json(&d->side[ASSAY_DIFF_HEAD]), 1, out);
	assay_json_part(",\n  \"uncovered\": ", assay_json_text(d->uncovered), 1, out);
	assay_json_part(",\n  \"measure\": ", assay_json_text(d->measure), 1, out);
	assay_json_part(",\n  \"controls\": ",
			json_pack("{s:I,s:I,s:o}", "same_code", (json_int_t)d->n_same_code, "moved",
				  (json_int_t)d->n_same_code_moved, "most_ratio", assay_json_number(d->same_code_most)),
			1, out);
	assay_text_add(out, ",\n  \"cases\": [");
	for (size_t i = 0; i < d->n_cases; i++)
		assay_json_part(i ? ",\n    " : "\n    ", case_json(&d->cases[i]), 2, out);
	assay_text_add(out, d->n_cases ? "\n  ]\n}\n" : "]\n}\n");
}

ASSAY_EMITTER(diff_json, ASSAY_REPORT_DIFF, "json", write_json);
