/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hyperfine --export-json, of hyperfine 1.0 to 1.20: {"results": [{"command", "times": [seconds], "exit_codes",
 * "parameters", …}]}. A command is a case, each of its times a sample. mean, median, min, max and stddev follow from
 * the times and are passed over. The file names neither date, machine nor commit.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "drive/exchange/reader.h"

static void head(struct assay_importing *im)
{
	bool found = false;

	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		found |= assay_json_is(im->j, "results");
		assay_json_skip(im->j);
	}
	if (!found)
		assay_json_fail(im->j, "no 'results': this is not what 'hyperfine --export-json' writes");
}

static void read_times(struct assay_importing *im, struct assay_result *r)
{
	assay_json_enter(im->j, ASSAY_JSON_ARRAY);
	while (assay_json_next(im->j)) /* each time is that of a process */
		assay_importing_sample(im, r, 1, assay_json_take_number(im->j) * 1e9,
				       r->n_samples ? ASSAY_SAMPLE_NEW_ROUND : 0);
}

/* A time of a command that failed is no time of what it is to do. null is a signal. */
static void read_exit_codes(struct assay_importing *im, struct assay_result *r)
{
	size_t n = 0, failed = 0;
	double code, first = NAN;

	assay_json_enter(im->j, ASSAY_JSON_ARRAY);
	while (assay_json_next(im->j)) {
		code = NAN;
		if (assay_json_peek(im->j) == ASSAY_JSON_NULL)
			assay_json_skip(im->j);
		else
			code = assay_json_take_number(im->j);
		n++;
		if (code == 0)
			continue;
		if (!failed++)
			first = code;
	}
	/* that it failed says more than what its times are */
	if (failed)
		r->status = ASSAY_STATUS_OK;
	if (failed && isfinite(first))
		assay_importing_no_time(r, ASSAY_STATUS_FAILED, "%zu of %zu runs failed, the first with exit code %.0f",
					failed, n, first);
	else if (failed)
		assay_importing_no_time(r, ASSAY_STATUS_FAILED, "%zu of %zu runs failed, the first with a signal",
					failed, n);
}

static void add_axis(struct assay_importing *im, struct assay_result *r, const char *name)
{
	char number[40];

	if (assay_json_peek(im->j) == ASSAY_JSON_NUMBER) {
		snprintf(number, sizeof(number), "%.12g", assay_json_take_number(im->j));
		assay_importing_axis(&r->c, name, number);
	} else if (assay_json_peek(im->j) == ASSAY_JSON_TEXT) {
		assay_importing_axis(&r->c, name, assay_json_take_text(im->j));
	} else {
		assay_json_skip(im->j);
	}
}

static void read_parameters(struct assay_importing *im, struct assay_result *r)
{
	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j))
		add_axis(im, r, assay_json_name(im->j));
}

/* The most that any run took. */
static void read_memory(struct assay_importing *im, struct assay_result *r)
{
	double most = 0;

	assay_json_enter(im->j, ASSAY_JSON_ARRAY);
	while (assay_json_next(im->j))
		most = fmax(most, assay_json_take_number(im->j));
	if (most > 0)
		assay_importing_metric(im, r, "rss_peak_bytes", "B", -1, most);
}

static void read_result(struct assay_importing *im)
{
	struct assay_result r = { 0 };
	char name[160] = "";

	assay_json_enter(im->j, ASSAY_JSON_OBJECT);
	while (assay_json_next(im->j)) {
		const enum assay_json_kind kind = assay_json_peek(im->j);

		if (assay_json_is(im->j, "command")) {
			const char *command = assay_json_take_text(im->j);

			snprintf(name, sizeof(name), "%s", command);
			assay_importing_command(command, r.c.op);
		} else if (assay_json_is(im->j, "times") && kind != ASSAY_JSON_NULL) {
			read_times(im, &r);
		} else if (assay_json_is(im->j, "exit_codes") && kind != ASSAY_JSON_NULL) {
			read_exit_codes(im, &r);
		} else if (assay_json_is(im->j, "parameters") && kind == ASSAY_JSON_OBJECT) {
			read_parameters(im, &r);
		} else if (assay_json_is(im->j, "parameter")) {
			add_axis(im, &r, "parameter");
		} else if (assay_json_is(im->j, "memory_usage_byte") && kind == ASSAY_JSON_ARRAY) {
			read_memory(im, &r);
		} else if (assay_json_is(im->j, "user") && kind == ASSAY_JSON_NUMBER) {
			assay_importing_metric(im, &r, "user_s", "s", -1, assay_json_take_number(im->j));
		} else if (assay_json_is(im->j, "system") && kind == ASSAY_JSON_NUMBER) {
			assay_importing_metric(im, &r, "system_s", "s", -1, assay_json_take_number(im->j));
		} else {
			assay_json_skip(im->j);
		}
	}
	if (!r.c.op[0])
		assay_json_fail(im->j, "a result without 'command'");
	snprintf(r.c.variant, sizeof(r.c.variant), "hyperfine");
	assay_importing_put(im, &r, name);
}

static void benchmarks(struct assay_importing *im)
{
	assay_importing_each(im, "results", read_result);
}

const struct assay_import_format assay_import_hyperfine = { "hyperfine", head, benchmarks };
