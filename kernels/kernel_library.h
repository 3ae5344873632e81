/* SPDX-License-Identifier: Apache-2.0 */
/* For variants that call a shared library which is found at run time. */
#ifndef KERNEL_LIBRARY_H
#define KERNEL_LIBRARY_H

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* POSIX lets a function travel as a pointer to data; C does not, so the bits are copied to @function. */
static inline bool kernel_library_find(void *dl, const char *name, void *function)
{
	void *symbol = dlsym(dl, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol;
}

#endif
