/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts that become ids, and answers that become text, by the tokenizer of a file. */
#include "base/file.h"
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

/* Words are tokens of a trained vocabulary, and what it has not seen is text all the same. */
TEST(trained_vocabularies)
{
	static const char text[] = "the same words \xc3\xa9\xf0\x9f\x98\x80 in int main(void) {\n\treturn 1234;\n}\n";
	static const char *const names[] = { "gpt-2", "llama-bpe", "qwen2", "spm" };
	const char *path = in_folder("trained.gguf");

	for (size_t i = 0; i < N_OF(names); i++) {
		const struct assay_synth q = { .path = path,
					       .layers = 1,
					       .vocab_train = names[i],
					       .vocab = 2000 + i,
					       .seed = i,
					       .replace = true };
		struct assay_err err = { 0 };
		struct assay_text back = { 0 };
		struct assay_model_text t;
		char wrote[256];
		int32_t *ids;
		size_t n;

		assert_int_equal(assay_model_synth(&q, wrote, sizeof(wrote), &err), 0);
		assay_model_text_open(&t, path);
		assert_string_equal(t.absent.text, "");
		assert_int_equal(t.vocab.v.n_tokens, q.vocab);
		assert_int_equal(assay_model_text_encode(&t, text, false, &ids, &n, &err), 0);
		assert_true(n < strlen(text) * 2 / 3);
		assay_model_text_begin(&t);
		for (size_t k = 0; k < n; k++)
			assay_model_text_add(&t, ids[k], NULL, 0);
		assay_model_text_take(&t, NULL, 0, true, &back);
		assert_string_equal(back.s + (back.s[0] == ' '), text);
		assay_text_release(&back);
		free(ids);
		assay_model_text_close(&t);
	}
}

TEST(vocabularies_that_cannot_be_trained)
{
	static const struct {
		struct assay_synth q;
		const char *why;
	} cases[] = {
		{ { .vocab_train = "gpt2" }, "unknown vocabulary 'gpt2': expected gpt-2, llama-bpe, qwen2 or spm" },
		{ { .vocab_train = "spm", .vocab = 258 },
		  "cannot train a vocabulary of 258 tokens: expected 259 or more" },
		{ { .vocab_train = "gpt-2", .vocab = 1 << 20 },
		  "cannot train a vocabulary of 1048576 tokens: the text has pairs for " },
		{ { .vocab_train = "spm", .vocab_from = "none" },
		  "--vocab-from takes the vocabulary of a file as it is: leave out --vocab-train" },
		{ { .vocab = 300, .vocab_from = "none" },
		  "--vocab-from takes the vocabulary of a file as it is: leave out --vocab" },
	};

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct assay_synth q = cases[i].q;
		struct assay_err err = { 0 };
		char wrote[256];

		q.path = in_folder("none.gguf");
		assert_int_equal(assay_model_synth(&q, wrote, sizeof(wrote), &err), ASSAY_EUSAGE);
		assert_memory_equal(err.text, cases[i].why, strlen(cases[i].why));
		assert_false(assay_file_exists(q.path));
	}
}

UNIT_GROUP(folder_make, folder_remove)
