/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's libraries, opened when a case first needs them, so that the plugin needs none. */
#ifndef CUDA_LIBRARY_H
#define CUDA_LIBRARY_H

#include <stddef.h>

#include "assay/plugin.h"

/* A function of a library, and where its address goes in the caller's struct. */
struct cuda_symbol {
	const char *name;
	size_t at;
};

struct cuda_library {
	const char *title;                 /* "cuBLAS" */
	const char *const *files;          /* the newest first, NULL ends it */
	const struct cuda_symbol *symbols; /* a name of NULL ends it */
};

/*
 * Open the first file that is there and find the symbols in it. The handle for dlclose(); NULL with the reason. What
 * was opened stays loaded, so that the many shapes of a suite pay for loading once.
 */
void *assay_cuda_library_open(const struct cuda_library *library, void *functions, struct assay_reason *why);

#endif
