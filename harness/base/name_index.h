/* SPDX-License-Identifier: Apache-2.0 */
/* Names to numbers, for lists that would otherwise be searched from their beginning for every element. */
#ifndef ASSAY_BASE_NAME_INDEX_H
#define ASSAY_BASE_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct assay_name_slot;

/* All-zero is empty. It keeps copies of the names. */
struct assay_name_index {
	struct assay_name_slot *slots;
	size_t n, cap;
};

/*
 * Put the number of @name into *@at. A name that is there keeps its number; another gets @number. *@found (which may be
 * NULL) says whether it was there. ASSAY_ENOMEM.
 */
int assay_name_index_put(struct assay_name_index *x, const char *name, size_t number, size_t *at, bool *found,
			 struct assay_err *err);
/* False where there is no such name. */
bool assay_name_index_find(const struct assay_name_index *x, const char *name, size_t *at);
/* Give @name, which must be there, another number. */
void assay_name_index_set(struct assay_name_index *x, const char *name, size_t number);
void assay_name_index_release(struct assay_name_index *x);

#endif
