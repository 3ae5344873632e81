/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd, loaded when a server starts: it brings a library for encryption and ten more with it, which would make
 * every other command start later and take four megabytes.
 */
#ifndef ASSAY_SERVE_LIBRARY_H
#define ASSAY_SERVE_LIBRARY_H

#include <microhttpd.h>

#include "base/err.h"

#define ASSAY_HTTP_CALLS(CALL)                                                                                         \
	CALL(add_response_header)                                                                                      \
	CALL(create_response_from_buffer)                                                                              \
	CALL(create_response_from_callback)                                                                            \
	CALL(destroy_response)                                                                                         \
	CALL(lookup_connection_value)                                                                                  \
	CALL(queue_response)                                                                                           \
	CALL(start_daemon)                                                                                             \
	CALL(stop_daemon)

/* The functions MHD_NAME, once the library is loaded. */
struct assay_http_library {
#define CALL(name) __typeof__(MHD_##name) *name;
	ASSAY_HTTP_CALLS(CALL)
#undef CALL
};
extern struct assay_http_library assay_mhd;

/* ASSAY_EUNAVAILABLE with the package that has it. */
int assay_http_library_load(struct assay_err *err);

#endif
