/* SPDX-License-Identifier: Apache-2.0 */
/* Reports as text, for tests of emitters. */
#ifndef ASSAY_TESTS_EMIT_FIXTURE_H
#define ASSAY_TESTS_EMIT_FIXTURE_H

#include "unit.h"
#include "reports/columns.h"
#include "reports/emitter.h"

/* The last eight texts stay valid; @style may be NULL. */
static inline char *emit(const struct assay_report *r, const char *format, const struct assay_emit_style *style)
{
	static char *last[8];
	static size_t n;
	struct assay_text out = { 0 };
	struct assay_err err = { 0 };
	char **text = &last[n++ % N_OF(last)];

	if (assay_emit(r, format, style, &out, &err))
		fail_msg("%s: %s", format, err.text);
	free(*text);
	*text = assay_text_take(&out);
	return *text;
}

static inline char *emit_run(const struct assay_run *run, const char *format, const struct assay_emit_style *style)
{
	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_RUN, .run = { .run = run } }, format, style);
}

static inline char *emit_gate(const struct assay_gate_report *r, const char *format,
			      const struct assay_emit_style *style)
{
	return emit(&(struct assay_report){ .kind = ASSAY_REPORT_GATE, .gate = { .gate = r } }, format, style);
}

/* Is there a line that begins with @start and holds @part? */
static inline bool has_line(const char *text, const char *start, const char *part)
{
	for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL) {
		size_t len = strcspn(p, "\n");
		char line[512];

		if (len >= sizeof(line))
			continue;
		memcpy(line, p, len);
		line[len] = '\0';
		if (!strncmp(line, start, strlen(start)) && strstr(line, part))
			return true;
	}
	return false;
}

static inline void has_no_wider_line(const char *text, size_t width)
{
	for (const char *p = text; *p;) {
		size_t len = strcspn(p, "\n");
		char line[512];
		size_t n = 0;

		assert_true(len < sizeof(line));
		for (size_t i = 0; i < len; i++)
			if (p[i] == '\033') /* colours take no room */
				i += strcspn(p + i, "m");
			else
				line[n++] = p[i];
		line[n] = '\0';
		if (assay_columns_width(line) > width)
			fail_msg("%zu columns of %zu: %s", assay_columns_width(line), width, line);
		p += len + (p[len] == '\n');
	}
}

static inline size_t times(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *p = strstr(text, part); p; p = strstr(p + 1, part))
		n++;
	return n;
}

static inline void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in:\n%s", part, text);
}

#endif
