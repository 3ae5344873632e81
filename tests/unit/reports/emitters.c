/* SPDX-License-Identifier: Apache-2.0 */
/* The table of emitters, how they are found, and the reports that no other test writes. */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

#include "base/file.h"

/* A name of a database that somebody else wrote. */
TEST(names_are_shown_as_text)
{
	struct assay_result result = { .reason = "\033[1m why", .status = ASSAY_STATUS_FAILED };
	struct assay_run run = { .id = 1, .results = &result, .n_results = 1 };
	const struct assay_report r = { .kind = ASSAY_REPORT_RUN, .run = { .run = &run } };
	const char *const formats[] = { "text", "header", "cases" };

	snprintf(run.suite, sizeof(run.suite), "s\033]0;t\a\xe2\x80\xae");
	snprintf(result.c.key, sizeof(result.c.key), "k\033[31m");
	for (unsigned i = 0; i < 3; i++) {
		const char *s = emit(&r, formats[i], &(struct assay_emit_style){ .colour = true });

		has(s, i == 1 ? "s?]0;t??" : "?[1m why");
		for (const char *p = s; (p = strchr(p, '\033')); p++)
			assert_true(!strncmp(p, "\033[0m", 4) || !strncmp(p, "\033[1m", 4) ||
				    !strncmp(p, "\033[2m", 4) || (!strncmp(p, "\033[3", 3) && p[4] == 'm'));
	}
	/* what is for programs is whole, unless a person looks at it */
	has(emit(&r, "csv", NULL), "k\033[31m");
	has(emit(&r, "csv", &(struct assay_emit_style){ .terminal = true }), "k?[31m");
}

TEST(rows_are_complete)
{
	bool text[ASSAY_N_REPORTS] = { false }, json[ASSAY_N_REPORTS] = { false }, any[ASSAY_N_REPORTS] = { false };

	for (size_t i = 0; i < assay_n_emitters; i++) {
		const struct assay_emitter *e = assay_emitters[i];

		assert_true(e->takes < ASSAY_N_REPORTS);
		assert_true(!e->write != !e->draw);
		/* found by what it takes and its format, and so the only one */
		assert_ptr_equal(assay_emitter_find(e->takes, e->format), e);
		any[e->takes] = true;
		text[e->takes] |= !strcmp(e->format, "text");
		json[e->takes] |= !strcmp(e->format, "json");
	}
	for (size_t k = 0; k < ASSAY_N_REPORTS; k++) {
		assert_true(any[k]);
		/* what a command prints, it prints for scripts as well; alerts are for scripts alone */
		assert_int_equal(text[k] || k == ASSAY_REPORT_ALERTS, json[k]);
		assert_int_equal(json[k], k != ASSAY_REPORT_PLOT && k != ASSAY_REPORT_PAGE);
	}
	assert_null(assay_emitter_find(ASSAY_REPORT_RUN, "svg"));
}

TEST(unknown_formats_are_refused)
{
	struct assay_report r = { .kind = ASSAY_REPORT_RUNS };
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(assay_emit(&r, "svg", NULL, &out, &err), ASSAY_EUSAGE);
	assert_string_equal(err.text, "cannot write this as 'svg': expected text or json");
	r.kind = ASSAY_REPORT_GATE;
	assert_int_equal(assay_emit_file(&r, "pdf", "/none/x", &err), ASSAY_EUSAGE);
	assert_string_equal(err.text, "cannot write '/none/x': its name must end in .text, .json, .csv, .openmetrics, "
				      ".markdown or .junit");
	r.kind = ASSAY_REPORT_PAGE;
	assert_int_equal(assay_emit_file(&r, NULL, "a.b/page", &err), ASSAY_EUSAGE);
	assert_string_equal(err.text, "cannot write 'a.b/page': its name must end in .html");
	/* a picture is no text */
	r.kind = ASSAY_REPORT_PLOT;
	assert_int_equal(assay_emit(&r, "svg", NULL, &out, &err), ASSAY_EUSAGE);
	assert_null(out.s);
}

TEST(files_are_written)
{
	char path[] = "/tmp/assay-emitters-XXXXXX", *data;
	struct assay_report r = { .kind = ASSAY_REPORT_RUNS };
	struct assay_err err = { 0 };
	int fd = mkstemp(path);
	size_t len;

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(assay_emit_file(&r, "json", path, &err), 0);
	assert_int_equal(assay_file_read(path, &data, &len, &err), 0);
	assert_string_equal(data, "{\n  \"schema\": 1,\n  \"runs\": []\n}\n");
	free(data);
	unlink(path);
	assert_int_equal(assay_emit_file(&r, "json", "/none/x", &err), ASSAY_EIO);
}

TEST(no_memory_is_told)
{
	struct assay_text out = { .failed = true };
	struct assay_err err = { 0 };

	assert_int_equal(assay_emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUNS }, "text", NULL, &out, &err),
			 ASSAY_ENOMEM);
	assert_string_equal(err.text, "cannot write the report: out of memory");
	assay_text_release(&out);
}

static json_t *json_of(const struct assay_report *r)
{
	char *text = emit(r, "json", NULL);
	json_t *j = json_loads(text, 0, NULL);

	assert_non_null(j);
	assert_int_equal(json_integer_value(json_object_get(j, "schema")), 1);
	return j;
}

TEST(lists)
{
	int64_t of[] = { 3, 5 };
	const struct assay_run_info run = { .id = 7,
					    .suite = "quick",
					    .seed = 42,
					    .revision.hash = "0123456789abcdef",
					    .revision.dirty = true,
					    .machine_label = "a machine",
					    .n_cases = 3,
					    .n_ok = 2 };
	const struct assay_baseline_info baseline = {
		.name = "main", .suite = "quick", .machine_label = "a machine", .runs = of, .n_runs = 2
	};
	const struct assay_comparison_info comparison = {
		.id = 9, .base = "main", .head = "work", .suite = "smoke", .exit_code = -1, .n_cases = 2, .n_pairs = 8
	};
	struct assay_report r = { .kind = ASSAY_REPORT_RUNS };
	json_t *j;
	char *s;

	s = emit(&r, "text", NULL);
	assert_string_equal(s, "no runs are stored yet: 'assay run' makes one\n");
	r.runs.v = &run;
	r.runs.n = 1;
	s = emit(&r, "text", NULL);
	assert_true(has_line(s, " r7  ", "quick    42  0123456789ab+  2/3 unfinished (or under way)  a machine"));
	j = json_of(&r);
	assert_true(json_is_null(json_object_get(json_array_get(json_object_get(j, "runs"), 0), "ended")));
	json_decref(j);

	r = (struct assay_report){ .kind = ASSAY_REPORT_BASELINES };
	s = emit(&r, "text", NULL);
	assert_string_equal(s, "no baselines yet: 'assay baseline save NAME' makes one\n");
	r.baselines.v = &baseline;
	r.baselines.n = 1;
	s = emit(&r, "text", NULL);
	assert_true(has_line(s, "main  quick  ", "  3,5   a machine"));
	j = json_of(&r);
	assert_int_equal(json_array_size(json_object_get(json_array_get(json_object_get(j, "baselines"), 0), "runs")),
			 2);
	json_decref(j);

	r = (struct assay_report){ .kind = ASSAY_REPORT_COMPARISONS };
	s = emit(&r, "text", NULL);
	assert_string_equal(s, "no comparisons are stored yet: 'assay compare' makes one\n");
	r.comparisons.v = &comparison;
	r.comparisons.n = 1;
	s = emit(&r, "text", NULL);
	assert_true(has_line(s, "        c9  ", "smoke  unfinished      2      8        0  work against main"));
	/* little room: the sides get a line of their own */
	s = emit(&r, "text", &(struct assay_emit_style){ .width = 80 });
	assert_true(has_line(s, "            work against main", ""));
	j = json_of(&r);
	assert_true(json_is_null(json_object_get(json_array_get(json_object_get(j, "comparisons"), 0), "exit")));
	json_decref(j);
}

TEST(what_was_done_to_a_baseline)
{
	static const struct {
		struct assay_report_baseline done;
		const char *text, *json;
	} cases[] = {
		{ { .saved = "main", .run = 7 },
		  "run 7 saved in baseline 'main'\n",
		  "{\"schema\":1,\"saved\":\"main\",\"run\":7}" },
		{ { .dropped = "main" },
		  "baseline 'main' dropped; its runs are kept\n",
		  "{\"schema\":1,\"dropped\":\"main\"}" },
		{ { .updated = "x.json", .n_cases = 1, .n_kept = 2 },
		  "exact counts of 1 case recorded in x.json: see what changed, and commit it\n"
		  "2 recorded cases were not counted this time, and kept; --prune takes such out\n",
		  "{\"schema\":1,\"updated\":\"x.json\",\"cases\":1,\"kept\":2}" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct assay_report r = { .kind = ASSAY_REPORT_BASELINE, .baseline = cases[i].done };
		json_t *j = json_of(&r);
		char *s = emit(&r, "text", NULL);

		assert_string_equal(s, cases[i].text);
		s = json_dumps(j, JSON_COMPACT);
		assert_string_equal(s, cases[i].json);
		free(s);
		json_decref(j);
	}
}

TEST(findings)
{
	static struct assay_finding v[] = {
		{ "pmu", ASSAY_HEALTH_MISSING, "none", "use another host" },
		{ "clock", ASSAY_HEALTH_GOOD, "TSC", "" },
	};
	const struct assay_health_check health = { .topology = "2 cores",
						   .abilities = { "calls can be timed" },
						   .clock = "TSC",
						   .findings = { .v = v, .n = 2 } };
	const struct assay_report r = { .kind = ASSAY_REPORT_HEALTH, .health = &health };
	json_t *j = json_of(&r), *first = json_array_get(json_object_get(j, "findings"), 0);
	char *s = emit(&r, "text", NULL);

	assert_string_equal(s, "calls can be timed\n\n2 cores\n\n"
			       "none  pmu    none\n"
			       "             use another host\n"
			       "ok    clock  TSC\n"
			       "\n1 ok, 0 warn, 1 none\n");
	s = emit(&r, "text", &(struct assay_emit_style){ .colour = true });
	has(s, "\033[31mnone\033[0m  pmu");
	assert_string_equal(json_string_value(json_object_get(first, "health")), "none");
	assert_string_equal(json_string_value(json_array_get(json_object_get(j, "abilities"), 0)),
			    "calls can be timed");
	assert_int_equal(json_array_size(json_object_get(j, "abilities")), 1);
	assert_string_equal(json_string_value(json_object_get(json_object_get(j, "clock"), "source")), "TSC");
	json_decref(j);
}

TEST(catalog)
{
	char *names[] = { (char[]){ "a" }, (char[]){ "b" } };
	struct assay_group_event events[] = { { .name = "loads" }, { .name = "misses" } };
	struct assay_group_metric rate = { .tag = "hit_rate",
					   .help = "hits",
					   .formula.text = (char[]){ "1 - misses / loads" },
					   .unit = "1",
					   .better = 1,
					   .hi = 1 };
	const struct assay_counter_group group = {
		.name = "cache", .summary = "hits", .events = events, .n_events = 2, .metrics = &rate, .n_metrics = 1
	};
	const struct assay_strings suites = { names, 2 };
	const struct assay_catalog none = { 0 };
	const struct assay_case c = { .key = "op/v/-/t=1/warm", .op = "op", .skip_reason = "needs x" };
	struct assay_report r = {
		.kind = ASSAY_REPORT_CATALOG,
		.catalog = { .catalog = &none, .groups = &group, .n_groups = 1, .suites = &suites, .what = "groups" },
	};
	json_t *j;
	char *s;

	s = emit(&r, "text", NULL);
	assert_string_equal(s, "cache  hits\n"
			       "  counts loads, misses\n"
			       "  hit_rate = 1 - misses / loads: hits; higher is better\n");
	r.catalog.what = "suites";
	s = emit(&r, "text", NULL);
	assert_string_equal(s, "a\nb\n");
	j = json_of(&r);
	assert_null(json_object_get(j, "cases"));
	json_decref(j);

	r.catalog.what = "cases";
	r.catalog.suite = "quick";
	r.catalog.cases = &c;
	r.catalog.n_cases = 1;
	s = emit(&r, "text", NULL);
	assert_string_equal(s, "op/v/-/t=1/warm  skipped: needs x\n");
	j = json_of(&r);
	assert_string_equal(json_string_value(json_object_get(j, "suite")), "quick");
	assert_int_equal(json_array_size(json_object_get(j, "cases")), 1);
	json_decref(j);
}

TEST(certifications)
{
	char *keys[] = { (char[]){ "op/v/-/t=1/warm" } };
	struct assay_certify_report c = { .keys = { keys, 1 },
					  .machine.label = "m",
					  .alpha = 0.01,
					  .margin_frac = 0.005,
					  .budget_ns = 1500000000,
					  .false_alarms = { 1, 200, 0.0001, 0.0275 },
					  .json = (char[]){ "{\"schema\":1}" } };
	const struct assay_report r = { .kind = ASSAY_REPORT_CERTIFICATION, .certification = &c };
	json_t *j = json_of(&r);
	char *s;

	json_decref(j);
	c.n_slowdowns = 1;
	c.power[0].slowdown_frac = 0.02;
	c.power[0].detected = (struct assay_rate){ 19, 20, 0.7513, 0.9987 };
	c.power[0].passed = (struct assay_rate){ 0, 20, 0, 0.1684 };
	s = emit(&r, "text", NULL);
	has(s, "machine  m\ncase     op/v/-/t=1/warm\n"
	       "promise  at most 1 % of gates of unchanged code fail; margin 0.5 %, budget 1.5 s a case\n");
	has(s, "\n  unchanged code: false alarms    1 of 200    0.50 %  (95 %: 0.01 to 2.75 %)\n");
	has(s, "\n  +2.0 %: found                  19 of 20    95.00 %  (95 %: 75.13 to 99.87 %)\n");
	assert_null(strstr(s, "+2.0 %: passed"));
	c.power[0].passed.k = 1;
	c.sd = c.smallest_detectable_frac = NAN;
	s = emit(&r, "text", NULL);
	has(s, "\n  +2.0 %: passed ");
	has(s, "\n  smallest slowdown found in 95 % of cases  unknown: it takes two process pairs of one case");
	assert_null(strstr(s, "nan"));
}

UNIT_GROUP(NULL, NULL)
