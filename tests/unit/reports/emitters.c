/* SPDX-License-Identifier: Apache-2.0 */
/* The table of emitters, how they are found, and the reports that no other test writes. */
#include "emit_fixture.h"
#include "golden.h"

#include <math.h>

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

/* @r as text and JSON. */
static void show(const char *title, const struct assay_report *r)
{
	char head[128];

	golden(title, emit(r, "text", NULL));
	snprintf(head, sizeof(head), "%s, json", title);
	golden_json(head, emit(r, "json", NULL));
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

	show("no runs", &r);
	r.runs.v = &run;
	r.runs.n = 1;
	show("a run", &r);
	r = (struct assay_report){ .kind = ASSAY_REPORT_BASELINES };
	show("no baselines", &r);
	r.baselines.v = &baseline;
	r.baselines.n = 1;
	show("a baseline", &r);
	r = (struct assay_report){ .kind = ASSAY_REPORT_COMPARISONS };
	show("no comparisons", &r);
	r.comparisons.v = &comparison;
	r.comparisons.n = 1;
	show("a comparison", &r);
	golden("a comparison in 80 columns", emit(&r, "text", &(struct assay_emit_style){ .width = 80 }));
}

TEST(baselines)
{
	static const struct assay_report_baseline done[] = { { .saved = "main", .run = 7 },
							     { .dropped = "main" },
							     { .updated = "x.json", .n_cases = 1, .n_kept = 2 } };

	for (size_t i = 0; i < N_OF(done); i++)
		show("a change of a baseline",
		     &(struct assay_report){ .kind = ASSAY_REPORT_BASELINE, .baseline = done[i] });
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

	show("findings", &r);
	golden("findings in colours", emit(&r, "text", &(struct assay_emit_style){ .colour = true }));
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

	show("groups", &r);
	r.catalog.what = "suites";
	show("suites", &r);
	r.catalog.what = "cases";
	r.catalog.suite = "quick";
	r.catalog.cases = &c;
	r.catalog.n_cases = 1;
	show("cases", &r);
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
					  .n_slowdowns = 1,
					  .power[0] = { .slowdown_frac = 0.02, .detected = { 19, 20, 0.7513, 0.9987 } },
					  .sd = NAN,
					  .smallest_detectable_frac = NAN };
	const struct assay_report r = { .kind = ASSAY_REPORT_CERTIFICATION, .certification = &c };

	c.power[0].passed = (struct assay_rate){ 0, 20, 0, 0.1684 };
	show("certified", &r);
	c.power[0].passed.k = 1;
	golden("certified, one slowdown passed", emit(&r, "text", NULL));
}

TEST(imports)
{
	struct assay_import_run run = {
		.id = 2, .n_cases = 4, .n_ok = 2, .n_failed = 1, .n_samples = 1, .suite = "hyperfine"
	};
	int64_t ids[] = { 7, 9 };
	const struct assay_import_report done[] = {
		{ .format = "hyperfine", .runs = &run, .n_runs = 1, .n_aggregates = 4 },
		{ .format = "pyperf", .same = ids, .n_same = 1, .n_aggregates = 1 },
		{ .format = "pyperf", .other = ids, .n_other = 2 },
		{ .format = "pyperf", .other = ids, .n_other = 2, .replaced = 7 },
	};

	for (size_t i = 0; i < N_OF(done); i++)
		show("an import", &(struct assay_report){ .kind = ASSAY_REPORT_IMPORT, .import = &done[i] });
}

GOLDEN_GROUP("lists", NULL, NULL)
