/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of counts and of what could not be counted. */
#include "model/counter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void assay_counters_release(struct assay_counters *c)
{
	free(c->v);
	free(c->missing);
	*c = (struct assay_counters){ 0 };
}

int assay_counters_add(struct assay_counters *c, const struct assay_count *count)
{
	struct assay_count *v = realloc(c->v, (c->n + 1) * sizeof(*v));

	if (!v)
		return ASSAY_ENOMEM;
	c->v = v;
	v[c->n++] = *count;
	return 0;
}

int assay_counters_add_missing(struct assay_counters *c, const char *name, const char *source, const char *reason)
{
	struct assay_unavailable *v = realloc(c->missing, (c->n_missing + 1) * sizeof(*v));

	if (!v)
		return ASSAY_ENOMEM;
	c->missing = v;
	v += c->n_missing++;
	snprintf(v->name, sizeof(v->name), "%s", name);
	snprintf(v->source, sizeof(v->source), "%s", source);
	snprintf(v->reason, sizeof(v->reason), "%s", reason);
	return 0;
}

const struct assay_count *assay_counters_find(const struct assay_counters *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return &c->v[i];
	return NULL;
}

const struct assay_unavailable *assay_counters_find_missing(const struct assay_counters *c, const char *name)
{
	for (size_t i = 0; i < c->n_missing; i++)
		if (!strcmp(c->missing[i].name, name))
			return &c->missing[i];
	return NULL;
}
