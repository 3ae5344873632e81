/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons as Markdown and JUnit XML: order, escapes, sizes, and whether a schema takes them. */
#include "gate_fixture.h"

#include <unistd.h>

#include "reports/text_parts.h"

/* What a careless or spiteful plugin could put into a name and a reason. */
#define NASTY_KEY    "op<&>\"'/v|a`b\\c/x=1/t=1/warm"
#define NASTY_REASON "a|b `c` <img>\n*d* _e_ [f] \\ \x01 \x1b[31m \xff\xfe \xc3\xa9 & \"q\" \xef\xbf\xbf"

static const struct assay_gate_case nasty[] = {
	{ .key = NASTY_KEY, .metric = "time_s", .verdict = ASSAY_REGRESSED, .reason = NASTY_REASON, NO_NUMBERS },
};

#define MARKER "<!-- assay-gate -->"
/* What a comment on GitHub holds. */
#define MARKDOWN_MAX 65536

static char *markdown(const struct assay_gate_report *r)
{
	return emit_gate(r, "markdown", NULL);
}

static char *junit(const struct assay_gate_report *r, struct assay_report_gate how)
{
	how.gate = r;
	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_GATE, .gate = how }, "junit", NULL);
}

TEST(test_markdown)
{
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);
	char *s, *fold, *last = NULL;

	set_controls(&r, good_controls, false);
	s = markdown(&r);
	assert_memory_equal(s, MARKER, strlen(MARKER));
	has(s,
	    MARKER "\n## assay: WRONG_RESULT: 1 of 8 inconclusive\n\nquantize.i2\\_s/wrong computes a wrong result.\n");
	has(s, "\n`8c1f0aa+` against `main (1234567)`. 8 cases: 1 WRONG_RESULT, 1 NOT_MEASURED, 2 REGRESSED, "
	       "1 INCOMPARABLE, 1 INCONCLUSIVE, 1 IMPROVED, 1 PASS in 93 s.\n");
	has(s, "\n| **REGRESSED** | `matmul.f32/slow/m=1/t=1/warm` | `time_s` | +1.23 % | +1.10 % to +1.36 % | 0.5 % | "
	       "7 | "
	       "paired | 1.23 % slower, shown to be more than 0.5 % |\n");
	has(s, "\nSelf-checks: 2 of 2 passed.\n");
	has(s, "The false-alarm rate of the whole is 1 %. Comparison 12.\n");
	fold = strstr(s, "\n<details>\n<summary>All 8 verdicts</summary>\n\n| verdict");
	assert_non_null(fold);
	has(fold, "\n\n</details>\n");
	/* above the fold all but what passed, gravest first; below it everything */
	assert_int_equal(times(s, "| PASS |"), 1);
	assert_int_equal(times(fold, "| PASS |"), 1);
	for (const char *const *v = (const char *const[]){ "WRONG_RESULT", "NOT_MEASURED", "REGRESSED", "INCOMPARABLE",
							   "INCONCLUSIVE", "IMPROVED", NULL };
	     *v; v++) {
		char cell[64];

		snprintf(cell, sizeof(cell), "| **%s** |", *v);
		assert_int_equal(times(s, cell), 2 * times(fold, cell));
		assert_true(strstr(s, cell) > last && strstr(s, cell) < fold);
		last = strstr(s, cell);
	}
	assert_null(strstr(s, "nan"));
}

TEST(test_markdown_escapes)
{
	struct assay_gate_report r = report_of(nasty, 1);
	char *s;

	snprintf(r.head, sizeof(r.head), "a`b");
	snprintf(r.base, sizeof(r.base), "b|c");
	s = markdown(&r);
	has(s, "| <code>op&#60;&#38;&#62;\"'/v&#124;a&#96;b&#92;c/x=1/t=1/warm</code> | `time_s` |");
	has(s, "| a&#124;b \\`c\\` \\<img\\> \\*d\\* \\_e\\_ \\[f\\] \\\\   "
	       " \\[31m \xef\xbf\xbd\xef\xbf\xbd \xc3\xa9 \\& \"q\" \xef\xbf\xbf |\n");
	has(s, "<code>a&#96;b</code> against <code>b&#124;c</code>.");
}

TEST(test_markdown_warnings)
{
	static const struct assay_gate_case alone[] = {
		{ .key = "op/v/-/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_STORED,
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "no run yet",
		  NO_NUMBERS },
		{ .key = "op/w/-/t=1/warm",
		  .metric = "time_s",
		  .evidence = ASSAY_EVIDENCE_STORED,
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "no run yet",
		  NO_NUMBERS },
		/* that nothing was measured before excuses no record of counts */
		{ .key = "op/v/-/t=1/warm",
		  .metric = "exact_instructions",
		  .evidence = ASSAY_EVIDENCE_EXACT,
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "out of date",
		  NO_NUMBERS },
	};
	struct assay_gate_report r = report_of(one_of_each, 1);
	char *s, *fold;

	r.verdict = ASSAY_INCONCLUSIVE;
	set_controls(&r, bad_controls, true);
	s = markdown(&r);
	has(s, "\n> **Warning:** a self-check failed, so no verdict on time can be trusted on this host today");
	has(s, "\nSelf-checks: 0 of 2 passed, 1 inconclusive, 1 failed.\n- **failed:** base against base was "
	       "REGRESSED at +3.10 %, "
	       "`matmul.f32/fine/m=1/t=1/warm`: 3.10 % slower\n");

	r = report_of(alone, 2);
	r.verdict = ASSAY_PASS;
	r.no_baseline = true;
	s = markdown(&r);
	has(s, "## assay: PASS\n\nThere is nothing to compare with, so speed was not judged.\n");
	has(s, "\n> Speed was not judged: no run yet\n");
	fold = strstr(s, "<details>");
	assert_non_null(fold);
	assert_int_equal(times(s, "INCOMPARABLE** |"), times(fold, "INCOMPARABLE** |"));

	r.n_cases = 3;
	r.verdict = ASSAY_INCOMPARABLE;
	s = markdown(&r);
	has(s, " cannot be compared.\n");
	assert_non_null(strstr(s, "exact_instructions"));
	assert_true(strstr(s, "exact_instructions") < strstr(s, "<details>"));

	r = (struct assay_gate_report){ .verdict = ASSAY_NOT_MEASURED, .seconds = NAN, .alpha = NAN };
	s = markdown(&r);
	assert_string_equal(s, MARKER "\n## assay: NOT_MEASURED\n\nNothing was judged.\n\n"
				      "`this run` against `no baseline`. 0 cases.\n\n"
				      "Change is the time of the head relative to the base: + is slower.\n");
}

TEST(test_markdown_size)
{
	static const size_t sizes[] = { 1, 40, 300, 3000 };

	for (size_t i = 0; i < N_OF(sizes); i++)
		for (int bad = 0; bad < 2; bad++) {
			struct assay_gate_case *many = many_cases(sizes[i], bad ? ASSAY_REGRESSED : ASSAY_PASS);
			struct assay_gate_report r = report_of(many, sizes[i]);
			size_t above, below, left = 0;
			char *s, *fold, *note;

			r.verdict = bad ? ASSAY_REGRESSED : ASSAY_PASS;
			for (size_t k = 0; k < sizes[i]; k++)
				memset(many[k].reason, '|', 90);
			s = markdown(&r);
			assert_true(strlen(s) <= MARKDOWN_MAX);
			fold = strstr(s, "<details>");
			assert_non_null(fold);
			has(fold, "\n</details>\n\nChange is");
			below = times(fold, "`time_s`");
			above = times(s, "`time_s`") - below;
			note = strstr(fold, " rows are left out");
			if (note) {
				while (*--note != '\n')
					;
				assert_int_equal(sscanf(note, "%zu", &left), 1);
			}
			assert_int_equal(below + left, sizes[i]);
			assert_true(sizes[i] < 300 ? bad || !left : left > 0);
			/* no row is cut */
			assert_int_equal(times(s, "\n| "), times(s, " |\n"));
			assert_int_equal(above, bad ? (sizes[i] < 40 ? sizes[i] : above) : 0);
			if (bad && above < sizes[i]) {
				char more[64];

				assert_true(above > 20 && above <= 50);
				snprintf(more, sizeof(more), "… and %zu more.\n", sizes[i] - above);
				has(s, more);
			}
			free(many);
		}
}

TEST(test_junit)
{
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);
	char *s;

	set_controls(&r, bad_controls, true);
	s = junit(&r, (struct assay_report_gate){ 0 });
	has(s, "<testsuites>\n  <testsuite id=\"0\" package=\"assay\" name=\"assay\" tests=\"8\" failures=\"3\" "
	       "errors=\"2\" "
	       "skipped=\"1\" time=\"93.400\" hostname=\"localhost\">\n");
	has(s, "<property name=\"base\" value=\"main (1234567)\"/>");
	has(s, "<property name=\"head\" value=\"8c1f0aa+\"/>");
	has(s, "<property name=\"alpha\" value=\"0.01\"/>");
	has(s, "<property name=\"exit\" value=\"3\"/>");
	has(s, "<property name=\"trusted\" value=\"false\"/>");
	has(s, "    <testcase classname=\"matmul.f32\" name=\"fine/m=1/t=1/warm time_s\" time=\"0\"/>\n");
	has(s, "    <testcase classname=\"matmul.f32\" name=\"better/m=1/t=1/warm time_s\" time=\"0\"/>\n");
	has(s, "name=\"slow/m=1/t=1/warm time_s\" time=\"0\">\n      <failure type=\"REGRESSED\" message=\"REGRESSED: "
	       "1.23 % slower, shown to be more than 0.5 %\">1.23 % slower, shown to be more than 0.5 %\n"
	       "change +1.23 %, interval +1.10 % to +1.36 %, margin 0.5 %, 7 pairs\nevidence paired</failure>\n    "
	       "</testcase>\n");
	has(s, "<failure type=\"WRONG_RESULT\" message=\"WRONG_RESULT: element 17 is 3, the base has 2\">");
	has(s, "<error type=\"NOT_MEASURED\" message=\"NOT_MEASURED: killed by SIGSEGV\">");
	has(s, "<error type=\"INCOMPARABLE\" message=\"INCOMPARABLE: base plugin");
	has(s,
	    "      <skipped message=\"INCONCLUSIVE: host too noisy: 31 % of blocks disturbed, mostly by steal\"/>\n");
	has(s, "<system-err>warning: a self-check failed");
	has(s, "self-check failed: base against base was REGRESSED, matmul.f32/fine/m=1/t=1/warm: 3.10 % "
	       "slower\n</system-err>");

	s = junit(&r, (struct assay_report_gate){ .strict = true, .hostname = "a&b", .unix_ns = 1700000000000000000u });
	has(s, "failures=\"4\" errors=\"2\" skipped=\"0\"");
	has(s, "<failure type=\"INCONCLUSIVE\" message=\"INCONCLUSIVE: host too noisy");
	has(s, "hostname=\"a&amp;b\" timestamp=\"2023-11-14T22:13:20\"");
}

TEST(test_junit_no_baseline)
{
	static const struct assay_gate_case alone[] = {
		{ .key = "op/v/-/t=1/warm",
		  .metric = "time_s",
		  .verdict = ASSAY_INCOMPARABLE,
		  .reason = "no run yet",
		  NO_NUMBERS },
	};
	static const struct {
		enum assay_exit exit;
		bool no_baseline, broken;
	} cases[] = {
		{ ASSAY_EXIT_OK, true, false },           { ASSAY_EXIT_INCONCLUSIVE, true, false },
		{ ASSAY_EXIT_INCOMPARABLE, true, true },  { ASSAY_EXIT_REGRESSED, true, true },
		{ ASSAY_EXIT_INCOMPARABLE, false, true },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_gate_report r = report_of(alone, 1);
		char *s;

		r.exit = cases[i].exit;
		r.no_baseline = cases[i].no_baseline;
		s = junit(&r, (struct assay_report_gate){ 0 });
		has(s, cases[i].broken ? "errors=\"1\" skipped=\"0\"" : "errors=\"0\" skipped=\"1\"");
		has(s, cases[i].broken ? "<error type=\"INCOMPARABLE\""
				       : "<skipped message=\"INCOMPARABLE: no run yet\"/>");
	}
}

TEST(test_junit_escapes)
{
	struct assay_gate_report r = report_of(nasty, 1);
	char *s;

	s = junit(&r, (struct assay_report_gate){ 0 });
	has(s, "classname=\"op&lt;&amp;&gt;&quot;'\" name=\"v|a`b\\c/x=1/t=1/warm time_s\"");
	has(s, "message=\"REGRESSED: a|b `c` &lt;img&gt;&#10;*d* _e_ [f] \\ \xef\xbf\xbd \xef\xbf\xbd[31m "
	       "\xef\xbf\xbd\xef\xbf\xbd "
	       "\xc3\xa9 &amp; &quot;q&quot; \xef\xbf\xbd\"");
}

/* 0: valid. */
static int validate(const char *xml)
{
	char path[] = "/tmp/assay-junit-XXXXXX", command[256];
	int rc, fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, xml, strlen(xml)), (ssize_t)strlen(xml));
	close(fd);
	snprintf(command, sizeof(command),
		 "xmllint --noout --nonet --schema tests/fixtures/junit/junit.xsd %s >/dev/null 2>&1", path);
	rc = system(command);
	unlink(path);
	return rc;
}

TEST(test_junit_schema)
{
	static const struct assay_gate_case odd[] = {
		{ .key = "op/v/-/t=1/warm", .metric = "x", NO_NUMBERS },
		{ .key = "op/v/-/t=1/warm", .metric = "x", NO_NUMBERS },
		{ .key = "op/v/-/t=1/warm", .metric = "", NO_NUMBERS },
		{ .key = "no-slash", .metric = "time_s", NO_NUMBERS },
		{ .key = "", .metric = "", .verdict = ASSAY_NOT_MEASURED, NO_NUMBERS },
	};
	struct assay_gate_case *many = many_cases(300, ASSAY_INCONCLUSIVE);
	const struct {
		const struct assay_gate_case *cases;
		size_t n;
	} reports[] = { { one_of_each, N_OF_EACH }, { nasty, 1 }, { odd, 5 }, { NULL, 0 }, { many, 300 } };

	if (system("command -v xmllint >/dev/null"))
		skip();
	for (size_t i = 0; i < N_OF(reports); i++)
		for (int strict = 0; strict < 2; strict++) {
			struct assay_gate_report r = report_of(reports[i].cases, reports[i].n);
			struct assay_report_gate o = { .strict = strict, .unix_ns = strict ? 1700000000000000000u : 0 };
			char *s;

			if (strict)
				r.seconds = r.alpha = NAN;
			set_controls(&r, strict ? bad_controls : good_controls, strict);
			s = junit(&r, o);
			assert_int_equal(times(s, "<testcase "), reports[i].n);
			if (validate(s))
				fail_msg("report %zu is not valid:\n%s", i, s);
		}
	/* a schema that takes everything would prove nothing */
	assert_int_not_equal(validate("<testsuites><testsuite/></testsuites>"), 0);
	free(many);
}

UNIT_GROUP(NULL, NULL)
