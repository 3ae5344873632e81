/* SPDX-License-Identifier: Apache-2.0 */
/* A growing list. */
#include "model/finding.h"

#include <stdio.h>
#include <stdlib.h>

void assay_findings_add(struct assay_findings *l, const char *name, enum assay_health health, const char *value,
			const char *advice)
{
	struct assay_finding *f;

	if (l->n >= l->capacity) {
		size_t capacity = 2 * l->n + 32;
		struct assay_finding *grown = realloc(l->v, capacity * sizeof(*grown));

		l->failed |= !grown;
		if (!grown)
			return;
		l->v = grown;
		l->capacity = capacity;
	}
	f = &l->v[l->n++];
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->health = health;
	snprintf(f->value, sizeof(f->value), "%s", value);
	snprintf(f->advice, sizeof(f->advice), "%s", advice);
}

void assay_findings_release(struct assay_findings *l)
{
	free(l->v);
	*l = (struct assay_findings){ 0 };
}
