/* SPDX-License-Identifier: Apache-2.0 */
/* Runs and gates for other programs, letter by letter: CSV, JSON lines, OpenMetrics, JUnit, Markdown. */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>

/* One case with all that has to be escaped, one that failed; the first is to be released. */
static void make_run(struct assay_run *run, struct assay_result results[2])
{
	static struct assay_sample samples[] = { { .iterations = 2, .ns = 2000 }, { .iterations = 2, .ns = 2200 } };
	struct assay_result *r = &results[0];

	memset(results, 0, 2 * sizeof(*results));
	*run = (struct assay_run){ .id = 7,
				   .suite = "quick",
				   .label = "a,b",
				   .started_ns = UINT64_C(1769860800500000000),
				   .ended_ns = UINT64_C(1769860900000000000),
				   .machine.label = "one \"two\" \\ three",
				   .build.commit = "0123abcd",
				   .results = results,
				   .n_results = 2 };
	strcpy(r->c.op, "op");
	strcpy(r->c.variant, "v");
	r->c.n_axes = 2;
	r->c.axes[0] = (struct assay_axis_value){ .name = "m", .text = "4", .value = 4 };
	r->c.axes[1] = (struct assay_axis_value){ .name = "n", .text = "2", .value = 2 };
	r->c.threads = 1;
	assert_int_equal(assay_case_make_key(&r->c, NULL), 0);
	r->checked = r->correct = true;
	r->samples = samples;
	r->n_samples = 2;
	r->rounds = 2;
	r->ci95_reached = true;
	r->iterations = 2;
	r->median_ns = 1050;
	r->ci95_lo_ns = 1000;
	r->ci95_hi_ns = 1100;
	r->min_ns = 1000;
	r->mad_ns = 50;
	assert_int_equal(assay_result_add_metric(r, "time_s", "s", -1, 1.05e-6), 0);
	assert_int_equal(assay_result_add_metric(r, "bytes_per_s", "B/s", 1, 4e9), 0);
	assert_int_equal(assay_result_add_metric(r, "kv_hit_rate", "1", 1, 0.5), 0);
	assert_int_equal(assay_result_add_metric(r, "Total_ms", "1", 1, 3), 0);
	assert_int_equal(assay_result_set_count(r, "page_faults", "os", "", 17), 0);
	r[1].c = r->c;
	r[1].c.threads = 4;
	assert_int_equal(assay_case_make_key(&r[1].c, NULL), 0);
	r[1].status = ASSAY_STATUS_CRASHED;
	strcpy(r[1].reason, "signal 11, \"core\" dumped");
}

static void release(struct assay_result *r)
{
	/* its samples are static */
	r->samples = NULL;
	assay_result_release(r);
}

TEST(run_as_csv)
{
	struct assay_result results[2];
	struct assay_run run;

	make_run(&run, results);
	assert_string_equal(
		emit_run(&run, "csv", NULL),
		"run,suite,label,imported,started,machine,commit,key,op,variant,shape,threads,cache,status,reason,"
		"correct,digest,samples,rounds,iterations,median_ns,ci95_lo_ns,ci95_hi_ns,min_ns,mad_ns,metric:time_s,"
		"metric:bytes_per_s,metric:kv_hit_rate,metric:Total_ms,count:page_faults\r\n"
		"7,quick,\"a,b\",,2026-01-31T12:00:00Z,\"one \"\"two\"\" \\ three\",0123abcd,\"op/v/m=4,n=2/t=1/warm\","
		"op,v,\"m=4,n=2\",1,warm,ok,,true,,2,2,2,1050,1000,1100,1000,50,1.05e-06,4000000000,0.5,3,17\r\n"
		"7,quick,\"a,b\",,2026-01-31T12:00:00Z,\"one \"\"two\"\" \\ three\",0123abcd,\"op/v/m=4,n=2/t=4/warm\","
		"op,v,\"m=4,n=2\",4,warm,crashed,\"signal 11, \"\"core\"\" dumped\",,,0,0,0,,,,,,,,,,\r\n");
	release(results);
}

#define LABELS                                                                                                         \
	"case=\"op/v/m=4,n=2/t=1/warm\",machine=\"one \\\"two\\\" \\\\ "                                               \
	"three\",op=\"op\",suite=\"quick\",variant=\"v\""

TEST(run_as_openmetrics)
{
	static const struct assay_run_totals totals = { .runs = 9, .results = { [ASSAY_STATUS_CRASHED] = 2 } };
	static const struct assay_newest_result newest[] = {
		{ "a", "full", 3, { "8c1f", false }, ASSAY_STATUS_OK, 2000 },
		{ .key = "b", .suite = "quick", .run_id = 4, .status = ASSAY_STATUS_TIMEOUT },
	};
	struct assay_result results[2];
	struct assay_run run;
	char *s;

	make_run(&run, results);
	assert_int_equal(assay_result_add_metric(results, "vector_bits", "", 1, 512), 0);
	assert_int_equal(assay_result_add_metric(results, "kilobytes_a_minute", "", 1, 7), 0);
	s = emit_run(&run, "openmetrics", NULL);
	has(s, "# TYPE assay_case_time_seconds gauge\n# UNIT assay_case_time_seconds seconds\n"
	       "# HELP assay_case_time_seconds Median time of one iteration\n"
	       "assay_case_time_seconds{" LABELS "} 1.05e-06\n# TYPE");
	has(s, "\nassay_run_started_timestamp_seconds{machine=\"one \\\"two\\\" \\\\ three\",suite=\"quick\"} "
	       "1769860800.500\n");
	has(s, "\nassay_case_bytes_per_second{" LABELS "} 4000000000\n");
	has(s, "# UNIT assay_case_kv_hit_ratio ratio\n");
	/* "ms" at the end of a name would be a unit */
	has(s, "\nassay_case_total_of_ms_of{" LABELS "} 3\n");
	/* a unit that is not a base unit, wherever it stands */
	has(s, "\nassay_case_vector_bit{" LABELS "} 512\n");
	has(s, "\nassay_case_kilobyte_a_minute{" LABELS "} 7\n");
	has(s, "\nassay_case_events{" LABELS ",event=\"page_faults\",source=\"os\",per=\"case\"} 17\n");
	has(s, "assay_case_ok{case=\"op/v/m=4,n=2/t=4/warm\"");
	assert_string_equal(s + strlen(s) - 6, "# EOF\n");
	assert_int_equal(times(s, "# TYPE assay_case_time_seconds"), 1);
	/* the median stands there as such */
	assert_int_equal(times(s, "time_seconds{"), 1);
	/* without a TYPE, by which the formats differ */
	assert_null(strstr(s, "_total{"));
	s = emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = &run, .totals = &totals } },
		 "openmetrics", NULL);
	has(s, "# HELP assay_runs_total Runs of the suite on the machine that are stored, up to this one\n"
	       "assay_runs_total{machine=\"one \\\"two\\\" \\\\ three\",suite=\"quick\"} 9\n");
	has(s, "suite=\"quick\",status=\"crashed\"} 2\n");
	assert_null(strstr(s, "# TYPE assay_runs_total"));
	assert_null(strstr(s, "assay_newest"));
	s = emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN,
					 .run = { .run = &run, .newest = newest, .n_newest = 2 } },
		 "openmetrics", NULL);
#define NEWEST(key, commit, id, suite)                                                                                 \
	"{case=\"" key "\",commit=\"" commit "\",machine=\"one \\\"two\\\" \\\\ three\",run=\"" id "\",suite=\"" suite \
	"\"}"
	has(s, "\nassay_newest_ok" NEWEST("a", "8c1f", "3", "full") " 1\n");
	has(s, "\nassay_newest_ok" NEWEST("b", "", "4", "quick") " 0\n");
	has(s, "\nassay_newest_time_seconds" NEWEST("a", "8c1f", "3", "full") " 2e-06\n");
	assert_int_equal(times(s, "assay_newest_time_seconds{"), 1);
	run.started_unknown = true;
	assert_null(strstr(emit_run(&run, "openmetrics", NULL), "timestamp"));
	release(results);
}

TEST(run_in_other_formats)
{
	struct assay_result results[2];
	struct assay_run run;
	char *s;

	make_run(&run, results);
	s = emit_run(&run, "junit", NULL);
	has(s, "tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0.000\"");
	has(s, "timestamp=\"2026-01-31T12:00:00\"");
	has(s, "<testcase classname=\"op\" name=\"v/m=4,n=2/t=1/warm\" time=\"0.000\"/>");
	has(s, "<error type=\"crashed\" message=\"signal 11, &quot;core&quot; dumped\"/>");
	s = emit_run(&run, "markdown", NULL);
	has(s, "## assay: run 7 of suite `quick`, `a,b`\n");
	has(s, "| `op/v/m=4,n=2/t=1/warm` | 1.05 µs | ±4.8 % | 4.00 GB/s | ok |\n");
	has(s, "| crashed: signal 11, \"core\" dumped |\n");
	assert_null(strstr(s, "Imported"));
	strcpy(run.imported.format, "hyperfine");
	has(emit_run(&run, "markdown", NULL), "Imported from `hyperfine`: pinning and correctness are unknown.");
	release(results);
}

TEST(gate_in_every_format)
{
	struct assay_gate_case cases[] = {
		{ .key = "op/v/m=4,n=2/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_PAIRED,
		  .verdict = ASSAY_REGRESSED,
		  .reason = "a, \"b\"",
		  .ratio = 1.25,
		  .ci_lo = 1.2,
		  .ci_hi = 1.3,
		  .margin_frac = 0.005,
		  .pairs = 10,
		  .value = NAN,
		  .limit = NAN },
		{ .key = "op/v/m=4,n=2/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_PAIRED,
		  .verdict = ASSAY_PASS,
		  .ratio = NAN,
		  .ci_lo = NAN,
		  .ci_hi = NAN,
		  .margin_frac = NAN,
		  .value = NAN,
		  .limit = NAN },
	};
	struct assay_gate_report g = { .verdict = ASSAY_REGRESSED,
				       .exit = ASSAY_EXIT_REGRESSED,
				       .base = "main",
				       .head = "work",
				       .comparison_id = 3,
				       .cases = cases,
				       .n_cases = 2 };
	char *s;

	assert_string_equal(
		emit_gate(&g, "csv", NULL),
		"comparison,base,head,key,metric,evidence,verdict,reason,ratio,ci_lo,ci_hi,margin,pairs,value,"
		"limit,suspect\r\n"
		"3,main,work,\"op/v/m=4,n=2/t=1/warm\",time_s,paired,REGRESSED,\"a, \"\"b\"\"\",1.25,1.2,1.3,"
		"0.005,10,,,false\r\n"
		"3,main,work,\"op/v/m=4,n=2/t=1/warm\",time_s,paired,PASS,,,,,,,,,false\r\n");
	s = emit_gate(&g, "openmetrics", NULL);
	has(s, "assay_gate_exit_status{base=\"main\",head=\"work\",verdict=\"REGRESSED\"} 1\n");
	has(s, "assay_verdict{case=\"op/v/m=4,n=2/t=1/"
	       "warm\",evidence=\"paired\",metric=\"time_s\",verdict=\"REGRESSED\"} 1\n");
	/* the same demand again must not have the same labels */
	has(s, "metric=\"time_s\",demand=\"2\",verdict=\"PASS\"} 1\n");
	has(s, "assay_verdict_change_ratio{case=\"op/v/m=4,n=2/t=1/warm\",evidence=\"paired\",metric=\"time_s\"} "
	       "1.25\n# TYPE");
	/* what an import cannot say stands in all that people read */
	strcpy(g.unchecked, "imported from x");
	has(emit_gate(&g, "text", NULL), "unchecked imported from x\n");
	has(emit_gate(&g, "markdown", NULL), "> imported from x.\n");
	has(emit_gate(&g, "junit", NULL), "<property name=\"unchecked\" value=\"imported from x\"/>");
	has(emit_gate(&g, "json", NULL), "\"unchecked\": \"imported from x\"");
}

TEST(what_was_imported)
{
	struct assay_import_run run = {
		.id = 2, .n_cases = 4, .n_ok = 2, .n_failed = 1, .n_samples = 1, .suite = "hyperfine"
	};
	struct assay_import_report i = { .format = "hyperfine", .runs = &run, .n_runs = 1, .n_aggregates = 4 };
	const struct assay_report r = { .kind = ASSAY_REPORT_IMPORT, .import = &i };
	int64_t ids[] = { 7, 9 };

	assert_string_equal(emit(&r, "text", NULL),
			    "run 2: 4 cases of hyperfine, 1 sample, 1 failed, 1 without a time\n"
			    "  suite hyperfine; machine unknown; commit unknown; date unknown\n"
			    "  a gate compares runs of one machine only: --machine NAME says which it was\n"
			    "4 aggregate rows ignored: means and the like follow from the repetitions\n");
	has(emit(&r, "json", NULL), "\"already\": false");
	i = (struct assay_import_report){ .format = "pyperf", .same = ids, .n_same = 1, .n_aggregates = 1 };
	assert_string_equal(emit(&r, "text", NULL),
			    "run 7 came from this file with the same options: nothing was added\n"
			    "1 aggregate row ignored: means and the like follow from the repetitions\n");
	has(emit(&r, "json", NULL), "\"already\": true");
	i = (struct assay_import_report){ .format = "pyperf", .other = ids, .n_other = 2 };
	assert_string_equal(emit(&r, "text", NULL), "runs 7, 9 came from this file with other options; if those were "
						    "wrong, '--replace 9' removes that run\n");
	i.replaced = 7;
	assert_string_equal(emit(&r, "text", NULL), "run 7, from this file with other options, was removed\n");
	has(emit(&r, "json", NULL), "\"replaced\": 7");
}

UNIT_GROUP(NULL, NULL)
