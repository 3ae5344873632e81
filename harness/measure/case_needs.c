/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/case_needs.h"

#include <stdlib.h>
#include <string.h>

#include "base/monotonic.h"

/* ---- case plugins ---- */

/* A simulator is slow at loading, and a plugin that is not there moves no memory. */

static bool needs(const struct assay_case *c, const struct assay_catalog *cat, size_t plugin)
{
	const struct assay_catalog_op *op = assay_catalog_op(cat, c->op);
	const struct assay_catalog_variant *v = assay_catalog_variant(cat, c->op, c->variant);
	const struct assay_catalog_variant *kernel =
		op && op->composes ? assay_catalog_variant(cat, op->composes, c->variant) : NULL;

	return !op || !v || op->plugin == plugin || v->plugin == plugin || (kernel && kernel->plugin == plugin);
}

int assay_case_plugins_find(const struct assay_case *c, const struct assay_catalog *cat,
			    const struct assay_strings *all, const char *parts, struct assay_case_plugins *out,
			    struct assay_err *err)
{
	int rc = 0;

	*out = (struct assay_case_plugins){ .parts = parts ? calloc(all->n + 1, 1) : NULL };
	if (parts && !out->parts)
		rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	for (size_t i = 0; i < all->n && !rc; i++) {
		if (cat->n_plugins == all->n && !needs(c, cat, i))
			continue;
		if (parts)
			out->parts[out->files.n] = parts[i];
		rc = assay_strings_add(&out->files, all->v[i], err);
	}
	if (rc)
		assay_case_plugins_release(out);
	return rc;
}

void assay_case_plugins_release(struct assay_case_plugins *p)
{
	assay_strings_release(&p->files);
	free(p->parts);
	*p = (struct assay_case_plugins){ .parts = NULL };
}

/* ---- counters ---- */

/* Puts together what a case counts; the worker counts it. */

static int add_events(struct assay_counter_choice *out, const struct assay_strings *events, struct assay_err *err)
{
	int rc = 0;

	for (size_t i = 0; events && i < events->n && !rc; i++)
		if (!assay_strings_has(&out->events, events->v[i]))
			rc = assay_strings_add(&out->events, events->v[i], err);
	return rc;
}

static bool has_default(const struct assay_counter_groups *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (!strcmp(g->v[i].name, ASSAY_DEFAULT_COUNTER_GROUP))
			return true;
	return false;
}

int assay_measure_choose(const struct assay_measure_options *o, const struct assay_case *c,
			 const struct assay_catalog_op *op, struct assay_counter_choice *out, struct assay_text *text,
			 struct assay_err *err)
{
	static const struct assay_counter_groups none;
	const struct assay_counter_groups *g = o->groups ? o->groups : &none;
	/* inheriting an event takes every process that a program starts some time: only where it is asked for */
	int rc =
		has_default(g) && !op->program ? assay_counter_choice_add(out, g, ASSAY_DEFAULT_COUNTER_GROUP, err) : 0;

	out->multiplex = o->worker.settings.multiplex;
	if (!rc)
		rc = assay_counter_choice_add(out, g, c->counters, err);
	if (!rc && o->counter_groups)
		rc = assay_counter_choice_add(out, g, o->counter_groups, err);
	if (!rc)
		rc = add_events(out, &op->counters, err);
	if (!rc)
		rc = add_events(out, o->events, err);
	if (!rc)
		assay_counter_choice_text(out, text);
	return rc || !text->failed ? rc : assay_err_set(err, ASSAY_ENOMEM, "out of memory");
}

/* ---- worker ---- */

struct assay_worker_options assay_measure_worker(const struct assay_measure_options *o, const struct assay_case *c,
						 const struct assay_case_facts *facts, enum assay_worker_role role)
{
	struct assay_worker_options wo = {
		.setup = o->worker,
		.checks = { .audit = role == ASSAY_WORKER_MEASURED || role == ASSAY_WORKER_PAIRED },
		.c = c,
		.facts = facts,
		.copies = role == ASSAY_WORKER_COUNTED ? 1 : facts->copies,
		.deadline_ns = assay_monotonic_ns() + c->timeout_ns,
		.timeouts = role == ASSAY_WORKER_MEASURED ? o->timeouts : NULL,
		.cells_from_memory = role == ASSAY_WORKER_PAIRED,
	};

	if (role == ASSAY_WORKER_COUNTED)
		wo.setup.topology = NULL; /* counts follow from the case, whatever machine the worker is told */
	if (role == ASSAY_WORKER_COUNTED || role == ASSAY_WORKER_PAIRED)
		wo.setup.settings.even_if_wrong = false;
	return wo;
}

int assay_measure_place(const struct assay_measure_options *o, struct assay_worker_options *wo, struct assay_err *err)
{
	wo->cpus = calloc(wo->c->threads, sizeof(*wo->cpus));
	if (!wo->cpus)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return assay_placement_pick(o->worker.topology, &o->placement, wo->c->threads, wo->cpus, err);
}
