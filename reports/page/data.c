/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/page/data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/json_parts.h"
#include "reports/run/parts.h"

#define QUANTILES 51
/* Functions and lines of the code that are shown of one case. */
#define EXACT_ROWS 12

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Six digits draw a picture. */
static json_t *short_number(double v)
{
	char digits[32];

	if (!isfinite(v))
		return json_null();
	snprintf(digits, sizeof(digits), "%.6g", v);
	return json_real(strtod(digits, NULL));
}

static double sample_ns(const struct assay_sample *s)
{
	return s->iterations ? (double)s->ns / (double)s->iterations : 0;
}

static double middle(const double *sorted, size_t n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* NULL when out of memory. */
static json_t *quantiles_json(double *v, size_t n)
{
	json_t *a = json_array();

	qsort(v, n, sizeof(*v), ascending);
	for (size_t i = 0; i < QUANTILES && n; i++) {
		double at = (double)(n - 1) * (double)i / (QUANTILES - 1);
		size_t below = (size_t)at, above = below + 1 < n ? below + 1 : below;

		json_array_append_new(a, short_number(v[below] + (at - (double)below) * (v[above] - v[below])));
	}
	return a;
}

/* ---- a run ---- */

static json_t *points_json(const struct assay_result *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_samples; i++)
		json_array_append_new(
			a, json_pack("[o,i]", short_number(sample_ns(&r->samples[i])), (int)r->samples[i].flags));
	return a;
}

static json_t *groups_json(const struct assay_result *r, double *ns)
{
	json_t *a = json_array();

	for (size_t g = 0; g < ASSAY_PAGE_GROUPS; g++) {
		size_t from = r->n_samples * g / ASSAY_PAGE_GROUPS, to = r->n_samples * (g + 1) / ASSAY_PAGE_GROUPS;
		uint32_t flags = 0;

		for (size_t i = from; i < to; i++) {
			ns[i - from] = sample_ns(&r->samples[i]);
			flags |= r->samples[i].flags;
		}
		qsort(ns, to - from, sizeof(*ns), ascending);
		json_array_append_new(a, json_pack("[I,o,o,o,i]", (json_int_t)(to - from), short_number(ns[0]),
						   short_number(middle(ns, to - from)), short_number(ns[to - from - 1]),
						   (int)flags));
	}
	return a;
}

static json_t *run_case_json(const struct assay_run *run, const struct assay_result *r)
{
	json_t *o = assay_json_run_case(run, r, false);
	double *ns = malloc((r->n_samples + 1) * sizeof(*ns));
	char vs[32];

	if (!ns) {
		json_decref(o);
		return NULL;
	}
	if (r->samples && r->n_samples <= ASSAY_PAGE_SAMPLES) {
		json_object_set_new(o, "points", points_json(r));
	} else if (r->samples) {
		json_object_set_new(o, "groups", groups_json(r, ns));
		for (size_t i = 0; i < r->n_samples; i++)
			ns[i] = sample_ns(&r->samples[i]);
		json_object_set_new(o, "quantiles", quantiles_json(ns, r->n_samples));
	}
	free(ns);
	assay_run_cells_vs_reference(run, r, true, vs, sizeof(vs));
	json_object_set_new(o, "vs_ref", assay_json_text(vs));
	json_object_set_new(o, "rate", assay_json_text(assay_run_cells_rate_tag(run, r->c.op)));
	return o;
}

/* Functions and lines in which most was done; their number is kept under "n_functions" and "n_lines". */
static void shorten_list(json_t *c, const char *name)
{
	json_t *all = json_object_get(c, name), *few = json_array(), *best;
	char count[32];
	size_t n = json_array_size(all), at;

	snprintf(count, sizeof(count), "n_%s", name);
	json_object_set_new(c, count, json_integer((json_int_t)n));
	while (json_array_size(few) < EXACT_ROWS && json_array_size(all)) {
		json_int_t most = -1;

		at = 0;
		for (size_t i = 0; i < json_array_size(all); i++) {
			const json_t *counts = json_object_get(json_array_get(all, i), "counts");
			json_int_t v = json_integer_value(json_object_get(counts, "instructions"));

			if (v > most) {
				most = v;
				at = i;
			}
		}
		best = json_incref(json_array_get(all, at));
		json_array_remove(all, at);
		json_array_append_new(few, best);
	}
	json_object_set_new(c, name, few);
}

static void shorten_exact(json_t *exact)
{
	json_t *c;
	size_t i;

	json_array_foreach(json_object_get(exact, "cases"), i, c)
	{
		shorten_list(c, "functions");
		shorten_list(c, "lines");
	}
}

static json_t *run_json(const struct assay_run *run)
{
	json_t *root = json_pack("{s:i,s:o}", "schema", 1, "run", assay_json_run(run)), *cases = json_array();

	for (size_t i = 0; i < run->n_results; i++)
		json_array_append_new(cases, run_case_json(run, &run->results[i]));
	json_object_set_new(root, "cases", cases);
	if (run->exact) {
		json_t *exact = json_object();

		assay_json_add_exact(exact, run->exact);
		shorten_exact(exact);
		json_object_set_new(root, "exact", exact);
	}
	return root;
}

/* ---- a comparison ---- */

/* Fields of pairs that a page does not show, since pairs are many. */
static void shorten_pairs(json_t *pairs)
{
	json_t *p;
	size_t i;

	json_array_foreach(pairs, i, p)
	{
		json_object_del(p, "extra_iterations");
		for (int side = 0; side < 2; side++) {
			json_t *s = json_object_get(p, side == ASSAY_BASE ? "base" : "head");

			json_object_del(s, "digest");
			json_object_del(s, "code");
		}
	}
}

/* Time per iteration of all samples of a pair's side, appended to @ns. */
static size_t side_times(const struct assay_pair *p, int side, double *ns)
{
	const struct assay_sample *s = p->side[side].samples;
	size_t n = s ? 2 * p->n_blocks : 0;

	for (size_t i = 0; i < n; i++)
		ns[i] = sample_ns(&s[i]);
	return n;
}

/* Medians of either side, pair by pair; null of a pair without times. */
static json_t *times_json(const struct assay_comparison_case *c, double *ns)
{
	json_t *a = json_array();

	for (size_t i = 0; i < c->n_pairs; i++) {
		json_t *pair = json_array();

		for (int side = 0; side < 2; side++) {
			size_t n = side_times(&c->pairs[i], side, ns);

			qsort(ns, n, sizeof(*ns), ascending);
			json_array_append_new(pair, n ? short_number(middle(ns, n)) : json_null());
		}
		json_array_append_new(a, pair);
	}
	return a;
}

static void add_comparison_times(json_t *o, const struct assay_comparison_case *c)
{
	size_t most = 0, n;
	double *ns;

	for (size_t i = 0; i < c->n_pairs; i++)
		most += 2 * c->pairs[i].n_blocks;
	ns = malloc((most + 1) * sizeof(*ns));
	if (!ns)
		return;
	json_object_set_new(o, "times", times_json(c, ns));
	json_object_set_new(o, "quantiles", json_object());
	for (int side = 0; side < 2; side++) {
		n = 0;
		for (size_t i = 0; i < c->n_pairs; i++)
			n += side_times(&c->pairs[i], side, ns + n);
		json_object_set_new(json_object_get(o, "quantiles"), side == ASSAY_BASE ? "base" : "head",
				    quantiles_json(ns, n));
	}
	free(ns);
}

static json_t *comparison_json(const struct assay_stored_comparison *v)
{
	const struct assay_report_comparison all = { .cmp = &v->cmp, .readings = v->readings, .verdict = v->verdict };
	json_t *root = assay_json_comparison(&all), *exact = json_object_get(root, "exact"), *c;
	size_t i;

	json_array_foreach(json_object_get(root, "cases"), i, c)
	{
		shorten_pairs(json_object_get(c, "pairs"));
		add_comparison_times(c, &v->cmp.cases[i]);
	}
	shorten_exact(json_object_get(exact, "base"));
	shorten_exact(json_object_get(exact, "head"));
	return root;
}

/* ---- the past ---- */

/* Index of the run of @p in @runs, where it is added unless it is there. */
static size_t run_index(json_t *runs, const struct assay_trend_point *p)
{
	bool dirty;
	const char *commit = assay_trend_commit(p, &dirty);
	json_t *r;
	size_t i;

	json_array_foreach(runs, i, r) if (json_integer_value(json_object_get(r, "id")) == p->run_id) return i;
	json_array_append_new(runs, json_pack("{s:I,s:o,s:o,s:b}", "id", (json_int_t)p->run_id, "started",
					      assay_json_time(p->started_ns), "commit", assay_json_text(commit),
					      "dirty", dirty));
	return i;
}

static json_t *past_json(const struct assay_result_page *p)
{
	json_t *runs = json_array(), *cases = json_object();

	for (size_t i = 0; i < p->n_past; i++) {
		const struct assay_trend_point *t = &p->past[i].point;
		json_t *points = json_object_get(cases, p->past[i].key);

		if (!points) {
			points = json_array();
			json_object_set_new(cases, p->past[i].key, points);
		}
		json_array_append_new(points,
				      json_pack("[I,o,o,o]", (json_int_t)run_index(runs, t), short_number(t->median_ns),
						short_number(t->ci95_lo_ns), short_number(t->ci95_hi_ns)));
	}
	return json_pack("{s:o,s:o}", "runs", runs, "cases", cases);
}

/* By key. */
static json_t *bottlenecks_json(const struct assay_result_page *p)
{
	json_t *o = json_object();

	for (size_t i = 0; i < p->n_bottlenecks; i++)
		json_object_set_new(o, p->bottlenecks[i].key, assay_json_bottleneck(&p->bottlenecks[i]));
	return o;
}

/* A member that is null may as well be missing, and takes less room so. */
static void drop_nulls(json_t *v)
{
	const char *key;
	json_t *m;
	void *next;
	size_t i;

	json_object_foreach_safe(v, next, key, m)
	{
		if (json_is_null(m))
			json_object_del(v, key);
		else
			drop_nulls(m);
	}
	json_array_foreach(v, i, m) drop_nulls(m);
}

/* Within strings these are the only places of '<', '>' and '&' in JSON. */
static void add_script_text(struct assay_text *out, const char *json)
{
	while (*json) {
		size_t len = strcspn(json, "<>&");

		assay_text_addn(out, json, len);
		json += len;
		if (*json)
			assay_text_addf(out, "\\u%04x", (unsigned)*json++);
	}
}

void assay_page_json(json_t *root, struct assay_text *out)
{
	char *text;

	drop_nulls(root);
	text = root ? json_dumps(root, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12)) : NULL;
	json_decref(root);
	if (text)
		add_script_text(out, text);
	else
		out->failed = true;
	free(text);
}

void assay_page_data(const struct assay_result_page *p, struct assay_text *out)
{
	json_t *root = p->of_run ? run_json(&p->run) : comparison_json(&p->comparison);

	json_object_set_new(root, "gate", p->judged ? assay_json_gate(&p->gate) : json_null());
	json_object_set_new(root, "repeat", assay_json_text(p->repeat.s));
	json_object_set_new(root, "past", past_json(p));
	json_object_set_new(root, "bottlenecks", bottlenecks_json(p));
	assay_page_json(root, out);
}
