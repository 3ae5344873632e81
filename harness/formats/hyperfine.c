/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hyperfine --export-json, of hyperfine 1.0 to 1.20: {"results": [{"command", "times": [seconds], "exit_codes",
 * "parameters", …}]}. A command is a case, each of its times a sample. mean, median, min, max and stddev follow from
 * the times and are passed over. The file names neither date, machine nor commit.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/reader.h"

/* Each time is that of a process. */
static void read_times(struct assay_reading *in, const json_t *times, struct assay_result *r)
{
	char field[40];

	for (size_t i = 0; i < json_array_size(times) && !in->rc; i++) {
		snprintf(field, sizeof(field), "times[%zu]", i);
		assay_reading_sample(in, r, 1, assay_reading_number(in, json_array_get(times, i), field) * 1e9,
				     r->n_samples ? ASSAY_SAMPLE_NEW_ROUND : 0);
	}
}

/* A time of a command that failed is no time of what it is to do. null is a signal. */
static void read_exit_codes(struct assay_reading *in, const json_t *codes, struct assay_result *r)
{
	size_t n = json_array_size(codes), failed = 0;
	double first = NAN;

	for (size_t i = 0; i < n && !in->rc; i++) {
		const json_t *v = json_array_get(codes, i);
		const double code = json_is_null(v) ? NAN : assay_reading_number(in, v, "exit_codes");

		if (code != 0 && !failed++)
			first = code;
	}
	/* that it failed says more than what its times are */
	if (failed)
		r->status = ASSAY_STATUS_OK;
	if (failed && isfinite(first))
		assay_reading_no_time(r, ASSAY_STATUS_FAILED, "%zu of %zu runs failed, the first with exit code %.0f",
				      failed, n, first);
	else if (failed)
		assay_reading_no_time(r, ASSAY_STATUS_FAILED, "%zu of %zu runs failed, the first with a signal", failed,
				      n);
}

static void add_axis(struct assay_reading *in, struct assay_result *r, const char *name, const json_t *v)
{
	char number[40];

	if (assay_reading_is_number(v)) {
		snprintf(number, sizeof(number), "%.12g", assay_reading_number(in, v, name));
		assay_format_axis(&r->c, name, number);
	} else if (json_is_string(v)) {
		assay_format_axis(&r->c, name, json_string_value(v));
	}
}

static void read_result(struct assay_reading *in, const json_t *from, void *arg)
{
	static const struct {
		const char *name, *tag;
	} times[] = { { "user", "user_s" }, { "system", "system_s" } };
	const json_t *parameters = json_object_get(from, "parameters"), *v;
	const json_t *memory = json_object_get(from, "memory_usage_byte");
	const char *command = assay_reading_text(from, "command"), *name;
	struct assay_result r = { .c.variant = "hyperfine" };
	double most = 0;

	(void)arg;
	if (!command[0])
		assay_reading_fail(in, "a result without 'command'");
	else if (!json_object_get(from, "times") && !json_object_get(from, "mean"))
		assay_reading_fail(in, "the result of '%.80s' has neither 'times' nor 'mean'", command);
	assay_format_op(command, r.c.op);
	read_times(in, json_object_get(from, "times"), &r);
	read_exit_codes(in, json_object_get(from, "exit_codes"), &r);
	json_object_foreach((json_t *)parameters, name, v) add_axis(in, &r, name, v);
	add_axis(in, &r, "parameter", json_object_get(from, "parameter"));
	for (size_t i = 0; i < json_array_size(memory); i++)
		most = fmax(most, assay_reading_number(in, json_array_get(memory, i), "memory_usage_byte"));
	if (most > 0)
		assay_reading_metric(in, &r, "rss_peak_bytes", "B", -1, most);
	for (size_t i = 0; i < 2; i++) {
		v = json_object_get(from, times[i].name);
		if (assay_reading_is_number(v))
			assay_reading_metric(in, &r, times[i].tag, "s", -1, assay_reading_number(in, v, times[i].name));
	}
	assay_reading_put(in, &r, command);
}

static void read_all(struct assay_reading *in)
{
	const json_t *results = json_object_get(json_array_get(in->values, 0), "results");

	if (!results)
		assay_reading_fail(in, "no 'results': this is not what 'hyperfine --export-json' writes");
	assay_reading_each(in, results, "results", read_result, NULL);
}

const struct assay_format assay_format_hyperfine = {
	"hyperfine",
	read_all,
	NULL,
	{ .place = ASSAY_FORMAT_FILE, .measure = "--export-json %p --runs 2" },
};
