/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership of catalogs and look-up in them. */
#include "model/catalog.h"

#include <stdlib.h>
#include <string.h>

static void release_op(struct assay_catalog_op *op)
{
	for (size_t i = 0; i < op->n_axes; i++) {
		free(op->axes[i].name);
		free(op->axes[i].help);
		assay_strings_release(&op->axes[i].symbols);
	}
	for (size_t i = 0; i < op->n_metrics; i++) {
		free(op->metrics[i].tag);
		free(op->metrics[i].unit);
		free(op->metrics[i].help);
	}
	free(op->axes);
	free(op->metrics);
	assay_strings_release(&op->counters);
	free(op->name);
	free(op->help);
	free(op->composes);
	free(op->defect);
}

static void release_variant(struct assay_catalog_variant *v)
{
	free(v->op);
	free(v->name);
	free(v->help);
	free(v->needs);
	free(v->unavailable);
	free(v->defect);
}

static void release_plugin(struct assay_catalog_plugin *p)
{
	free(p->path);
	free(p->name);
	free(p->version);
	free(p->error);
}

void assay_catalog_release(struct assay_catalog *cat)
{
	for (size_t i = 0; i < cat->n_ops; i++)
		release_op(&cat->ops[i]);
	for (size_t i = 0; i < cat->n_variants; i++)
		release_variant(&cat->variants[i]);
	for (size_t i = 0; i < cat->n_plugins; i++)
		release_plugin(&cat->plugins[i]);
	free(cat->ops);
	free(cat->variants);
	free(cat->plugins);
	*cat = (struct assay_catalog){ 0 };
}

const struct assay_catalog_op *assay_catalog_op(const struct assay_catalog *cat, const char *name)
{
	for (size_t i = 0; i < cat->n_ops; i++)
		if (!strcmp(cat->ops[i].name, name))
			return &cat->ops[i];
	return NULL;
}

const struct assay_catalog_variant *assay_catalog_variant(const struct assay_catalog *cat, const char *op,
							  const char *name)
{
	for (size_t i = 0; i < cat->n_variants; i++)
		if (!strcmp(cat->variants[i].op, op) && !strcmp(cat->variants[i].name, name))
			return &cat->variants[i];
	return NULL;
}
