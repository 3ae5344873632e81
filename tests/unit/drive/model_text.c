/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts that become ids, and answers that become text, by the tokenizer of a file. */
#include "drive/generate/text.h"
#include "drive/model/model.h"
#include "folder_fixture.h"
#include "gguf/writer.h"

/* Of the vocabulary of 'assay model synth'. */
enum { BOS = 1, EOS = 2, BYTE = 3 };
#define BAD "\xef\xbf\xbd"

static void open_synthetic(struct assay_model_text *t)
{
	struct assay_err err = { 0 };
	char wrote[256];

	assert_int_equal(assay_model_synth(&(struct assay_synth){ .path = in_folder("m.gguf"), .layers = 1 }, wrote,
					   sizeof(wrote), &err),
			 0);
	assay_model_text_open(t, in_folder("m.gguf"));
	assert_string_equal(t->absent.text, "");
}

/* After each token the text that is certain; "$" is where the answer ends. */
TEST(answers)
{
	static const struct {
		const char *stops[2];
		int32_t ids[8];
		const char *want;
	} cases[] = {
		{ { NULL }, { 300, 301 }, " w300| w301|" },
		{ { NULL }, { BYTE + 0xc3, BYTE + 0xa9, BYTE + 'x' }, "|\xc3\xa9|x|" },
		{ { NULL }, { BYTE + 0xf0, BYTE + 0x9f, BYTE + 0x98, BYTE + 0x80 }, "|||\xf0\x9f\x98\x80|" },
		{ { NULL }, { BYTE + 'a', BYTE + 0xff, BYTE + 0xc3, BYTE + 'b' }, "a|" BAD "||" BAD "b|" },
		{ { NULL }, { BYTE + 'a', BYTE, BYTE + 0xe2 }, "a|" BAD "||" BAD },
		{ { NULL }, { BYTE + 'a', BOS, BYTE + 'b' }, "a||b|" },
		{ { NULL }, { BYTE + 'a', EOS, BYTE + 'b' }, "a|$" },
		{ { "ab" }, { BYTE + 'a', BYTE + 'x', BYTE + 'a', BYTE + 'b', BYTE + 'c' }, "|ax||$" },
		{ { "aab" }, { BYTE + 'a', BYTE + 'a', BYTE + 'a', BYTE + 'b' }, "||a|$" },
		{ { "0 w3" }, { 310, 311, 312 }, " w31|$" },
		{ { " w301" }, { 300, 301 }, " w300|$" },
	};
	struct assay_model_text t;

	open_synthetic(&t);
	for (size_t i = 0; i < N_OF(cases); i++) {
		const uint32_t n_stops = (cases[i].stops[0] != NULL) + (cases[i].stops[1] != NULL);
		struct assay_text got = { 0 };
		bool ends = false;

		assay_model_text_begin(&t);
		for (size_t k = 0; k < N_OF(cases[i].ids) && cases[i].ids[k] && !ends; k++) {
			ends = assay_model_text_add(&t, cases[i].ids[k], cases[i].stops, n_stops);
			assay_model_text_take(&t, cases[i].stops, n_stops, ends, &got);
			assay_text_add(&got, ends ? "$" : "|");
		}
		if (!ends)
			assay_model_text_take(&t, cases[i].stops, n_stops, true, &got);
		assert_string_equal(got.s, cases[i].want);
		assay_text_release(&got);
	}
	assay_model_text_close(&t);
}

TEST(a_file_whose_ids_would_be_a_guess_takes_no_text)
{
	const char *path = in_folder("bpe.gguf");
	struct assay_gguf_writer w;
	struct assay_model_text t;
	struct assay_err err = { 0 };
	FILE *f = fopen(path, "w");
	int32_t *ids;
	size_t n;

	assert_non_null(f);
	assay_gguf_write_begin(&w, f);
	assay_gguf_write_text(&w, "tokenizer.ggml.model", "gpt2");
	assert_int_equal(assay_gguf_write_end(&w), 0);
	fclose(f);
	assay_model_text_open(&t, path);
	assert_int_equal(assay_model_text_encode(&t, "a", false, &ids, &n, &err), ASSAY_EUSAGE);
	assert_string_equal(err.text, "the model takes no text, only ids: the file does not name its pre-tokenizer "
				      "(tokenizer.ggml.pre), without which its ids would be a guess");
	assay_model_text_close(&t);
}

UNIT_GROUP(folder_make, folder_remove)
