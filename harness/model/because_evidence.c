/* SPDX-License-Identifier: Apache-2.0 */
#include "model/because_evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

const char *assay_code_change_name(enum assay_code_change c)
{
	static const char *const names[] = { "unknown", "same", "differs" };

	return (unsigned)c < sizeof(names) / sizeof(names[0]) ? names[c] : names[0];
}

void assay_because_evidence_free(struct assay_because_evidence *e)
{
	if (!e)
		return;
	free(e->pairs);
	free(e->functions);
	free(e);
}

struct assay_because_function *assay_because_function_at(struct assay_because_evidence *e, const char *name,
							 size_t length, const char *object)
{
	struct assay_because_function *f;
	char key[sizeof(f->name)];

	snprintf(key, sizeof(key), "%.*s", (int)(length < sizeof(key) ? length : sizeof(key) - 1), name);
	for (size_t i = 0; i < e->n; i++)
		if (!strcmp(e->functions[i].name, key) && (key[0] || !strcmp(e->functions[i].object, object)))
			return &e->functions[i];
	if (assay_grow(&e->functions, e->n, sizeof(*e->functions)))
		return NULL;
	f = &e->functions[e->n++];
	memset(f, 0, sizeof(*f));
	memcpy(f->name, key, sizeof(key));
	snprintf(f->object, sizeof(f->object), "%s", object);
	f->counted[0] = f->counted[1] = -1;
	return f;
}
