/* SPDX-License-Identifier: Apache-2.0 */
/* How programs are asked for their benchmarks, and what they answer. */
#include "unit.h"

#include "formats/formats.h"

static void ask_of(const char *program, const char *format, enum assay_format_question question, const char *benchmark,
		   const char *want)
{
	struct assay_strings words = { 0 };
	struct assay_text all = { 0 };
	const struct assay_format *f;
	struct assay_err err = { 0 };

	assert_int_equal(assay_format_find(format, &f, &err), 0);
	assert_int_equal(program ? assay_strings_add(&words, program, &err) : 0, 0);
	assert_int_equal(assay_format_ask(f, question, benchmark, "/tmp/a b", &words, &err), 0);
	for (size_t i = 0; i < words.n; i++)
		assay_text_addf(&all, "[%s]", words.v[i]);
	assert_string_equal(all.s, want);
	assay_strings_release(&words);
	assay_text_release(&all);
}

static void ask(const char *format, enum assay_format_question question, const char *benchmark, const char *want)
{
	ask_of(NULL, format, question, benchmark, want);
}

TEST(each_program_is_asked_in_its_own_way)
{
#define GB_FORMAT  "[--benchmark_out=/tmp/a b][--benchmark_out_format=json][--benchmark_repetitions=1]"
#define GB_MEASURE "[--benchmark_min_time=0.05]" GB_FORMAT
	ask("google-benchmark", ASSAY_ASK_LIST, NULL, "[--benchmark_list_tests=true]");
	ask("google-benchmark", ASSAY_ASK_MEASURE, NULL, GB_MEASURE);
	ask_of("--benchmark_min_time=2", "google-benchmark", ASSAY_ASK_MEASURE, NULL,
	       "[--benchmark_min_time=2]" GB_FORMAT);
	/* what is special in a regular expression is not, blanks stay in the word, and '<' means nothing */
	ask("google-benchmark", ASSAY_ASK_MEASURE, "BM_Sum<int, 4>/n:8.5/a+b",
	    GB_MEASURE "[--benchmark_filter=^BM_Sum<int, 4>/n:8\\.5/a\\+b$]");
	ask("llama-bench", ASSAY_ASK_MEASURE, NULL, "[-o][json][-r][1]");
	ask("hyperfine", ASSAY_ASK_MEASURE, NULL, "[--export-json][/tmp/a b][--runs][2]");
	ask("pyperf", ASSAY_ASK_MEASURE, NULL, "[-o][/tmp/a b][--processes=1]");
	ask("nvbench", ASSAY_ASK_MEASURE, "copy\tIn Size=8\tT=I32",
	    "[--json][/tmp/a b][--benchmark][copy][--axis][In Size=8][--axis][T=I32]");
	/* cargo says itself that it is to be a benchmark */
	ask_of("/usr/bin/cargo", "criterion", ASSAY_ASK_LIST, NULL, "[/usr/bin/cargo][--][--list]");
	ask_of("b", "criterion", ASSAY_ASK_LIST, NULL, "[b][--bench][--list]");
	ask_of("b", "criterion", ASSAY_ASK_MEASURE, "one (a+b)",
	       "[env][CRITERION_HOME=/tmp/a b][b][--bench][--noplot][^one \\(a\\+b\\)$]");
}

struct listed {
	char all[1024];
	char filters[1024];
};

static int take(void *arg, const struct assay_format_facts *facts, struct assay_result *r, const char *name,
		struct assay_err *err)
{
	struct listed *l = arg;

	assert_int_equal(facts->run, 1);
	snprintf(l->all + strlen(l->all), sizeof(l->all) - strlen(l->all), "%s\n", r->c.key);
	snprintf(l->filters + strlen(l->filters), sizeof(l->filters) - strlen(l->filters), "%s\n", name);
	return 0;
}

/* So that a program is asked for its list once, and each of its processes for one benchmark. */
TEST(a_listed_benchmark_has_the_name_of_its_result)
{
	static const char names[] = "BM_Copy/1024\nBM_Sum<int, 4>/n:8/threads:2\r\n\nBM_Plain\n";
	static const char rows[] =
		"{\"context\": {\"library_version\": \"v1.9.0\"}, \"benchmarks\": ["
		"{\"run_name\": \"BM_Copy/1024\", \"threads\": 1, \"iterations\": 1, \"real_time\": 5},"
		"{\"run_name\": \"BM_Sum<int, 4>/n:8/threads:2\", \"threads\": 2, \"iterations\": 1, \"real_time\": 5},"
		"{\"run_name\": \"BM_Plain\", \"threads\": 1, \"iterations\": 1, \"real_time\": 5}]}";
	struct listed by_list = { "", "" }, by_run = { "", "" };
	struct assay_format_reading q = { .format = "google-benchmark",
					  .path = "bench",
					  .sink = { take, NULL, &by_list } };
	struct assay_text text = { 0 };
	struct assay_err err = { 0 };

	assert_int_equal(assay_format_list(&q, names, &err), 0);
	q.sink.arg = &by_run;
	assay_text_add(&text, rows);
	assert_int_equal(assay_format_read(&q, &text, &err), 0);
	/* people choose listed cases by their arguments */
	assert_string_equal(by_list.all, "BM_Copy/google-benchmark/arg1=1024/t=1\n"
					 "BM_Sum<int, 4>/google-benchmark/n=8/t=2\n"
					 "BM_Plain/google-benchmark/-/t=1\n");
	assert_string_equal(by_run.all, "BM_Copy/1024/google-benchmark/-/t=1\n"
					"BM_Sum<int, 4>/n:8/threads:2/google-benchmark/-/t=2\n"
					"BM_Plain/google-benchmark/-/t=1\n");
	assert_string_equal(by_list.filters, by_run.filters);
	assert_string_equal(by_list.filters, "BM_Copy/1024\nBM_Sum<int, 4>/n:8/threads:2\nBM_Plain\n");
	assay_text_release(&text);
	q.format = "google-benchmark";
	assert_int_equal(assay_format_list(&q, "\n", &err), ASSAY_EUSAGE);
	assert_string_equal(err.text, "bench: it lists no benchmarks");
	assert_int_equal(assay_format_list(&q, "A\nA\n", &err), ASSAY_EUSAGE);
	assert_non_null(strstr(err.text, "'A' is the same case as an earlier one"));
	/* other lines of a test program are none, and versions write it differently */
	q.format = "criterion";
	by_list = (struct listed){ "", "" };
	q.sink.arg = &by_list;
	assert_int_equal(assay_format_list(&q, "Warning: none\n\none (a+b): bench\ng/f/8: benchmark\n", &err), 0);
	assert_string_equal(by_list.filters, "one (a+b)\ng/f/8\n");
	assert_string_equal(by_list.all, "one (a+b)/criterion/-\ng/f/8/criterion/-\n");
}

UNIT_GROUP(NULL, NULL)
