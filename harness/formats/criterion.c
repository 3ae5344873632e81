/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What criterion 0.3 and later, the Rust library, leaves in target/criterion: for each benchmark a folder "new" with
 * benchmark.json {"group_id", "function_id", "value_str", "throughput", "full_id"}, sample.json {"iters": [], "times":
 * [ns]} and estimates.json. assay_format_gather() makes one object of them: {"criterion": [{"benchmark", "sample"}]}.
 * The estimates follow from the samples and are passed over.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "formats/reader.h"

/* target/criterion/GROUP/FUNCTION/VALUE/new, below a folder that somebody keeps them in */
#define DEPTH_MAX 8

/* ---- the folder ---- */

struct gathering {
	json_t *all;
	struct assay_err *err;
};

/* Put the values of @folder/@file into @to, if there is such a file. */
static int add_file(const struct gathering *g, json_t *to, const char *folder, const char *file, const char *name)
{
	char path[4096], encoding[160], *text = NULL;
	size_t len, line = 0;
	json_t *v = NULL;
	json_error_t why;
	int rc;

	if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path) || !assay_file_exists(path))
		return 0;
	rc = assay_file_read(path, &text, &len, g->err);
	if (!rc && !assay_reading_is_text(text, len, &line, encoding, sizeof(encoding)))
		rc = assay_err_set(g->err, ASSAY_EUSAGE, "%.250s:%zu: %s", path, line ? line : 1, encoding);
	if (!rc && !(v = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &why)))
		rc = assay_err_set(g->err, ASSAY_EUSAGE, "%.250s:%d: %s", path, why.line, why.text);
	if (!rc && json_object_set_new(to, name, v))
		rc = assay_err_set(g->err, ASSAY_ENOMEM, "out of memory");
	free(text);
	return rc;
}

/* Those of a benchmark that is named; a folder without a name has none. */
static int take_folder(const struct gathering *g, const char *folder)
{
	json_t *one = json_object();
	int rc = add_file(g, one, folder, "benchmark.json", "benchmark");

	if (!rc && json_object_size(one)) {
		rc = add_file(g, one, folder, "sample.json", "sample");
		if (!rc && json_array_append(g->all, one))
			rc = assay_err_set(g->err, ASSAY_ENOMEM, "out of memory");
	}
	json_decref(one);
	return rc;
}

static int is_folder(const struct dirent *e)
{
	return e->d_name[0] != '.' && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN);
}

/* Of @folder and all below it, in an order that is always the same. "base" and others are earlier measurements. */
static int walk(const struct gathering *g, const char *folder, unsigned depth)
{
	const char *last = strrchr(folder, '/');
	struct dirent **in = NULL;
	int n, rc = 0;

	if (!depth || !strcmp(last ? last + 1 : folder, "new"))
		rc = take_folder(g, folder);
	n = rc || depth == DEPTH_MAX ? 0 : scandir(folder, &in, is_folder, alphasort);
	for (int i = 0; i < n; i++) {
		char path[4096];

		if (!rc && snprintf(path, sizeof(path), "%s/%s", folder, in[i]->d_name) < (int)sizeof(path))
			rc = walk(g, path, depth + 1);
		free(in[i]);
	}
	free(in);
	return rc;
}

int assay_format_gather(const char *path, struct assay_text *out, struct assay_err *err)
{
	struct gathering g = { json_array(), err };
	const char *slash = strrchr(path, '/');
	char folder[4096], *text = NULL;
	json_t *whole;
	struct stat st;
	int rc;

	snprintf(folder, sizeof(folder), "%s", path);
	if (!stat(path, &st) && !S_ISDIR(st.st_mode))
		snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	rc = walk(&g, folder, 0);
	whole = json_pack("{s:o}", "criterion", g.all);
	if (!rc && json_array_size(json_object_get(whole, "criterion"))) {
		text = json_dumps(whole, JSON_COMPACT | JSON_ENCODE_ANY);
		assay_text_add(out, text ? text : "");
		if (!text || out->failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	}
	free(text);
	json_decref(whole);
	return rc;
}

/* ---- results ---- */

static void read_samples(struct assay_reading *in, const json_t *sample, struct assay_result *r)
{
	const json_t *iters = json_object_get(sample, "iters"), *times = json_object_get(sample, "times");

	if (!sample)
		assay_reading_no_time(r, ASSAY_STATUS_SKIPPED,
				      "it has no sample.json, and an estimate is not a sample");
	else if (!json_is_array(iters) || json_array_size(iters) != json_array_size(times))
		assay_reading_fail(in, "sample.json does not have as many 'iters' as 'times'");
	for (size_t i = 0; i < json_array_size(times) && !in->rc; i++)
		assay_reading_sample(in, r, assay_reading_number(in, json_array_get(iters, i), "iters"),
				     assay_reading_number(in, json_array_get(times, i), "times"), 0);
}

/* The throughput: the amount of work of a call over its time. */
static void read_throughput(struct assay_reading *in, const json_t *throughput, struct assay_result *r)
{
	static const struct {
		const char *name, *tag, *unit;
	} known[] = { { "Bytes", "bytes_per_s", "B/s" },
		      { "BytesDecimal", "bytes_per_s", "B/s" },
		      { "Elements", "items_per_s", "1/s" } };
	double iterations = 0, ns = 0;

	for (size_t i = 0; i < r->n_samples; i++) {
		iterations += (double)r->samples[i].iterations;
		ns += (double)r->samples[i].ns;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const json_t *v = json_object_get(throughput, known[i].name);

		if (json_is_number(v) && ns > 0)
			assay_reading_metric(in, r, known[i].tag, known[i].unit, 1,
					     json_number_value(v) * iterations / ns * 1e9);
	}
}

static void name_case(const char *full_id, struct assay_case *c)
{
	assay_format_op(full_id, c->op);
	snprintf(c->variant, sizeof(c->variant), "criterion");
}

static void read_benchmark(struct assay_reading *in, const json_t *from, void *arg)
{
	const json_t *benchmark = json_object_get(from, "benchmark");
	const char *name = assay_reading_text(benchmark, "full_id");
	struct assay_result r = { 0 };

	(void)arg;
	if (!name[0])
		assay_reading_fail(in, "benchmark.json has no 'full_id': this is not what criterion writes");
	name_case(name, &r.c);
	read_samples(in, json_object_get(from, "sample"), &r);
	read_throughput(in, json_object_get(benchmark, "throughput"), &r);
	assay_reading_put(in, &r, name);
}

static void read_all(struct assay_reading *in)
{
	const json_t *all = json_object_get(json_array_get(in->values, 0), "criterion");

	if (!all)
		assay_reading_fail(in, "criterion leaves a folder: name that, such as target/criterion");
	assay_reading_each(in, all, "benchmarks", read_benchmark, NULL);
}

/* ---- programs ---- */

static int name_listed(const char *name, struct assay_case *c)
{
	name_case(name, c);
	return 0;
}

/*
 * `cargo bench` hands on what stands behind "--", and says itself that this is a benchmark; the program alone would run
 * each of them once, as a test. The variable is for all processes that the command starts.
 */
static int prepare(struct assay_strings *words, const char *path, struct assay_err *err)
{
	const char *slash = words->n ? strrchr(words->v[0], '/') : NULL;
	const char *program = slash ? slash + 1 : words->n ? words->v[0] : "";
	const char *must = strcmp(program, "cargo") ? "--bench" : "--";
	struct assay_strings out = { 0 };
	struct assay_text home = { 0 };
	int rc = 0;

	if (path) {
		assay_text_addf(&home, "CRITERION_HOME=%s", path);
		rc = home.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
				 : assay_strings_add(&out, "env", err);
		if (!rc)
			rc = assay_strings_add(&out, home.s, err);
	}
	for (size_t i = 0; i < words->n && !rc; i++)
		rc = assay_strings_add(&out, words->v[i], err);
	if (!rc && !assay_strings_has(words, must))
		rc = assay_strings_add(&out, must, err);
	assay_text_release(&home);
	if (rc) {
		assay_strings_release(&out);
		return rc;
	}
	assay_strings_release(words);
	*words = out;
	return 0;
}

const struct assay_format assay_format_criterion = {
	"criterion",
	read_all,
	name_listed,
	{ .place = ASSAY_FORMAT_FOLDER,
	  .prepare = prepare,
	  .measure = "--noplot",
	  .list = "--list",
	  .behind_name = { ": benchmark", ": bench" },
	  .only = "^%b$",
	  .escaped = true },
};
