/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libsde before PAPI, since PAPI looks for it while it starts, and asks PAPI which of its components work. */
#include "counters/papi_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay_papi_doubt_pmu(struct assay_papi *p)
{
	static const char *const everywhere[] = { "PAPI_TOT_CYC", "PAPI_TOT_INS" };

	for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++)
		if (!p->call.query_named_event(everywhere[i]))
			return;
	p->pmu_component = -1;
	p->hardware_counters = 0;
	snprintf(p->pmu_reason, sizeof(p->pmu_reason), "PAPI knows the processor and has neither %s nor %s of it",
		 everywhere[0], everywhere[1]);
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
		       ASSAY_PAPI_ECOUNT == PAPI_ECOUNT,
	       "papi_library.h has PAPI's numbers");

struct symbol {
	const char *name;
	size_t offset; /* in struct assay_papi_calls */
};

#define CALL(symbol, member)                                                                                           \
	{                                                                                                              \
		symbol, offsetof(struct assay_papi_calls, member)                                                      \
	}
static const struct symbol papi_symbols[] = {
	CALL("PAPI_create_eventset", create_eventset),
	CALL("PAPI_assign_eventset_component", assign_eventset_component),
	CALL("PAPI_set_multiplex", set_multiplex),
	CALL("PAPI_add_named_event", add_named_event),
	CALL("PAPI_start", start),
	CALL("PAPI_read", read),
	CALL("PAPI_stop", stop),
	CALL("PAPI_cleanup_eventset", cleanup_eventset),
	CALL("PAPI_destroy_eventset", destroy_eventset),
	CALL("PAPI_query_named_event", query_named_event),
	CALL("PAPI_register_thread", register_thread),
	CALL("PAPI_unregister_thread", unregister_thread),
	CALL("PAPI_strerror", strerror),
	{ NULL, 0 },
};
static const struct symbol sde_symbols[] = {
	CALL("papi_sde_init", sde_init),
	CALL("papi_sde_register_counter", sde_register_counter),
	{ NULL, 0 },
};

/* A symbol is an object pointer to dlsym; POSIX lets it be a function's all the same. */
static bool resolve(void *dl, const struct symbol *s, struct assay_papi_calls *calls, char *why, size_t size)
{
	for (; s->name; s++) {
		void *p = dlsym(dl, s->name);

		if (!p) {
			snprintf(why, size, "no function '%s'", s->name);
			return false;
		}
		memcpy((char *)calls + s->offset, &p, sizeof(p));
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

/* What PAPI says of its component @name; its index, or -1. */
static int find_component(void *dl, const char *name, int *counters, char *why, size_t size)
{
	const PAPI_component_info_t *(*info)(int);
	int (*count)(void), n;
	void *s;

	s = dlsym(dl, "PAPI_get_component_info");
	memcpy(&info, &s, sizeof(info));
	s = dlsym(dl, "PAPI_num_components");
	memcpy(&count, &s, sizeof(count));
	n = info && count ? count() : 0;
	for (int i = 0; i < n; i++) {
		const PAPI_component_info_t *c = info(i);

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

static bool start(struct assay_papi *p, void *dl)
{
	int (*init)(int), (*thread_init)(unsigned long (*)(void)), (*multiplex_init)(void), rc;
	void *s;

	s = dlsym(dl, "PAPI_library_init");
	memcpy(&init, &s, sizeof(init));
	s = dlsym(dl, "PAPI_thread_init");
	memcpy(&thread_init, &s, sizeof(thread_init));
	s = dlsym(dl, "PAPI_multiplex_init");
	memcpy(&multiplex_init, &s, sizeof(multiplex_init));
	if (!init || !thread_init || !multiplex_init) {
		snprintf(p->reason, sizeof(p->reason), "libpapi lacks a function to start it");
		return false;
	}
	rc = init(PAPI_VER_CURRENT);
	if (rc != PAPI_VER_CURRENT) {
		snprintf(p->reason, sizeof(p->reason), "PAPI does not start: %.160s",
			 rc > 0 ? "its version is not the one that this program was built with" : p->call.strerror(rc));
		return false;
	}
	rc = thread_init(pthread_self);
	if (rc != PAPI_OK) {
		snprintf(p->reason, sizeof(p->reason), "PAPI cannot count threads: %.160s", p->call.strerror(rc));
		return false;
	}
	multiplex_init(); /* without it sets that ask for multiplexing are refused, with a reason */
	return true;
}

void assay_papi_load(struct assay_papi *p)
{
	const char *setting = getenv("ASSAY_PAPI");
	char name[32], paranoid[80];
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
	if (!resolve(dl, papi_symbols, &p->call, p->reason, sizeof(p->reason)) || !start(p, dl))
		return;
	snprintf(p->version, sizeof(p->version), "%d.%d.%d", PAPI_VERSION_MAJOR(PAPI_VERSION),
		 PAPI_VERSION_MINOR(PAPI_VERSION), PAPI_VERSION_REVISION(PAPI_VERSION));
	p->pmu_component =
		find_component(dl, "perf_event", &p->hardware_counters, p->pmu_reason, sizeof(p->pmu_reason));
	if (!p->pmu_reason[0])
		assay_papi_doubt_pmu(p);
	if (p->pmu_reason[0] && assay_perf_paranoid_at("", paranoid, sizeof(paranoid))) {
		used = strlen(p->pmu_reason);
		snprintf(p->pmu_reason + used, sizeof(p->pmu_reason) - used, "; %s", paranoid);
	}
	if (!p->sde_reason[0])
		find_component(dl, "sde", &p->sde_counters, p->sde_reason, sizeof(p->sde_reason));
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
