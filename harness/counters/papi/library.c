/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libsde before PAPI, since PAPI looks for it while it starts, and asks PAPI which of its components work. */
#include "counters/papi/papi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PAPI lists an event by the name of the processor. Only adding it to a set asks the kernel for its counter. */
static int try_event(const struct assay_papi *p, const char *name)
{
	int set = ASSAY_PAPI_NO_SET;
	int rc = p->call.create_eventset(&set);

	if (rc != ASSAY_PAPI_OK)
		return rc;
	rc = p->call.assign_eventset_component(set, p->pmu_component);
	if (rc == ASSAY_PAPI_OK)
		rc = p->call.add_named_event(set, name);
	p->call.cleanup_eventset(set);
	p->call.destroy_eventset(&set);
	return rc;
}

void assay_papi_doubt_pmu(struct assay_papi *p)
{
	/* the last one for processors of which PAPI has no presets */
	static const char *const everywhere[] = { "PAPI_TOT_CYC", "PAPI_TOT_INS", "perf::CYCLES" };
	int rc, first = ASSAY_PAPI_OK;

	for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++) {
		rc = try_event(p, everywhere[i]);
		if (rc == ASSAY_PAPI_OK)
			return;
		first = i ? first : rc;
	}
	p->pmu_component = -1;
	p->hardware_counters = 0;
	snprintf(p->pmu_reason, sizeof(p->pmu_reason),
		 "PAPI knows the processor and counts none of %s, %s and %s on it: %.60s", everywhere[0], everywhere[1],
		 everywhere[2], p->call.strerror(first));
}

#if ASSAY_PAPI
#include <dlfcn.h>
#include <papi.h>
#include <pthread.h>
#include <sde_lib.h>

#include "machine/pmu_probe.h"

#define SDE_LIBRARY "libsde.so.1"

_Static_assert(ASSAY_PAPI_OK == PAPI_OK && ASSAY_PAPI_NO_SET == PAPI_NULL && ASSAY_PAPI_ENOEVNT == PAPI_ENOEVNT &&
		       ASSAY_PAPI_ECNFLCT == PAPI_ECNFLCT && ASSAY_PAPI_EPERM == PAPI_EPERM &&
		       ASSAY_PAPI_ECOUNT == PAPI_ECOUNT && ASSAY_PAPI_INHERIT == PAPI_INHERIT &&
		       sizeof(struct assay_papi_inherit) == sizeof(PAPI_inherit_option_t) &&
		       offsetof(PAPI_inherit_option_t, inherit) == offsetof(struct assay_papi_inherit, inherit),
	       "papi/papi.h has PAPI's numbers");

/* Only what is needed to start. */
struct starters {
	int (*library_init)(int version);
	int (*thread_init)(unsigned long (*id)(void));
	int (*multiplex_init)(void);
	int (*num_components)(void);
	const PAPI_component_info_t *(*get_component_info)(int i);
};

struct symbol {
	const char *name;
	size_t offset; /* of its pointer in a table */
};

#define CALL(symbol, table, member)                                                                                    \
	{                                                                                                              \
		symbol, offsetof(struct table, member)                                                                 \
	}
static const struct symbol papi_symbols[] = {
	CALL("PAPI_create_eventset", assay_papi_calls, create_eventset),
	CALL("PAPI_assign_eventset_component", assay_papi_calls, assign_eventset_component),
	CALL("PAPI_set_multiplex", assay_papi_calls, set_multiplex),
	CALL("PAPI_set_opt", assay_papi_calls, set_opt),
	CALL("PAPI_add_named_event", assay_papi_calls, add_named_event),
	CALL("PAPI_start", assay_papi_calls, start),
	CALL("PAPI_read", assay_papi_calls, read),
	CALL("PAPI_stop", assay_papi_calls, stop),
	CALL("PAPI_cleanup_eventset", assay_papi_calls, cleanup_eventset),
	CALL("PAPI_destroy_eventset", assay_papi_calls, destroy_eventset),
	CALL("PAPI_query_named_event", assay_papi_calls, query_named_event),
	CALL("PAPI_register_thread", assay_papi_calls, register_thread),
	CALL("PAPI_unregister_thread", assay_papi_calls, unregister_thread),
	CALL("PAPI_strerror", assay_papi_calls, strerror),
	{ NULL, 0 },
};
static const struct symbol sde_symbols[] = {
	CALL("papi_sde_init", assay_papi_calls, sde_init),
	CALL("papi_sde_register_counter", assay_papi_calls, sde_register_counter),
	{ NULL, 0 },
};

static const struct symbol starter_symbols[] = {
	CALL("PAPI_library_init", starters, library_init),
	CALL("PAPI_thread_init", starters, thread_init),
	CALL("PAPI_multiplex_init", starters, multiplex_init),
	CALL("PAPI_num_components", starters, num_components),
	CALL("PAPI_get_component_info", starters, get_component_info),
	{ NULL, 0 },
};

/* A symbol is an object pointer to dlsym; POSIX lets it be a function's all the same. */
static bool resolve(void *dl, const struct symbol *s, void *table, char *why, size_t size)
{
	for (; s->name; s++) {
		void *p = dlsym(dl, s->name);

		if (!p) {
			snprintf(why, size, "no function '%s'", s->name);
			return false;
		}
		memcpy((char *)table + s->offset, &p, sizeof(p));
	}
	return true;
}

static void load_sde(struct assay_papi *p)
{
	void *dl = dlopen(SDE_LIBRARY, RTLD_NOW | RTLD_GLOBAL);

	if (!dl) {
		snprintf(p->sde_reason, sizeof(p->sde_reason), "libsde is missing: %.200s", dlerror());
		snprintf(p->sde_advice, sizeof(p->sde_advice), "install libsde1, or the package that has " SDE_LIBRARY);
	} else {
		resolve(dl, sde_symbols, &p->call, p->sde_reason, sizeof(p->sde_reason));
	}
}

/* Ask PAPI about its component @name; its index, or -1. */
static int find_component(const struct starters *papi, const char *name, int *counters, char *why, size_t size)
{
	int n = papi->num_components();

	for (int i = 0; i < n; i++) {
		const PAPI_component_info_t *c = papi->get_component_info(i);

		if (!c || strcmp(c->name, name))
			continue;
		*counters = c->num_cntrs;
		if (!c->disabled)
			return i;
		snprintf(why, size, "PAPI's component '%s' is disabled: %.160s", name,
			 c->disabled_reason[0] ? c->disabled_reason : "it does not say why");
		return -1;
	}
	snprintf(why, size, "PAPI was built without its component '%s'", name);
	return -1;
}

static bool start(struct assay_papi *p, const struct starters *papi)
{
	int rc = papi->library_init(PAPI_VER_CURRENT);

	if (rc != PAPI_VER_CURRENT) {
		snprintf(p->reason, sizeof(p->reason), "PAPI does not start: %.160s",
			 rc > 0 ? "its version is not the one that this program was built with" : p->call.strerror(rc));
		return false;
	}
	rc = papi->thread_init(pthread_self);
	if (rc != PAPI_OK) {
		snprintf(p->reason, sizeof(p->reason), "PAPI cannot count threads: %.160s", p->call.strerror(rc));
		return false;
	}
	papi->multiplex_init(); /* without it sets that ask for multiplexing are refused, with a reason */
	return true;
}

void assay_papi_load(struct assay_papi *p)
{
	const char *setting = getenv("ASSAY_PAPI");
	char name[32], paranoid[80];
	struct starters papi;
	size_t used;
	void *dl;

	*p = (struct assay_papi){ .pmu_component = -1 };
	if (setting && !strcmp(setting, "0")) {
		snprintf(p->reason, sizeof(p->reason), "PAPI is switched off (ASSAY_PAPI=0)");
		snprintf(p->advice, sizeof(p->advice), "unset ASSAY_PAPI");
		return;
	}
	load_sde(p);
	snprintf(name, sizeof(name), "libpapi.so.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
		 PAPI_VERSION_MINOR(PAPI_VERSION));
	dl = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
	if (!dl) {
		snprintf(p->reason, sizeof(p->reason), "PAPI is not installed: %.200s", dlerror());
		snprintf(p->advice, sizeof(p->advice), "install libpapi-dev, or the package that has %s", name);
		return;
	}
	if (!resolve(dl, papi_symbols, &p->call, p->reason, sizeof(p->reason)) ||
	    !resolve(dl, starter_symbols, &papi, p->reason, sizeof(p->reason)) || !start(p, &papi))
		return;
	snprintf(p->version, sizeof(p->version), "%d.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
		 PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION));
	p->pmu_component =
		find_component(&papi, "perf_event", &p->hardware_counters, p->pmu_reason, sizeof(p->pmu_reason));
	if (!p->pmu_reason[0])
		assay_papi_doubt_pmu(p);
	if (p->pmu_reason[0])
		snprintf(p->pmu_advice, sizeof(p->pmu_advice),
			 "a host that passes its PMU through provides hardware counters");
	if (p->pmu_reason[0] && assay_perf_paranoid_at("", paranoid, sizeof(paranoid))) {
		used = strlen(p->pmu_reason);
		snprintf(p->pmu_reason + used, sizeof(p->pmu_reason) - used, "; %s", paranoid);
		snprintf(p->pmu_advice, sizeof(p->pmu_advice), ASSAY_PERF_PARANOID_ADVICE);
	}
	if (!p->sde_reason[0])
		find_component(&papi, "sde", &p->sde_counters, p->sde_reason, sizeof(p->sde_reason));
}

int assay_papi_publish(const struct assay_papi *p, const char *const *names, uint64_t *cells, size_t n,
		       struct assay_err *err)
{
	void *library;

	if (p->reason[0] || p->sde_reason[0])
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "%s", p->reason[0] ? p->reason : p->sde_reason);
	library = p->call.sde_init("assay");
	if (!library)
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "libsde takes no library of events");
	for (size_t i = 0; i < n; i++)
		if (p->call.sde_register_counter(library, names[i], PAPI_SDE_RO | PAPI_SDE_INSTANT, PAPI_SDE_long_long,
						 &cells[i]))
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "libsde does not take counter '%s'", names[i]);
	return 0;
}

#else

void assay_papi_load(struct assay_papi *p)
{
	*p = (struct assay_papi){ .pmu_component = -1 };
	snprintf(p->reason, sizeof(p->reason), "this program was built without PAPI");
	snprintf(p->advice, sizeof(p->advice), "install libpapi-dev and build again, without PAPI=0");
}

int assay_papi_publish(const struct assay_papi *p, const char *const *names, uint64_t *cells, size_t n,
		       struct assay_err *err)
{
	(void)names;
	(void)cells;
	(void)n;
	return assay_err_set(err, ASSAY_EUNAVAILABLE, "%s", p->reason);
}
#endif
