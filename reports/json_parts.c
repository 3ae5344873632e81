/* SPDX-License-Identifier: Apache-2.0 */
/* Values that all JSON emitters write in the same way: of a run and of a side of a comparison alike. */
#include "model/build.h"
#include "reports/json_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

json_t *assay_json_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *assay_json_u64(uint64_t v)
{
	return v <= INT64_MAX ? json_integer((json_int_t)v) : json_sprintf("%llu", (unsigned long long)v);
}

json_t *assay_json_text(const char *s)
{
	json_t *j;
	char *plain;

	if (!s || !s[0])
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	plain = strdup(s);
	if (!plain)
		return NULL;
	for (char *p = plain; *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	j = json_string(plain);
	free(plain);
	return j;
}

json_t *assay_json_time(uint64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / 1000000000u);
	char buf[40];
	struct tm tm;

	if (!unix_ns)
		return json_null();
	gmtime_r(&t, &tm);
	strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return json_string(buf);
}

json_t *assay_json_better(int better)
{
	return better ? json_string(better > 0 ? "higher" : "lower") : json_null();
}

json_t *assay_json_metrics(const struct assay_metric *v, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++) {
		const struct assay_metric *m = &v[i];

		json_object_set_new(o, m->tag,
				    json_pack("{s:o,s:s,s:o,s:o,s:b}", "value", assay_json_number(m->value), "unit",
					      m->unit, "better", assay_json_better(m->better), "source",
					      m->source[0] ? json_string(m->source) : json_null(), "estimated",
					      m->estimated));
	}
	return o;
}

json_t *assay_json_raw_metrics(const struct assay_result *r)
{
	const char *p = r->raw_metrics ? r->raw_metrics : "";
	char tag[ASSAY_METRIC_TAG_MAX];
	json_t *a = json_array();
	double value;

	while (*p) {
		json_t *o = json_object();

		while (assay_raw_metric_next(&p, tag, &value))
			json_object_set_new(o, tag, assay_json_number(value));
		json_array_append_new(a, o);
	}
	return a;
}

json_t *assay_json_histograms(const struct assay_histogram *v, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++) {
		json_t *buckets = json_array();

		for (size_t k = 0; k < v[i].n_buckets; k++)
			json_array_append_new(
				buckets,
				json_pack("[o,o,o]", assay_json_number(assay_histogram_bound(v[i].buckets[k].at)),
					  assay_json_number(assay_histogram_bound(v[i].buckets[k].at + 1)),
					  assay_json_u64(v[i].buckets[k].n)));
		json_object_set_new(o, v[i].tag,
				    json_pack("{s:s,s:o,s:o,s:o}", "unit", v[i].unit, "better",
					      assay_json_better(v[i].better), "count", assay_json_u64(v[i].n),
					      "buckets", buckets));
	}
	return o;
}

json_t *assay_json_counters(const struct assay_counters *counters)
{
	json_t *o = json_object();

	for (size_t i = 0; i < counters->n; i++) {
		const struct assay_count *c = &counters->v[i];

		json_object_set_new(o, c->name,
				    json_pack("{s:o,s:s,s:o,s:s,s:o}", "value", assay_json_number(c->value), "source",
					      c->source, "how", assay_json_text(c->how), "per",
					      c->per_iteration ? "iteration" : "case", "running_frac",
					      assay_json_number(c->running_frac)));
	}
	return o;
}

json_t *assay_json_unavailable(const struct assay_counters *counters)
{
	json_t *o = json_object();

	for (size_t i = 0; i < counters->n_missing; i++) {
		const struct assay_unavailable *u = &counters->missing[i];

		json_object_set_new(o, u->name,
				    json_pack("{s:s,s:o}", "source", u->source, "reason", assay_json_text(u->reason)));
	}
	return o;
}

json_t *assay_json_commit(const struct assay_commit *c)
{
	return json_pack("{s:o,s:b}", "commit", assay_json_text(c->hash), "dirty", c->dirty);
}

json_t *assay_json_facts(const struct assay_fact *facts, size_t n)
{
	json_t *o = json_object();

	for (size_t i = 0; i < n; i++)
		json_object_set_new(o, facts[i].name, assay_json_text(facts[i].value));
	return o;
}

json_t *assay_json_build(const struct assay_build *b)
{
	const struct assay_commit c = assay_build_revision(b);

	return json_pack("{s:o,s:o,s:b,s:o,s:b,s:o,s:o,s:o,s:o,s:b}", "id", assay_json_text(b->id), "commit",
			 assay_json_text(c.hash), "dirty", c.dirty, "program_commit", assay_json_text(b->commit),
			 "program_dirty", b->dirty, "compiler", assay_json_text(b->compiler), "flags",
			 assay_json_text(b->flags), "plugins", assay_json_text(b->plugins), "plugin_commit",
			 assay_json_text(b->plugin.hash), "plugin_dirty", b->plugin.dirty);
}

#define INDENT 2

void assay_json_part(const char *before, json_t *v, unsigned depth, struct assay_text *out)
{
	char *s = v ? json_dumps(v, JSON_INDENT(INDENT) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(v);
	assay_text_add(out, before);
	/* within strings a line break is written as two letters */
	for (char *line = s, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		assay_text_add(out, line);
		if (end)
			assay_text_addf(out, "\n%*s", (int)(INDENT * depth), "");
	}
	if (!s)
		out->failed = true;
	free(s);
}

void assay_json_print(json_t *root, struct assay_text *out)
{
	assay_json_part("", root, 0, out);
	assay_text_add(out, "\n");
}
