/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes and the one-line message that goes with them. Must not print or exit. */
#ifndef ASSAY_BASE_ERR_H
#define ASSAY_BASE_ERR_H

#include <stdarg.h>

/* name, value, text; functions return 0 or one of these. */
#define ASSAY_ERRORS(X)                                                                                                \
	X(EUSAGE, -1, "bad usage or configuration")                                                                    \
	X(ENOMEM, -2, "out of memory")                                                                                 \
	X(EIO, -3, "input/output error")                                                                               \
	X(EPLUGIN, -4, "bad plugin")                                                                                   \
	X(EABI, -5, "plugin of another ABI version")                                                                   \
	X(EWORKER, -6, "worker failed")                                                                                \
	X(ESTORE, -7, "database error")                                                                                \
	X(ENOTFOUND, -8, "not found")                                                                                  \
	X(EUNAVAILABLE, -9, "not available on this machine")                                                           \
	X(ELIMIT, -10, "over a limit")                                                                                 \
	X(EINTERRUPTED, -11, "interrupted")                                                                            \
	X(EINTERNAL, -12, "internal error")                                                                            \
	X(EWRONG, -13, "wrong result")                                                                                 \
	X(ENOSPACE, -14, "no space is left on a disk")

enum assay_error {
#define X(name, value, text) ASSAY_##name = (value),
	ASSAY_ERRORS(X)
#undef X
};

/*
 * Why something failed, written once where the fact is known: failure first, subject in quotes, lower case, no full
 * stop.
 */
struct assay_err {
	int code; /* enum assay_error, 0 while nothing failed */
	char text[512];
};

/* Fill @err (which may be NULL) and return @code. */
int assay_err_set(struct assay_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int assay_err_setv(struct assay_err *err, int code, const char *fmt, va_list ap);

/* Put "context: " before the text that is there; returns err->code. */
int assay_err_prefix(struct assay_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "input/output error"; unknown codes have a text too. */
const char *assay_error_text(int code);

/* ASSAY_ENOSPACE where the errno @os says that a disk or a quota is full, else @otherwise. */
int assay_error_of_errno(int os, int otherwise);

#endif
