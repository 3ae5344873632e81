/* SPDX-License-Identifier: Apache-2.0 */
/* assay model: files of models. */
#include <string.h>

#include "cli/cli.h"
#include "cli/command.h"
#include "drive/model/model.h"

enum verb { VERB_NONE, VERB_SHOW, VERB_SYNTH };

struct model_args {
	struct assay_settings s;
	enum verb verb;
	const char *path;
	struct assay_synth synth;
};

static int set_argument(void *args, const char *arg, struct assay_err *err)
{
	struct model_args *a = args;

	if (a->verb == VERB_NONE) {
		a->verb = !strcmp(arg, "show") ? VERB_SHOW : !strcmp(arg, "synth") ? VERB_SYNTH : VERB_NONE;
		return a->verb ? 0
			       : assay_err_set(err, ASSAY_EUSAGE, "unknown action '%s': expected show or synth", arg);
	}
	if (a->path)
		return assay_err_set(err, ASSAY_EUSAGE, "unexpected argument '%s': one file is named", arg);
	a->path = arg;
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct model_args *a = args;
	const struct assay_synth none = { 0 };

	if (a->verb == VERB_NONE)
		return assay_err_set(err, ASSAY_EUSAGE, "no action given: expected show or synth");
	if (!a->path || !a->path[0])
		return assay_err_set(err, ASSAY_EUSAGE, "no file given: expected one such as model.gguf");
	if (a->verb == VERB_SHOW && memcmp(&a->synth, &none, sizeof(none)) != 0)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"sizes, types, vocabularies and --force are for 'assay model synth': 'show' has none");
	return 0;
}

static int set_size(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_u64(arg, name, 1, 1u << 20, to, err);
}

#define AT(member) offsetof(struct model_args, member)

static const struct assay_option options[] = {
	{ "arch", 0, "llama|bitnet", assay_option_text, AT(synth.architecture),
	  "With synth: llama (default), or bitnet, whose matrices are ternary" },
	{ "type", 0, "f32|f16|bf16|q8_0|q6_k|tq1_0|tq2_0|i2_s", assay_option_text, AT(synth.type),
	  "With synth: the type of the matrices (default f32)" },
	{ "layers", 0, "N", set_size, AT(synth.layers), "With synth: layers (default 2)" },
	{ "width", 0, "N", set_size, AT(synth.width), "With synth: values of the residual (default 256)" },
	{ "heads", 0, "N", set_size, AT(synth.heads), "With synth: attention heads (default 4)" },
	{ "kv-heads", 0, "N", set_size, AT(synth.kv_heads),
	  "With synth: heads of keys and values (default half of the heads)" },
	{ "ffn", 0, "N", set_size, AT(synth.ffn), "With synth: width of the feed-forward (default twice the width)" },
	{ "vocab", 0, "N", set_size, AT(synth.vocab),
	  "With synth: tokens (default 512, or 8192 with --vocab-train): 3 special ones, 256 bytes, and words" },
	{ "vocab-from", 0, "FILE", assay_option_text, AT(synth.vocab_from),
	  "With synth: take the vocabulary of this GGUF file" },
	{ "vocab-train", 0, "gpt-2|llama-bpe|qwen2|spm", assay_option_text, AT(synth.vocab_train),
	  "With synth: train the vocabulary on texts that are drawn from the seed, such as English and code: BPE with "
	  "the pre-tokenizer of that name, or SPM. Prompts then become tokens as those of real models do; without it, "
	  "each byte is one" },
	{ "context", 0, "N", set_size, AT(synth.context), "With synth: longest sequence, tokens (default 1024)" },
	{ "force", 0, NULL, assay_option_flag, AT(synth.replace), "With synth: replace a file that is there" },
	{ 0 },
};

static const struct assay_command_line line = {
	.usage = "show FILE\nsynth FILE",
	.doc = "Look into a GGUF file of a model, or write one. 'show' lists its metadata and tensors. 'synth' writes "
	       "a model of the architecture llama or bitnet whose weights, and the vocabulary if one is trained, come "
	       "of "
	       "the seed: the same file on every machine.\v"
	       "examples:\n"
	       "  assay model show model.gguf\n"
	       "  assay model synth tiny.gguf --type q8_0 --layers 4 --seed 1\n"
	       "  assay model synth words.gguf --vocab-train llama-bpe --vocab 4096",
	.tables = { { options, 0 }, { assay_options_measure, 0 }, { assay_options_output, 0 } },
	.argument = set_argument,
	.check = check,
};

static int show(const struct model_args *a, struct assay_err *err)
{
	struct assay_model_report r;
	int rc = assay_model_show(a->path, &r, err);

	if (!rc)
		rc = assay_cli_emit(&(struct assay_report){ .kind = ASSAY_REPORT_MODEL, .model = &r }, a->s.json,
				    a->s.verbose, err);
	assay_model_report_release(&r);
	return rc;
}

static int run(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct model_args *a = args;
	char wrote[256];
	int rc;

	(void)w;
	(void)status;
	if (a->verb == VERB_SHOW)
		return show(a, err);
	a->synth.path = a->path;
	a->synth.seed = a->s.r.settings.seed;
	rc = assay_model_synth(&a->synth, wrote, sizeof(wrote), err);
	if (!rc)
		assay_cli_say("wrote %s: %s\n", a->path, wrote);
	return rc;
}

int assay_cmd_model(int argc, char **argv)
{
	struct model_args a = { .verb = VERB_NONE };

	return assay_command(&line, argc, argv, &a, run);
}
