/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by one element at a time. */
#ifndef ASSAY_BASE_GROW_H
#define ASSAY_BASE_GROW_H

#include <stddef.h>

/*
 * Let the array *@v of @n elements of @size have room for one more. It doubles, so that all of it is copied only now
 * and then; it must have grown by this alone. 0, or ASSAY_ENOMEM and nothing changed.
 */
int assay_grow(void *v, size_t n, size_t size);

#endif
