/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page of a run or a comparison: what it carries for its script, how much of it, and that no name or reason is
 * taken for markup. With ASSAY_PAGE_FILE in the environment a page of 300 cases, one of them hostile, is written there
 * for a browser.
 */
#include "emit_fixture.h"

#include <jansson.h>
#include <math.h>

#include "base/file.h"
#include "model/summary.h"
#include "reports/page/data.h"

#define HOSTILE    "</script><script>document.title='taken'</script>\"'&\xe2\x80\xa8<!--"
#define CASES      300
#define SAMPLES    2000
#define MOST_BYTES 3000000
#define GONE       "made.gone/v/-/t=1/warm"

static struct assay_result results[CASES];
static struct assay_gate_case rows[CASES + 1];
static struct assay_case_point past[2 * CASES];

static struct assay_result made_result(size_t i, size_t n)
{
	struct assay_result r = { .status = ASSAY_STATUS_OK,
				  .checked = true,
				  .correct = true,
				  .max_rel_err = -1,
				  .rounds = 1,
				  .iterations = 10,
				  .median_ns = 1000 + 7 * (double)i,
				  .ci95_lo_ns = 990 + 7 * (double)i,
				  .ci95_hi_ns = 1020 + 7 * (double)i,
				  .min_ns = 900,
				  .ci95_reached = true,
				  .steady = i % 3 > 0,
				  .numa_node = -1 };
	char name[32];

	r.samples = calloc(n, sizeof(*r.samples));
	assert_non_null(r.samples);
	r.n_samples = n;
	/* descending times, so that the order of groups is seen; one sample of the last group is disturbed */
	for (size_t k = 0; k < n; k++)
		r.samples[k] = (struct assay_sample){ .iterations = 10, .ns = 10 * (1000 + 7 * i + n - k) };
	r.samples[n - 1].flags = ASSAY_DISTURB_STEAL;
	snprintf(r.c.op, sizeof(r.c.op), "made.op%zu", i % 7);
	snprintf(r.c.variant, sizeof(r.c.variant), "v%zu", i);
	r.c.threads = 1;
	assert_int_equal(assay_case_make_key(&r.c, NULL), 0);
	assert_int_equal(assay_result_add_metric(&r, "time_s", "s", -1, r.median_ns * 1e-9), 0);
	assert_int_equal(assay_result_add_metric(&r, "bytes_per_s", "B/s", 1, 1e9), 0);
	for (unsigned k = 0; k < 24; k++) {
		snprintf(name, sizeof(name), "count_%u", k);
		assert_int_equal(assay_result_set_count(&r, name, "os", "getrusage", 17 * k), 0);
	}
	assert_int_equal(assay_counters_add_missing(&r.counters, "PAPI_L1_DCM", "pmu", "no PMU"), 0);
	return r;
}

/* The case at 5 is hostile by its name, its reason and what it printed. */
static void make(struct assay_result_page *page, struct assay_report *r)
{
	struct assay_gate_report *gate = &page->gate;
	struct assay_run *run = &page->run;
	static char next[] = "why: 'assay compare \"<b>\"' says it", repeat[] = "assay run --seed 42";
	static char hostile[] = HOSTILE, *notes[] = { hostile };
	static struct assay_bottleneck bottleneck;

	*page = (struct assay_result_page){ .of_run = true,
					    .judged = true,
					    .notes = { notes, 1 },
					    .next.s = next,
					    .repeat.s = repeat,
					    .past = past,
					    .n_past = N_OF(past),
					    .bottlenecks = &bottleneck,
					    .n_bottlenecks = 1 };
	*run = (struct assay_run){ .id = 12, .seed = 42, .started_ns = 5, .ended_ns = 6, .results = results };
	run->n_results = CASES;
	strcpy(run->suite, "<b>quick</b>");
	strcpy(run->machine.label, HOSTILE);
	for (size_t i = 0; i < CASES; i++) {
		results[i] = made_result(i, SAMPLES);
		rows[i] = (struct assay_gate_case){ .evidence = ASSAY_EVIDENCE_STORED,
						    .verdict = i % 10 ? ASSAY_PASS : ASSAY_REGRESSED,
						    .ratio = i % 10 ? 1.001 : 1.12,
						    .ci_lo = i % 10 ? 0.998 : 1.1,
						    .ci_hi = i % 10 ? 1.004 : 1.15,
						    .margin_frac = 0.01,
						    .smallest_detectable_frac = NAN,
						    .value = NAN,
						    .limit = NAN };
		strcpy(rows[i].metric, "time_s");
		for (size_t k = 0; k < 2; k++) {
			past[2 * i + k].point = (struct assay_trend_point){ .run_id = (int64_t)(11 + k),
									    .started_ns = k + 1,
									    .median_ns = 1000 + 50 * (double)k,
									    .ci95_lo_ns = 990,
									    .ci95_hi_ns = 1070 };
		}
	}
	strcpy(results[5].c.key, HOSTILE);
	results[5].status = ASSAY_STATUS_FAILED;
	strcpy(results[5].reason, HOSTILE);
	results[5].log = strdup(HOSTILE);
	for (size_t i = 0; i < CASES; i++) {
		memcpy(rows[i].key, results[i].c.key, sizeof(rows[i].key));
		for (size_t k = 0; k < 2; k++)
			memcpy(past[2 * i + k].key, results[i].c.key, sizeof(past[0].key));
	}
	rows[5].verdict = ASSAY_NOT_MEASURED;
	strcpy(rows[5].reason, HOSTILE);
	/* one was skipped, as it may be; one of the manifest is not in the run */
	results[6].status = ASSAY_STATUS_SKIPPED;
	strcpy(results[6].reason, "no device");
	assay_result_drop_numbers(&results[6]);
	rows[6].skipped = true;
	strcpy(rows[6].metric, "status");
	strcpy(rows[6].reason, "skipped: no device");
	rows[CASES] = (struct assay_gate_case){ .key = GONE,
						.metric = "status",
						.verdict = ASSAY_NOT_MEASURED,
						.missing = true,
						.reason = "in the manifest but not in the run",
						.ratio = NAN,
						.ci_lo = NAN,
						.ci_hi = NAN,
						.margin_frac = NAN,
						.smallest_detectable_frac = NAN,
						.value = NAN,
						.limit = NAN };
	/* and what bounds the first */
	bottleneck = (struct assay_bottleneck){ .bound = ASSAY_BOUND_BY_MEMORY, .roof_frac = 0.5, .n_advice = 1 };
	memcpy(bottleneck.key, results[0].c.key, sizeof(bottleneck.key));
	strcpy(bottleneck.evidence, HOSTILE);
	bottleneck.advice[0] =
		(struct assay_advice){ .priority = 1, .rule = "made", .text = "do less", .gain = 1.5, .most = 2 };
	*gate = (struct assay_gate_report){ .verdict = ASSAY_REGRESSED, .cases = rows, .n_cases = CASES + 1 };
	strcpy(gate->head, HOSTILE);
	strcpy(gate->base, "run 11");
	*r = (struct assay_report){ .kind = ASSAY_REPORT_PAGE, .page = page };
}

static void release(void)
{
	for (size_t i = 0; i < CASES; i++)
		assay_result_release(&results[i]);
}

/* The data that the page carries for its script. */
static json_t *data_of(const char *page)
{
	static const char start[] = "id=\"data\">";
	const char *from = strstr(page, start), *to = from ? strstr(from, "</script>") : NULL;
	json_error_t e;
	json_t *j;

	assert_non_null(to);
	from += strlen(start);
	for (const char *c = from; c < to; c++)
		assert_true(*c > 0 && !strchr("<>&", *c));
	j = json_loadb(from, (size_t)(to - from), 0, &e);
	if (!j)
		fail_msg("%s", e.text);
	return j;
}

TEST(names_and_reasons_are_text)
{
	struct assay_result_page shown;
	struct assay_report r;
	json_t *j, *c;
	char *page;

	make(&shown, &r);
	page = emit(&r, "html", NULL);
	/* the elements of the template, and no other */
	assert_int_equal(times(page, "<script"), 2);
	assert_int_equal(times(page, "</script"), 2);
	assert_int_equal(times(page, "<!--"), 0);
	assert_int_equal(times(page, "<b>"), 0);
	has(page, "<title>Run 12 of suite &lt;b&gt;quick&lt;/b&gt;</title>");
	has(page, "<span class=\"badge REGRESSED\">REGRESSED</span>");
	has(page, "<p class=\"note\">&lt;/script&gt;&lt;script&gt;");
	has(page, "<strong>Next step</strong> <code>assay compare &quot;&lt;b&gt;&quot;</code> says it</p>");
	has(page, "default-src 'none'; style-src 'sha256-");
	assert_int_equal(times(page, "http:") + times(page, "https:"), times(page, "http://www.w3.org/2000/svg"));
	j = data_of(page);
	c = json_array_get(json_object_get(j, "cases"), 5);
	assert_string_equal(json_string_value(json_object_get(c, "key")), HOSTILE);
	assert_string_equal(json_string_value(json_object_get(c, "reason")), HOSTILE);
	assert_string_equal(json_string_value(json_object_get(c, "log")), HOSTILE);
	assert_string_equal(json_string_value(json_object_get(json_object_get(j, "gate"), "head")), HOSTILE);
	c = json_object_get(json_object_get(j, "bottlenecks"), results[0].c.key);
	assert_string_equal(json_string_value(json_object_get(c, "bound")), "memory");
	assert_string_equal(json_string_value(json_object_get(c, "evidence")), HOSTILE);
	json_decref(j);
	release();
}

TEST(many_samples_are_gathered)
{
	struct assay_result_page shown;
	const char *file = getenv("ASSAY_PAGE_FILE");
	struct assay_report r;
	json_t *j, *groups, *quantiles, *last;
	size_t n = 0;
	char *page;

	make(&shown, &r);
	page = emit(&r, "html", NULL);
	if (strlen(page) >= MOST_BYTES)
		fail_msg("%zu bytes of 300 cases", strlen(page));
	j = data_of(page);
	groups = json_object_get(json_array_get(json_object_get(j, "cases"), 0), "groups");
	assert_int_equal(json_array_size(groups), ASSAY_PAGE_GROUPS);
	for (size_t i = 0; i < ASSAY_PAGE_GROUPS; i++)
		n += (size_t)json_integer_value(json_array_get(json_array_get(groups, i), 0));
	assert_int_equal(n, SAMPLES);
	/* the last 17 samples take 1017 to 1001 ns */
	last = json_array_get(groups, ASSAY_PAGE_GROUPS - 1);
	assert_int_equal(json_integer_value(json_array_get(last, 0)), 17);
	assert_true(json_number_value(json_array_get(last, 1)) == 1001);
	assert_true(json_number_value(json_array_get(last, 2)) == 1009);
	assert_true(json_number_value(json_array_get(last, 3)) == 1017);
	assert_int_equal(json_integer_value(json_array_get(last, 4)), ASSAY_DISTURB_STEAL);
	quantiles = json_object_get(json_array_get(json_object_get(j, "cases"), 0), "quantiles");
	assert_int_equal(json_array_size(quantiles), 51);
	assert_true(json_number_value(json_array_get(quantiles, 0)) == 1001);
	assert_true(json_number_value(json_array_get(quantiles, 25)) == 2000.5);
	assert_true(json_number_value(json_array_get(quantiles, 50)) == 3000);
	/* two runs, and both points of each case */
	assert_int_equal(json_array_size(json_object_get(json_object_get(j, "past"), "runs")), 2);
	assert_int_equal(json_object_size(json_object_get(json_object_get(j, "past"), "cases")), CASES);
	json_decref(j);
	if (file)
		assert_int_equal(assay_file_write(file, page, strlen(page), NULL), 0);
	release();
}

TEST(few_samples_stand_as_they_are)
{
	struct assay_result_page of_one = { .of_run = true, .run = { .id = 1, .started_ns = 1, .ended_ns = 2 } };
	struct assay_result one = made_result(0, ASSAY_PAGE_SAMPLES);
	struct assay_report r = { .kind = ASSAY_REPORT_PAGE, .page = &of_one };
	json_t *j, *points;
	char *page;

	strcpy(of_one.run.suite, "quick");
	of_one.run.results = &one;
	of_one.run.n_results = 1;
	page = emit(&r, "html", NULL);
	/* nobody judged it */
	has(page, "<span class=\"badge NOT_JUDGED\">");
	assert_int_equal(times(page, "Next step"), 0);
	j = data_of(page);
	points = json_object_get(json_array_get(json_object_get(j, "cases"), 0), "points");
	assert_int_equal(json_array_size(points), ASSAY_PAGE_SAMPLES);
	assert_true(json_number_value(json_array_get(json_array_get(points, 0), 0)) == 1300);
	assert_null(json_object_get(j, "gate"));
	json_decref(j);
	one.status = ASSAY_STATUS_CRASHED;
	has(emit(&r, "html", NULL), "<span class=\"badge NOT_MEASURED\">");
	one.status = ASSAY_STATUS_WRONG;
	has(emit(&r, "html", NULL), "<span class=\"badge WRONG_RESULT\">");
	assay_result_release(&one);
}

TEST(a_comparison_has_its_pairs)
{
	struct assay_sample samples[2][4] = { { { .iterations = 1, .ns = 100 },
						{ .iterations = 1, .ns = 104 },
						{ .iterations = 1, .ns = 102 },
						{ .iterations = 1, .ns = 98 } },
					      { { .iterations = 1, .ns = 110 },
						{ .iterations = 1, .ns = 114 },
						{ .iterations = 1, .ns = 112 },
						{ .iterations = 1, .ns = 108 } } };
	struct assay_pair pair = { .seed = 7, .iterations = 1, .n_blocks = 2, .steady = true };
	struct assay_comparison_case c = { .in_base = true, .in_head = true, .pairs = &pair, .n_pairs = 1 };
	struct assay_pair_reading pair_reading = { .ratio = 1.1 };
	struct assay_case_reading reading = { .pairs = &pair_reading };
	struct assay_result_page of_pairs = { .comparison = { .cmp = { .id = 3, .cases = &c, .n_cases = 1 },
							      .readings = &reading,
							      .verdict = "REGRESSED" },
					      .judged = true,
					      .gate = { .verdict = ASSAY_REGRESSED, .untrusted = true } };
	const struct assay_report r = { .kind = ASSAY_REPORT_PAGE, .page = &of_pairs };
	json_t *j, *o;
	char *page;

	strcpy(of_pairs.comparison.cmp.base, "main");
	strcpy(of_pairs.comparison.cmp.head, "<head>");
	strcpy(c.c.key, "op/v/-/t=1/warm");
	for (int side = 0; side < 2; side++) {
		pair.side[side].samples = samples[side];
		strcpy(pair.side[side].digest, "abc");
	}
	page = emit(&r, "html", NULL);
	has(page, "<title>Comparison 3: &lt;head&gt; against main</title>");
	has(page, "no verdict on time can be trusted on this host today");
	j = data_of(page);
	o = json_array_get(json_object_get(j, "cases"), 0);
	assert_true(json_number_value(json_array_get(json_array_get(json_object_get(o, "times"), 0), 0)) == 101);
	assert_true(json_number_value(json_array_get(json_array_get(json_object_get(o, "times"), 0), 1)) == 111);
	assert_true(json_number_value(json_array_get(json_object_get(json_object_get(o, "quantiles"), "head"), 50)) ==
		    114);
	/* raw samples and digests of each pair are left out */
	o = json_object_get(json_array_get(json_object_get(o, "pairs"), 0), "base");
	assert_null(json_object_get(o, "samples"));
	assert_null(json_object_get(o, "digest"));
	json_decref(j);
}

UNIT_GROUP(NULL, NULL)
