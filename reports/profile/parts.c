/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/profile/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/quantity.h"
#include "reports/json_parts.h"
#include "reports/text_parts.h"

#define CALLERS 3 /* of a row */

const char *assay_profile_name(const char *name, const char *object)
{
	return name[0] ? name : object[0] ? object : "[unknown]";
}

void assay_profile_title(const struct assay_profile *p, struct assay_text *out)
{
	assay_text_addf(out, "%s profile of %s",
			!strcmp(p->kind, "cpu")   ? "CPU"
			: !strcmp(p->kind, "gpu") ? "GPU"
						  : p->kind,
			p->what);
}

void assay_profile_label(const struct assay_profile *p, struct assay_text *out)
{
	if (p->name[0])
		assay_text_addf(out, "'%s'", p->name);
	else
		assay_text_addf(out, "profile %" PRId64, p->id);
	assay_text_addf(out, " (%s)", p->what);
}

void assay_profile_change_text(const struct assay_profile_diff *d, double change, bool utf8, char *buf, size_t size)
{
	char text[40];

	if (!strcmp(d->unit, "ns"))
		assay_quantity_text(fabs(change) * 1e-9, "s", utf8, text, sizeof(text));
	else
		assay_quantity_text(fabs(change), strcmp(d->unit, "bytes") ? "1" : "B", utf8, text, sizeof(text));
	snprintf(buf, size, "%s%s", change < 0 ? "-" : "+", text);
}

/* Frame @up of a stack, 0 being the innermost. */
static const struct assay_frame *frame(const struct assay_profile *p, const struct assay_stack *s, uint32_t up)
{
	return &p->stacks.frames[p->stacks.order[s->first + s->n - 1 - up]];
}

void assay_profile_where(const struct assay_profile *p, const struct assay_stack *s, uint32_t labels,
			 struct assay_text *out)
{
	const uint32_t n = s->n > labels ? s->n - labels : 0;

	for (uint32_t i = 0; i < n && i <= CALLERS; i++) {
		const struct assay_frame *f = frame(p, s, i);

		assay_text_addf(out, "%s%s", i ? " < " : "", assay_profile_name(f->name, f->object));
		if (f->line)
			assay_text_addf(out, " (%s:%u)", f->file, f->line);
		else if (!i && f->name[0] && f->object[0])
			assay_text_addf(out, " (%s)", f->object);
	}
	assay_text_add(out, n > CALLERS + 1 ? " < .." : "");
}

json_t *assay_profile_stack_json(const struct assay_profile *p, const struct assay_stack *s, uint32_t labels)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i + labels < s->n; i++) {
		const struct assay_frame *f = frame(p, s, i);

		json_array_append_new(list, json_pack("{s:o,s:o,s:o,s:o,s:b}", "function",
						      assay_json_text(assay_profile_name(f->name, f->object)), "object",
						      assay_json_text(f->object), "file", assay_json_text(f->file),
						      "line", f->line ? json_integer((json_int_t)f->line) : json_null(),
						      "inlined", f->kind == ASSAY_FRAME_INLINED));
	}
	return list;
}

void assay_profile_place(const char *file, unsigned line, unsigned last_line, char *buf, size_t size)
{
	if (!line)
		buf[0] = '\0';
	else if (last_line > line)
		snprintf(buf, size, "%s:%u-%u", file, line, last_line);
	else
		snprintf(buf, size, "%s:%u", file, line);
}

void assay_profile_put_table(struct assay_columns *t, const struct assay_emit_style *style, struct assay_text *out)
{
	if (style->html)
		assay_columns_html(t, out);
	else
		assay_columns_print(t, out);
	assay_columns_release(t);
}

void assay_profile_put_line(const struct assay_emit_style *style, struct assay_text *out, const char *fmt, ...)
{
	char line[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	assay_text_add(out, style->html ? "<p>" : "");
	if (style->html)
		assay_xml_add(out, line);
	else
		assay_text_add(out, line);
	assay_text_add(out, style->html ? "</p>\n" : "\n");
}

void assay_profile_put_bottleneck(const struct assay_report_profile *r, const struct assay_emit_style *style,
				  struct assay_text *out)
{
	const struct assay_bottleneck *b = r->bottleneck;
	char gain[96];

	assay_profile_put_line(style, out, "bound by %s, by run %" PRId64 ": %s", assay_bound_by_name(b->bound), r->run,
			       b->evidence);
	for (size_t i = 0; i < b->n_advice; i++) {
		assay_advice_gain_text(&b->advice[i], gain, sizeof(gain));
		assay_profile_put_line(style, out, "  %zu. %s: %s (%s%s)", i + 1, b->advice[i].rule, b->advice[i].text,
				       b->advice[i].evidence, gain);
	}
	if (b->missing[0] && style->verbose)
		assay_profile_put_line(style, out, "  not measured: %s", b->missing);
}
