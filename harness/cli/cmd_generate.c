/* SPDX-License-Identifier: Apache-2.0 */
/* assay generate: token ids in, token ids out. */
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
	const char *model, *profile;
	struct assay_text prompt;
	uint64_t tokens;
	bool requests;
	uint64_t begun_ns, first_ns, last_ns;
	struct assay_text ids; /* of the answer, with --json */
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
		return assay_err_set(err, ASSAY_EUSAGE, "with --requests the prompts stand in standard input");
	if (!a->requests && !a->prompt.len)
		return assay_err_set(err, ASSAY_EUSAGE, "no prompt given: expected token ids, such as 1 2 3");
	return 0;
}

#define AT(member) offsetof(struct generate_args, member)

static const struct assay_option options[] = {
	{ "tokens", 'n', "N", set_tokens, AT(tokens), "Generate N tokens (default 16)" },
	{ "profile", 0, "NAME", assay_option_text, AT(profile),
	  "Sample the CPU meanwhile, and store the profile as NAME" },
	{ "requests", ASSAY_RARELY, NULL, assay_option_flag, AT(requests),
	  "Read requests from standard input, an object of JSON a line, and answer with such lines" },
	{ 0 },
};

static const struct assay_command_line line = {
	.usage = "MODEL TOKEN...\nFILE.gguf TOKEN...",
	.doc = "Let a model of the suite '" ASSAY_GENERATE_SUITE
	       "', or that of a GGUF file, continue a prompt, and print the ids of the tokens as they "
	       "come. The models are BitNet b1.58 transformers with seeded weights, so that the same prompt has the "
	       "same "
	       "answer on every machine; each step takes the most likely token. Nothing is judged or stored; 'assay "
	       "run' "
	       "measures models.\v"
	       "examples:\n"
	       "  assay generate tiny 1 2 3\n"
	       "  assay generate model.gguf 1 2 3\n"
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

static void come(void *arg, const int32_t *tokens, const uint64_t *at_ns, uint32_t n)
{
	struct generate_args *a = arg;

	if (!a->first_ns)
		a->first_ns = at_ns[0];
	a->last_ns = at_ns[n - 1];
	for (uint32_t i = 0; i < n; i++) {
		if (a->s.json)
			assay_text_addf(&a->ids, "%s%" PRId32, a->ids.len ? "," : "", tokens[i]);
		else
			assay_cli_say("%" PRId32 " ", tokens[i]);
	}
	fflush(stdout);
}

static int generate_once(struct generate_args *a, struct assay_generator *g, struct assay_err *err)
{
	struct assay_generation r = { .n_wanted = (uint32_t)a->tokens, .profile = a->profile, .come = come, .arg = a };
	int32_t *prompt;
	size_t n;
	int rc = assay_token_ids(a->prompt.s, &prompt, &n, err);

	if (rc)
		return rc;
	r.prompt = prompt;
	r.n_prompt = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	a->begun_ns = assay_monotonic_ns();
	rc = assay_generator_respond(g, &r, err);
	free(prompt);
	if (!a->s.json && a->first_ns)
		assay_cli_say("\n");
	if (!rc && a->s.json)
		assay_cli_say(
			"{\"schema\":1,\"case\":\"%s\",\"prompt_tokens\":%zu,\"tokens\":[%s],\"first_token_s\":%.9g,"
			"\"next_token_s\":%.9g}\n",
			assay_generator_key(g), n, a->ids.s, (double)(a->first_ns - a->begun_ns) * 1e-9,
			a->tokens > 1 ? (double)(a->last_ns - a->first_ns) * 1e-9 / (double)(a->tokens - 1) : 0);
	if (!rc && r.unprofiled.code)
		rc = assay_err_set(err, r.unprofiled.code,
				   "the answer is complete, but there is no profile '%.64s': %.400s", a->profile,
				   r.unprofiled.text);
	return rc;
}

/* The op that runs files is told by the environment, which workers inherit. Its cases have no axis `model`. */
static int name_file(struct generate_args *a, struct assay_err *err)
{
	int rc = assay_model_name_file(a->model, err);

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
	return status;
}
