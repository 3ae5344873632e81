/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAPI and its libsde, loaded when a case needs them: nothing is linked with them, and without them the rest works. The
 * functions stand in a table so that tests can put recorded ones in their place.
 */
#ifndef ASSAY_COUNTERS_PAPI_PAPI_H
#define ASSAY_COUNTERS_PAPI_PAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct assay_counter_context;

/* Numbers of PAPI's ABI, which papi/library.c holds against its header: nothing else needs that. */
enum {
	ASSAY_PAPI_OK = 0,
	ASSAY_PAPI_NO_SET = -1,
	ASSAY_PAPI_ENOEVNT = -7,
	ASSAY_PAPI_ECNFLCT = -8,
	ASSAY_PAPI_EPERM = -15,
	ASSAY_PAPI_ECOUNT = -23,
	ASSAY_PAPI_INHERIT = 28,
};

/* PAPI's PAPI_inherit_option_t. */
struct assay_papi_inherit {
	int set, inherit;
};

/*
 * Under the names in PAPI's own headers; they return 0 or a negative PAPI error, except where a comment says otherwise.
 */
struct assay_papi_calls {
	int (*create_eventset)(int *set);
	int (*assign_eventset_component)(int set, int component);
	int (*set_multiplex)(int set);
	int (*set_opt)(int option, void *values); /* of the option, in PAPI's union */
	int (*add_named_event)(int set, const char *name);
	int (*start)(int set);
	int (*read)(int set, long long *values);
	int (*stop)(int set, long long *values);
	int (*cleanup_eventset)(int set);
	int (*destroy_eventset)(int *set);
	int (*query_named_event)(const char *name);
	int (*register_thread)(void);
	int (*unregister_thread)(void);
	char *(*strerror)(int code);
	void *(*sde_init)(const char *library);
	int (*sde_register_counter)(void *handle, const char *name, int mode, int type, void *cell);
};

/* Reasons are "" for what works. */
struct assay_papi {
	struct assay_papi_calls call;
	char version[32];      /* "7.0.0" */
	char reason[256];      /* why PAPI itself cannot be used */
	char advice[96];       /* and what would bring it */
	char pmu_reason[256];  /* why hardware counters cannot, in PAPI's words */
	char pmu_advice[128];  /* and what would bring them */
	char sde_reason[256];  /* why software-defined events cannot */
	char sde_advice[96];   /* and what would bring them */
	int pmu_component;     /* -1: none */
	int hardware_counters; /* that count at once; 0 unknown */
	int sde_counters;
};

/*
 * Load and start PAPI in this process, once. Never fails: what does not work has its reason in @p. ASSAY_PAPI=0 in the
 * environment leaves it alone.
 */
void assay_papi_load(struct assay_papi *p);
/*
 * PAPI's component 'perf_event' calls itself enabled if it knows the processor, even if there is no PMU or the
 * hypervisor hides it. If no event set accepts any of the counters that every PMU has, p->pmu_reason says so and there
 * is no component.
 */
void assay_papi_doubt_pmu(struct assay_papi *p);
/* Publish cell i as software-defined event names[i] of library "assay". ASSAY_EUNAVAILABLE with PAPI's reason. */
int assay_papi_publish(const struct assay_papi *p, const char *const *names, uint64_t *cells, size_t n,
		       struct assay_err *err);

/* ---- sets ---- */

/*
 * An event set of PAPI, as hardware counters and software-defined events both use it. Sets are handed about as void *.
 */

/* An empty set of the calling thread. @component -1: that of the first event. */
int assay_papi_set_open(const struct assay_counter_context *ctx, int component, void **set, struct assay_err *err);
const struct assay_counter_context *assay_papi_set_context(const void *set);
/* By PAPI's name. ASSAY_ENOTFOUND, ASSAY_ELIMIT (no room or a conflict in this set) or ASSAY_EUNAVAILABLE, in PAPI's
 * words. */
int assay_papi_set_add(void *set, const char *name, struct assay_err *err);
int assay_papi_set_start(void *set, struct assay_err *err);
int assay_papi_set_read(void *set, uint64_t *values);
void assay_papi_set_stop(void *set);
void assay_papi_set_close(void *set);
/* This thread ends, or counts no more; its sets are closed. Not for the thread that loaded PAPI. */
void assay_papi_leave_thread(const struct assay_counter_context *ctx);

/* ---- self-test ---- */

/*
 * Can a hardware counter be believed? The test counts loops with known numbers of loads, stores, branches and
 * multiply-adds, scalar and vector, a loop whose branches no predictor foresees, walks and calls that must miss every
 * cache and the TLB, and a walk that the second cache must serve.
 */

/* A counter may be off by this share of what it must count. */
#define ASSAY_SELFTEST_TOLERANCE_FRAC 0.05

/*
 * true: @event ticks as it must, @what says how ("counts 1.00 branches a turn"), or nothing is known that it must
 * count. false:
 * @what says what is wrong.
 */
bool assay_pmu_selftest(const struct assay_counter_context *ctx, const char *event, char *what, size_t size);
/* The events of which it is known what they must count, by number from 0 on; NULL after the last. */
const char *assay_pmu_selftest_event(size_t i);

#endif
