/* SPDX-License-Identifier: Apache-2.0 */
/* Trend plots: the data for few and many runs and for hostile text, the pictures, file names, and the index page. */
#include "emit_fixture.h"

#include <math.h>

#include "base/file.h"
#include "base/process.h"
#include "folder_fixture.h"
#include "reports/plot/plot.h"

#define START_S  UINT64_C(1790000000) /* 2026-09-21 14:13:20 UTC */
#define MAX_RUNS 300

static struct assay_trend_point runs[MAX_RUNS];
static struct assay_trend_line line;

/* @n runs an hour apart that take @ns each, ± 1 %. */
static struct assay_plot_trend series(size_t n, double ns)
{
	memset(runs, 0, sizeof(runs));
	for (size_t i = 0; i < n; i++) {
		runs[i].run_id = (int64_t)i + 1;
		runs[i].started_ns = (START_S + i * 3600) * 1000000000u;
		snprintf(runs[i].commit, sizeof(runs[i].commit), "%03zuabcdef0123456789", i);
		runs[i].median_ns = ns;
		runs[i].ci95_lo_ns = ns * 0.99;
		runs[i].ci95_hi_ns = ns * 1.01;
	}
	line = (struct assay_trend_line){ .points = runs, .n_points = n };
	return (struct assay_plot_trend){
		.key = "op/ref/m=1/t=1/warm", .machine = "a machine", .lines = &line, .n_lines = 1
	};
}

static int script(const struct assay_plot_trend *s, struct assay_text *t, struct assay_err *err)
{
	static const struct assay_plot_options plain;

	return assay_plot_script(&(struct assay_plot){ .kind = ASSAY_PLOT_TREND, .trend = *s }, &plain, false, "out", t,
				 err);
}

/* malloc'ed */
static char *script_of(const struct assay_plot_trend *s)
{
	struct assay_text t = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(script(s, &t, &err), 0);
	return assay_text_take(&t);
}

static int draw(const struct assay_plot_trend *h, const char *path, struct assay_err *err)
{
	const struct assay_plot p = { .kind = ASSAY_PLOT_TREND, .trend = *h };

	return assay_emit_file(&(struct assay_report){ .kind = ASSAY_REPORT_PLOT, .plot = { .plot = &p } }, NULL, path,
			       err);
}

TEST(unit_fits)
{
	static const struct {
		double ns;
		const char *label, *row;
	} cases[] = {
		{ 1, " ns'", "\n1 1 0.99 1.01 0\n" },
		{ 500, " ns'", "\n1 500 495 505 0\n" },
		{ 61200, " µs'", "\n1 61.2 60.588 61.812 0\n" },
		{ 2.5e6, " ms'", "\n1 2.5 2.475 2.525 0\n" },
		{ 7e10, " s'", "\n1 70 69.3 70.7 0\n" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_plot_trend s = series(2, cases[i].ns);
		char *text = script_of(&s);

		assert_true(times(text, cases[i].label) > 2);
		assert_int_equal(times(text, "YLABEL = 'time per call'"), 1);
		assert_int_equal(times(text, cases[i].row), 1);
		free(text);
	}
}

/* A metric has no interval, may be 0, and names its unit. */
TEST(metrics_are_drawn_in_their_unit)
{
	static const struct {
		const char *metric, *unit;
		double value;
		const char *tick, *row;
	} cases[] = {
		{ "bytes_per_s", "B/s", 61.2e9, "'61.0 GB/s'", "\n1 61.2 61.2 61.2 0\n" },
		{ "kv_cache_hit_rate", "1", 0.973, "'98 %%'", "\n1 97.3 97.3 97.3 0\n" },
		{ "syscalls", "1", 0, "'-0.5', '0', '0.5'", "\n1 0 0 0 0\n" },
		{ "exact_instructions", "1", 45852504900, "'46.0 G'",
		  "\n1 4.58525049e+10 4.58525049e+10 4.58525049e+10 0\n" },
		{ "tokens_per_s", "1/s", 4480, "'4.50 ktok/s'", "\n1 4.48 4.48 4.48 0\n" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_plot_trend s = series(3, 1000);
		char label[64], *text;

		s.metric = cases[i].metric;
		s.unit = cases[i].unit;
		runs[0].value = runs[2].value = cases[i].value;
		runs[1].value = NAN; /* left out */
		text = script_of(&s);
		snprintf(label, sizeof(label), "YLABEL = '%s'", cases[i].metric);
		assert_int_equal(times(text, label), 1);
		assert_int_equal(times(text, cases[i].tick), 1);
		assert_int_equal(times(text, cases[i].row), 1);
		assert_int_equal(times(text, "'95 % interval'"), 0);
		assert_int_equal(times(text, "a machine. 2 runs'"), 1);
		free(text);
	}
}

/* The revision of the plugins stands above that of the program. */
TEST(plugins_have_a_revision_of_their_own)
{
	struct assay_plot_trend s = series(2, 500);
	char *text;

	runs[0].dirty = true; /* the program, which was not measured */
	snprintf(runs[1].plugin.hash, sizeof(runs[1].plugin.hash), "feedbeef0123");
	runs[1].plugin.dirty = true;
	text = script_of(&s);
	assert_int_equal(times(text, ", '-', '000abcde+', '2026-09-21', '14:13']"), 1);
	assert_int_equal(times(text, "['feedbeef+', '001abcde', '2026-09-21', "), 1);
	assert_int_equal(
		times(text, "'commit of the plugins, of assay (+ with uncommitted changes), date, time (UTC)'"), 1);
	assert_int_equal(times(text, "\n1 500 495 505 1\n2 500 495 505 1\n"), 1);
	free(text);
}

/* The name of the axis says what the last line of its labels is. */
/* Lines that change at one commit share its words, and words keep clear of the lines of others. */
TEST(changes_of_several_lines_are_one_flag)
{
	struct assay_trend_change changes[2][2] = {
		{ { .at = 20, .to = 40, .ratio = 1.044 }, { .at = 30, .to = 40, .ratio = 0.95 } },
		{ { .at = 20, .to = 40, .ratio = 1.046 } },
	};
	struct assay_plot_trend s = series(40, 1000);
	struct assay_trend_line lines[2];
	char *t;

	lines[0] = line;
	lines[1] = line;
	for (int i = 0; i < 2; i++) {
		lines[i].changes = changes[i];
		lines[i].n_changes = i ? 1 : 2;
	}
	s.lines = lines;
	s.n_lines = 2;
	t = script_of(&s);
	assert_non_null(strstr(t, "array FLAG_WORD[2]"));
	assert_non_null(strstr(t, "'+4.5 % 020abcde'"));
	assert_non_null(strstr(t, "'-5.0 % 030abcde (1/2)'"));
	free(t);
	changes[1][0].ratio = 1.1;
	t = script_of(&s);
	assert_non_null(strstr(t, "'+4.4 to +10.0 % 020abcde'"));
	free(t);
}

TEST(runs_are_sorted_and_checked)
{
	struct assay_plot_trend s = series(4, 500);
	struct assay_text t = { 0 };
	struct assay_err err = { 0 };
	char *text;

	runs[0].started_ns = runs[2].started_ns + 1; /* the first is the last but one */
	runs[0].median_ns = 700;
	runs[0].ci95_lo_ns = 0; /* no interval: the median itself */
	runs[0].ci95_hi_ns = NAN;
	runs[1].median_ns = NAN; /* left out */
	runs[2].dirty = true;
	text = script_of(&s);
	assert_int_equal(times(text, "$line1 << END\n1 500 495 505 1\n2 700 700 700 0\n3 500 495 505 0\nEND\n"), 1);
	assert_int_equal(times(text, "'000abcde', '2026-09-21', '16:13', '002abcde+', '2026-09-21', '16:13']"), 1);
	assert_int_equal(times(text, "'uncommitted'"), 1);
	assert_int_equal(times(text, "a machine. 3 runs'"), 1);
	free(text);

	s = series(1, -1);
	assert_int_equal(script(&s, &t, &err), ASSAY_ENOTFOUND);
	assert_string_equal(err.text,
			    "no stored run of 'op/ref/m=1/t=1/warm' has a time, measure it with 'assay run' first");
	line.n_points = 0;
	assert_int_equal(script(&s, &t, &err), ASSAY_ENOTFOUND);
	assay_text_release(&t);
}

static void need_gnuplot(void)
{
	static const char *const argv[] = { "gnuplot", "--version", NULL };
	char *out = NULL;

	if (assay_process_capture(&(struct assay_capture){ .argv = argv, .timeout_ns = UINT64_C(10000000000) }, &out,
				  NULL))
		skip();
	free(out);
}

TEST(hostile_text_is_only_text)
{
	struct assay_plot_trend s = series(2, 1000);
	struct assay_err err = { 0 };
	char key[256], *data;
	size_t len;

	need_gnuplot();
	snprintf(key, sizeof(key),
		 "a'b\"c\\n{x_1}^2 `touch %s/pwned` %%s <&> \n\x01\xff \xc2\xb5';system('touch %s/pwned')#", folder,
		 folder);
	s.key = key;
	s.machine = "`touch pwned` '.system(\"touch pwned\").'<b>&amp;";
	strcpy(runs[0].commit, "`%d'\"\\\xff.");
	strcpy(runs[1].commit, "'.x");
	assert_int_equal(draw(&s, in_folder("h.svg"), &err), 0);
	assert_false(assay_file_exists(in_folder("pwned")));
	assert_int_equal(assay_file_read(in_folder("h.svg"), &data, &len, &err), 0);
	assert_int_equal(times(data, "a'b\"c\\n{x_1}^2 `touch"), 1);
	assert_int_equal(times(data, "%s &lt;&amp;> ??? \xc2\xb5';system('touch"), 1);
	assert_int_equal(times(data, ">??d????.<"), 1);
	assert_int_equal(times(data, ">?.x<"), 1);
	free(data);
}

UNIT_GROUP(folder_make, folder_remove)
