/* SPDX-License-Identifier: Apache-2.0 */
/* Files of other tools: what becomes a case, a sample, a metric; what is unknown; what is refused. */
#include "store_fixture.h"

#include <math.h>

#include "drive/exchange/exchange.h"
#include "drive/show/show.h"
#include "formats/formats.h"

#define FIXTURES "tests/fixtures/import/"

static const struct assay_watch nobody;

static int import(struct fixture *f, const char *format, const char *path, struct assay_import_report *out)
{
	const struct assay_import_request q = { .db = f->db, .format = format, .path = path };

	memset(&f->err, 0, sizeof(f->err));
	return assay_import(&q, &nobody, out, &f->err);
}

static struct assay_run import_one(struct fixture *f, const char *name)
{
	struct assay_import_report report;
	struct assay_run run;
	char path[128];

	snprintf(path, sizeof(path), FIXTURES "%s", name);
	assert_ok(f, import(f, "auto", path, &report));
	assert_int_equal(report.n_runs, 1);
	assert_ok(f, assay_stored_run(f->db, report.runs[0].id, NULL, &run, &f->err));
	assert_int_equal(run.n_results, report.runs[0].n_cases);
	assert_true(assay_run_is_imported(&run));
	assert_string_equal(run.imported.digest, report.digest);
	assay_import_report_release(&report);
	return run;
}

static const struct assay_result *result(const struct assay_run *run, const char *key)
{
	const struct assay_result *r = assay_run_result(run, key);

	if (!r)
		for (size_t i = 0; i < run->n_results; i++)
			print_message("%s\n", run->results[i].c.key);
	assert_non_null(r);
	/* nobody said it */
	assert_false(r->checked);
	assert_int_equal(r->n_cpus, 0);
	assert_int_equal(r->numa_node, -1);
	assert_int_equal(r->c.cache, ASSAY_CACHE_UNKNOWN);
	return r;
}

static void has_metric(const struct assay_result *r, const char *tag, const char *unit, double value)
{
	const struct assay_metric *m = assay_result_metric(r, tag);

	assert_non_null(m);
	assert_string_equal(m->unit, unit);
	assert_string_equal(m->source, ASSAY_SOURCE_IMPORTED);
	assert_true(fabs(m->value - value) <= 1e-9 * fabs(value));
}

static void has_samples(const struct assay_result *r, size_t n, uint64_t iterations, double median_ns)
{
	assert_int_equal(r->status, ASSAY_STATUS_OK);
	assert_int_equal(r->n_samples, n);
	assert_int_equal(r->samples[0].iterations, iterations);
	assert_true(fabs(r->median_ns - median_ns) < 1e-6 * median_ns);
	has_metric(r, "time_s", "s", median_ns * 1e-9);
}

static void has_fact(const struct assay_run *run, const char *name, const char *value)
{
	for (size_t i = 0; i < run->n_environment; i++)
		if (!strcmp(run->environment[i].name, name)) {
			assert_string_equal(run->environment[i].value, value);
			return;
		}
	fail_msg("no fact '%s'", name);
}

STORE_TEST(google_benchmark)
{
	struct fixture *f = *state;
	struct assay_run run = import_one(f, "google_benchmark_1.8.json");
	const struct assay_result *r;

	assert_string_equal(run.suite, "google-benchmark");
	assert_string_equal(run.machine.label, "ci-1");
	assert_string_equal(run.build.commit, "0123456789abcdef0123456789abcdef01234567");
	assert_true(run.started_ns == UINT64_C(1769857200000000000));
	assert_false(run.started_unknown);
	has_fact(&run, "library_version", "v1.8.3");
	assert_int_equal(run.n_results, 5);
	/* repetitions that lie apart */
	r = result(&run, "BM_Copy/1024/threads:2/google-benchmark/-/t=2");
	/* before 1.9.0 real_time was divided by the threads */
	has_samples(r, 3, 1000, 2 * 26);
	has_metric(r, "cpu_time_s", "s", 25e-9);
	has_metric(r, "bytes_per_s", "B/s", 4e7 + 1);
	/* NaN in one of three */
	has_metric(r, "hits", "1", 7.5);
	assert_non_null(assay_counters_find_missing(&r->counters, "hits"));
	r = result(&run, "BM_Sum<int, 4>/n:8/google-benchmark/-/t=1");
	has_samples(r, 3, 1000, 2600);
	assert_int_equal(r->c.n_axes, 0);
	r = result(&run, "BM_Broken/google-benchmark/-/t=1");
	assert_int_equal(r->status, ASSAY_STATUS_FAILED);
	assert_string_equal(r->reason, "no \"file\"");
	r = result(&run, "BM_Elsewhere/google-benchmark/-/t=1");
	assert_int_equal(r->status, ASSAY_STATUS_SKIPPED);
	assert_string_equal(r->reason, "needs a GPU");
	r = result(&run, "BM_Means/google-benchmark/-/t=1");
	assert_int_equal(r->status, ASSAY_STATUS_SKIPPED);
	assert_non_null(strstr(r->reason, "only its means"));
	assay_run_release(&run);
}

/* Rows without a type, aggregates known by their names alone, a date without a zone, no host. */
STORE_TEST(old_google_benchmark)
{
	struct fixture *f = *state;
	struct assay_run run = import_one(f, "google_benchmark_1.3.json");

	assert_string_equal(run.machine.label, ASSAY_MACHINE_UNKNOWN);
	assert_string_equal(run.build.commit, "");
	assert_true(run.started_ns == UINT64_C(1521312025000000000));
	has_fact(&run, "time zone", "not said, taken as UTC");
	assert_int_equal(run.n_results, 2);
	has_samples(result(&run, "BM_Set/1024/google-benchmark/-"), 2, 94877, 29276);
	assert_int_equal(result(&run, "BM_Set/1024/google-benchmark/-")->c.threads, 0);
	has_samples(result(&run, "BM_Late/google-benchmark/-"), 1, 10, 2e6);
	assay_run_release(&run);
}

/* Files of the tools, but for their layout: what is computed of their samples is what they computed, too. */
STORE_TEST(files_of_the_tools_themselves)
{
	static const struct {
		const char *file, *key;
		size_t n;
		double median_ns; /* as the file has it, times its threads */
	} cases[] = {
		{ "google_benchmark_1.7.json", "BM_Copy/64/repeats:5/google-benchmark/-/t=1", 5, 11.467467520445032 },
		{ "google_benchmark_1.7.json", "BM_Copy/4096/repeats:5/google-benchmark/-/t=1", 5, 307.13673334472213 },
		{ "google_benchmark_1.7.json", "BM_Named/n:8/threads:2/google-benchmark/-/t=2", 1,
		  2 * 1.4132277460077152 },
		{ "hyperfine_1.15.json", "sleep 0.001/hyperfine/n=1", 6, 1845330.5 },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct fixture *f = *state;
		struct assay_import_report report;
		struct assay_run run;
		const struct assay_result *r;
		char path[128];

		snprintf(path, sizeof(path), FIXTURES "%s", cases[i].file);
		assert_ok(f, import(f, "auto", path, &report));
		assay_import_report_release(&report);
		assert_ok(f, assay_stored_run(f->db, 0, NULL, &run, &f->err));
		r = result(&run, cases[i].key);
		assert_int_equal(r->n_samples, cases[i].n);
		assert_true(fabs(r->median_ns - cases[i].median_ns) < 1e-6 * cases[i].median_ns);
		assay_run_release(&run);
	}
}

#define LLAMA_MODEL "llama-bench/model=tiny.gguf,size=700000000"

STORE_TEST(llama_bench)
{
	struct fixture *f = *state;
	struct assay_run run = import_one(f, "llama_bench.json");
	const struct assay_result *r;

	assert_string_equal(run.build.commit, "8cf427ff");
	has_fact(&run, "cpu_info", "Example CPU");
	r = result(&run, "pp/" LLAMA_MODEL ",n_prompt=512,n_gen=0,n_batch=2048,ngl=99,more=backend:CPU+fa:off/t=4");
	has_samples(r, 3, 1, 71900000);
	has_metric(r, "tokens_per_s", "1/s", 512e9 / (215400000.0 / 3));
	/* what is no default stands in the key */
	r = result(&run, "pg/" LLAMA_MODEL ",n_prompt=512,n_gen=128,n_depth=256,n_batch=2048,ngl=99,"
			 "more=backend:CPU+ctk:q8_0+fa:on/t=4");
	has_samples(r, 2, 1, 1205000000);
	assay_run_release(&run);
}

STORE_TEST(newer_llama_bench)
{
	struct fixture *f = *state;
	struct assay_run run = import_one(f, "llama_bench_newer.json");

	assert_int_equal(run.n_results, 2);
	assert_int_equal(result(&run, "pp/" LLAMA_MODEL ",n_prompt=512,n_gen=0,n_batch=2048,ngl=-1,"
				      "more=backend:CPU+fa:auto+fitc:4096/t=4")
				 ->n_samples,
			 3);
	assert_int_equal(result(&run, "pp/" LLAMA_MODEL ",n_prompt=512,n_gen=0,n_batch=2048,ngl=-1,"
				      "more=backend:CPU+fa:auto+lm:dio+noh:1+fitc:4096/t=4")
				 ->n_samples,
			 2);
	assay_run_release(&run);
}

/* Two tests that differ in any one setting are two cases; one setting in two spellings is one. */
STORE_TEST(llama_bench_settings_are_told_apart)
{
	static const struct {
		const char *a, *b;
		bool same;
	} cases[] = {
		{ "\"model_filename\":\"m/a.gguf\"", "\"model_filename\":\"m/b.gguf\"", false },
		{ "\"model_filename\":\"m/a.gguf\"", "\"model_filename\":\"/else/where/a.gguf\"", true },
		{ "\"model_filename\":\"m/a.gguf\"", "\"model_filename\":\"C:\\\\m\\\\a.gguf\"", true },
		{ "\"model_size\":17179869184", "\"model_size\":17179869185", false },
		{ "\"flash_attn\":-1", "\"flash_attn\":0", false },
		{ "\"flash_attn\":1", "\"flash_attn\":0", false },
		{ "\"flash_attn\":true", "\"flash_attn\":1", true },
		{ "\"flash_attn\":false", "\"flash_attn\":0", true },
		{ "\"poll\":0", "\"poll\":100", false },
		{ "\"poll\":50", "\"n_ubatch\":512", true },
		{ "\"cpu_mask\":\"0x0\"", "\"cpu_mask\":\"0x3\"", false },
		{ "\"cpu_strict\":false", "\"cpu_strict\":true", false },
		{ "\"fit_target\":0", "\"fit_target\":1024", false },
		{ "\"fit_min_ctx\":0", "\"fit_min_ctx\":4096", false },
		{ "\"use_mmap\":true", "\"use_mmap\":false", false },
		{ "\"backends\":\"CPU\"", "\"backends\":\"CUDA\"", false },
		/* of a fork, or of a version to come */
		{ "\"mla_attn\":0", "\"mla_attn\":3", false },
	};
	struct fixture *f = *state;
	struct assay_import_report report;
	char path[160], text[640];

	snprintf(path, sizeof(path), "%s/in.json", f->folder);
	for (size_t i = 0; i < N_OF(cases); i++) {
		snprintf(text, sizeof(text),
			 "{\"n_prompt\":512,\"n_gen\":0,%s,\"samples_ns\":[5000]}\n"
			 "{\"n_prompt\":512,\"n_gen\":0,%s,\"samples_ns\":[9000]}\n",
			 cases[i].a, cases[i].b);
		assert_ok(f, assay_file_write(path, text, strlen(text), &f->err));
		assert_ok(f, import(f, "llama-bench", path, &report));
		if ((report.runs[0].n_cases == 1) != cases[i].same)
			print_error("%s and %s\n", cases[i].a, cases[i].b);
		assert_int_equal(report.runs[0].n_cases, cases[i].same ? 1 : 2);
		/* one that is there twice has the samples of both */
		assert_int_equal(report.runs[0].n_samples, 2);
		assay_import_report_release(&report);
	}
}

/* A line each, appended to by two builds. */
STORE_TEST(llama_bench_lines)
{
	struct fixture *f = *state;
	struct assay_import_report report;
	struct assay_run run;

	assert_ok(f, import(f, "auto", FIXTURES "llama_bench.jsonl", &report));
	assert_int_equal(report.n_runs, 2);
	assert_int_equal(report.runs[0].n_cases, 1);
	assert_int_equal(report.runs[1].n_cases, 2);
	assert_int_equal(report.runs[1].n_ok, 1);
	assert_ok(f, assay_stored_run(f->db, report.runs[1].id, NULL, &run, &f->err));
	assert_string_equal(run.build.commit, "91aa0c2e");
	assert_true(run.started_ns == UINT64_C(1769947200000000000));
	assert_string_equal(run.results[0].reason, "it has no samples_ns, and an average is not a sample");
	assay_run_release(&run);
	assay_import_report_release(&report);
}

STORE_TEST(hyperfine)
{
	struct fixture *f = *state;
	struct assay_run run = import_one(f, "hyperfine.json");
	const struct assay_result *r = result(&run, "sort words.txt/hyperfine/-");

	has_samples(r, 12, 1, 120550000);
	assert_true(r->ci95_reached);
	has_metric(r, "user_s", "s", 0.11);
	has_metric(r, "rss_peak_bytes", "B", 1048576 + 11 * 4096);
	has_samples(result(&run, "make -j 4/hyperfine/jobs=4"), 1, 1, 2e9);
	r = result(&run, "grep ü = /dev/null/hyperfine/-");
	assert_int_equal(r->status, ASSAY_STATUS_FAILED);
	assert_string_equal(r->reason, "1 of 2 runs failed, the first with exit code 1");
	assert_int_equal(r->n_samples, 0);
	assert_true(run.started_unknown);
	assert_string_equal(run.machine.label, ASSAY_MACHINE_UNKNOWN);
	assay_run_release(&run);
}

/* Runs are rounds; warm-ups and calibration are none; loops of the run, else of the whole. */
STORE_TEST(pyperf)
{
	struct fixture *f = *state;
	struct assay_run run = import_one(f, "pyperf.json");
	const struct assay_result *r = result(&run, "telco/pyperf/-");

	has_samples(r, 6, 40, 8.35e6);
	assert_int_equal(r->rounds, 2);
	assert_int_equal(r->samples[3].iterations, 80);
	assert_true(r->samples[3].ns == 672000000);
	assert_string_equal(run.machine.label, "ci-1");
	assert_true(run.started_ns == UINT64_C(1769860740000000000));
	has_fact(&run, "python_version", "3.11.2 (64-bit)");
	r = result(&run, "peak/pyperf/-");
	assert_int_equal(r->status, ASSAY_STATUS_SKIPPED);
	assert_string_equal(r->reason, "its values are in the unit 'byte', which are not times");
	assay_run_release(&run);
}

STORE_TEST(nvbench)
{
	struct fixture *f = *state;
	struct assay_run run = import_one(f, "nvbench.json");
	const struct assay_result *r;

	has_fact(&run, "nvbench", "0.1.0");
	has_fact(&run, "device 0", "Quadro GV100");
	assert_int_equal(run.n_results, 3);
	r = result(&run, "copy_sweep_grid_shape/nvbench/device=0,BlockSize=64,NumBlocks=64");
	has_samples(r, 1, 78, 6485689.823444072);
	has_metric(r, "bytes_per_s", "B/s", 82777765606.2663);
	has_metric(r, "items_per_s", "1/s", 10347220700.783287);
	has_metric(r, "batch_time_s", "s", 0.006479606722608024);
	has_metric(r, "host_time_s", "s", 0.006491010679487182);
	/* calls behind each other alone */
	has_samples(result(&run, "copy_sweep_grid_shape/nvbench/device=0,BlockSize=256,NumBlocks=64"), 1, 657,
		    2163784.1704410677);
	r = result(&run, "copy_type_conversion_sweep/nvbench/device=0,In=I8,Out=I8");
	assert_int_equal(r->status, ASSAY_STATUS_SKIPPED);
	assert_string_equal(r->reason, "Not a conversion: InputType == OutputType.");
	assay_run_release(&run);
}

static void write_in(struct fixture *f, const char *folder, const char *name, const char *text)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%s", f->folder, folder);
	assert_ok(f, assay_file_mkdirs(path, &f->err));
	snprintf(path, sizeof(path), "%s/%s/%s", f->folder, folder, name);
	assert_ok(f, assay_file_write(path, text, strlen(text), &f->err));
}

/* A folder, or any that holds such; earlier measurements beside the newest are none. */
STORE_TEST(criterion)
{
	struct fixture *f = *state;
	struct assay_import_report report;
	const struct assay_result *r;
	struct assay_run run;
	char path[300];

	snprintf(path, sizeof(path), "%s/criterion", f->folder);
	write_in(f, "criterion/g/f/8/new", "benchmark.json",
		 "{\"group_id\":\"g\",\"throughput\":{\"Bytes\":1000},\"full_id\":\"g/f/8\"}");
	write_in(f, "criterion/g/f/8/new", "sample.json",
		 "{\"sampling_mode\":\"Linear\",\"iters\":[10.0,20.0,30.0],\"times\":[100.0,200.0,300.0]}");
	write_in(f, "criterion/g/f/8/new", "estimates.json", "{\"mean\":{\"point_estimate\":10.0}}");
	write_in(f, "criterion/g/f/8/base", "benchmark.json", "{\"full_id\":\"g/f/8\"}");
	write_in(f, "criterion/old/new", "benchmark.json", "{\"full_id\":\"old (a+b)\"}");
	assert_ok(f, import(f, "auto", path, &report));
	assert_string_equal(report.format, "criterion");
	assert_int_equal(report.runs[0].n_cases, 2);
	assay_import_report_release(&report);
	assert_ok(f, assay_stored_run(f->db, 1, NULL, &run, &f->err));
	r = result(&run, "g/f/8/criterion/-");
	has_samples(r, 3, 10, 10);
	has_metric(r, "bytes_per_s", "B/s", 1e11);
	assert_string_equal(result(&run, "old (a+b)/criterion/-")->reason,
			    "it has no sample.json, and an estimate is not a sample");
	assay_run_release(&run);
	/* one of the files */
	snprintf(path, sizeof(path), "%s/criterion/g/f/8/new/estimates.json", f->folder);
	assert_ok(f, import(f, "criterion", path, &report));
	assert_int_equal(report.runs[0].n_cases, 1);
	assay_import_report_release(&report);
	write_in(f, "criterion/old/new", "sample.json", "{\"iters\":[1,2],\"times\":[1]}");
	snprintf(path, sizeof(path), "%s/criterion", f->folder);
	assert_error(f, import(f, "criterion", path, &report), ASSAY_EUSAGE,
		     "does not have as many 'iters' as 'times'");
	assay_import_report_release(&report);
	write_in(f, "criterion/old/new", "sample.json", "{");
	assert_error(f, import(f, "criterion", path, &report), ASSAY_EUSAGE, "criterion/old/new/sample.json:1: ");
	assay_import_report_release(&report);
	write_in(f, "none/new", "other.json", "{}");
	snprintf(path, sizeof(path), "%s/none", f->folder);
	assert_error(f, import(f, "criterion", path, &report), ASSAY_EUSAGE, "there is no benchmark.json in it");
	assay_import_report_release(&report);
	assert_error(f, import(f, "auto", path, &report), ASSAY_EUSAGE, "Is a directory");
	assay_import_report_release(&report);
}

#define CONTEXT  "{\"num_cpus\": 1, \"mhz_per_cpu\": 1, \"library_build_type\": \"release\"}"
#define GB(rows) "{\"context\": " CONTEXT ", \"benchmarks\": [" rows "]}"
#define ROW(name, more)                                                                                                \
	"{\"name\": \"" name "\", \"iterations\": 1, \"real_time\": 5, \"cpu_time\": 5, \"time_unit\": \"ns\"" more "}"

#define SHORT_CONTEXT "{\"context\": {}, \"benchmarks\": [" ROW("a", "") "]}"

/* Each with one line that says where; and nothing of it is stored, though a good case stands before. */
STORE_TEST(refusals)
{
	static const struct {
		const char *text, *want, *format; /* NULL: auto */
	} cases[] = {
		{ "", "in.json:1: the file ends, expected an object or an array", NULL },
		{ "[]", "this format is not known", NULL },
		{ "{\"a\": 1}", "this format is not known", NULL },
		{ "{\"meta\": {}, \"devices\": [], \"benchmarks\": [{\"name\": \"b\", \"axes\": [], \"states\": []}]}",
		  "there are no benchmarks in it", NULL },
		{ "{\"meta\": {\"version\": {\"json\": {\"major\": 2}}}, \"devices\": [], \"benchmarks\": [{\"name\": "
		  "\"b\", "
		  "\"states\": []}]}",
		  "version 2 of nvbench's format is not known, expected 1", NULL },
		{ "{\"benchmarks\": [{\"states\": [{}]}]}", "benchmarks[0]: a benchmark without a name", "nvbench" },
		/* of pytest-benchmark and ASV */
		{ "{\"machine_info\": {}, \"benchmarks\": [{\"name\": \"t\", \"stats\": {\"median\": 0.1}}]}",
		  "this format is not known", NULL },
		{ "{\"results\": {\"time_a\": [1]}, \"params\": {}}", "this format is not known", NULL },
		{ "{\"results\": [{\"name\": \"x\", \"mean\": 1}]}", "this format is not known", NULL },
		/* what others write as well */
		{ "{\"results\": [{\"command\": \"x\"}]}", "this format is not known", NULL },
		{ "{\"results\": [{\"command\": \"x\", \"times\": [1]}]}", "this format is not known", NULL },
		{ "{\"benchmarks\": [" ROW("a", "") "]}", "this format is not known", NULL },
		{ "{\"context\": {}, \"benchmarks\": [{\"name\": \"a\", \"real_time\": 1}]}",
		  "this format is not known", NULL },
		{ "{\"results\": [{\"command\": \"a\", \"times\": [1]}, {\"command\": \"x y\"}]}",
		  "results[1]: the result of 'x y' has neither 'times' nor 'mean'", "hyperfine" },
		{ "{\"n_prompt\": 1, \"n_gen\": 0, \"samples_ns\": [1]}", "this format is not known", NULL },
		{ GB("{\"name\": \"I\", \"iterations\": 1.500, \"real_time\": 1}"),
		  "benchmarks[0].iterations: 1.5 is not a whole number", NULL },
		{ GB("{\"name\": \"I\", \"iterations\": 1, \"real_time\": 1, \"threads\": 1.5}"),
		  "benchmarks[0].threads: 1.5 is not a whole number", NULL },
		{ "{\"n_prompt\": 512.5, \"n_gen\": 0, \"samples_ns\": [1]}",
		  "[0].n_prompt: 512.5 is not a whole number", "llama-bench" },
		{ "{\"n_prompt\": 1, \"n_gen\": 0, \"n_threads\": 0.5}", "[0].n_threads: 0.5 is not a whole number",
		  "llama-bench" },
		{ "{\"benchmarks\": [{\"metadata\": {\"name\": \"a\", \"loops\": 1.024}, \"runs\": []}], "
		  "\"version\": \"1.0\"}",
		  "benchmarks[0].loops: 1.024 is not a whole number", NULL },
		{ GB("{\"name\": \"I\", \"iterations\": 1, \"real_time\": 1, \"hit\": 1, \"hit\": 2}"),
		  "in.json:1: duplicate object key near '\"hit\"'", NULL },
		{ GB(""), "this format is not known", NULL },
		{ GB(ROW("a", "") ",\n" ROW("b", ", \"x\": ]")), "in.json:2: unexpected token near ']'", NULL },
		{ GB(ROW("a", "") "," ROW("b", "")) "{}", "something follows the end", NULL },
		{ GB(ROW("a", "") "," ROW("b", "") "," ROW("a", "")),
		  "'a' is the same case as an earlier one (benchmark 1, key 'a/google-benchmark/-')", NULL },
		{ GB(ROW("a", "") ",{\"name\": \"b\", \"real_time\": 1, \"time_unit\": \"m\"}"),
		  "benchmarks[1]: time_unit 'm' is not known, expected ns, us, ms or s", NULL },
		{ GB(ROW("a", "") ",{\"iterations\": 1}"), "benchmarks[1]: a benchmark without a name", NULL },
		/* two names of one key */
		{ "{\"results\": [{\"command\": \"a b\", \"times\": [1]}, {\"command\": \"a\\tb\", \"times\": [1]}]}",
		  "results[1]: 'a b' is the same case as an earlier one (benchmark 1, key 'a b/hyperfine/-')",
		  "hyperfine" },
		{ "{\"results\": [{\"command\": \"a\", \"times\": [1]}, {\"times\": [1]}]}",
		  "results[1]: a result without 'command'", "hyperfine" },
		{ "{\"results\": [{\"command\": \"a\", \"times\": [\"x\"]}]}", "results[0].times[0]: expected a number",
		  "hyperfine" },
		{ "{\"benchmarks\": [{\"runs\": [{\"values\": [1]}]}], \"version\": \"2.0\"}",
		  "version: pyperf's format '2.0' is not known, expected 1.0", NULL },
		{ "{\"benchmarks\": [{\"runs\": [{\"values\": [1]}]}], \"version\": \"1.0\"}",
		  "benchmarks[0]: a benchmark without a name in its metadata", NULL },
		{ "[{\"build_commit\": \"x\"}]", "[0]: a test without 'n_prompt' and 'n_gen'", "llama-bench" },
		{ "{\"n_prompt\": 1, \"n_gen\": 0, \"samples_ns\": [1]}\n{\"n_prompt\"",
		  "in.json:2: ':' expected near end of file", "llama-bench" },
	};
	struct fixture *f = *state;
	struct assay_import_report report;
	char path[160];

	snprintf(path, sizeof(path), "%s/in.json", f->folder);
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_ok(f, assay_file_write(path, cases[i].text, strlen(cases[i].text), &f->err));
		assert_error(f, import(f, cases[i].format ? cases[i].format : "auto", path, &report), ASSAY_EUSAGE,
			     cases[i].want);
		assay_import_report_release(&report);
		if (assay_file_exists(f->db))
			assert_int_equal(ask(f->db, "SELECT count(*) FROM run"), 0);
	}
	assert_error(f, import(f, "hyperfin", path, &report), ASSAY_EUSAGE,
		     "unknown format 'hyperfin', did you mean 'hyperfine'?");
	assert_error(f, import(f, "hyperfine", "/none", &report), ASSAY_EUSAGE, "cannot read '/none'");
	assert_error(f, import(f, "hyperfine", f->folder, &report), ASSAY_EUSAGE, "Is a directory");
	assert_error(f, import(f, "hyperfine", "/dev/zero", &report), ASSAY_EUSAGE, "it is not a regular file");
	assert_error(f, import(f, "hyperfine", FIXTURES "pyperf.json", &report), ASSAY_EUSAGE, "no 'results'");
	assert_error(f, import(f, "google-benchmark", FIXTURES "pyperf.json", &report), ASSAY_EUSAGE,
		     "benchmarks[0]: a benchmark without a name");
	assert_ok(f, assay_file_write(path, GB(""), strlen(GB("")), &f->err));
	assert_error(f, import(f, "google-benchmark", path, &report), ASSAY_EUSAGE, "there are no benchmarks in it");
	/* a program that writes this format need not know the machine */
	assert_ok(f, assay_file_write(path, SHORT_CONTEXT, strlen(SHORT_CONTEXT), &f->err));
	assert_ok(f, import(f, "auto", path, &report));
	assert_string_equal(report.format, "google-benchmark");
	assert_int_equal(report.runs[0].n_ok, 1);
	assay_import_report_release(&report);
}

/* A value that is no time is no sample, and the reason says so. */
STORE_TEST(nonsense_is_no_time)
{
	static const char text[] =
		"{\"results\": [{\"command\": \"zero\", \"times\": [0]}, {\"command\": \"late\", \"times\": [1e30]},"
		" {\"command\": \"nan\", \"times\": [NaN]}, {\"command\": \"none\", \"times\": []},"
		" {\"command\": \"killed\", \"times\": [1], \"exit_codes\": [null]}]}";
	static const char *const reasons[] = { "a sample took 0 ns, which is not a time",
					       "a sample took 1e+39 ns, which is not a time",
					       "a sample took nan ns, which is not a time",
					       "the file has no time for it",
					       "1 of 1 runs failed, the first with a signal" };
	struct fixture *f = *state;
	struct assay_import_report report;
	struct assay_run run;
	char path[160];

	snprintf(path, sizeof(path), "%s/in.json", f->folder);
	assert_ok(f, assay_file_write(path, text, strlen(text), &f->err));
	assert_ok(f, import(f, "hyperfine", path, &report));
	assert_int_equal(report.runs[0].n_ok, 0);
	assert_int_equal(report.runs[0].n_failed, 4);
	assay_import_report_release(&report);
	assert_ok(f, assay_stored_run(f->db, 1, NULL, &run, &f->err));
	for (size_t i = 0; i < N_OF(reasons); i++)
		assert_string_equal(run.results[i].reason, reasons[i]);
	assay_run_release(&run);
}

static struct assay_run import_text(struct fixture *f, const char *text)
{
	struct assay_import_report report;
	struct assay_run run;
	char path[160];

	snprintf(path, sizeof(path), "%s/in.json", f->folder);
	assert_ok(f, assay_file_write(path, text, strlen(text), &f->err));
	assert_ok(f, import(f, "google-benchmark", path, &report));
	assert_ok(f, assay_stored_run(f->db, report.runs[0].id, NULL, &run, &f->err));
	assay_import_report_release(&report);
	return run;
}

/* The names of users' counters are kept, and no two of them become one. */
STORE_TEST(counters_keep_their_names)
{
	static const char text[] =
		GB("{\"name\": \"T\", \"iterations\": 1, \"real_time\": 10, \"cpu_time\": 10, \"time_unit\": \"ns\","
		   "\"hit %\": 90, \"hit\": 10, \"L1-dcm\": 1000, \"L1_dcm\": 2000, \"cpu_time_s\": 9, \"time_s\": 8,"
		   "\"counter:time_s\": 7, \"%\": 6, \"\": 5, \"größe\": 4, \"a\\u0001\": 3, \"a\\u0002\": 2,"
		   "\"a counter of more than forty-seven characters, the one\": 1,"
		   "\"a counter of more than forty-seven characters, the other\": 0}");
	static const struct {
		const char *tag;
		double value;
	} want[] = {
		{ "hit %", 90 },
		{ "hit", 10 },
		{ "L1-dcm", 1000 },
		{ "L1_dcm", 2000 },
		{ "counter:cpu_time_s", 9 },
		{ "counter:time_s", 8 },
		{ "%", 6 },
		{ "größe", 4 },
	};
	struct fixture *f = *state;
	struct assay_run run = import_text(f, text);
	const struct assay_result *r = result(&run, "T/google-benchmark/-");

	for (size_t i = 0; i < N_OF(want); i++)
		has_metric(r, want[i].tag, "1", want[i].value);
	has_metric(r, "cpu_time_s", "s", 10e-9);
	has_metric(r, "time_s", "s", 10e-9);
	/* the others are told apart by a digest */
	assert_int_equal(r->n_metrics, 14 + 2);
	for (size_t i = 0; i < r->n_metrics; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(r->metrics[i].tag, r->metrics[k].tag);
	assay_run_release(&run);
}

/* In every format, text in another encoding is named with the line and with what makes text in UTF-8 of it. */
STORE_TEST(other_encodings_are_named)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *want;
	} cases[] = {
		{ "\xff\xfe{\0", 4, "this is text in UTF-16: import the output of 'iconv -f UTF-16 -t UTF-8' instead" },
		{ "\xfe\xff\0{", 4, "this is text in UTF-16: " },
		{ "\xff\xfe\0\0", 4, "this is text in UTF-32: " },
		{ "n\0a\0m\0", 6, "this is text in UTF-16 without a mark: import the output of 'iconv -f UTF-16LE" },
		{ "\0{\0\"", 4, "this is text in UTF-16 without a mark: import the output of 'iconv -f UTF-16BE" },
		{ "\x1f\x8b\x08", 3, "this is compressed with gzip: import the output of 'gzip -dc' instead" },
		{ "\x28\xb5\x2f\xfd", 4, "this is compressed with Zstandard: " },
		{ "\xfd\x37zXZ\0", 6, "this is compressed with xz: " },
		{ "BZh91AY", 7, "this is compressed with bzip2: " },
		{ "PK\x03\x04", 4, "this is a ZIP archive: " },
		/* Latin-1, and a quote of Windows-1252 */
		{ "{\n\"caf\xe9\": 1}", 13, "in.json:2: byte 0xe9 is not UTF-8: if this is Latin-1 or Windows-1252" },
		{ "x,1,s\n\x93y\x94,1,s\n", 14, "in.json:2: byte 0x93 is not UTF-8: " },
		/* overlong, a surrogate, and half of a character */
		{ "\xc0\xaf", 2, "in.json:1: byte 0xc0 is not UTF-8: " },
		{ "\n\xed\xa0\x80", 4, "in.json:2: byte 0xed is not UTF-8: " },
		{ "\"\xc3\"", 3, "in.json:1: byte 0xc3 is not UTF-8: " },
	};
	static const char *const formats[] = { "auto",   "google-benchmark", "llama-bench", "hyperfine",
					       "pyperf", "nvbench",          "csv" };
	struct fixture *f = *state;
	struct assay_import_report report;
	char path[300];

	for (size_t i = 0; i < N_OF(cases); i++)
		for (size_t k = 0; k <= N_OF(formats); k++) {
			const char *format = k < N_OF(formats) ? formats[k] : "criterion";

			write_in(f, "new", "benchmark.json", "{\"full_id\":\"x\"}");
			snprintf(path, sizeof(path), "%s/%s", f->folder,
				 strcmp(format, "criterion") ? "in.json" : "new/sample.json");
			assert_ok(f, assay_file_write(path, cases[i].bytes, cases[i].n, &f->err));
			assert_int_equal(import(f, format, path, &report), ASSAY_EUSAGE);
			/* a file in a folder has another name */
			assert_non_null(strstr(f->err.text, strncmp(cases[i].want, "in.json", 7) ? cases[i].want
												 : cases[i].want + 7));
			assay_import_report_release(&report);
		}
	/* the replacement character is one like others, and a mark of UTF-8 is none */
	snprintf(path, sizeof(path), "%s/in.json", f->folder);
	assert_ok(f, assay_file_write(path, "\xef\xbb\xbfx\xef\xbf\xbd,1,s\n", 11, &f->err));
	assert_ok(f, import(f, "csv", path, &report));
	assay_import_report_release(&report);
}

/* Before 1.9.0 the wall time of a call was divided by the number of threads. */
STORE_TEST(real_time_of_threads)
{
	static const struct {
		const char *context, *name, *row;
		const char *key;
		double ns; /* 0: it is not known */
	} cases[] = {
		{ "", "W/threads:4", ", \"threads\": 4", "W/threads:4/google-benchmark/-/t=4", 10000 },
		{ "\"library_version\": \"v1.8.4\"", "W/threads:4", ", \"threads\": 4",
		  "W/threads:4/google-benchmark/-/t=4", 10000 },
		{ "\"library_version\": \"v1.8.4-12-gabcdef0\"", "W/threads:4", ", \"threads\": 4",
		  "W/threads:4/google-benchmark/-/t=4", 10000 },
		{ "\"library_version\": \"v1.9.0\"", "W/threads:4", ", \"threads\": 4",
		  "W/threads:4/google-benchmark/-/t=4", 2500 },
		{ "\"library_version\": \"1.9.4\"", "W/threads:4", ", \"threads\": 4",
		  "W/threads:4/google-benchmark/-/t=4", 2500 },
		{ "\"library_version\": \"v2.0.0\"", "W/threads:4", ", \"threads\": 4",
		  "W/threads:4/google-benchmark/-/t=4", 2500 },
		{ "\"library_version\": \"v1.8.5-3-gabcdef0\"", "W/threads:4", ", \"threads\": 4",
		  "W/threads:4/google-benchmark/-/t=4", 0 },
		{ "\"library_version\": \"v0.0.0\"", "W/threads:4", ", \"threads\": 4",
		  "W/threads:4/google-benchmark/-/t=4", 0 },
		{ "\"library_version\": \"\"", "W/threads:4", ", \"threads\": 4", "W/threads:4/google-benchmark/-/t=4",
		  0 },
		{ "\"library_version\": \"v0.0.0\"", "W", ", \"threads\": 1", "W/google-benchmark/-/t=1", 2500 },
		/* a name that looks like it is none, where the row says otherwise */
		{ "", "W/threads:4", ", \"threads\": 1", "W/threads:4/google-benchmark/-/t=1", 2500 },
		/* nor where it is no end that the library writes */
		{ "", "W/threads:4/x", "", "W/threads:4/x/google-benchmark/-", 2500 },
		/* before 1.5 nothing but the name says it */
		{ "", "W/threads:4", "", "W/threads:4/google-benchmark/-/t=4", 10000 },
	};
	struct fixture *f = *state;
	char text[640];

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_run run;
		const struct assay_result *r;

		snprintf(text, sizeof(text),
			 "{\"context\": {%s}, \"benchmarks\": [{\"name\": \"%s\", \"iterations\": 100, \"real_time\": "
			 "2500, "
			 "\"time_unit\": \"ns\"%s}]}",
			 cases[i].context, cases[i].name, cases[i].row);
		run = import_text(f, text);
		r = result(&run, cases[i].key);
		if (cases[i].ns > 0) {
			has_samples(r, 1, 100, cases[i].ns);
		} else {
			assert_int_equal(r->status, ASSAY_STATUS_SKIPPED);
			assert_non_null(strstr(r->reason, "divided by 4 threads"));
		}
		assay_run_release(&run);
	}
}

/* Names that are equal for a kilobyte are two benchmarks, not two repetitions of one. */
STORE_TEST(long_names_are_not_cut)
{
	struct fixture *f = *state;
	struct assay_text text = { 0 };
	struct assay_run run;
	char name[1100];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assay_text_addf(&text, "{\"benchmarks\": [");
	for (int i = 0; i < 2; i++)
		assay_text_addf(&text, "%s{\"name\": \"%s%d\", \"iterations\": 1, \"real_time\": 5}", i ? "," : "",
				name, i);
	assay_text_add(&text, "]}");
	run = import_text(f, text.s);
	assert_int_equal(run.n_results, 2);
	assert_string_not_equal(run.results[0].c.key, run.results[1].c.key);
	assay_run_release(&run);
	assay_text_release(&text);
}

TEST(names_fit_into_keys)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "plain", "plain" }, { "a b/c=d,e", "a_b%2Fc%3Dd%2Ce" }, { "100%*?[x]", "100%25%2A%3F%5Bx%5D" },
		{ "", "-" },          { "a\nb\x1b[0m", "a_b%3F%5B0m" },   { "größe\xff", "größe%3F" },
	};
	static const char twins[2][100] = {
		"cd build && ./bench --size 1000000 --mode fast --threads 4 --seed 1 --out a.json",
		"cd build && ./bench --size 1000000 --mode slow --threads 4 --seed 1 --out a.json",
	};
	struct assay_case c = { .op = "x" };
	const struct assay_axis_value *axes = c.axes;
	char op[ASSAY_OP_MAX], longer[2 * ASSAY_OP_MAX];

	for (size_t i = 0; i < N_OF(cases); i++) {
		c.n_axes = 0;
		assert_true(assay_format_axis(&c, "a", cases[i].text));
		assert_string_equal(axes[0].text, cases[i].want);
	}
	c.n_axes = 0;
	for (size_t i = 0; i < 2; i++)
		assert_false(assay_format_axis(&c, "a", twins[i]));
	assert_memory_equal(axes[0].text, "cd_build_&&_.%2Fbench_--size_100", 32);
	assert_string_not_equal(axes[0].text, axes[1].text);
	assert_true(strlen(axes[0].text) < ASSAY_NAME_MAX);
	/* no character is cut in two */
	assert_false(assay_format_axis(&c, "a", "üüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüüü"));
	assert_memory_equal(axes[2].text, "üüüüüüüüüüüüüüüüü~", 35);
	/* an op has more room */
	assay_format_op(twins[0], op);
	assert_string_equal(op, twins[0]);
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	assay_format_op(longer, op);
	assert_int_equal(strlen(op), ASSAY_OP_MAX - 1);
	assert_non_null(strchr(op, '~'));
}

TEST(axes_without_room_share_one)
{
	struct assay_case c = { .op = "x" };
	char name[8];

	for (unsigned i = 0; i < ASSAY_MAX_AXES + 2; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		assay_format_axis(&c, name, "1");
	}
	assert_int_equal(c.n_axes, ASSAY_MAX_AXES);
	assert_string_equal(c.axes[ASSAY_MAX_AXES - 1].name, "more");
	assert_string_equal(c.axes[ASSAY_MAX_AXES - 1].text, "a7:1+a8:1+a9:1");
}

UNIT_GROUP(NULL, NULL)
