/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons in every format: each verdict, the controls, nothing, hostile names, and very much. */
#include "gate_fixture.h"
#include "golden.h"
#include "reports/gate/words.h"
#include "reports/text_parts.h"

TEST(test_change)
{
	static const struct {
		double ratio;
		const char *fine, *coarse;
	} cases[] = {
		{ 1.0123, "+1.23 %", "+1.2 %" },
		{ 0.9877, "-1.23 %", "-1.2 %" },
		{ 1.00001, "0.00 %", "0.0 %" },
		{ 0.99999, "0.00 %", "0.0 %" },
		{ 1.0004, "+0.04 %", "0.0 %" },
		{ 1.0996, "+9.96 %", "+10.0 %" },
		{ 1.09999, "+10.0 %", "+10.0 %" },
		{ 3.5, "+250 %", "+250 %" },
		{ 10.994, "+999 %", "+999 %" },
		{ 1e9, "over +999 %", "over +999 %" },
		{ NAN, "", "" },
		{ INFINITY, "", "" },
	};
	char buf[32];

	for (size_t i = 0; i < N_OF(cases); i++) {
		assay_gate_words_change(cases[i].ratio, true, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].fine);
		assay_gate_words_change(cases[i].ratio, false, buf, sizeof(buf));
		assert_string_equal(buf, cases[i].coarse);
	}
}

/* One more of a million is a change of a count, while a time that little off is none. */
TEST(test_change_of_count)
{
	struct assay_gate_case c = {
		.evidence = ASSAY_EVIDENCE_EXACT, .ratio = 1.00001, .ci_lo = NAN, .ci_hi = NAN, .margin_frac = 0
	};
	struct assay_gate_words w;

	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "+0.001 %");
	c.ratio = 1.031;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "+3.1 %");
	c.ratio = 1;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "0.0 %");
	c.evidence = ASSAY_EVIDENCE_STORED;
	c.ratio = 1.00001;
	c.ci_lo = 0.9999;
	c.ci_hi = 1.0001;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "0.0 %");
	/* nor is a change of a time without an interval, and it is not shown */
	c.ci_lo = c.ci_hi = NAN;
	assay_gate_words_of(&c, &w);
	assert_string_equal(w.change, "");
}

#define UNDECIDED(name, at, likely)                                                                                    \
	{                                                                                                              \
		.key = name, .metric = "time_s", .evidence = ASSAY_EVIDENCE_PAIRED, .verdict = ASSAY_INCONCLUSIVE,     \
		.suspect = likely, .pairs = 9, NUMBERS(at, 0.98, 1.3)                                                  \
	}

static const struct assay_gate_control undecided_controls[] = {
	{ .key = "a/b/-/t=1/warm", .kind = ASSAY_CONTROL_AA, .verdict = ASSAY_INCONCLUSIVE, .ratio = NAN, .ok = true },
	{ .key = "a/b/-/t=1/warm",
	  .kind = ASSAY_CONTROL_SLOWER,
	  .verdict = ASSAY_INCONCLUSIVE,
	  .ratio = NAN,
	  .ok = true },
};

#define DECIDED(name, v, at)                                                                                           \
	{                                                                                                              \
		.key = name, .metric = "time_s", .evidence = ASSAY_EVIDENCE_PAIRED, .verdict = v, .pairs = 9,          \
		NUMBERS(at, at, at)                                                                                    \
	}
#define PASSED  DECIDED("a/fine/-/t=1/warm", ASSAY_PASS, 1)
#define SLOW    DECIDED("a/slow/-/t=1/warm", ASSAY_REGRESSED, 1.1)
#define UNSURE  UNDECIDED("a/x/-/t=1/warm", 1.001, false)
#define SUSPECT UNDECIDED("a/x/-/t=1/warm", 1.02, true)
#define FASTER(name, at, lo, hi)                                                                                       \
	{                                                                                                              \
		.key = name, .metric = "time_s", .evidence = ASSAY_EVIDENCE_PAIRED, .verdict = ASSAY_IMPROVED,         \
		.base_variant = "slow", .pairs = 9, NUMBERS(at, lo, hi)                                                \
	}
#define WITHOUT(name, of, rung, why)                                                                                   \
	{                                                                                                              \
		.key = name, .metric = of, .evidence = rung, .verdict = ASSAY_INCOMPARABLE, .reason = why, NO_NUMBERS  \
	}

#define STORED(name, v, at, d)                                                                                         \
	{                                                                                                              \
		.key = name, .metric = "time_s", .evidence = ASSAY_EVIDENCE_STORED, .verdict = v, .doubt = d,          \
		.reason = "its own reason", .ratio = at, .ci_lo = at, .ci_hi = at, .margin_frac = 0.05,                \
		.dropped_frac = 0.1, .smallest_detectable_frac = at - 1, .value = NAN, .limit = NAN                    \
	}

/* A name and a reason that a careless or spiteful plugin could give. */
#define NASTY_KEY    "op<&>\"'/v|a`b\\c/x=1/t=1/warm"
#define NASTY_REASON "a|b `c` <img>\n*d* _e_ [f] \\ \x01 \x1b[31m \xff\xfe \xc3\xa9 & \"q\" \xef\xbf\xbf"

static const struct assay_gate_case nasty[] = {
	{ .key = NASTY_KEY, .metric = "time_s", .verdict = ASSAY_REGRESSED, .reason = NASTY_REASON, NO_NUMBERS },
};

/* The most that a comment on GitHub holds. */
#define MARKDOWN_MAX 65536

static char *junit(const struct assay_gate_report *r, struct assay_report_gate how)
{
	how.gate = r;
	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_GATE, .gate = how }, "junit", NULL);
}

static char *table(const struct assay_gate_report *r, struct assay_emit_style style)
{
	return emit_gate(r, "text", &style);
}

/* @r in the formats that @formats names. */
static void show(const char *title, const struct assay_gate_report *r, const char *formats)
{
	static const char *const all[] = { "markdown", "junit", "csv", "openmetrics" };
	char head[128];

	if (strstr(formats, "text"))
		golden(title, table(r, (struct assay_emit_style){ .utf8 = true }));
	for (size_t i = 0; i < N_OF(all); i++)
		if (strstr(formats, all[i])) {
			snprintf(head, sizeof(head), "%s, %s", title, all[i]);
			golden(head, emit_gate(r, all[i], NULL));
		}
	snprintf(head, sizeof(head), "%s, json", title);
	if (strstr(formats, "json"))
		golden_json(head, emit_gate(r, "json", NULL));
	snprintf(head, sizeof(head), "%s, verbose", title);
	if (strstr(formats, "verbose"))
		golden(head, table(r, (struct assay_emit_style){ .verbose = true }));
}

TEST(one_of_each_verdict)
{
	const struct assay_gate_case noisy[] = { one_of_each[2], one_of_each[2] };
	struct assay_gate_report r = report_of(one_of_each, N_OF_EACH);
	const struct assay_report_gate strict = {
		.gate = &r, .strict = true, .hostname = "a&b", .unix_ns = 1700000000000000000u
	};

	set_controls(&r, good_controls, false);
	show("one of each verdict", &r, "markdown verbose");
	set_controls(&r, bad_controls, true);
	show("one of each, controls failed", &r, "text junit json csv");
	for (unsigned width = 80; width < 160; width += 13)
		has_no_wider_line(
			table(&r, (struct assay_emit_style){ .width = width, .verbose = true, .colour = true }), width);
	r = report_of(noisy, N_OF(noisy));
	has(junit(&r, strict), "failures=\"2\" errors=\"0\" skipped=\"0\" time=\"93.400\" hostname=\"a&amp;b\" "
			       "timestamp=\"2023-11-14T22:13:20\"");
	has(junit(&r, strict), "<failure type=\"INCONCLUSIVE\" message=\"INCONCLUSIVE: host too noisy");
	r.verdict = ASSAY_INCONCLUSIVE;
	set_controls(&r, bad_controls, true);
	strcpy(r.unchecked, "imported from x");
	show("imported, the same demand twice", &r, "text openmetrics");
	has(emit_gate(&r, "markdown", NULL), "> imported from x.\n");
	has(emit_gate(&r, "junit", NULL), "<property name=\"unchecked\" value=\"imported from x\"/>");
	has(emit_gate(&r, "json", NULL), "\"unchecked\": \"imported from x\"");
	r = (struct assay_gate_report){
		.verdict = ASSAY_NOT_MEASURED, .exit = ASSAY_EXIT_NOT_MEASURED, .seconds = NAN, .alpha = NAN
	};
	show("nothing judged", &r, "text markdown json");
}

/* A case that may be skipped fails nothing, and nobody may take it for one that was measured. */
TEST(skipped_are_counted_apart)
{
	struct assay_gate_case cases[] = { DECIDED("a/b/-/t=1/warm", ASSAY_PASS, 1),
					   { .key = "a/gpu/-/t=1/warm",
					     .metric = "status",
					     .verdict = ASSAY_PASS,
					     .skipped = true,
					     .reason = "skipped: no device",
					     NO_NUMBERS } };
	struct assay_gate_report r = report_of(cases, 2);

	r.verdict = ASSAY_PASS;
	show("one passed, one skipped", &r, "text junit json");
	r.verdict = cases[0].verdict = ASSAY_INCONCLUSIVE;
	show("one inconclusive, one skipped", &r, "text");
}

/* Inconclusive cases are told before those that passed, suspects first, and every format has the same headline. */
TEST(headlines)
{
	static const struct {
		const char *title;
		struct assay_gate_case cases[4];
		size_t n;
		enum assay_verdict verdict;
		const struct assay_gate_control *controls;
	} rows[] = {
		{ "passed, controls undecided", { PASSED }, 1, ASSAY_PASS, undecided_controls },
		{ "one unsure", { PASSED, UNSURE }, 2, ASSAY_INCONCLUSIVE, good_controls },
		{ "one unsure, one suspect",
		  { PASSED, UNSURE, UNDECIDED("a/y/-/t=1/warm", 1.12, true) },
		  3,
		  ASSAY_INCONCLUSIVE,
		  good_controls },
		{ "two suspects, controls undecided",
		  { SUSPECT, UNDECIDED("a/y/-/t=1/warm", 1.0123, true) },
		  2,
		  ASSAY_INCONCLUSIVE,
		  undecided_controls },
		{ "one regressed, one suspect", { SLOW, SUSPECT }, 2, ASSAY_REGRESSED, good_controls },
	};

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct assay_gate_report r = report_of(rows[i].cases, rows[i].n);
		char headline[256];
		char *s;

		r.verdict = rows[i].verdict;
		set_controls(&r, rows[i].controls, false);
		show(rows[i].title, &r, i == 2 ? "text markdown json" : "text");
		s = table(&r, (struct assay_emit_style){ 0 });
		snprintf(headline, sizeof(headline), "%.*s", (int)strcspn(s, "\n"), s);
		has(emit_gate(&r, "json", NULL), headline);
		has(emit_gate(&r, "junit", NULL), headline);
	}
}

/* For two variants a row says how many times as fast one is. */
TEST(variants)
{
	static const struct assay_gate_case cases[] = { FASTER("a/fast/n=1/t=1/warm", 0.5, 0.4, 0.625),
							FASTER("a/fast/n=2/t=1/warm", 0.05, 0.04, 0.08) };
	struct assay_gate_report r = report_of(cases, 1);

	strcpy(r.base, "a/slow");
	strcpy(r.head, "a/fast");
	r.verdict = ASSAY_IMPROVED;
	show("variants, one case", &r, "text json");
	r.n_cases = 2;
	show("variants, two cases", &r, "text");
}

/* A doubt that many cases share is one line, with their number and the furthest; each failure has a row. */
TEST(doubts)
{
	static const struct assay_gate_case cases[] = {
		STORED("a/same/t=1", ASSAY_INCONCLUSIVE, 1.10, ASSAY_DOUBT_MACHINE),
		STORED("b/same/t=1", ASSAY_INCONCLUSIVE, 0.70, ASSAY_DOUBT_MACHINE),
		STORED("c/same/t=1", ASSAY_INCONCLUSIVE, 1.20, ASSAY_DOUBT_MACHINE),
		STORED("d/moved/t=1", ASSAY_INCONCLUSIVE, 1.30, ASSAY_DOUBT_MOVED),
		STORED("e/noisy/t=1", ASSAY_INCONCLUSIVE, 1.01, ASSAY_DOUBT_NOISE),
		STORED("f/noisy/t=1", ASSAY_INCONCLUSIVE, 1.01, ASSAY_DOUBT_NOISE),
		STORED("g/few/t=1", ASSAY_INCONCLUSIVE, NAN, ASSAY_DOUBT_SAMPLES),
		STORED("h/wide/t=1", ASSAY_INCONCLUSIVE, 1.08, ASSAY_DOUBT_MARGIN),
		STORED("i/wide/t=1", ASSAY_INCONCLUSIVE, 1.25, ASSAY_DOUBT_MARGIN),
		STORED("j/own/t=1", ASSAY_INCONCLUSIVE, 1.01, ASSAY_DOUBT_NONE),
		STORED("k/slow/t=1", ASSAY_REGRESSED, 1.40, ASSAY_DOUBT_NONE),
	};
	struct assay_gate_report r = report_of(cases, N_OF(cases));

	r.verdict = ASSAY_REGRESSED;
	show("shared doubts", &r, "text");
	assert_int_equal(times(table(&r, (struct assay_emit_style){ .verbose = true }), "its own reason"), N_OF(cases));
	has_no_wider_line(table(&r, (struct assay_emit_style){ .width = 80, .colour = true }), 80);
}

/* Of many improvements the largest ten are rows. */
TEST(improvements)
{
	struct assay_gate_case *many = many_cases(25, ASSAY_IMPROVED);
	struct assay_gate_report r = report_of(many, 25);

	for (size_t i = 0; i < 25; i++)
		many[i].ratio = i % 2 ? 0.9 - 0.01 * (double)i : 0.9;
	show("25 improvements", &r, "text");
	assert_int_equal(times(table(&r, (struct assay_emit_style){ .verbose = true }), "  IMPROVED  "), 25);
	r.n_cases = 10;
	assert_null(strstr(table(&r, (struct assay_emit_style){ 0 }), "\nimproved"));
	free(many);
}

TEST(many_passed)
{
	struct assay_gate_case *many = many_cases(300, ASSAY_PASS);
	struct assay_gate_report r = report_of(many, 300);

	r.verdict = ASSAY_PASS;
	show("300 passed", &r, "text");
	memcpy(many[1].key, many[0].key, sizeof(many[1].key));
	show("two verdicts on one of them", &r, "text");
	/* a smaller shape that was counted in place of a measured one is no case of the run */
	many[2].evidence = ASSAY_EVIDENCE_EXACT;
	show("one of them counted alone", &r, "text");
	assert_int_equal(times(table(&r, (struct assay_emit_style){ .verbose = true }), "matmul.ternary/"), 300);
	free(many);
}

/* Without a baseline one line says so, and not one for each case. */
TEST(no_baseline)
{
	static const struct assay_gate_case cases[] = {
		WITHOUT("op/v/-/t=1/warm", "time_s", ASSAY_EVIDENCE_STORED, "no run yet"),
		WITHOUT("op/w/-/t=1/warm", "time_s", ASSAY_EVIDENCE_STORED, "no run yet"),
		/* that nothing was measured before excuses no record of counts */
		WITHOUT("op/v/-/t=1/warm", "exact_instructions", ASSAY_EVIDENCE_EXACT, "out of date"),
	};
	struct assay_gate_report r = report_of(cases, 2);

	r.base[0] = '\0';
	r.verdict = ASSAY_PASS;
	r.exit = ASSAY_EXIT_OK;
	r.no_baseline = true;
	show("no baseline", &r, "text markdown junit");
	r.n_unjudged = 1;
	show("no baseline, one demand not judged", &r, "text");
	r.no_baseline = false;
	r.n_unjudged = 2;
	show("nothing compared, two demands not judged", &r, "text");
	r.no_baseline = true;
	r.n_unjudged = 0;
	strcpy(r.base, "counts.json");
	show("no baseline but recorded counts", &r, "text");
	r.n_cases = 3;
	r.verdict = ASSAY_INCOMPARABLE;
	r.exit = ASSAY_EXIT_INCOMPARABLE;
	show("no baseline and counts out of date", &r, "text");
	has(emit_gate(&r, "junit", NULL), "errors=\"3\" skipped=\"0\"");
}

/* A run that was cut short lacks most of its cases, each for the same reason. */
TEST(missing_cases)
{
	struct assay_gate_case cases[5] = { 0 };
	struct assay_gate_report r = report_of(cases, 3);

	for (size_t i = 0; i < 5; i++) {
		cases[i] = (struct assay_gate_case){ .verdict = ASSAY_NOT_MEASURED,
						     .metric = "status",
						     .missing = true,
						     .reason = "not in the run",
						     NO_NUMBERS };
		snprintf(cases[i].key, sizeof(cases[i].key), "op/v%zu/-/t=1/warm", i);
	}
	r.verdict = ASSAY_NOT_MEASURED;
	show("three missing", &r, "text");
	r.n_cases = 5;
	show("five missing", &r, "text verbose");
}

TEST(escapes)
{
	struct assay_gate_report r = report_of(nasty, 1);

	snprintf(r.head, sizeof(r.head), "a`b");
	snprintf(r.base, sizeof(r.base), "b|c");
	show("hostile names", &r, "text markdown junit csv");
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
			s = emit_gate(&r, "markdown", NULL);
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

GOLDEN_GROUP("gate", NULL, NULL)
