/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by one element at a time. */
#ifndef ASSAY_BASE_GROW_H
#define ASSAY_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

/*
 * Let the array *@v of @n elements of @size have room for one more. It doubles, so that all of it is copied only now
 * and then; it must have grown by this alone, as its room follows from @n. 0, or ASSAY_ENOMEM and nothing changed.
 */
static inline int assay_grow(void *v, size_t n, size_t size)
{
	void *old, *bigger;

	/* full at 0 and at every power of two */
	if (n & (n - 1))
		return 0;
	memcpy(&old, v, sizeof(old));
	bigger = n > SIZE_MAX / 2 / size ? NULL : realloc(old, (n ? 2 * n : 1) * size);
	if (!bigger)
		return ASSAY_ENOMEM;
	memcpy(v, &bigger, sizeof(bigger));
	return 0;
}

#endif
