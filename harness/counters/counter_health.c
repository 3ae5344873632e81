/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the probe of providers, and what counts without any. */
#include "counters/counter_health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "counters/callgrind.h"
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
	for (size_t i = 0; assay_pmu_selftest_events[i]; i++) {
		const char *event = assay_pmu_selftest_events[i];
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
