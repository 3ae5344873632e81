/* SPDX-License-Identifier: Apache-2.0 */
/* Turns PAPI's error codes into the few that decide what happens next, keeping its words. */
#include "counters/papi/papi.h"

#include <stdlib.h>
#include <string.h>

#include "counters/provider.h"
#include "machine/pmu_probe.h"

struct papi_set {
	const struct assay_counter_context *ctx;
	int set; /* PAPI's */
	size_t n;
	bool running;
};

int assay_papi_set_open(const struct assay_counter_context *ctx, int component, void **set, struct assay_err *err)
{
	const struct assay_papi_calls *call = &ctx->papi.call;
	struct papi_set *s = calloc(1, sizeof(*s));
	struct assay_papi_inherit children = { .inherit = 1 };
	int rc;

	if (!s)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	*s = (struct papi_set){ .ctx = ctx, .set = ASSAY_PAPI_NO_SET };
	rc = call->register_thread();
	if (rc == ASSAY_PAPI_OK)
		rc = call->create_eventset(&s->set);
	if (rc == ASSAY_PAPI_OK && component >= 0)
		rc = call->assign_eventset_component(s->set, component);
	if (rc == ASSAY_PAPI_OK && component >= 0 && ctx->multiplex)
		rc = call->set_multiplex(s->set);
	children.set = s->set;
	if (rc == ASSAY_PAPI_OK && component >= 0 && ctx->children)
		rc = call->set_opt(ASSAY_PAPI_INHERIT, &children);
	if (rc != ASSAY_PAPI_OK) {
		assay_papi_set_close(s);
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "PAPI cannot create an event set: %s",
				     call->strerror(rc));
	}
	*set = s;
	return 0;
}

const struct assay_counter_context *assay_papi_set_context(const void *set)
{
	return ((const struct papi_set *)set)->ctx;
}

int assay_papi_set_add(void *set, const char *name, struct assay_err *err)
{
	struct papi_set *s = set;
	const struct assay_papi_calls *call = &s->ctx->papi.call;
	int rc = call->add_named_event(s->set, name);
	char paranoid[80] = "";

	switch (rc) {
	case ASSAY_PAPI_OK:
		s->n++;
		return 0;
	case ASSAY_PAPI_ENOEVNT:
		return assay_err_set(err, ASSAY_ENOTFOUND, "PAPI does not have '%s' here: %s", name,
				     call->strerror(rc));
	case ASSAY_PAPI_ECNFLCT:
	case ASSAY_PAPI_ECOUNT:
		return assay_err_set(err, ASSAY_ELIMIT, "'%s' needs more counters than there are: %s", name,
				     call->strerror(rc));
	default:
		if (rc == ASSAY_PAPI_EPERM)
			assay_perf_paranoid_at("", paranoid, sizeof(paranoid));
		return assay_err_set(err, ASSAY_EUNAVAILABLE, "PAPI does not count '%s': %s%s%s", name,
				     call->strerror(rc), paranoid[0] ? ": " : "", paranoid);
	}
}

int assay_papi_set_start(void *set, struct assay_err *err)
{
	struct papi_set *s = set;
	int rc = s->ctx->papi.call.start(s->set);

	s->running = rc == ASSAY_PAPI_OK;
	return s->running ? 0
			  : assay_err_set(err, ASSAY_EUNAVAILABLE, "PAPI does not start: %s",
					  s->ctx->papi.call.strerror(rc));
}

int assay_papi_set_read(void *set, uint64_t *values)
{
	struct papi_set *s = set;

	_Static_assert(sizeof(long long) == sizeof(*values), "PAPI's counts fill a uint64_t");
	return s->ctx->papi.call.read(s->set, (long long *)values) == ASSAY_PAPI_OK ? 0 : ASSAY_EUNAVAILABLE;
}

void assay_papi_set_stop(void *set)
{
	struct papi_set *s = set;
	long long *values = s->running ? calloc(s->n + 1, sizeof(*values)) : NULL;

	if (values)
		s->ctx->papi.call.stop(s->set, values);
	s->running = false;
	free(values);
}

void assay_papi_set_close(void *set)
{
	struct papi_set *s = set;

	assay_papi_set_stop(s);
	if (s->set != ASSAY_PAPI_NO_SET) {
		s->ctx->papi.call.cleanup_eventset(s->set);
		s->ctx->papi.call.destroy_eventset(&s->set);
	}
	free(s);
}

void assay_papi_leave_thread(const struct assay_counter_context *ctx)
{
	ctx->papi.call.unregister_thread();
}
