/* SPDX-License-Identifier: Apache-2.0 */
#include "model/reports.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- bisect report ---- */

void assay_bisect_report_release(struct assay_bisect_report *r)
{
	free(r->steps);
	*r = (struct assay_bisect_report){ 0 };
}

const char *assay_bisect_end_name(enum assay_bisect_end e)
{
	static const char *const names[] = {
		[ASSAY_BISECT_FOUND] = "found",   [ASSAY_BISECT_RANGE] = "range",          [ASSAY_BISECT_SAME] = "same",
		[ASSAY_BISECT_UNSURE] = "unsure", [ASSAY_BISECT_UNTAKEN] = "not measured",
	};

	return names[e];
}

/* ---- certify report ---- */

void assay_certify_report_release(struct assay_certify_report *r)
{
	assay_strings_release(&r->keys);
	free(r->json);
	*r = (struct assay_certify_report){ 0 };
}

/* ---- database report ---- */

void assay_import_report_release(struct assay_import_report *r)
{
	free(r->runs);
	free(r->same);
	free(r->other);
	*r = (struct assay_import_report){ 0 };
}

/* ---- finding ---- */

/* A growing list. */

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
