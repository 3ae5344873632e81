/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the probe of providers, and what counts without any. */
#include "counters/provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"
#include "base/process.h"
#include "counters/callgrind/callgrind.h"
#include "counters/counting.h"
#include "counters/papi/papi.h"
#include "counters/step/stepper.h"

#define TIMEOUT_NS UINT64_C(20000000000)
#define N_OF(a)    (sizeof(a) / sizeof((a)[0]))

static const char good[] = "ok", missing[] = "none";

static void put(struct assay_text *out, const char *name, bool works, const char *value, const char *advice)
{
	assay_text_addf(out, "%s\t%s\t%s\t%s\n", name, works ? good : missing, value, advice);
}

/* Every counter whose truth is known, each against its loop. There are processors for which PAPI has none of them. */
static void test_counters(struct assay_counter_context *ctx, struct assay_text *out)
{
	const char *event;
	size_t n = 0;

	for (size_t i = 0; (event = assay_pmu_selftest_event(i)); i++)
		n += !ctx->papi.call.query_named_event(event);
	if (!n) {
		put(out, "papi_presets", false, "PAPI has no presets for this processor, but native events",
		    "name these, such as --events perf::INSTRUCTIONS,perf::CYCLES");
		return;
	}
	for (size_t i = 0; (event = assay_pmu_selftest_event(i)); i++) {
		char what[200];
		bool works;

		if (ctx->papi.call.query_named_event(event)) {
			put(out, event, false, "PAPI does not have it on this machine", "");
			continue;
		}
		works = assay_pmu_selftest(ctx, event, what, sizeof(what));
		put(out, event, works, what, works ? "" : "metrics that need it are unavailable");
	}
}

/* ---- what a sample waits for beside the timed region ------------------------------------------------------------ */

#define MEANS   30
#define SAMPLES 500
#define N_CELLS 6

/* PAPI's answers do not change while it is loaded. */
static uint64_t cells[N_CELLS];
static const char *const cell_names[N_CELLS] = { "cost_0", "cost_1", "cost_2", "cost_3", "cost_4", "cost_5" };
/* That fit into one set of any PMU. */
static const char *const presets[] = { "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_BR_MSP" };
/* Where there are no presets. */
static const char natives[] = "instructions\tperf::INSTRUCTIONS\ncycles\tperf::CYCLES\n";

static void alone(void *pool, assay_parallel_fn fn, void *arg)
{
	(void)pool;
	fn(arg, 0, 1);
}

/* Time of reading all that is counted before and after a sample: the least of several means, what is longer was
 * disturbed. */
static double around_a_sample_ns(struct assay_counting *c)
{
	struct assay_os_counts os;
	double least = 0;

	for (int mean = 0; mean < MEANS; mean++) {
		uint64_t begin = assay_monotonic_ns();
		double ns;

		for (int i = 0; i < SAMPLES; i++) {
			assay_counting_before(c, 0, &os);
			assay_counting_after(c, 0, &os);
			assay_counting_add(c, 1);
		}
		ns = (double)(assay_monotonic_ns() - begin) / SAMPLES;
		least = !mean || ns < least ? ns : least;
	}
	return least;
}

/* Count @events, and say in finding @name how long that takes for those of @source, or why none can be counted. */
static void put_cost(struct assay_counter_context *ctx, const char *events, const char *name, const char *source,
		     const char *what, const char *advice, struct assay_text *out)
{
	const struct assay_counting_options o = { .ctx = ctx, .n_threads = 1, .events = events, .parallel = alone };
	struct assay_counters counters = { 0 };
	struct assay_counting *c = NULL;
	const char *reason = "out of memory";
	char value[256];
	size_t n = 0;
	double ns;

	if (!assay_counting_open(&c, &o, NULL)) {
		ns = around_a_sample_ns(c);
		if (!assay_counting_result(c, &counters))
			reason = counters.n_missing ? counters.missing[0].reason : ctx->sde_reason;
		for (size_t i = 0; i < counters.n; i++)
			n += !strcmp(counters.v[i].source, source);
		snprintf(value, sizeof(value), "%zu %s take %.2f µs around a sample", n, what, ns * 1e-3);
	}
	put(out, name, n > 0, n ? value : reason, n ? "" : advice);
	assay_counting_close(c);
	assay_counters_release(&counters);
}

/* Two providers may count the same. */
static void add_event(struct assay_text *lines, const char *name)
{
	char line[2 * ASSAY_NAME_MAX + 3];

	snprintf(line, sizeof(line), "%s\t%s\n", name, name);
	if (!lines->s || !strstr(lines->s, line))
		assay_text_add(lines, line);
}

static void put_costs(struct assay_counter_context *ctx, struct assay_text *out)
{
	const struct assay_papi *papi = assay_counter_papi(ctx);
	bool hardware = !papi->reason[0] && !papi->pmu_reason[0];
	struct assay_text os = { 0 }, counted = { 0 };
	const char *advice = papi->reason[0]       ? papi->advice
			     : papi->sde_reason[0] ? papi->sde_advice
						   : "what PAPI counts is unavailable; everything else works";

	/* those of threads, which every run has */
	for (size_t i = 0; i < assay_n_counter_providers; i++) {
		const struct assay_counter_provider *p = assay_counter_providers[i];

		for (const char *const *e = p->events; !strcmp(p->source, ASSAY_SOURCE_OS) && !p->shared && *e; e++)
			add_event(&os, *e);
	}
	for (size_t i = 0; i < (hardware ? N_OF(presets) : N_CELLS); i++)
		if (!hardware || !papi->call.query_named_event(presets[i]))
			add_event(&counted, hardware ? presets[i] : cell_names[i]);
	if (hardware && !counted.s)
		assay_text_add(&counted, natives);
	out->failed |= os.failed || counted.failed;
	if (!out->failed) {
		put_cost(ctx, os.s, "counters_reading", ASSAY_SOURCE_OS, "events of the operating system", "", out);
		put_cost(ctx, counted.s, "counters_papi_cost", hardware ? ASSAY_SOURCE_PMU : ASSAY_SOURCE_SDE,
			 hardware ? "hardware events" : "software-defined events", advice, out);
	}
	assay_text_release(&os);
	assay_text_release(&counted);
}

/* Whether instructions can be stepped through, and what that costs here. */
static void put_stepping(struct assay_text *out)
{
	struct assay_err why = { 0 };
	char value[128];
	double ns;

	if (assay_stepper_try(&ns, &why)) {
		put(out, "stepping", false, why.text, "without it exact counts are by valgrind alone");
		return;
	}
	snprintf(value, sizeof(value), "every instruction of this CPU, all threads; a step takes %.1f µs", ns * 1e-3);
	put(out, "stepping", true, value, "");
}

/* ---- both ends -------------------------------------------------------------------------------------------------- */

void assay_counter_health_probe(struct assay_text *out)
{
	struct assay_counter_context ctx;

	assay_counter_context_init(&ctx, cell_names, cells, N_CELLS);
	for (size_t i = 0; i < assay_n_counter_providers; i++) {
		const struct assay_counter_provider *p = assay_counter_providers[i];
		struct assay_counter_probe found;
		char name[64];

		p->probe(&ctx, &found);
		snprintf(name, sizeof(name), "counters_%s", p->name);
		put(out, name, found.works, found.value, found.advice);
		if (p == &assay_provider_papi && found.works)
			test_counters(&ctx, out);
	}
	put_costs(&ctx, out);
	put_stepping(out);
}

static void add_line(struct assay_findings *l, const char *line)
{
	struct assay_strings part = { 0 };

	if (!assay_strings_split(&part, line, '\t', NULL) && part.n == 4)
		assay_findings_add(l, part.v[0], strcmp(part.v[1], good) ? ASSAY_HEALTH_MISSING : ASSAY_HEALTH_GOOD,
				   part.v[2], part.v[3]);
	assay_strings_release(&part);
}

void assay_counter_health_add(struct assay_findings *l)
{
	static const char *const argv[] = { "/proc/self/exe", ASSAY_COUNTER_HEALTH_COMMAND, NULL };
	struct assay_err err = { 0 };
	char *text = NULL;
	struct assay_err why = { 0 };
	char version[64];

	/* Not only whether it is there: one that is too old is of no use. */
	if (assay_callgrind_probe(version, sizeof(version), &why))
		assay_findings_add(l, "valgrind", ASSAY_HEALTH_MISSING, why.text,
				   "without it exact counts are by stepping alone");
	else
		assay_findings_add(l, "valgrind", ASSAY_HEALTH_GOOD, version, "");
	if (assay_process_capture(&(struct assay_capture){ .argv = argv, .timeout_ns = TIMEOUT_NS }, &text, &err)) {
		assay_findings_add(l, "counters", ASSAY_HEALTH_MISSING, err.text, "ASSAY_PAPI=0 leaves PAPI alone");
		return;
	}
	for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		add_line(l, at);
	}
	free(text);
}
