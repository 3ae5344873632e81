/* SPDX-License-Identifier: Apache-2.0 */
/* Each cost is the least of several means: what is longer was disturbed. */
#include "counters/counting_cost.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "counters/counting.h"
#include "counters/event_names.h"
#include "counters/papi_set.h"

#define MEANS   30
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define EVENTS  6

/* 0, or a negative error that ends the measurement. */
typedef int (*action_fn)(void *arg);

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int least_mean_ns(action_fn action, void *arg, int calls, double *least)
{
	for (int mean = 0; mean < MEANS; mean++) {
		double begin = now_ns(), ns;

		for (int i = 0; i < calls; i++) {
			int rc = action(arg);

			if (rc)
				return rc;
		}
		ns = (now_ns() - begin) / calls;
		*least = !mean || ns < *least ? ns : *least;
	}
	return 0;
}

/* ---- PAPI ------------------------------------------------------------------------------------------------------- */

static const char *const presets[] = {
	"PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_BR_INS", "PAPI_BR_MSP",  "PAPI_TLB_DM",
	"PAPI_L2_TCM",  "PAPI_L3_TCM",  "PAPI_LD_INS", "PAPI_SR_INS", "PAPI_REF_CYC",
};
static const char *const cell_names[EVENTS] = { "cost_0", "cost_1", "cost_2", "cost_3", "cost_4", "cost_5" };

static int start_stop(void *set)
{
	int rc = assay_papi_set_start(set, NULL);

	if (!rc)
		assay_papi_set_stop(set);
	return rc;
}

static int read_twice(void *set)
{
	uint64_t values[EVENTS];
	int rc = assay_papi_set_read(set, values);

	return rc ? rc : assay_papi_set_read(set, values);
}

/* As many events as fit into one set, up to EVENTS: a machine may have fewer presets, or fewer counters. */
static int fill(struct assay_counter_context *ctx, bool hardware, void *set, struct assay_err *why)
{
	/* what is published stays so for as long as PAPI is loaded */
	static uint64_t cells[EVENTS];
	int rc = hardware ? 0 : assay_papi_publish(&ctx->papi, cell_names, cells, EVENTS, why);

	for (size_t i = 0; !rc && i < (hardware ? N_OF(presets) : EVENTS) && assay_papi_set_n(set) < EVENTS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s%s",
			 hardware ? "" : "sde:::assay::", hardware ? presets[i] : cell_names[i]);
		assay_papi_set_add(set, name, why);
	}
	return rc ? rc : assay_papi_set_n(set) ? 0 : ASSAY_EUNAVAILABLE;
}

static int time_set(void *set, struct assay_papi_cost *out, struct assay_err *why)
{
	int rc = assay_papi_set_start(set, why);

	if (rc)
		return rc;
	rc = least_mean_ns(read_twice, set, 500, &out->read_ns);
	assay_papi_set_stop(set);
	if (!rc)
		rc = least_mean_ns(start_stop, set, 100, &out->start_stop_ns);
	return rc ? assay_err_set(why, rc, "an event set of PAPI stops working after it was started") : 0;
}

void assay_papi_cost_measure(struct assay_counter_context *ctx, struct assay_papi_cost *out)
{
	const struct assay_papi *papi = assay_counter_papi(ctx);
	struct assay_err why = { 0 };
	void *set = NULL;
	int rc;

	*out = (struct assay_papi_cost){ .hardware = !papi->pmu_reason[0] };
	if (papi->reason[0] || (!out->hardware && papi->sde_reason[0])) {
		snprintf(out->reason, sizeof(out->reason), "%s", papi->reason[0] ? papi->reason : papi->sde_reason);
		snprintf(out->advice, sizeof(out->advice), "%s", papi->reason[0] ? papi->advice : papi->sde_advice);
		return;
	}
	rc = assay_papi_set_open(ctx, out->hardware ? papi->pmu_component : -1, &set, &why);
	if (!rc)
		rc = fill(ctx, out->hardware, set, &why);
	if (!rc)
		rc = time_set(set, out, &why);
	if (rc) {
		snprintf(out->reason, sizeof(out->reason), "%.255s", why.text);
		snprintf(out->advice, sizeof(out->advice),
			 "what PAPI counts is unavailable; everything else works without it");
	} else {
		out->n_events = assay_papi_set_n(set);
	}
	if (set)
		assay_papi_set_close(set);
}

void assay_papi_cost_text(const struct assay_papi_cost *c, char *buf, size_t size)
{
	if (c->reason[0])
		snprintf(buf, size, "%s", c->reason);
	else
		snprintf(buf, size, "%zu %s take %.2f us to read around a sample, %.2f us to start and stop",
			 c->n_events, c->hardware ? "hardware events" : "software-defined events", c->read_ns * 1e-3,
			 c->start_stop_ns * 1e-3);
}

/* ---- the operating system --------------------------------------------------------------------------------------- */

static void alone(void *pool, assay_parallel_fn fn, void *arg)
{
	(void)pool;
	fn(arg, 0, 1);
}

static int around_a_sample(void *counting)
{
	struct assay_os_counts os;

	assay_counting_before(counting, 0, &os);
	assay_counting_after(counting, 0, &os);
	return 0;
}

int assay_system_cost_measure(struct assay_counter_context *ctx, size_t *n, double *ns)
{
	struct assay_counting_options o = { .ctx = ctx, .n_threads = 1, .parallel = alone };
	struct assay_text events = { 0 };
	struct assay_counting *c = NULL;
	int rc;

	for (*n = 0; assay_counter_system_events[*n]; ++*n)
		assay_text_addf(&events, "%s\t%s\n", assay_counter_system_events[*n], assay_counter_system_events[*n]);
	o.events = events.s;
	rc = events.failed ? ASSAY_ENOMEM : assay_counting_open(&c, &o, NULL);
	if (!rc)
		rc = least_mean_ns(around_a_sample, c, 500, ns);
	assay_counting_close(c);
	assay_text_release(&events);
	return rc;
}
