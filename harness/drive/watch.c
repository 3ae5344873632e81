/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/watch.h"

#include <stdarg.h>
#include <stdio.h>

void assay_watch_tell(const struct assay_watch *w, const struct assay_event *e)
{
	if (w->event)
		w->event(w->arg, e);
}

void assay_watch_warn(const struct assay_watch *w, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	assay_watch_tell(w, &(struct assay_event){ .kind = ASSAY_EVENT_WARNING, .text = text });
}

int assay_watch_check(const struct assay_watch *w, struct assay_err *err)
{
	return w->interrupted && *w->interrupted ? assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted") : 0;
}
