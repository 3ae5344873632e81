/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run or a gate for Prometheus' text-file collector: OpenMetrics 1.0 that is at the same time what the collector
 * reads, version 0.0.4 of the text format, and that `promtool check metrics` accepts. The numbers of a run are gauges,
 * because they do not add up; histograms do. What is stored up to it grows, and is called NAME_total without a TYPE:
 * there OpenMetrics calls a counter NAME and the other NAME_total, and both take a name that ends so without one. Info
 * and state sets the other does not know. There are no time stamps, which the collector refuses. UNIT and EOF are
 * comments to it. Names are made of base units: seconds, bytes, ratio.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "model/build.h"
#include "model/summary.h"
#include "reports/json_parts.h"
#include "reports/run/parts.h"

#define NAME_MAX_BYTES 128

/* ---- lines ---- */

/* Without quotes, which the two formats escape in different ways. */
static void add_help(struct assay_text *out, const char *name, const char *help)
{
	assay_text_addf(out, "# HELP %s ", name);
	for (; *help; help++)
		assay_text_addf(out, "%c", *help == '"' || *help == '\\' || *help == '\n' ? ' ' : *help);
	assay_text_add(out, "\n");
}

static void add_family_of(struct assay_text *out, const char *type, const char *name, const char *unit,
			  const char *help)
{
	assay_text_addf(out, "# TYPE %s %s\n", name, type);
	/* what a rate counts stands before it */
	if (unit[0] && strcmp(unit, "per_second") != 0)
		assay_text_addf(out, "# UNIT %s %s\n", name, unit);
	add_help(out, name, help);
}

static void add_family(struct assay_text *out, const char *name, const char *unit, const char *help)
{
	add_family_of(out, "gauge", name, unit, help);
}

static void begin_labels(struct assay_text *out, const char *name)
{
	assay_text_addf(out, "%s{", name);
}

static void add_label(struct assay_text *out, const char *name, const char *value)
{
	uint32_t c;

	if (out->s && out->len && out->s[out->len - 1] != '{')
		assay_text_add(out, ",");
	assay_text_addf(out, "%s=\"", name);
	while ((c = assay_code_point_next(&value))) {
		if (c == '\n')
			assay_text_add(out, "\\n");
		else if (c == '"' || c == '\\')
			assay_text_addf(out, "\\%c", (char)c);
		else
			assay_code_point_add(out, c);
	}
	assay_text_add(out, "\"");
}

static void end_value(struct assay_text *out, double v)
{
	assay_text_addf(out, "} %.12g\n", v);
}

/* ---- names ---- */

/* The unit of a metric as Prometheus spells it, and what of the tag says the same. */
static const struct unit {
	const char *unit, *end, *spelled;
} units[] = {
	{ "s", "_s", "seconds" },
	{ "B", "_bytes", "bytes" },
	{ "B/s", "_per_s", "per_second" },
	{ "1/s", "_per_s", "per_second" },
	{ "op/s", "_per_s", "per_second" },
	{ "op/B", "", "operations_per_byte" },
	{ "J", "_j", "joules" },
	{ "W", "_w", "watts" },
	{ "Hz", "_hz", "hertz" },
	{ "1", "_frac", "ratio" },
	{ "1", "_rate", "ratio" },
};

static bool ends_in(const char *s, const char *end)
{
	const size_t n = strlen(s), m = strlen(end);

	return n > m && !strcmp(s + n - m, end);
}

/* A name that the linter takes for the short form of a unit gets an underscore behind it. */
static bool is_short_unit(const char *word, size_t len)
{
	static const char *const words[] = { "s",  "ms", "us", "ns", "sec",   "b",     "kb",  "mb",     "gb",  "tb",
					     "pb", "m",  "h",  "d",  "total", "count", "sum", "bucket", "info" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i]) == len && !strncasecmp(words[i], word, len))
			return true;
	return false;
}

/* How much of a word is written: what the linter takes for a unit that is no base unit loses its plural. */
static size_t singular(const char *word, size_t len)
{
	enum { N_BASE = 8 };
	static const char *const words[] = { "seconds", "bytes", "joules", "grams",  "meters",   "metres", "volts",
					     "amperes", "bits",  "hours",  "days",   "weeks",    "miles",  "minutes",
					     "inches",  "yards", "ounces", "pounds", "calories", "kelvins" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t n = strlen(words[i]);

		/* a base unit is refused with a word before it alone, as in "kilobytes" */
		if (len >= n + (i < N_BASE) && !strncasecmp(word + len - n, words[i], n))
			return len - 1;
	}
	return len;
}

/* @tag in small letters, digits and underscores. */
static void add_words(struct assay_text *t, const char *tag, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t n = strcspn(tag + i, "_");

		if (n > len - i)
			n = len - i;
		assay_text_add(t, "_");
		for (size_t k = i, end = i + singular(tag + i, n); k < end; k++) {
			const unsigned char c = (unsigned char)tag[k];

			assay_text_addf(t, "%c", isalnum(c) && c < 0x80 ? tolower(c) : '_');
		}
		if (is_short_unit(tag + i, n))
			assay_text_add(t, "_of");
		i += n + 1;
	}
}

/* "assay_case_bytes_per_second" of bytes_per_s; *unit is what UNIT says, "" for none. */
static void name_metric(const char *tag, const char *unit, char out[NAME_MAX_BYTES], const char **spelled)
{
	struct assay_text t = { 0 };
	size_t len = strlen(tag);

	*spelled = "";
	assay_text_add(&t, "assay_case");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].unit, unit) ||
		    (units[i].end[0] && !ends_in(tag, units[i].end) && !strcmp(unit, "1")))
			continue;
		if (ends_in(tag, units[i].end))
			len -= strlen(units[i].end);
		*spelled = units[i].spelled;
		break;
	}
	add_words(&t, tag, len);
	if ((*spelled)[0])
		assay_text_addf(&t, "_%s", *spelled);
	snprintf(out, NAME_MAX_BYTES, "%s", t.s ? t.s : "");
	assay_text_release(&t);
}

/* ---- a run ---- */

static void add_case_labels(struct assay_text *out, const char *family, const struct assay_run *run,
			    const struct assay_result *r)
{
	begin_labels(out, family);
	add_label(out, "case", r->c.key);
	add_label(out, "machine", run->machine.label);
	add_label(out, "op", r->c.op);
	add_label(out, "suite", run->suite);
	add_label(out, "variant", r->c.variant);
}

/* NaN without a limit. */
static double limit_exceeded(const struct assay_result *r)
{
	const double share = assay_run_cells_metric(r, "roof_frac");

	return isnan(share) ? NAN : assay_limit_exceeded(share);
}

typedef double value_fn(const struct assay_result *r);

static double median_s(const struct assay_result *r)
{
	return r->n_samples ? r->median_ns * 1e-9 : NAN;
}

static double lower_s(const struct assay_result *r)
{
	return assay_summary_interval_ns(r).lo * 1e-9;
}

static double upper_s(const struct assay_result *r)
{
	return assay_summary_interval_ns(r).hi * 1e-9;
}

static double n_samples(const struct assay_result *r)
{
	return (double)r->n_samples;
}

static double is_ok(const struct assay_result *r)
{
	return r->status == ASSAY_STATUS_OK;
}

static void add_values(struct assay_text *out, const struct assay_run *run)
{
	static const struct {
		const char *name, *unit, *help;
		value_fn *value;
	} families[] = {
		{ "assay_case_ok", "", "1 if the case was measured without any fault, else 0", is_ok },
		{ "assay_case_limit_exceeded", "",
		  "1 where the share of the limit is above 1.05, so that the limit or the case was not measured "
		  "correctly, "
		  "else 0",
		  limit_exceeded },
		{ "assay_case_samples", "", "Samples that were taken", n_samples },
		{ "assay_case_time_seconds", "seconds", "Median time of one iteration", median_s },
		{ "assay_case_time_lower_seconds", "seconds", "Lower end of the 95 percent interval of the median",
		  lower_s },
		{ "assay_case_time_upper_seconds", "seconds", "Upper end of the 95 percent interval of the median",
		  upper_s },
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		add_family(out, families[f].name, families[f].unit, families[f].help);
		for (size_t i = 0; i < run->n_results; i++) {
			const double v = families[f].value(&run->results[i]);

			if (!isfinite(v))
				continue;
			add_case_labels(out, families[f].name, run, &run->results[i]);
			end_value(out, v);
		}
	}
}

/* A metric of any case, once for each tag and unit. */
static bool told_before(const struct assay_run *run, size_t of, const struct assay_metric *m)
{
	for (size_t i = 0; i <= of; i++)
		for (size_t k = 0; k < run->results[i].n_metrics; k++) {
			const struct assay_metric *o = &run->results[i].metrics[k];

			if (o == m)
				return false;
			if (!strcmp(o->tag, m->tag))
				return true;
		}
	return false;
}

static void add_metric(struct assay_text *out, const struct assay_run *run, const struct assay_metric *m,
		       struct assay_strings *names)
{
	const struct assay_metric_info *known = assay_metric_find(m->tag);
	char name[NAME_MAX_BYTES], help[160];
	const char *unit;

	name_metric(m->tag, m->unit, name, &unit);
	/* tags of other tools may differ in what no name can hold */
	if (assay_strings_has(names, name)) {
		char digest[NAME_MAX_BYTES];

		snprintf(digest, sizeof(digest), "%.80s_%.8s", name, assay_hash(m->tag, strlen(m->tag)).hex);
		memcpy(name, digest, sizeof(name));
		unit = "";
	}
	assay_strings_add(names, name, NULL);
	snprintf(help, sizeof(help), "%s", known ? known->help : m->tag);
	add_family(out, name, unit, help);
	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_metric *o = assay_result_metric(&run->results[i], m->tag);

		if (!o || !isfinite(o->value))
			continue;
		add_case_labels(out, name, run, &run->results[i]);
		end_value(out, o->value);
	}
}

static void add_metrics(struct assay_text *out, const struct assay_run *run)
{
	struct assay_strings names = { 0 };

	for (size_t i = 0; i < run->n_results; i++)
		for (size_t k = 0; k < run->results[i].n_metrics; k++) {
			const struct assay_metric *m = &run->results[i].metrics[k];

			/* the median of above */
			if (strcmp(m->tag, "time_s") != 0 && !told_before(run, i, m))
				add_metric(out, run, m, &names);
		}
	assay_strings_release(&names);
}

static void add_bucket(struct assay_text *out, const char *name, const struct assay_run *run,
		       const struct assay_result *r, double bound, uint64_t n)
{
	char bucket[NAME_MAX_BYTES + 8], le[32] = "+Inf";

	if (isfinite(bound))
		snprintf(le, sizeof(le), "%.12g", bound);
	snprintf(bucket, sizeof(bucket), "%s_bucket", name);
	add_case_labels(out, bucket, run, r);
	add_label(out, "le", le);
	end_value(out, (double)n);
}

/*
 * A bucket a power of two, since Prometheus keeps a series for each; the quantiles among the metrics are finer. Powers
 * without values are left out, but for the one before others, which bounds them from below. A value that is exactly a
 * bound counts as more than it, where Prometheus would say less or equal.
 */
static void add_buckets(struct assay_text *out, const char *name, const struct assay_run *run,
			const struct assay_result *r, const struct assay_histogram *h)
{
	const unsigned steps = 1u << ASSAY_HISTOGRAM_BITS;
	char count[NAME_MAX_BYTES + 8];
	unsigned told = 0;
	uint64_t n = 0;

	for (size_t i = 0; i < h->n_buckets;) {
		const unsigned begin = h->buckets[i].at ? (h->buckets[i].at - 1) / steps * steps + 1 : 0,
			       end = begin ? begin + steps : 1;

		if (begin > told)
			add_bucket(out, name, run, r, assay_histogram_bound(begin), n);
		for (; i < h->n_buckets && h->buckets[i].at < end; i++)
			n += h->buckets[i].n;
		add_bucket(out, name, run, r, assay_histogram_bound(end), n);
		told = end;
	}
	add_bucket(out, name, run, r, INFINITY, n);
	snprintf(count, sizeof(count), "%s_count", name);
	add_case_labels(out, count, run, r);
	end_value(out, (double)n);
}

static const struct assay_histogram *find_histogram(const struct assay_result *r, const char *tag)
{
	for (size_t i = 0; i < r->n_histograms; i++)
		if (!strcmp(r->histograms[i].tag, tag))
			return &r->histograms[i];
	return NULL;
}

static void add_histograms(struct assay_text *out, const struct assay_run *run)
{
	struct assay_strings names = { 0 };

	for (size_t i = 0; i < run->n_results; i++)
		for (size_t k = 0; k < run->results[i].n_histograms; k++) {
			const struct assay_histogram *h = &run->results[i].histograms[k];
			char name[NAME_MAX_BYTES];
			const char *unit;

			name_metric(h->tag, h->unit, name, &unit);
			if (assay_strings_has(&names, name))
				continue;
			assay_strings_add(&names, name, NULL);
			add_family_of(out, "histogram", name, unit, h->tag);
			for (size_t m = i; m < run->n_results; m++) {
				const struct assay_histogram *o = find_histogram(&run->results[m], h->tag);

				if (o)
					add_buckets(out, name, run, &run->results[m], o);
			}
		}
	assay_strings_release(&names);
}

/* Counters have names of any kind, so they are a label. */
static void add_counts(struct assay_text *out, const struct assay_run *run)
{
	static const char name[] = "assay_case_events";
	bool any = false;

	for (size_t i = 0; i < run->n_results; i++)
		for (size_t k = 0; k < run->results[i].counters.n; k++) {
			const struct assay_count *c = &run->results[i].counters.v[k];

			if (!any)
				add_family(out, name, "", "Counts by source, per call or of the whole case");
			any = true;
			add_case_labels(out, name, run, &run->results[i]);
			add_label(out, "event", c->name);
			add_label(out, "source", c->source);
			add_label(out, "per", c->per_iteration ? "iteration" : "case");
			end_value(out, c->value);
		}
}

static void add_run(struct assay_text *out, const struct assay_run *run)
{
	const struct assay_commit revision = assay_build_revision(&run->build);
	char id[24];

	snprintf(id, sizeof(id), "%" PRId64, run->id);
	add_family(out, "assay_run_build", "", "Always 1; its labels say what was measured");
	begin_labels(out, "assay_run_build");
	add_label(out, "commit", revision.hash);
	add_label(out, "imported", run->imported.format);
	add_label(out, "label", run->label);
	add_label(out, "machine", run->machine.label);
	add_label(out, "run", id);
	add_label(out, "suite", run->suite);
	end_value(out, 1);
	if (run->started_unknown)
		return;
	add_family(out, "assay_run_started_timestamp_seconds", "seconds", "When the run was started, in unix time");
	begin_labels(out, "assay_run_started_timestamp_seconds");
	add_label(out, "machine", run->machine.label);
	add_label(out, "suite", run->suite);
	assay_text_addf(out, "} %.3f\n", (double)run->started_ns * 1e-9);
}

static void begin_total(struct assay_text *out, const char *name, const struct assay_run *run)
{
	begin_labels(out, name);
	add_label(out, "machine", run->machine.label);
	add_label(out, "suite", run->suite);
}

/* Counters that grow with every run that is stored, so that an alert can ask for their increase. */
static void add_totals(struct assay_text *out, const struct assay_run *run, const struct assay_run_totals *totals)
{
	add_help(out, "assay_runs_total", "Runs of the suite on the machine that are stored, up to this one");
	begin_total(out, "assay_runs_total", run);
	end_value(out, (double)totals->runs);
	add_help(out, "assay_results_total", "Results of these runs, by what became of the case");
	for (int i = 0; i < ASSAY_N_STATUS; i++) {
		begin_total(out, "assay_results_total", run);
		add_label(out, "status", assay_status_name((enum assay_status)i));
		end_value(out, (double)totals->results[i]);
	}
}

/* The devices of a run; more of them are counted as one. */
#define MOST_DEVICES 16

/* The work that was timed, by what did it, and how much of it took a slower path than it was meant to. */
static void add_operations(struct assay_text *out, const struct assay_run *run)
{
	const char *devices[MOST_DEVICES] = { "" };
	double calls[MOST_DEVICES] = { 0 }, fallbacks = 0;
	size_t n = 1;

	for (size_t i = 0; i < run->n_results; i++) {
		const struct assay_result *r = &run->results[i];
		const double timed = (double)r->n_samples * (double)r->iterations;
		const struct assay_count *count = assay_counters_find(&r->counters, "fallbacks");
		size_t d = 0;

		while (d < n && strcmp(devices[d], r->c.device))
			d++;
		if (d == n && n < MOST_DEVICES)
			devices[n++] = r->c.device;
		calls[d < n ? d : n - 1] += timed;
		fallbacks += count ? count->value * (count->per_iteration ? timed : 1) : 0;
	}
	add_family(out, "assay_operations", "", "Timed calls of the run, by device");
	for (size_t d = 0; d < n; d++) {
		begin_total(out, "assay_operations", run);
		add_label(out, "device", devices[d][0] ? devices[d] : "cpu");
		end_value(out, calls[d]);
	}
	add_family(out, "assay_fallbacks", "", "Times that these calls took a slower path, of cases that count it");
	begin_total(out, "assay_fallbacks", run);
	end_value(out, fallbacks);
}

static void add_newest_labels(struct assay_text *out, const char *family, const struct assay_run *run,
			      const struct assay_newest_result *r)
{
	char id[24];

	snprintf(id, sizeof(id), "%" PRId64, r->run_id);
	begin_labels(out, family);
	add_label(out, "case", r->key);
	add_label(out, "commit", r->revision.hash);
	add_label(out, "machine", run->machine.label);
	add_label(out, "run", id);
	add_label(out, "suite", r->suite);
}

/* Of every case, also those that the newest run is not about. */
static void add_newest(struct assay_text *out, const struct assay_run *run, const struct assay_newest_result *v,
		       size_t n)
{
	add_family(out, "assay_newest_ok", "",
		   "1 where the case was ok when it was measured last, in a run of any suite, else 0");
	for (size_t i = 0; i < n; i++) {
		add_newest_labels(out, "assay_newest_ok", run, &v[i]);
		end_value(out, v[i].status == ASSAY_STATUS_OK);
	}
	add_family(out, "assay_newest_time_seconds", "seconds", "Median time of one iteration in that run");
	for (size_t i = 0; i < n; i++) {
		if (v[i].status != ASSAY_STATUS_OK)
			continue;
		add_newest_labels(out, "assay_newest_time_seconds", run, &v[i]);
		end_value(out, v[i].median_ns * 1e-9);
	}
}

static void run_openmetrics(const struct assay_report *report, const struct assay_emit_style *style,
			    struct assay_text *out)
{
	const struct assay_run *run = report->run.run;

	(void)style;
	add_run(out, run);
	if (report->run.totals)
		add_totals(out, run, report->run.totals);
	if (report->run.newest)
		add_newest(out, run, report->run.newest, report->run.n_newest);
	add_operations(out, run);
	add_values(out, run);
	add_metrics(out, run);
	add_histograms(out, run);
	add_counts(out, run);
	assay_text_add(out, "# EOF\n");
}

/* ---- a gate ---- */

static void add_verdict_labels(struct assay_text *out, const char *family, const struct assay_gate_case *c,
			       size_t times)
{
	char number[24];

	begin_labels(out, family);
	add_label(out, "case", c->key);
	add_label(out, "evidence", assay_evidence_name(c->evidence));
	add_label(out, "metric", c->metric);
	/* one case and metric may be demanded twice, and two values may not have the same labels */
	snprintf(number, sizeof(number), "%zu", times + 1);
	if (times)
		add_label(out, "demand", number);
}

static size_t times_before(const struct assay_gate_report *g, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < at; i++)
		n += !strcmp(g->cases[i].key, g->cases[at].key) && !strcmp(g->cases[i].metric, g->cases[at].metric) &&
		     g->cases[i].evidence == g->cases[at].evidence;
	return n;
}

static void gate_openmetrics(const struct assay_report *report, const struct assay_emit_style *style,
			     struct assay_text *out)
{
	const struct assay_gate_report *g = report->gate.gate;
	static const struct {
		const char *name, *unit, *help;
		size_t at;
	} families[] = {
		{ "assay_verdict_change_ratio", "ratio", "Time of the head over that of the base",
		  offsetof(struct assay_gate_case, ratio) },
		{ "assay_verdict_change_lower_ratio", "ratio", "Lower end of its interval",
		  offsetof(struct assay_gate_case, ci_lo) },
		{ "assay_verdict_change_upper_ratio", "ratio", "Upper end of its interval",
		  offsetof(struct assay_gate_case, ci_hi) },
		{ "assay_verdict_margin_ratio", "ratio", "Change that is allowed",
		  offsetof(struct assay_gate_case, margin_frac) },
	};

	(void)style;
	add_family(out, "assay_gate_exit_status", "", "Exit status of the whole; 0 is good");
	begin_labels(out, "assay_gate_exit_status");
	add_label(out, "base", g->base);
	add_label(out, "head", g->head);
	add_label(out, "verdict", assay_verdict_name(g->verdict));
	end_value(out, (double)g->exit);
	add_family(out, "assay_verdict", "", "Always 1; the label says what was decided about the case");
	for (size_t i = 0; i < g->n_cases; i++) {
		add_verdict_labels(out, "assay_verdict", &g->cases[i], times_before(g, i));
		add_label(out, "verdict", assay_verdict_name(g->cases[i].verdict));
		end_value(out, 1);
	}
	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		add_family(out, families[f].name, families[f].unit, families[f].help);
		for (size_t i = 0; i < g->n_cases; i++) {
			const double v = *(const double *)(const void *)((const char *)&g->cases[i] + families[f].at);

			if (!isfinite(v))
				continue;
			add_verdict_labels(out, families[f].name, &g->cases[i], times_before(g, i));
			end_value(out, v);
		}
	}
	assay_text_add(out, "# EOF\n");
}

/* ---- alerts ---- */

static void alerts_openmetrics(const struct assay_report *report, const struct assay_emit_style *style,
			       struct assay_text *out)
{
	const struct assay_alert_report *r = report->alerts;

	(void)style;
	if (r->n_cases)
		add_family(out, "assay_alert", "",
			   "1 where the condition of an alert has held for long enough, else 0");
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_alert *a = &r->alerts[r->cases[i].alert];

		begin_labels(out, "assay_alert");
		add_label(out, "alert", a->name);
		add_label(out, "case", r->cases[i].key);
		add_label(out, "severity", a->severity);
		end_value(out, assay_alert_fires(r, &r->cases[i]));
	}
	assay_text_add(out, "# EOF\n");
}

/* The glob as a regular expression of Prometheus (RE2, anchored at both ends), in a string of its language. */
static void add_regex(struct assay_text *out, const char *glob)
{
	for (; *glob; glob++) {
		if (*glob == '*')
			assay_text_add(out, ".*");
		else if (*glob == '?')
			assay_text_add(out, ".");
		else if (*glob == '"')
			assay_text_add(out, "\\\"");
		else if (strchr(".+()|{}^$\\", *glob))
			assay_text_addf(out, "\\\\%c", *glob);
		else
			assay_text_addn(out, glob, 1);
	}
}

/* A scalar of YAML in single quotes, which hold anything but themselves. */
static void add_quoted(struct assay_text *out, const char *s)
{
	assay_text_add(out, "'");
	for (; *s; s++)
		assay_text_addf(out, *s == '\'' ? "''" : "%c", *s);
	assay_text_add(out, "'");
}

static void add_rule(struct assay_text *out, const struct assay_alert *a)
{
	struct assay_text expr = { 0 }, summary = { 0 };
	char name[NAME_MAX_BYTES];
	const char *spelled;

	/* the median has a name of its own */
	name_metric(a->metric, a->unit, name, &spelled);
	assay_text_addf(&expr, "%s", strcmp(a->metric, "time_s") ? name : "assay_case_time_seconds");
	if (strcmp(a->cases, "*")) {
		assay_text_add(&expr, "{case=~\"");
		add_regex(&expr, a->cases);
		assay_text_add(&expr, "\"}");
	}
	assay_text_addf(&expr, " %c %.12g", a->below ? '<' : '>', a->limit);
	assay_text_addf(&summary, "{{ $labels.case }}: %s, and it is {{ $value }}", a->written);
	assay_text_addf(out, "      - alert: %s\n        expr: ", a->name);
	add_quoted(out, expr.s ? expr.s : "");
	if (a->for_ns)
		assay_text_addf(out, "\n        for: %" PRIu64 "ms", a->for_ns / 1000000u);
	assay_text_add(out, "\n        labels:\n          severity: ");
	add_quoted(out, a->severity);
	assay_text_add(out, "\n        annotations:\n          summary: ");
	add_quoted(out, summary.s ? summary.s : "");
	assay_text_add(out, "\n");
	assay_text_release(&expr);
	assay_text_release(&summary);
}

/* A file of rules for Prometheus, over the metrics that `assay serve` and the export of a run have. */
static void prometheus_rules(const struct assay_report *report, const struct assay_emit_style *style,
			     struct assay_text *out)
{
	const struct assay_alert_report *r = report->alerts;

	(void)style;
	assay_text_addf(out, "groups:\n  - name: assay\n    rules:%s\n", r->n_alerts ? "" : " []");
	for (size_t i = 0; i < r->n_alerts; i++)
		add_rule(out, &r->alerts[i]);
}

static void alerts_json(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_alert_report *r = report->alerts;
	json_t *list = json_array();

	(void)style;
	for (size_t i = 0; i < r->n_cases; i++) {
		const struct assay_alert_case *c = &r->cases[i];
		const struct assay_alert *a = &r->alerts[c->alert];

		json_array_append_new(
			list, json_pack("{s:s,s:o,s:s,s:s,s:s,s:f,s:f,s:I}", "alert", a->name, "case",
					assay_json_text(c->key), "severity", a->severity, "when", a->written, "state",
					assay_alert_fires(r, c) ? "firing" : "pending", "value", c->value, "limit",
					a->limit, "since_s", (json_int_t)(c->since_ns / 1000000000u)));
	}
	assay_json_print(json_pack("{s:i,s:I,s:o}", "schema", 1, "rules", (json_int_t)r->n_alerts, "alerts", list),
			 out);
}

ASSAY_EMITTER(alerts_openmetrics, ASSAY_REPORT_ALERTS, "openmetrics", alerts_openmetrics);
ASSAY_EMITTER(alerts_rules, ASSAY_REPORT_ALERTS, "prometheus-rules", prometheus_rules);
ASSAY_EMITTER(alerts_json, ASSAY_REPORT_ALERTS, "json", alerts_json);
ASSAY_EMITTER(run_openmetrics, ASSAY_REPORT_RUN, "openmetrics", run_openmetrics);
ASSAY_EMITTER(gate_openmetrics, ASSAY_REPORT_GATE, "openmetrics", gate_openmetrics);
