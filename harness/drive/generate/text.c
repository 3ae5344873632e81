/* SPDX-License-Identifier: Apache-2.0 */
#include "drive/generate/text.h"

#include <stdlib.h>
#include <string.h>

#include "assay/unicode_classes.h"

void assay_model_text_open(struct assay_model_text *t, const char *path)
{
	struct assay_gguf g;

	*t = (struct assay_model_text){ .n_held = 0 };
	if (assay_gguf_open(&g, path, &t->absent))
		return;
	if (!assay_vocab_read(&t->vocab, &g, &t->absent) &&
	    assay_tokenizer_init(&t->tokenizer, &t->vocab.v, &t->absent))
		assay_vocab_release(&t->vocab);
	assay_gguf_close(&g);
}

void assay_model_text_close(struct assay_model_text *t)
{
	assay_tokenizer_release(&t->tokenizer);
	assay_vocab_release(&t->vocab);
	free(t->held);
	*t = (struct assay_model_text){ .n_held = 0 };
}

int assay_model_text_encode(struct assay_model_text *t, const char *text, bool special, int32_t **ids, size_t *n,
			    struct assay_err *err)
{
	const struct assay_vocab *v = &t->vocab.v;
	const size_t len = strlen(text), first = v->add_bos;
	int64_t found = -1;
	int32_t *all;

	if (t->absent.text[0])
		return assay_err_set(err, ASSAY_EUSAGE, "the model takes no text, only ids: %s", t->absent.text);
	if (len >= 1u << 29)
		return assay_err_set(err, ASSAY_EUSAGE, "a prompt of %zu bytes is too long", len);
	all = malloc((first + (size_t)assay_tokenizer_most_ids(v->model, (int64_t)len) + 1) * sizeof(*all));
	if (all)
		found = assay_tokenizer_encode(&t->tokenizer, text, (int64_t)len, special, all + first);
	if (found < 0) {
		free(all);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for a prompt");
	}
	if (first)
		all[0] = v->bos;
	*ids = all;
	*n = first + (size_t)found;
	return 0;
}

void assay_model_text_begin(struct assay_model_text *t)
{
	t->n_held = 0;
	t->short_of_memory = false;
}

bool assay_model_text_add(struct assay_model_text *t, int32_t id, const char *const *stops, uint32_t n_stops)
{
	const int64_t more = assay_tokenizer_next(&t->tokenizer, id, NULL, 0);
	size_t end;

	if (assay_vocab_ends(&t->vocab.v, id))
		return true;
	if (more <= 0)
		return false;
	if (t->n_held + (size_t)more > t->room) {
		const size_t room = 2 * (t->n_held + (size_t)more);
		uint8_t *held = realloc(t->held, room);

		t->short_of_memory |= !held;
		if (!held)
			return true;
		t->held = held;
		t->room = room;
	}
	assay_tokenizer_next(&t->tokenizer, id, t->held + t->n_held, more);
	end = t->n_held += (size_t)more;
	for (uint32_t i = 0; i < n_stops; i++) {
		const uint8_t *at = memmem(t->held, t->n_held, stops[i], strlen(stops[i]));

		if (at && (size_t)(at - t->held) < end)
			end = (size_t)(at - t->held);
	}
	if (end == t->n_held)
		return false;
	t->n_held = end;
	return true;
}

/* Bytes at the end that are the beginning of a character. */
static size_t unfinished(const uint8_t *s, size_t n)
{
	for (size_t k = 1; k <= 3 && k <= n; k++) {
		const uint8_t c = s[n - k];

		if ((c & 0xc0) != 0x80)
			return (c >= 0xf0 && c < 0xf5 && k < 4) || (c >= 0xe0 && c < 0xf0 && k < 3) ||
					       (c >= 0xc2 && c < 0xe0 && k < 2)
				       ? k
				       : 0;
	}
	return 0;
}

/* Bytes at the end that may be the beginning of @stop. */
static size_t begun(const uint8_t *s, size_t n, const char *stop)
{
	for (size_t k = strlen(stop) - 1; k; k--)
		if (k <= n && !memcmp(s + n - k, stop, k))
			return k;
	return 0;
}

void assay_model_text_take(struct assay_model_text *t, const char *const *stops, uint32_t n_stops, bool last,
			   struct assay_text *out)
{
	size_t keep = last ? 0 : unfinished(t->held, t->n_held), n;

	for (uint32_t i = 0; i < n_stops && !last; i++) {
		const size_t k = begun(t->held, t->n_held, stops[i]);

		keep = k > keep ? k : keep;
	}
	n = t->n_held - keep;
	for (size_t at = 0; at < n;) {
		int64_t len;
		const uint32_t c = assay_utf8(t->held + at, (int64_t)(n - at), &len);

		assay_code_point_add(out, c && c < ASSAY_UNICODE_LIMIT ? c : ASSAY_CODE_POINT_BAD);
		at += (size_t)len;
	}
	memmove(t->held, t->held + n, keep);
	t->n_held = keep;
}
