/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the probe of providers, and what counts without any. */
#include "counters/counter_health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/process.h"
#include "counters/callgrind.h"
#include "counters/counting.h"
#include "counters/event_names.h"
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

static void alone(void *pool, assay_parallel_fn fn, void *arg)
{
	(void)pool;
	fn(arg, 0, 1);
}

#define READINGS 500
#define MEANS    30

/* What a sample waits for where all events of the operating system are counted: the least mean, since this is no quiet place. */
static void measure_reading(struct assay_counter_context *ctx, struct assay_text *out)
{
	struct assay_counting_options o = { .ctx = ctx, .n_threads = 1, .parallel = alone };
	struct assay_text events = { 0 };
	struct assay_counting *c = NULL;
	struct assay_os_counts os;
	uint64_t least = UINT64_MAX;
	struct timespec a, b;
	char value[96];
	size_t n = 0;

	for (; assay_counter_system_events[n]; n++)
		assay_text_addf(&events, "%s\t%s\n", assay_counter_system_events[n], assay_counter_system_events[n]);
	o.events = events.s;
	if (!events.failed && !assay_counting_open(&c, &o, NULL)) {
		for (int mean = 0; mean < MEANS; mean++) {
			uint64_t ns;

			clock_gettime(CLOCK_MONOTONIC, &a);
			for (int i = 0; i < READINGS; i++) {
				assay_counting_before(c, 0, &os);
				assay_counting_after(c, 0, &os);
			}
			clock_gettime(CLOCK_MONOTONIC, &b);
			ns = (uint64_t)(b.tv_sec - a.tv_sec) * 1000000000u + (uint64_t)b.tv_nsec - (uint64_t)a.tv_nsec;
			least = ns < least ? ns : least;
		}
		snprintf(value, sizeof(value), "%zu events of the operating system take %.2f us around a sample", n,
			 (double)least / READINGS * 1e-3);
		put(out, "counters_reading", true, value, "");
	}
	assay_counting_close(c);
	assay_text_release(&events);
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
	measure_reading(&ctx, out);
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
		assay_findings_add(l, "valgrind", ASSAY_HEALTH_MISSING, why.text, "without it there are no exact counts");
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
