/* SPDX-License-Identifier: Apache-2.0 */
/* assay generate: token ids in, token ids out; of files also text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/monotonic.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "drive/generate/generate.h"
#include "drive/model/model.h"

struct generate_args {
	struct assay_settings s;
	const char *model, *profile, *text;
	struct assay_text prompt;
	uint64_t tokens;
	bool requests;
	uint64_t begun_ns, first_ns, last_ns, n_come;
	struct assay_text ids, answer; /* with --json */
};

static int take(void *args, const char *arg, struct assay_err *err)
{
	struct generate_args *a = args;

	if (!a->model)
		a->model = arg;
	else
		assay_text_addf(&a->prompt, "%s ", arg);
	return a->prompt.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory for a prompt") : 0;
}

static int set_tokens(void *to, const char *arg, const char *name, struct assay_err *err)
{
	uint64_t *n = to;
	char *end;

	*n = strtoull(arg, &end, 10);
	if (end == arg || *end || arg[0] == '-' || !*n || *n > 65536)
		return assay_err_set(err, ASSAY_EUSAGE, "bad %s '%s', expected 1 to 65536", name, arg);
	return 0;
}

static int check(void *args, struct assay_err *err)
{
	const struct generate_args *a = args;

	if (!a->model)
		return assay_err_set(err, ASSAY_EUSAGE, "no model given: expected one of the suite '%s', such as tiny",
				     ASSAY_GENERATE_SUITE);
	if (a->s.r.plan.suite && strcmp(a->s.r.plan.suite, ASSAY_GENERATE_SUITE))
		return assay_err_set(err, ASSAY_EUSAGE, "models are those of the suite '%s': drop --suite %s",
				     ASSAY_GENERATE_SUITE, a->s.r.plan.suite);
	if (a->requests && a->prompt.len)
		return assay_err_set(err, ASSAY_EUSAGE, "with --requests the prompts come from standard input");
	if (a->text && (a->requests || a->prompt.len))
		return assay_err_set(err, ASSAY_EUSAGE, "--prompt is a prompt already: drop %s",
				     a->requests ? "--requests" : "the token ids");
	if (!a->requests && !a->prompt.len && !a->text)
		return assay_err_set(err, ASSAY_EUSAGE,
				     "no prompt given: expected token ids, such as 1 2 3, or --prompt TEXT");
	return 0;
}

#define AT(member) offsetof(struct generate_args, member)

static const struct assay_option options[] = {
	{ "prompt", 0, "TEXT", assay_option_text, AT(text),
	  "Continue this text, using the tokenizer of the file, and print text" },
	{ "tokens", 'n', "N", set_tokens, AT(tokens), "Generate N tokens (default 16)" },
	{ "profile", 0, "NAME", assay_option_text, AT(profile),
	  "Sample the CPU meanwhile, and store the profile as NAME" },
	{ "requests", ASSAY_RARELY, NULL, assay_option_flag, AT(requests),
	  "Read requests from standard input, an object of JSON a line, and answer with such lines" },
	{ 0 },
};

static const struct assay_command_line line = {
	.usage = "MODEL TOKEN...\nFILE.gguf TOKEN...\nFILE.gguf --prompt TEXT",
	.doc = "Let a model of the suite '" ASSAY_GENERATE_SUITE
	       "', or that of a GGUF file, continue a prompt, and print the ids of the tokens as they "
	       "come. The models of the suite are BitNet b1.58 transformers with seeded weights, so that the same "
	       "prompt "
	       "has the same answer on every machine; files may be of other architectures, such as llama. Each step "
	       "takes the most likely token. With --prompt the tokenizer of the "
	       "file makes ids of a text, in which names of control tokens stand for these tokens, and text of the "
	       "answer, which also ends at the end of a text or of a turn; there is no chat template. Nothing is "
	       "judged or stored; 'assay run' measures models.\v"
	       "examples:\n"
	       "  assay generate tiny 1 2 3\n"
	       "  assay generate model.gguf 1 2 3\n"
	       "  assay generate model.gguf --prompt 'Once upon a time'\n"
	       "  assay generate 125m 1 2 3 --tokens 64 --threads 1 --json",
	.tables = { { options, 0 },
		    { assay_options_load, 0 },
		    { assay_options_select, 0 },
		    { assay_options_place, 0 },
		    { assay_options_measure, 0 },
		    ASSAY_OPTIONS_READING },
	.argument = take,
	.check = check,
};

static void come(void *arg, const int32_t *tokens, const uint64_t *at_ns, uint32_t n, const char *text)
{
	struct generate_args *a = arg;

	if (!a->first_ns && n)
		a->first_ns = at_ns[0];
	if (n)
		a->last_ns = at_ns[n - 1];
	a->n_come += n;
	for (uint32_t i = 0; i < n; i++) {
		if (a->s.json)
			assay_text_addf(&a->ids, "%s%" PRId32, a->ids.len ? "," : "", tokens[i]);
		else if (!text)
			assay_cli_say("%" PRId32 " ", tokens[i]);
	}
	if (text && a->s.json)
		assay_text_add(&a->answer, text);
	else if (text)
		assay_cli_say("%s", text);
	fflush(stdout);
}

/* In ASCII, so that no character is changed on the way. */
static void add_quoted(struct assay_text *out, const char *s)
{
	uint32_t c;

	assay_text_add(out, "\"");
	while ((c = assay_code_point_next(&s)))
		if (c == '"' || c == '\\')
			assay_text_addf(out, "\\%c", (char)c);
		else if (c >= 0x20 && c < 0x7f)
			assay_text_addf(out, "%c", (char)c);
		else if (c < 0x10000)
			assay_text_addf(out, "\\u%04x", c);
		else
			assay_text_addf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 | (c & 0x3ff));
	assay_text_add(out, "\"");
}

static void print_json(const struct generate_args *a, const struct assay_generator *g, const struct assay_generation *r)
{
	struct assay_text text = { 0 };

	if (a->text) {
		assay_text_add(&text, ",\"text\":");
		add_quoted(&text, a->answer.s ? a->answer.s : "");
	}
	assay_cli_say("{\"schema\":1,\"case\":\"%s\",\"prompt_tokens\":%" PRIu32
		      ",\"tokens\":[%s]%s,\"first_token_s\":%.9g,\"next_token_s\":%.9g}\n",
		      assay_generator_key(g), r->n_prompt, a->ids.s ? a->ids.s : "", text.s ? text.s : "",
		      a->n_come ? (double)(a->first_ns - a->begun_ns) * 1e-9 : 0,
		      a->n_come > 1 ? (double)(a->last_ns - a->first_ns) * 1e-9 / (double)(a->n_come - 1) : 0);
	assay_text_release(&text);
}

static int generate_once(struct generate_args *a, struct assay_generator *g, struct assay_err *err)
{
	struct assay_generation r = { .n_wanted = (uint32_t)a->tokens,
				      .text = a->text,
				      .special = true,
				      .profile = a->profile,
				      .come = come,
				      .arg = a };
	int32_t *prompt = NULL;
	size_t n = 0;
	int rc = a->text ? 0 : assay_token_ids(a->prompt.s, &prompt, &n, err);

	if (rc)
		return rc;
	r.prompt = prompt;
	r.n_prompt = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	a->begun_ns = assay_monotonic_ns();
	rc = assay_generator_respond(g, &r, err);
	free(prompt);
	if (!a->s.json && (a->first_ns || (!rc && a->text)))
		assay_cli_say("\n");
	if (!rc && a->s.json)
		print_json(a, g, &r);
	if (!rc && r.unprofiled.code)
		rc = assay_err_set(err, r.unprofiled.code,
				   "the answer is complete, but there is no profile '%.64s': %.400s", a->profile,
				   r.unprofiled.text);
	return rc;
}

static int name_file(struct generate_args *a, struct assay_err *err)
{
	int rc = assay_model_check(a->model, err);

	if (!rc)
		rc = assay_strings_add(&a->s.r.plan.models, a->model, err);
	a->model = "";
	return rc;
}

static int generate(void *args, struct assay_watcher *w, int *status, struct assay_err *err)
{
	struct generate_args *a = args;
	struct assay_generator *g = NULL;
	int rc;

	(void)status;
	assay_interrupt_hold();
	rc = assay_model_is_file(a->model) ? name_file(a, err) : 0;
	if (!rc)
		rc = assay_generator_open(&g, &a->s.r, a->model, &w->watch, err);
	if (!rc)
		rc = a->requests ? assay_generator_serve(g, stdin, stdout, err) : generate_once(a, g, err);
	assay_generator_close(g);
	return rc;
}

int assay_cmd_generate(int argc, char **argv)
{
	struct generate_args a = { .tokens = 16 };
	const int status = assay_command(&line, argc, argv, &a, generate);

	assay_text_release(&a.prompt);
	assay_text_release(&a.ids);
	assay_text_release(&a.answer);
	return status;
}
