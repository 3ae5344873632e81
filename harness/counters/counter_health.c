/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the probe of providers, and what counts without any. */
#include "counters/counter_health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "counters/callgrind.h"
#include "counters/counting_cost.h"
#include "counters/pmu_selftest.h"
#include "counters/provider.h"

#define TIMEOUT_NS UINT64_C(20000000000)

static const char good[] = "ok", missing[] = "none";

static void put(struct assay_text *out, const char *name, bool works, const char *value, const char *advice)
{
	assay_text_addf(out, "%s\t%s\t%s\t%s\n", name, works ? good : missing, value, advice);
}

/* Every counter whose truth is known, each against its loop. */
static void test_counters(struct assay_counter_context *ctx, struct assay_text *out)
{
	const char *event;

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

/* What a sample waits for beside the timed region. */
static void measure_costs(struct assay_counter_context *ctx, struct assay_text *out)
{
	struct assay_papi_cost papi;
	char value[256];
	double ns;
	size_t n;

	if (!assay_system_cost_measure(ctx, &n, &ns)) {
		snprintf(value, sizeof(value), "%zu events of the operating system take %.2f us around a sample", n,
			 ns * 1e-3);
		put(out, "counters_reading", true, value, "");
	}
	assay_papi_cost_measure(ctx, &papi);
	assay_papi_cost_text(&papi, value, sizeof(value));
	put(out, "counters_papi_cost", !papi.reason[0], value, papi.advice);
}

void assay_counter_health_probe(struct assay_text *out)
{
	struct assay_counter_context ctx;

	assay_counter_context_init(&ctx, NULL, NULL, 0);
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
	measure_costs(&ctx, out);
}

static void add_line(struct assay_findings *l, const char *line)
{
	struct assay_strings part = { 0 };

	if (!assay_strings_split(&part, line, '\t', NULL) && part.n == 4)
		assay_findings_add(l, part.v[0], strcmp(part.v[1], good) ? ASSAY_HEALTH_MISSING : ASSAY_HEALTH_GOOD,
				   part.v[2], part.v[3]);
	assay_strings_release(&part);
}

/* Not only whether it is there: one that is too old is of no use. */
static void add_valgrind(struct assay_findings *l)
{
	struct assay_err why = { 0 };
	char version[64];

	if (assay_callgrind_probe(version, sizeof(version), &why))
		assay_findings_add(l, "valgrind", ASSAY_HEALTH_MISSING, why.text,
				   "without it there are no exact counts");
	else
		assay_findings_add(l, "valgrind", ASSAY_HEALTH_GOOD, version, "");
}

void assay_counter_health_add(struct assay_findings *l)
{
	static const char *const argv[] = { "/proc/self/exe", ASSAY_COUNTER_HEALTH_COMMAND, NULL };
	struct assay_err err = { 0 };
	char *text = NULL;

	add_valgrind(l);
	if (assay_process_capture(argv, NULL, TIMEOUT_NS, &text, &err)) {
		assay_findings_add(l, "counters", ASSAY_HEALTH_MISSING, err.text, "ASSAY_PAPI=0 leaves PAPI alone");
		return;
	}
	for (char *at = text, *end; (end = strchr(at, '\n')); at = end + 1) {
		*end = '\0';
		add_line(l, at);
	}
	free(text);
}

void assay_counter_cost_probe(struct assay_text *out)
{
	struct assay_counter_context ctx;
	struct assay_papi_cost c;

	assay_counter_context_init(&ctx, NULL, NULL, 0);
	assay_papi_cost_measure(&ctx, &c);
	assay_text_addf(out, "%zu\t%d\t%.6g\t%.6g\t%s\n", c.n_events, c.hardware, c.read_ns, c.start_stop_ns, c.reason);
}

void assay_counter_cost_take(struct assay_papi_cost *out)
{
	static const char *const argv[] = { "/proc/self/exe", ASSAY_COUNTER_COST_COMMAND, NULL };
	struct assay_strings part = { 0 };
	struct assay_err err = { 0 };
	char *text = NULL;

	*out = (struct assay_papi_cost){ 0 };
	if (assay_process_capture(argv, NULL, TIMEOUT_NS, &text, &err)) {
		snprintf(out->reason, sizeof(out->reason), "%.255s", err.text);
		return;
	}
	text[strcspn(text, "\n")] = '\0';
	if (!assay_strings_split(&part, text, '\t', &err) && part.n == 5) {
		out->n_events = strtoul(part.v[0], NULL, 10);
		out->hardware = part.v[1][0] == '1';
		out->read_ns = strtod(part.v[2], NULL);
		out->start_stop_ns = strtod(part.v[3], NULL);
		snprintf(out->reason, sizeof(out->reason), "%.255s", part.v[4]);
	} else {
		snprintf(out->reason, sizeof(out->reason), "what measures it did not answer");
	}
	assay_strings_release(&part);
	free(text);
}
