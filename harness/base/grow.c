/* SPDX-License-Identifier: Apache-2.0 */
/* The room that there is follows from the number of elements and needs no member of its own. */
#include "base/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

int assay_grow(void *v, size_t n, size_t size)
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
