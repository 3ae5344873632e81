/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX lets a function travel as a pointer to data; C does not, so its bits are copied. */
#include "cuda_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *open_first(const struct cuda_library *library, const char **file)
{
	void *dl = NULL;

	for (size_t i = 0; library->files[i] && !dl; i++) {
		*file = library->files[i];
		dl = dlopen(*file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	}
	return dl;
}

void *assay_cuda_library_open(const struct cuda_library *library, void *functions, struct assay_reason *why)
{
	const char *file = NULL;
	void *dl = open_first(library, &file);

	if (!dl) {
		snprintf(why->text, sizeof(why->text), "%s is missing, install NVIDIA's cuBLAS", library->files[0]);
		return NULL;
	}
	for (const struct cuda_symbol *s = library->symbols; s->name; s++) {
		void *symbol = dlsym(dl, s->name);

		if (!symbol) {
			snprintf(why->text, sizeof(why->text), "%s lacks %s: install a newer %s", file, s->name,
				 library->title);
			dlclose(dl);
			return NULL;
		}
		memcpy((char *)functions + s->at, &symbol, sizeof(symbol));
	}
	return dl;
}
