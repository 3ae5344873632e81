/* SPDX-License-Identifier: Apache-2.0 */
/* Means are kept with their weights, so that certifications of one question add up. */
#include "drive/compare/certify.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge/comparison_judge.h"

char *assay_certify_question(const struct assay_comparison *cmp, double margin_frac)
{
	json_t *cases = json_array(), *settings;
	char *text = NULL;

	for (size_t i = 0; i < cmp->n_cases; i++)
		json_array_append_new(cases, json_string(cmp->cases[i].c.key));
	settings = json_pack("{s:f,s:I,s:i,s:i,s:f,s:o}", "alpha", cmp->alpha, "budget_ns", (json_int_t)cmp->budget_ns,
			     "max_pairs", (int)cmp->max_pairs, "rule", ASSAY_JUDGE_RULE, "margin", margin_frac, "cases",
			     cases);
	if (settings)
		text = json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(settings);
	return text;
}

static json_t *interval_json(const struct assay_rate *r)
{
	return json_pack("[f,f]", r->lo, r->hi);
}

static json_t *number_json(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *report_json(const struct assay_certify_report *o)
{
	json_t *power = json_array(), *keys = json_array();

	for (size_t i = 0; i < o->keys.n; i++)
		json_array_append_new(keys, json_string(o->keys.v[i]));
	for (unsigned k = 0; k < o->n_slowdowns; k++)
		json_array_append_new(
			power, json_pack("{s:f,s:i,s:i,s:i,s:o}", "slowdown", o->power[k].slowdown_frac, "detected",
					 (int)o->power[k].detected.k, "of", (int)o->power[k].detected.of, "passed",
					 (int)o->power[k].passed.k, "ci", interval_json(&o->power[k].detected)));
	return json_pack("{s:i,s:i,s:i,s:o,s:i,s:i,s:o,s:o,s:f,s:f,s:o,s:f,s:f,s:f,s:f,s:f,s:i,s:o,s:I}", "schema", 1,
			 "gates", (int)o->gates, "false_alarms", (int)o->false_alarms.k, "false_alarm_ci",
			 interval_json(&o->false_alarms), "passed", (int)o->passed.k, "inconclusive",
			 (int)o->inconclusive, "power", power, "smallest_detectable",
			 number_json(o->smallest_detectable_frac), "alpha", o->alpha, "margin", o->margin_frac,
			 "pair_sd", number_json(o->sd), "pair_df", o->df, "judged", o->n_judged, "pairs_per_case",
			 o->pairs_per_case, "seconds_per_case", o->seconds_per_case, "seconds", o->seconds, "resumed",
			 (int)o->resumed, "cases", keys, "seed", (json_int_t)(o->seed & INT64_MAX));
}

char *assay_certify_text(const struct assay_certify_report *o, bool indented)
{
	json_t *json = report_json(o);
	char *text = json ? json_dumps(json, indented ? JSON_INDENT(2) | JSON_REAL_PRECISION(12) : JSON_COMPACT) : NULL;

	json_decref(json);
	return text;
}

/* ---- adding up ---- */

static double mean_of(double a, double weight_a, double b, double weight_b)
{
	return weight_a + weight_b > 0 ? (a * weight_a + b * weight_b) / (weight_a + weight_b) : 0;
}

static void add_rate(struct assay_rate *to, const struct assay_rate *from)
{
	to->k += from->k;
	to->of += from->of;
}

void assay_certify_add(struct assay_certify_report *to, const struct assay_certify_report *from)
{
	const double a = to->df > 0 ? to->sd * to->sd : 0, b = from->df > 0 ? from->sd * from->sd : 0;

	to->sd = to->df + from->df > 0 ? sqrt(mean_of(a, to->df, b, from->df)) : NAN;
	to->df += from->df;
	to->pairs_per_case = mean_of(to->pairs_per_case, to->n_judged, from->pairs_per_case, from->n_judged);
	to->seconds_per_case = mean_of(to->seconds_per_case, to->n_judged, from->seconds_per_case, from->n_judged);
	to->n_judged += from->n_judged;
	to->seconds += from->seconds;
	to->gates += from->gates;
	to->inconclusive += from->inconclusive;
	add_rate(&to->false_alarms, &from->false_alarms);
	add_rate(&to->passed, &from->passed);
	for (unsigned i = 0; i < to->n_slowdowns; i++)
		for (unsigned k = 0; k < from->n_slowdowns; k++)
			if (to->power[i].slowdown_frac == from->power[k].slowdown_frac) {
				add_rate(&to->power[i].detected, &from->power[k].detected);
				add_rate(&to->power[i].passed, &from->power[k].passed);
			}
	to->resumed += from->resumed;
}

static bool read_power(const json_t *power, struct assay_certify_report *r)
{
	size_t i;
	json_t *row;

	json_array_foreach(power, i, row)
	{
		int detected, of, passed;

		if (i >= ASSAY_CERTIFY_SLOWDOWNS ||
		    json_unpack(row, "{s:F,s:i,s:i,s:i}", "slowdown", &r->power[i].slowdown_frac, "detected", &detected,
				"of", &of, "passed", &passed) ||
		    detected < 0 || passed < 0 || of < detected + passed)
			return false;
		r->power[i].detected = (struct assay_rate){ .k = (unsigned)detected, .of = (unsigned)of };
		r->power[i].passed = (struct assay_rate){ .k = (unsigned)passed, .of = (unsigned)of };
		r->n_slowdowns++;
	}
	return true;
}

/* Parse the text that report_json() wrote. */
static bool read_report(const char *text, struct assay_certify_report *r)
{
	json_t *json = json_loads(text, 0, NULL), *power, *sd;
	int gates, failed, passed, inconclusive;
	bool ok = json &&
		  !json_unpack(json, "{s:i,s:i,s:i,s:i,s:o,s:o,s:F,s:F,s:F,s:F,s:F}", "gates", &gates, "false_alarms",
			       &failed, "passed", &passed, "inconclusive", &inconclusive, "power", &power, "pair_sd",
			       &sd, "pair_df", &r->df, "judged", &r->n_judged, "pairs_per_case", &r->pairs_per_case,
			       "seconds_per_case", &r->seconds_per_case, "seconds", &r->seconds);

	ok = ok && failed >= 0 && passed >= 0 && inconclusive >= 0 && gates == failed + passed + inconclusive &&
	     r->df >= 0 && r->n_judged >= 0 && read_power(power, r);
	if (ok) {
		r->sd = r->df > 0 ? json_number_value(sd) : NAN;
		r->gates = (unsigned)gates;
		r->inconclusive = (unsigned)inconclusive;
		r->false_alarms = (struct assay_rate){ .k = (unsigned)failed, .of = (unsigned)gates };
		r->passed = (struct assay_rate){ .k = (unsigned)passed, .of = (unsigned)gates };
		r->resumed = 1;
	}
	json_decref(json);
	return ok;
}

int assay_certify_add_stored(struct assay_certify_report *to, struct assay_store *store, const char *question,
			     struct assay_err *err)
{
	struct assay_strings results = { 0 };
	int rc = assay_store_certify_results(store, to->machine.id, question, &results, err);

	for (size_t i = 0; i < results.n && !rc; i++) {
		struct assay_certify_report r = { 0 };

		if (read_report(results.v[i], &r))
			assay_certify_add(to, &r);
		else
			rc = assay_err_set(err, ASSAY_ESTORE,
					   "a stored certification makes no sense; restore a copy of the database");
	}
	assay_strings_release(&results);
	return rc;
}
