/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "drive/model/model.h"
#include "gguf/gguf.h"

/* Elements of an array, and bytes of a text, that are shown. */
#define SHOWN_ELEMENTS 4
#define SHOWN_BYTES    80

/* Bytes of a file may be anything: what shows them takes care of characters that are none. */
static void add_string(struct assay_text *t, struct assay_gguf_string s)
{
	assay_text_addn(t, s.s, s.len < SHOWN_BYTES ? s.len : SHOWN_BYTES);
	if (s.len > SHOWN_BYTES)
		assay_text_add(t, "...");
}

static void add_element(struct assay_text *t, const struct assay_gguf_value *v, uint64_t i, const uint8_t **at)
{
	if (v->kind == ASSAY_GGUF_STRING)
		add_string(t, assay_gguf_next_string(at));
	else if (v->kind == ASSAY_GGUF_BOOL)
		assay_text_add(t, assay_gguf_whole(v, i) ? "true" : "false");
	else if (v->kind == ASSAY_GGUF_F32 || v->kind == ASSAY_GGUF_F64)
		assay_text_addf(t, "%.9g", assay_gguf_number(v, i));
	else if (v->kind == ASSAY_GGUF_U64)
		assay_text_addf(t, "%" PRIu64, (uint64_t)assay_gguf_whole(v, i));
	else
		assay_text_addf(t, "%" PRId64, assay_gguf_whole(v, i));
}

static int add_value(struct assay_model_report *out, const struct assay_gguf_value *v, struct assay_err *err)
{
	struct assay_text key = { 0 }, t = { 0 };
	const uint8_t *at = v->at;

	if (assay_grow(&out->values, out->n_values, sizeof(*out->values)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	assay_text_addn(&key, v->key.s, v->key.len);
	assay_text_add(&t, "");
	for (uint64_t i = 0; i < v->n && i < SHOWN_ELEMENTS; i++) {
		assay_text_add(&t, i ? ", " : "");
		add_element(&t, v, i, &at);
	}
	if (v->n > SHOWN_ELEMENTS)
		assay_text_add(&t, ", ...");
	out->values[out->n_values++] = (struct assay_model_value){ .key = assay_text_take(&key),
								   .kind = assay_gguf_kind_name(v->kind),
								   .is_array = v->is_array,
								   .n = v->n,
								   .text = assay_text_take(&t) };
	return 0;
}

static int add_tensor(struct assay_model_report *out, const struct assay_gguf_tensor *v, struct assay_err *err)
{
	struct assay_model_tensor t = { .type = v->type->name, .rank = v->rank, .bytes = v->bytes };
	struct assay_text name = { 0 };
	uint64_t values = 1;

	if (assay_grow(&out->tensors, out->n_tensors, sizeof(*out->tensors)))
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	assay_text_addn(&name, v->name.s, v->name.len);
	t.name = assay_text_take(&name);
	for (uint32_t i = 0; i < v->rank; i++) {
		t.dims[i] = v->dims[i];
		values *= v->dims[i];
	}
	out->parameters += values;
	out->tensors[out->n_tensors++] = t;
	return 0;
}

bool assay_model_is_file(const char *model)
{
	const size_t n = strlen(model);

	return strchr(model, '/') || (n > 5 && !strcmp(model + n - 5, ".gguf"));
}

int assay_model_check(const char *path, struct assay_err *err)
{
	struct assay_reason why = { "" };
	struct assay_gguf g;

	if (assay_gguf_open(&g, path, &why))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read '%s': %s", path, why.text);
	assay_gguf_close(&g);
	return 0;
}

int assay_model_show(const char *path, struct assay_model_report *out, struct assay_err *err)
{
	struct assay_reason why = { "" };
	struct assay_gguf g;
	int rc = 0;

	*out = (struct assay_model_report){ .path = path };
	if (assay_gguf_open(&g, path, &why))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot read '%s': %s", path, why.text);
	out->version = g.version;
	out->bytes = g.size;
	for (size_t i = 0; i < g.n_values && !rc; i++)
		rc = add_value(out, &g.values[i], err);
	for (size_t i = 0; i < g.n_tensors && !rc; i++)
		rc = add_tensor(out, &g.tensors[i], err);
	assay_gguf_close(&g);
	return rc;
}
