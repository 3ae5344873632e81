/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes and messages. Must not print or exit. */
#include "err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int assay_err_setv(struct assay_err *err, int code, const char *fmt, va_list ap)
{
	if (err) {
		err->code = code;
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
	}
	return code;
}

int assay_err_set(struct assay_err *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	assay_err_setv(err, code, fmt, ap);
	va_end(ap);
	return code;
}

int assay_err_prefix(struct assay_err *err, const char *fmt, ...)
{
	char head[sizeof(err->text)];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);

	n = strlen(head);
	if (n + 2 < sizeof(err->text)) {
		size_t room = sizeof(err->text) - n - 3;
		size_t len = strlen(err->text);

		if (len > room)
			len = room;
		memmove(err->text + n + 2, err->text, len);
		err->text[n + 2 + len] = '\0';
		memcpy(err->text, head, n);
		memcpy(err->text + n, ": ", 2);
	}
	return err->code;
}

const char *assay_error_text(int code)
{
	switch (code) {
#define X(name, value, text)                                                                                           \
	case value:                                                                                                    \
		return text;
		ASSAY_ERRORS(X)
#undef X
	default:
		return code ? "unknown error" : "no error";
	}
}

int assay_error_of_errno(int os, int otherwise)
{
	return os == ENOSPC || os == EDQUOT ? ASSAY_ENOSPACE : otherwise;
}
