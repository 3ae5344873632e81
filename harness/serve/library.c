/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/library.h"

#include <dlfcn.h>
#include <stddef.h>

struct assay_http_library assay_mhd;

int assay_http_library_load(struct assay_err *err)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
#define CALL(call) { "MHD_" #call, offsetof(struct assay_http_library, call) },
		ASSAY_HTTP_CALLS(CALL)
#undef CALL
	};
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW);

	if (!library)
		return assay_err_set(
			err, ASSAY_EUNAVAILABLE,
			"there is no 'libmicrohttpd.so.12': install libmicrohttpd12, or libmicrohttpd-dev, "
			"which needs it");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void **to = (void **)(void *)((char *)&assay_mhd + calls[i].at);

		*to = dlsym(library, calls[i].name);
		if (!*to)
			return assay_err_set(err, ASSAY_EUNAVAILABLE, "the libmicrohttpd.so.12 here has no %s()",
					     calls[i].name);
	}
	return 0;
}
