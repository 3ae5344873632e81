/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvbench --json, version 1 of the format: {"meta", "devices": [{"id", "name"}], "benchmarks": [{"name", "states":
 * [{"device", "axis_values": [{"name", "type", "value"}], "summaries": [{"tag", "data": [{"name": "value", "type",
 * "value"}]}], "is_skipped", "skip_reason"}]}]}. Numbers are texts there. A state is a case.
 *
 * The samples themselves are in binary files beside it, if anywhere. So that the mean of a state and the number of its
 * samples are one sample, of as many iterations, as a row of Google Benchmark is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reader.h"

/* A number that a summary or an axis has; NaN where it has none. */
static double number(const json_t *from)
{
	const json_t *v = json_object_get(from, "value");
	const char *text = json_string_value(v);
	double n;
	char *end;

	if (!text)
		return json_is_number(v) ? json_number_value(v) : NAN;
	n = strtod(text, &end);
	return *text && !*end ? n : NAN;
}

static double summary(const json_t *state, const char *tag)
{
	const json_t *summaries = json_object_get(state, "summaries");

	for (size_t i = 0; i < json_array_size(summaries); i++) {
		const json_t *one = json_array_get(summaries, i);

		if (!strcmp(assay_reading_text(one, "tag"), tag))
			return number(json_array_get(json_object_get(one, "data"), 0));
	}
	return NAN;
}

/* Times of calls one by one, on the GPU or of what runs on the CPU alone; else those of calls behind each other. */
static void read_time(struct assay_reading *in, const json_t *state, struct assay_result *r)
{
	static const struct {
		const char *mean, *samples;
	} times[] = { { "nv/cold/time/gpu/mean", "nv/cold/sample_size" },
		      { "nv/cpu_only/time/cpu/mean", "nv/cpu_only/sample_size" },
		      { "nv/batch/time/gpu/mean", "nv/batch/sample_size" } };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		const double mean_s = summary(state, times[i].mean), n = summary(state, times[i].samples);

		if (isnan(mean_s) && isnan(n))
			continue;
		assay_reading_sample(in, r, n, mean_s * n * 1e9, 0);
		return;
	}
	assay_reading_no_time(r, ASSAY_STATUS_SKIPPED, "the file has no mean time for it");
}

static void read_metrics(struct assay_reading *in, const json_t *state, struct assay_result *r)
{
	static const struct {
		const char *from, *tag, *unit;
		int better;
	} metrics[] = { { "nv/batch/time/gpu/mean", "batch_time_s", "s", -1 },
			{ "nv/cold/time/cpu/mean", "host_time_s", "s", -1 },
			{ "nv/cold/bw/global/bytes_per_second", "bytes_per_s", "B/s", 1 },
			{ "nv/cpu_only/bw/global/bytes_per_second", "bytes_per_s", "B/s", 1 },
			{ "nv/cold/bw/item_rate", "items_per_s", "1/s", 1 },
			{ "nv/cpu_only/bw/item_rate", "items_per_s", "1/s", 1 } };

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		const double value = summary(state, metrics[i].from);

		if (!isnan(value))
			assay_reading_metric(in, r, metrics[i].tag, metrics[i].unit, metrics[i].better, value);
	}
}

/* @name is what --benchmark and --axis take, between tabs; the axes are those of the state and its device. */
static void name_state(const char *benchmark, const json_t *state, struct assay_case *c, struct assay_text *name)
{
	const json_t *values = json_object_get(state, "axis_values"), *device = json_object_get(state, "device");
	char number[24];

	assay_format_op(benchmark, c->op);
	snprintf(c->variant, sizeof(c->variant), "nvbench");
	assay_text_add(name, benchmark);
	if (json_is_number(device)) {
		snprintf(number, sizeof(number), "%.0f", json_number_value(device));
		assay_format_axis(c, "device", number);
	}
	for (size_t i = 0; i < json_array_size(values); i++) {
		const json_t *one = json_array_get(values, i);

		assay_format_axis(c, assay_reading_text(one, "name"), assay_reading_text(one, "value"));
		assay_text_addf(name, "\t%s=%s", assay_reading_text(one, "name"), assay_reading_text(one, "value"));
	}
}

static void read_state(struct assay_reading *in, const char *benchmark, const json_t *state)
{
	const char *why = assay_reading_text(state, "skip_reason");
	struct assay_result r = { 0 };
	struct assay_text name = { 0 };

	name_state(benchmark, state, &r.c, &name);
	if (json_is_true(json_object_get(state, "is_skipped"))) {
		assay_reading_no_time(&r, ASSAY_STATUS_SKIPPED, "%s", why[0] ? why : "nvbench skipped it");
	} else {
		read_time(in, state, &r);
		read_metrics(in, state, &r);
	}
	if (name.failed)
		assay_reading_no_memory(in);
	assay_reading_put(in, &r, name.s ? name.s : "");
	assay_text_release(&name);
}

static void read_benchmark(struct assay_reading *in, const json_t *from, void *arg)
{
	const json_t *states = json_object_get(from, "states");
	const char *name = assay_reading_text(from, "name");
	const size_t n = json_array_size(states);

	(void)arg;
	if (!name[0])
		assay_reading_fail(in, "a benchmark without a name");
	if (!json_is_array(states) && !json_is_null(states))
		assay_reading_fail(in, "no 'states': this is not what 'nvbench --json' writes");
	for (size_t i = 0; i < n && !in->rc; i++)
		read_state(in, name, json_array_get(states, i));
}

static void read_facts(struct assay_reading *in, const json_t *all)
{
	const json_t *devices = json_object_get(all, "devices");
	const json_t *versions = json_object_get(json_object_get(all, "meta"), "version");

	assay_reading_fact(in, "nvbench", assay_reading_text(json_object_get(versions, "nvbench"), "string"));
	for (size_t i = 0; i < json_array_size(devices); i++) {
		const json_t *one = json_array_get(devices, i);
		char name[40];

		snprintf(name, sizeof(name), "device %.0f", json_number_value(json_object_get(one, "id")));
		assay_reading_fact(in, name, assay_reading_text(one, "name"));
	}
}

static void read_all(struct assay_reading *in)
{
	const json_t *all = json_array_get(in->values, 0), *benchmarks = json_object_get(all, "benchmarks");
	const json_t *version = json_object_get(json_object_get(json_object_get(all, "meta"), "version"), "json");
	const json_t *major = json_object_get(version, "major");

	if (!benchmarks)
		assay_reading_fail(in, "no 'benchmarks': this is not what 'nvbench --json' writes");
	if (json_is_number(major) && json_number_value(major) != 1)
		assay_reading_fail(in, "meta.version.json: version %.12g of nvbench's format is not known, expected 1",
				   json_number_value(major));
	read_facts(in, all);
	assay_reading_each(in, benchmarks, "benchmarks", read_benchmark, NULL);
}

/* A list of it has the axes, but not the states that are made of them. */
const struct assay_format assay_format_nvbench = {
	"nvbench",
	read_all,
	NULL,
	{ .place = ASSAY_FORMAT_FILE, .measure = "--json %p", .only = "--benchmark %b", .only_part = "--axis %b" },
};
