/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing, at most half full. */
#include "base/name_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct assay_name_slot {
	char *name; /* NULL: free */
	uint64_t hash;
	size_t number;
};

/* The slot of @name, or the free one where it belongs. There is one, since the table is never full. */
static struct assay_name_slot *slot_of(const struct assay_name_index *x, const char *name, uint64_t hash)
{
	size_t i = hash & (x->cap - 1);

	while (x->slots[i].name && (x->slots[i].hash != hash || strcmp(x->slots[i].name, name)))
		i = (i + 1) & (x->cap - 1);
	return &x->slots[i];
}

static int grow(struct assay_name_index *x)
{
	struct assay_name_index bigger = { .n = x->n, .cap = x->cap ? 2 * x->cap : 64 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return ASSAY_ENOMEM;
	for (size_t i = 0; i < x->cap; i++)
		if (x->slots[i].name)
			*slot_of(&bigger, x->slots[i].name, x->slots[i].hash) = x->slots[i];
	free(x->slots);
	*x = bigger;
	return 0;
}

int assay_name_index_put(struct assay_name_index *x, const char *name, size_t number, size_t *at, bool *found,
			 struct assay_err *err)
{
	uint64_t hash = assay_hash64(name, strlen(name));
	struct assay_name_slot *s;

	if (2 * (x->n + 1) > x->cap && grow(x))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu names", x->n + 1);
	s = slot_of(x, name, hash);
	if (found)
		*found = s->name != NULL;
	if (!s->name) {
		s->name = strdup(name);
		if (!s->name)
			return assay_err_set(err, ASSAY_ENOMEM, "out of memory for %zu names", x->n + 1);
		s->hash = hash;
		s->number = number;
		x->n++;
	}
	*at = s->number;
	return 0;
}

bool assay_name_index_find(const struct assay_name_index *x, const char *name, size_t *at)
{
	const struct assay_name_slot *s = x->cap ? slot_of(x, name, assay_hash64(name, strlen(name))) : NULL;

	if (!s || !s->name)
		return false;
	*at = s->number;
	return true;
}

void assay_name_index_set(struct assay_name_index *x, const char *name, size_t number)
{
	struct assay_name_slot *s = slot_of(x, name, assay_hash64(name, strlen(name)));

	s->number = number;
}

void assay_name_index_release(struct assay_name_index *x)
{
	for (size_t i = 0; i < x->cap; i++)
		free(x->slots[i].name);
	free(x->slots);
	*x = (struct assay_name_index){ 0 };
}
