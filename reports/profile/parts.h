/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that all emitters of profiles share. */
#ifndef ASSAY_REPORTS_PROFILE_PARTS_H
#define ASSAY_REPORTS_PROFILE_PARTS_H

#include <jansson.h>

#include "base/text.h"
#include "model/profile_diff.h"
#include "model/profile.h"
#include "reports/columns.h"
#include "reports/emitter.h"

/* The name of a frame: where it has none that of its object, "libc.so.6", or "[unknown]". */
const char *assay_profile_name(const char *name, const char *object);
/* "CPU profile of KEY". */
void assay_profile_title(const struct assay_profile *p, struct assay_text *out);
/* "'before' (KEY)", "profile 3 (KEY)". */
void assay_profile_label(const struct assay_profile *p, struct assay_text *out);
/* "+1.9 µs" of a change in the unit of a difference. */
void assay_profile_change_text(const struct assay_profile_diff *d, double change, bool utf8, char *buf, size_t size);
/* Append the table as @style has it, and release it. */
void assay_profile_put_table(struct assay_columns *t, const struct assay_emit_style *style, struct assay_text *out);
/* A line of text, without its end; in HTML a paragraph. */
__attribute__((format(printf, 3, 4))) void assay_profile_put_line(const struct assay_emit_style *style,
								  struct assay_text *out, const char *fmt, ...);
/* All tables of a profile or of a difference, without the picture. */
void assay_profile_tables(const struct assay_report_profile *r, const struct assay_emit_style *style,
			  struct assay_text *out);
void assay_profile_diff_tables(const struct assay_profile_diff *d, const struct assay_emit_style *style,
			       struct assay_text *out);
/* The bottleneck of the case, with advice and the run that shows it. */
void assay_profile_put_bottleneck(const struct assay_report_profile *r, const struct assay_emit_style *style,
				  struct assay_text *out);
/* A profile of the heap: its totals and call sites. */
void assay_profile_heap_text(const struct assay_profile *p, const struct assay_emit_style *style,
			     struct assay_text *out);
json_t *assay_profile_heap_json(const struct assay_profile *p);
/* A profile of GPUs: what each used, its kernels and copies. */
void assay_profile_gpu_text(const struct assay_profile *p, const struct assay_emit_style *style,
			    struct assay_text *out);
json_t *assay_profile_gpu_json(const struct assay_profile *p);
/* "parse (parse.c:12) < load < main": the innermost frames of @s, without the outermost @labels. */
void assay_profile_where(const struct assay_profile *p, const struct assay_stack *s, uint32_t labels,
			 struct assay_text *out);
/* All of them, the innermost first. */
json_t *assay_profile_stack_json(const struct assay_profile *p, const struct assay_stack *s, uint32_t labels);
/* A profile of threads: their states and what they wait for; as a picture, over time. */
void assay_profile_threads_text(const struct assay_profile *p, const struct assay_emit_style *style,
				struct assay_text *out);
void assay_profile_threads_svg(const struct assay_profile *p, bool in_page, struct assay_text *out);
/* Add to the object of a profile what only this kind has. */
void assay_profile_threads_json(const struct assay_profile *p, json_t *root);
/* The same of a trace. */
void assay_profile_trace_text(const struct assay_profile *p, const struct assay_emit_style *style,
			      struct assay_text *out);
void assay_profile_trace_json(const struct assay_profile *p, json_t *root);
/* "matmul.c:12-40", "matmul.c:12"; "" where nothing is known. */
void assay_profile_place(const char *file, unsigned line, unsigned last_line, char *buf, size_t size);

#endif
