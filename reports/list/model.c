/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of a model, as text and for scripts: {"schema":1,"path","version","bytes","parameters","metadata":[{"key",
 * "kind","array","n","value"}],"tensors":[{"name","type","shape":[],"bytes"}]}, where a value is its first elements.
 */
#include <inttypes.h>
#include <stdio.h>

#include "model/quantity.h"
#include "reports/columns.h"
#include "reports/emitter.h"
#include "reports/json_parts.h"

static void shape_text(const struct assay_model_tensor *t, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < t->rank && n < size; i++)
		n += (size_t)snprintf(buf + n, size - n, "%s%" PRIu64, i ? " x " : "", t->dims[i]);
}

/* One line, whatever bytes the file has. */
static void one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			*s = ' ';
}

static void model_text(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_model_report *r = report->model;
	struct assay_columns values = { .align = "lll", .width = style->width },
			     tensors = { .align = "llrr", .width = style->width };
	char text[512], bytes[64], kind[64];

	assay_metric_text("bytes", (double)r->bytes, "B", style->utf8, bytes, sizeof(bytes));
	assay_text_addf(out, "'%s': GGUF version %" PRIu32 ", %s, %" PRIu64 " parameters in %zu tensors\n\n", r->path,
			r->version, bytes, r->parameters, r->n_tensors);
	assay_columns_row(&values, (const char *const[]){ "key", "kind", "value" });
	for (size_t i = 0; i < r->n_values; i++) {
		const struct assay_model_value *v = &r->values[i];

		snprintf(kind, sizeof(kind), v->is_array ? "%s[%" PRIu64 "]" : "%s", v->kind, v->n);
		snprintf(text, sizeof(text), "%s", v->text ? v->text : "");
		one_line(text);
		assay_columns_tail(&values, (const char *const[]){ v->key, kind }, 2, text);
	}
	assay_columns_print(&values, out);
	assay_text_add(out, "\n");
	assay_columns_row(&tensors, (const char *const[]){ "tensor", "type", "shape", "bytes" });
	for (size_t i = 0; i < r->n_tensors; i++) {
		shape_text(&r->tensors[i], text, sizeof(text));
		snprintf(bytes, sizeof(bytes), "%" PRIu64, r->tensors[i].bytes);
		assay_columns_row(&tensors,
				  (const char *const[]){ r->tensors[i].name, r->tensors[i].type, text, bytes });
	}
	assay_columns_print(&tensors, out);
	assay_columns_release(&values);
	assay_columns_release(&tensors);
}

static json_t *shape_json(const struct assay_model_tensor *t)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < t->rank; i++)
		json_array_append_new(a, assay_json_u64(t->dims[i]));
	return a;
}

static void model_json(const struct assay_report *report, const struct assay_emit_style *style, struct assay_text *out)
{
	const struct assay_model_report *r = report->model;
	json_t *values = json_array(), *tensors = json_array();

	(void)style;
	for (size_t i = 0; i < r->n_values; i++) {
		const struct assay_model_value *v = &r->values[i];

		json_array_append_new(values, json_pack("{s:o,s:s,s:b,s:o,s:o}", "key", assay_json_text(v->key), "kind",
							v->kind, "array", v->is_array, "n", assay_json_u64(v->n),
							"value", assay_json_text(v->text)));
	}
	for (size_t i = 0; i < r->n_tensors; i++)
		json_array_append_new(tensors,
				      json_pack("{s:o,s:s,s:o,s:o}", "name", assay_json_text(r->tensors[i].name),
						"type", r->tensors[i].type, "shape", shape_json(&r->tensors[i]),
						"bytes", assay_json_u64(r->tensors[i].bytes)));
	assay_json_print(json_pack("{s:i,s:o,s:i,s:o,s:o,s:o,s:o}", "schema", 1, "path", assay_json_text(r->path),
				   "version", (int)r->version, "bytes", assay_json_u64(r->bytes), "parameters",
				   assay_json_u64(r->parameters), "metadata", values, "tensors", tensors),
			 out);
}

ASSAY_EMITTER(model_text, ASSAY_REPORT_MODEL, "text", model_text);
ASSAY_EMITTER(model_json, ASSAY_REPORT_MODEL, "json", model_json);
