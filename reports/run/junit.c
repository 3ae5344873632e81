/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as JUnit XML, in the form of gate/junit.c: a test case for each case, which says what became of it. A wrong
 * output is a failure; a crash, a time-out and what failed are errors. Its times are not judged: a gate does that. The
 * time of a test case is what its samples took together.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "reports/text_parts.h"

static const char *element_of(enum assay_status s)
{
	return s == ASSAY_STATUS_OK        ? NULL
	       : s == ASSAY_STATUS_SKIPPED ? "skipped"
	       : s == ASSAY_STATUS_WRONG   ? "failure"
					   : "error";
}

static size_t count(const struct assay_run *run, const char *element)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_results; i++) {
		const char *e = element_of(run->results[i].status);

		n += e && !strcmp(e, element);
	}
	return n;
}

static double seconds_of(const struct assay_result *r)
{
	double ns = 0;

	for (size_t i = 0; r->samples && i < r->n_samples; i++)
		ns += (double)r->samples[i].ns;
	return ns * 1e-9;
}

static void add_suite(struct assay_text *out, const struct assay_run *run)
{
	time_t t = (time_t)(run->started_ns / 1000000000u);
	double seconds = 0;
	char when[40];
	struct tm tm;

	for (size_t i = 0; i < run->n_results; i++)
		seconds += seconds_of(&run->results[i]);
	assay_text_addf(out,
			"  <testsuite id=\"0\" package=\"assay\" name=\"assay\" tests=\"%zu\" failures=\"%zu\" "
			"errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
			run->n_results, count(run, "failure"), count(run, "error"), count(run, "skipped"), seconds);
	assay_xml_attribute(out, "hostname", run->machine.label[0] ? run->machine.label : "localhost");
	if (!run->started_unknown && gmtime_r(&t, &tm) && strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm))
		assay_xml_attribute(out, "timestamp", when);
	assay_text_add(out, ">\n");
}

static void add_case(struct assay_text *out, const struct assay_result *r)
{
	const char *element = element_of(r->status);
	const size_t op = assay_key_op_length(r->c.key);

	assay_text_add(out, "    <testcase");
	assay_xml_attribute(out, "classname", r->c.op);
	assay_xml_attribute(out, "name", r->c.key[op] ? r->c.key + op + 1 : r->c.key);
	assay_text_addf(out, " time=\"%.3f\"", seconds_of(r));
	if (!element) {
		assay_text_add(out, "/>\n");
		return;
	}
	assay_text_addf(out, ">\n      <%s", element);
	if (r->status != ASSAY_STATUS_SKIPPED)
		assay_xml_attribute(out, "type", assay_status_name(r->status));
	assay_xml_attribute(out, "message", r->reason);
	assay_text_add(out, "/>\n    </testcase>\n");
}

static void run_junit(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_run *run = report->run.run;

	(void)style;
	assay_text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	add_suite(out, run);
	assay_text_add(out, "    <properties>\n      <property name=\"suite\"");
	assay_xml_attribute(out, "value", run->suite);
	assay_text_add(out, "/>\n    </properties>\n");
	for (size_t i = 0; i < run->n_results; i++)
		add_case(out, &run->results[i]);
	assay_text_add(out, "    <system-out></system-out>\n    <system-err></system-err>\n  </testsuite>\n"
			    "</testsuites>\n");
}

ASSAY_EMITTER(run_junit, ASSAY_REPORT_RUN, "junit", run_junit);
