/* SPDX-License-Identifier: Apache-2.0 */
/* A simulator is slow at loading, and a plugin that is not there moves no memory. */
#include "measure/case_plugins.h"

#include <stdlib.h>
#include <string.h>

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
