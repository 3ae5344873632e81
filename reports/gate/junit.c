/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gate as JUnit XML. There is no standard; this is what Jenkins, GitLab and the Ant schema all take: an outer element
 * without attributes, one suite with properties, test cases and both outputs. There is one test case for each case ×
 * metric: class name is the op, name the rest of the key and the metric. REGRESSED and WRONG_RESULT are failures,
 * NOT_MEASURED and INCOMPARABLE errors, or skipped where a missing baseline was allowed. What passes without a number
 * is skipped.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "reports/gate/words.h"
#include "reports/text_parts.h"

enum outcome {
	PASSED,
	SKIPPED,
	FAILED,
	BROKEN,
	N_OUTCOMES,
};

static const char *const elements[N_OUTCOMES] = { NULL, "skipped", "failure", "error" };

static void add_property(struct assay_text *out, const char *name, const char *value)
{
	assay_text_add(out, "      <property");
	assay_xml_attribute(out, "name", name);
	assay_xml_attribute(out, "value", value);
	assay_text_add(out, "/>\n");
}

static enum outcome outcome_of(const struct assay_report_gate *o, const struct assay_gate_case *c)
{
	const struct assay_gate_report *r = o->gate;

	switch (c->verdict) {
	case ASSAY_PASS:
		return c->skipped ? SKIPPED : PASSED;
	case ASSAY_IMPROVED:
		return PASSED;
	case ASSAY_REGRESSED:
	case ASSAY_WRONG_RESULT:
		return FAILED;
	case ASSAY_INCONCLUSIVE:
		return o->strict || (o->suspects_fail && c->suspect) ? FAILED : SKIPPED;
	case ASSAY_INCOMPARABLE:
		/* the exit status says whether a missing baseline was allowed */
		return r->no_baseline && (r->exit == ASSAY_EXIT_OK || r->exit == ASSAY_EXIT_INCONCLUSIVE) ? SKIPPED
													  : BROKEN;
	default:
		return BROKEN;
	}
}

/* The same case and metric may be demanded twice, readers drop all but one of a name. @seen: how often each was. */
static size_t times_before(const struct assay_gate_case *c, struct assay_name_index *seen, struct assay_text *out)
{
	char name[ASSAY_KEY_MAX + ASSAY_METRIC_TAG_MAX];
	size_t n = 0;

	snprintf(name, sizeof(name), "%s %s", c->key, c->metric);
	if (assay_name_index_put(seen, name, 0, &n, NULL, NULL))
		out->failed = true;
	else
		assay_name_index_set(seen, name, n + 1);
	return n;
}

static void add_names(const struct assay_gate_case *c, struct assay_name_index *seen, struct assay_text *out)
{
	const size_t op = assay_key_op_length(c->key), before = times_before(c, seen, out);
	const char *rest = c->key[op] ? c->key + op + 1 : "";
	char class_name[ASSAY_KEY_MAX], name[ASSAY_KEY_MAX + ASSAY_METRIC_TAG_MAX + 32];
	int n;

	snprintf(class_name, sizeof(class_name), "%.*s", (int)op, c->key);
	n = snprintf(name, sizeof(name), "%s%s%s", rest, rest[0] && c->metric[0] ? " " : "", c->metric);
	if (before)
		snprintf(name + n, sizeof(name) - (size_t)n, " #%zu", before + 1);
	assay_xml_attribute(out, "classname", class_name[0] ? class_name : "assay");
	assay_xml_attribute(out, "name", name[0] ? name : "case");
}

static void add_detail(struct assay_text *out, const struct assay_gate_case *c)
{
	struct assay_gate_words w;

	assay_gate_words_of(c, &w);
	assay_xml_add(out, c->reason[0] ? c->reason : assay_verdict_name(c->verdict));
	if (w.change[0])
		assay_text_addf(out, "\nchange %s", w.change);
	if (w.interval[0])
		assay_text_addf(out, ", interval %s", w.interval);
	if (w.margin[0])
		assay_text_addf(out, ", margin %s", w.margin);
	if (w.pairs[0])
		assay_text_addf(out, ", %s pairs", w.pairs);
	assay_text_addf(out, "\nevidence %s", assay_evidence_name(c->evidence));
}

static void add_case(const struct assay_report_gate *report, const struct assay_gate_case *c,
		     struct assay_name_index *seen, struct assay_text *out)
{
	enum outcome o = outcome_of(report, c);

	assay_text_add(out, "    <testcase");
	add_names(c, seen, out);
	/* to judge takes no time; what the measuring took is known of the whole, and stands there */
	assay_text_add(out, " time=\"0\"");
	if (o == PASSED) {
		assay_text_add(out, "/>\n");
		return;
	}
	assay_text_addf(out, ">\n      <%s", elements[o]);
	if (o != SKIPPED)
		assay_xml_attribute(out, "type", assay_verdict_name(c->verdict));
	assay_text_add(out, " message=\"");
	if (!c->skipped)
		assay_text_addf(out, "%s%s", assay_verdict_name(c->verdict), c->reason[0] ? ": " : "");
	assay_xml_add(out, c->reason);
	assay_text_add(out, "\"");
	if (o == SKIPPED) {
		assay_text_add(out, "/>\n");
	} else {
		assay_text_add(out, ">");
		add_detail(out, c);
		assay_text_addf(out, "</%s>\n", elements[o]);
	}
	assay_text_add(out, "    </testcase>\n");
}

static void add_suite(const struct assay_report_gate *o, struct assay_text *out)
{
	const struct assay_gate_report *r = o->gate;
	size_t count[N_OUTCOMES] = { 0 };
	time_t t = (time_t)(o->unix_ns / 1000000000u);
	char when[40];
	struct tm tm;

	for (size_t i = 0; i < r->n_cases; i++)
		count[outcome_of(o, &r->cases[i])]++;
	assay_text_addf(
		out,
		"  <testsuite id=\"0\" package=\"assay\" name=\"assay\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		"skipped=\"%zu\" time=\"%.3f\"",
		r->n_cases, count[FAILED], count[BROKEN], count[SKIPPED],
		r->seconds > 0 && isfinite(r->seconds) ? r->seconds : 0.0);
	assay_xml_attribute(out, "hostname", o->hostname && o->hostname[0] ? o->hostname : "localhost");
	/* universal time, and without a zone: the Ant schema allows none */
	if (o->unix_ns && gmtime_r(&t, &tm) && strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm))
		assay_xml_attribute(out, "timestamp", when);
	assay_text_add(out, ">\n");
}

static void add_properties(const struct assay_gate_report *r, struct assay_text *out)
{
	char buf[40];

	assay_text_add(out, "    <properties>\n");
	add_property(out, "base", r->base[0] ? r->base : "none");
	add_property(out, "head", r->head);
	add_property(out, "verdict", assay_verdict_name(r->verdict));
	snprintf(buf, sizeof(buf), "%d", (int)r->exit);
	add_property(out, "exit", buf);
	if (isfinite(r->alpha)) {
		snprintf(buf, sizeof(buf), "%.6g", r->alpha);
		add_property(out, "alpha", buf);
	}
	if (r->comparison_id) {
		snprintf(buf, sizeof(buf), "%" PRId64, r->comparison_id);
		add_property(out, "comparison", buf);
	}
	if (r->fitness[0])
		add_property(out, "fitness", r->fitness);
	if (r->unchecked[0])
		add_property(out, "unchecked", r->unchecked);
	if (r->n_controls)
		add_property(out, "trusted", r->untrusted ? "false" : "true");
	assay_text_add(out, "    </properties>\n");
}

static void add_outputs(const struct assay_gate_report *r, struct assay_text *out)
{
	struct assay_text headline = { 0 };
	char sum[128];

	assay_text_add(out, "    <system-out>");
	assay_text_add(&headline, assay_verdict_name(r->verdict));
	assay_gate_words_headline(r, &headline);
	assay_text_add(&headline, "\n");
	assay_gate_words_sentence(r, &headline);
	assay_text_add(&headline, ".");
	assay_xml_add(out, headline.s ? headline.s : "");
	out->failed |= headline.failed;
	assay_text_release(&headline);
	if (r->n_controls) {
		assay_gate_words_controls(r, sum, sizeof(sum));
		assay_text_addf(out, "\nSelf-checks: %s.", sum);
	}
	assay_text_add(out, "</system-out>\n    <system-err>");
	if (r->untrusted)
		assay_text_addf(out, "warning: %s\n", assay_gate_words_untrusted);
	for (size_t i = 0; i < r->n_controls; i++) {
		const struct assay_gate_control *c = &r->controls[i];
		char kind[64];

		if (c->ok)
			continue;
		assay_gate_words_control(c, kind, sizeof(kind));
		assay_text_addf(out, "self-check failed: %s was %s, ", kind, assay_verdict_name(c->verdict));
		assay_xml_add(out, c->key);
		assay_text_add(out, ": ");
		assay_xml_add(out, c->reason);
		assay_text_add(out, "\n");
	}
	assay_text_add(out, "</system-err>\n");
}

static void write_junit(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_gate_report *r = report->gate.gate;
	struct assay_name_index seen = { 0 };

	(void)style;
	assay_text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	add_suite(&report->gate, out);
	add_properties(r, out);
	for (size_t i = 0; i < r->n_cases; i++)
		add_case(&report->gate, &r->cases[i], &seen, out);
	assay_name_index_release(&seen);
	add_outputs(r, out);
	assay_text_add(out, "  </testsuite>\n</testsuites>\n");
}

ASSAY_EMITTER(gate_junit, ASSAY_REPORT_GATE, "junit", write_junit);
