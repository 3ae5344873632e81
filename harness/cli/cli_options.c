/* SPDX-License-Identifier: Apache-2.0 */
/* Options and environment that several commands take, and parsing with one line for whatever is wrong. */
#include "cli/command.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "drive/model/model.h"
#include "drive/profile/profile.h"

int assay_option_flag(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)arg;
	(void)name;
	(void)err;
	*(bool *)to = true;
	return 0;
}

int assay_option_text(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	(void)err;
	*(const char **)to = arg;
	return 0;
}

int assay_option_duration(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_duration_ns(arg, name, to, err);
}

int assay_option_date(void *to, const char *arg, const char *name, struct assay_err *err)
{
	/* as --json and 'date -uIseconds' write it, or less of it */
	static const char *const forms[] = { "%Y-%m-%d",          "%Y-%m-%dT%H:%M",     "%Y-%m-%dT%H:%MZ",
					     "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S+00:00" };

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm tm = { 0 }, back;
		const char *end = strptime(arg, forms[i], &tm);
		time_t t;

		back = tm;
		t = timegm(&back);
		if (!end || *end || strlen(arg) < 10 || t < 0 || tm.tm_year > 600 || back.tm_mday != tm.tm_mday ||
		    back.tm_sec != tm.tm_sec)
			continue;
		*(uint64_t *)to = (uint64_t)t * 1000000000u;
		return 0;
	}
	return assay_err_set(err, ASSAY_EUSAGE,
			     "bad %s '%s': expected a date, such as 2026-01-31 or 2026-01-31T12:00 (UTC)", name, arg);
}

int assay_option_evidence(void *to, const char *arg, const char *name, struct assay_err *err)
{
	static const char *const names[] = { "all", "stored", "exact" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i])) {
			*(enum assay_take *)to = (enum assay_take)i;
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected exact (counts), stored (times) or all", name,
			     arg);
}

int assay_option_profile_kind(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	*(const char **)to = arg;
	return assay_profile_kind_check(arg, err);
}

static int read_environment(struct assay_request *q, struct assay_err *err)
{
	const char *v;
	uint64_t n;
	int rc;

	if ((v = getenv("ASSAY_SEED"))) {
		rc = assay_parse_seed(v, "ASSAY_SEED", &q->settings.seed, err);
		if (rc)
			return rc;
	}
	if ((v = getenv("ASSAY_DETERMINISTIC"))) {
		if (strcmp(v, "0") && strcmp(v, "1"))
			return assay_err_set(err, ASSAY_EUSAGE, "ASSAY_DETERMINISTIC is '%s', expected 0 or 1", v);
		q->deterministic = v[0] == '1';
	}
	if ((v = getenv("ASSAY_THREADS"))) {
		rc = assay_request_set_threads(q, v, "ASSAY_THREADS", err);
		if (rc)
			return rc;
	}
	if ((v = getenv("ASSAY_DEVICE"))) {
		rc = assay_request_set_devices(q, v, "ASSAY_DEVICE", err);
		if (rc)
			return rc;
	}
	if ((v = getenv("ASSAY_BATCH_SIZE"))) {
		rc = assay_parse_u64(v, "ASSAY_BATCH_SIZE", 1, INT32_MAX, &n, err);
		if (rc)
			return rc;
		q->plan.batch_size = (int64_t)n;
	}
	if ((v = getenv("ASSAY_MEMORY_LIMIT"))) {
		rc = assay_request_set_memory(q, v, "ASSAY_MEMORY_LIMIT", err);
		if (rc)
			return rc;
	}
	if ((v = getenv("ASSAY_PAPI")) && strcmp(v, "0") && strcmp(v, "1"))
		return assay_err_set(err, ASSAY_EUSAGE, "ASSAY_PAPI is '%s', expected 0 (leave PAPI alone) or 1", v);
	if ((v = getenv("ASSAY_DB"))) {
		if (!v[0])
			return assay_err_set(err, ASSAY_EUSAGE, "ASSAY_DB is '', expected the path of a database file");
		q->db = v;
	}
	return 0;
}

int assay_settings_init(struct assay_settings *s, struct assay_err *err)
{
	*s = (struct assay_settings){ .r = assay_request_default() };
	return read_environment(&s->r, err);
}

void assay_settings_release(struct assay_settings *s)
{
	assay_request_release(&s->r);
}

/* The setters of a request, for the whole of it. */
#define REQUEST_OPTION(field)                                                                                          \
	static int set_##field(void *to, const char *arg, const char *name, struct assay_err *err)                     \
	{                                                                                                              \
		return assay_request_set_##field(to, arg, name, err);                                                  \
	}
REQUEST_OPTION(isa)
REQUEST_OPTION(threads)
REQUEST_OPTION(cpus)
REQUEST_OPTION(devices)
REQUEST_OPTION(placement)
REQUEST_OPTION(memory)
REQUEST_OPTION(counter_source)
REQUEST_OPTION(steps)

static int set_cache_model(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	return assay_request_set_cache_model(to, arg, err);
}

static int add_glob(void *to, const char *arg, const char *name, struct assay_err *err)
{
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE,
				     "bad %s '': expected a part of a key or a glob, such as 'matmul.*'", name);
	return assay_strings_add(to, arg, err);
}

static int add_text(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	return assay_strings_add(to, arg, err);
}

static int add_model(void *to, const char *arg, const char *name, struct assay_err *err)
{
	int rc = assay_model_check(arg, err);

	return rc ? rc : add_text(to, arg, name, err);
}

/* Texts reach workers in their environment, where a variable may have 128 KiB. */
static int set_prompt(void *to, const char *arg, const char *name, struct assay_err *err)
{
	if (!arg[0] || strlen(arg) > 65536)
		return assay_err_set(err, ASSAY_EUSAGE, "%s has a text of %zu bytes, expected 1 to 65536", name,
				     strlen(arg));
	return assay_option_text(to, arg, name, err);
}

static int add_list(void *to, const char *arg, const char *name, struct assay_err *err)
{
	(void)name;
	return assay_strings_split(to, arg, ',', err);
}

static int set_seed(void *to, const char *arg, const char *name, struct assay_err *err)
{
	return assay_parse_seed(arg, name, to, err);
}

static int set_database(void *to, const char *arg, const char *name, struct assay_err *err)
{
	if (!arg[0])
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '', expected the path of a database file", name);
	*(const char **)to = arg;
	return 0;
}

#define AT(member) offsetof(struct assay_settings, member)

const struct assay_option assay_options_load[] = {
	{ "plugin", 'p', "FILE", add_text, AT(r.plugins), "Load this plugin as well; may be given several times" },
	{ "no-default-plugins", ASSAY_RARELY, NULL, assay_option_flag, AT(r.no_default_plugins),
	  "Load only the plugins named with --plugin" },
	{ "bench-dir", ASSAY_RARELY, "FOLDER", assay_option_text, AT(r.plan.bench_dir),
	  "Read bench files from FOLDER and suites from FOLDER/suites" },
	{ 0 },
};
const struct assay_option assay_options_models[] = {
	{ "model", 0, "FILE", add_model, AT(r.plan.models),
	  "Measure the model of this GGUF file (default: those of ASSAY_MODEL); may be given several times" },
	{ "prompt", 0, "TEXT", set_prompt, AT(r.plan.prompt),
	  "Let models of files read this text, repeated or cut to as many tokens as the case says (default: random "
	  "tokens)" },
	{ 0 },
};
const struct assay_option assay_options_select[] = {
	{ "suite", 's', "NAME", assay_option_text, AT(r.plan.suite),
	  "Suite of benches (default " ASSAY_DEFAULT_SUITE "; with --model " ASSAY_MODEL_SUITE ")" },
	{ "only", 'o', "GLOB", add_glob, AT(r.plan.only),
	  "Only the cases whose key matches, such as 'matmul.*/avx2/*'; without * any part of the key. May be given "
	  "several times: the cases that any of them selects" },
	{ "isa", ASSAY_RARELY, "NAME", set_isa, AT(r),
	  "Skip variants that need more than this instruction set, such as avx2" },
	{ 0 },
};
const struct assay_option assay_options_place[] = {
	{ "threads", 't', "all|doubling|N,...", set_threads, AT(r),
	  "Threads of every case, such as 1,all; doubling is 1, 2, 4, ... all (default: as each bench says)" },
	{ "cpus", ASSAY_RARELY, "LIST", set_cpus, AT(r), "Bind to these CPUs in this order, such as 0,2,4-7" },
	{ "device", ASSAY_RARELY, "DEVICE,...", set_devices, AT(r),
	  "Run what runs on devices on these, such as cuda:0,cuda:1 (default: the first of each kind)" },
	{ "placement", ASSAY_RARELY, "compact|scatter", set_placement, AT(r),
	  "compact: fill one cache before the next (default); scatter: spread" },
	{ "smt", ASSAY_RARELY, NULL, assay_option_flag, AT(r.placement.smt),
	  "Use all hardware threads of a core, not one" },
	{ 0 },
};
const struct assay_option assay_options_measure[] = {
	{ "seed", 'S', "N", set_seed, AT(r.settings.seed), "Seed of all inputs, decimal or 0x... (default 42)" },
	{ "memory-limit", ASSAY_RARELY, "SIZE", set_memory, AT(r),
	  "Memory that the process of a case may take, such as 2GiB" },
	{ 0 },
};
const struct assay_option assay_options_wrong[] = {
	{ "even-if-wrong", ASSAY_RARELY, NULL, assay_option_flag, AT(r.settings.even_if_wrong),
	  "Go on with a case whose output is wrong; it stays wrong, and nothing judges its numbers" },
	{ 0 },
};
const struct assay_option assay_options_counters[] = {
	{ "counters", 0, "GROUP,...", assay_option_text, AT(r.counter_groups),
	  "Count these groups of events as well, such as cache,branch" },
	{ "events", ASSAY_RARELY, "EVENT,...", add_list, AT(r.events),
	  "Count these events as well, such as PAPI_L1_DCM" },
	{ "multiplex", ASSAY_RARELY, NULL, assay_option_flag, AT(r.settings.multiplex),
	  "Count all events in every sample, each for a share of it, instead of some in each: values become "
	  "estimates" },
	{ 0 },
};
const struct assay_option assay_options_exact[] = {
	{ "cache-model", ASSAY_RARELY, "canon|host", set_cache_model, AT(r),
	  "Caches of the simulated processor: canon, host (default: as the suite says, else canon)" },
	{ "counter-source", ASSAY_RARELY, "auto|callgrind|stepped", set_counter_source, AT(r),
	  "How exact counts are taken: callgrind (valgrind simulates the processor), stepped (this one, instruction by "
	  "instruction; x86-64), auto: callgrind where it can, stepped for the rest (default)" },
	{ "steps", ASSAY_RARELY, "N", set_steps, AT(r),
	  "Instructions that a call may have to be stepped; what has more is counted at the smaller shapes that its "
	  "bench names in exact_shapes (default: as the suite says, else 2000000)" },
	{ 0 },
};
const struct assay_option assay_options_store[] = {
	{ "db", 0, "FILE", set_database, AT(r.db),
	  "Database of results (default " ASSAY_DEFAULT_DB " in the current folder)" },
	{ 0 },
};
static int set_progress(void *to, const char *arg, const char *name, struct assay_err *err)
{
	if (strcmp(arg, "json"))
		return assay_err_set(err, ASSAY_EUSAGE, "%s is '%s', expected json", name, arg);
	*(bool *)to = true;
	return 0;
}

const struct assay_option assay_options_output[] = {
	{ "json", 0, NULL, assay_option_flag, AT(json), "Print one JSON object instead of text" },
	{ "verbose", 'v', NULL, assay_option_flag, AT(verbose), "Print more" },
	{ "progress", ASSAY_RARELY, "json", set_progress, AT(progress_json),
	  "Write what goes on to standard error as it happens, an object of JSON a line, in place of a bar" },
	{ 0 },
};
static const struct assay_option options_help[] = {
	{ "help", 'h', NULL, assay_option_flag, AT(help), "Print the options that most people use" },
	{ "help-all", 0, NULL, assay_option_flag, AT(help_all), "Print all options" },
	{ "version", 'V', NULL, assay_option_flag, AT(version), "Print what this program was built from" },
	{ 0 },
};

/* ---- parsing ---- */

#define OPTIONS_MAX 64
/* The number of the first row, for argp: letters are those of short forms. */
#define FIRST_KEY 0x100

/* A command line under way: the rows of all tables and where each sets something, and the same for argp. */
struct parsing {
	const struct assay_command_line *line;
	void *args;
	const struct assay_option *rows[OPTIONS_MAX];
	size_t at[OPTIONS_MAX];
	struct argp_option all[OPTIONS_MAX + 1];
	size_t n;
	struct assay_err err;
	int bad_arg; /* index into argv, when err is unset */
};

static void add_table(struct parsing *p, const struct assay_option *o, size_t at, int group)
{
	for (; o->name && p->n < OPTIONS_MAX; o++) {
		p->rows[p->n] = o;
		p->at[p->n] = at + o->at;
		p->all[p->n] =
			(struct argp_option){ .name = o->name,
					      .key = o->letter > ASSAY_RARELY ? o->letter : FIRST_KEY + (int)p->n,
					      .arg = o->arg,
					      .doc = o->help,
					      .group = group };
		p->n++;
	}
}

static int set_option(struct parsing *p, int key, const char *arg)
{
	char name[64];

	for (size_t i = 0; i < p->n; i++) {
		if (p->all[i].key != key)
			continue;
		snprintf(name, sizeof(name), "--%s", p->rows[i]->name);
		return p->rows[i]->set((char *)p->args + p->at[i], arg, name, &p->err);
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct parsing *p = state->input;
	const struct assay_settings *s = p->args;
	int rc = 0;

	if (key == ARGP_KEY_ERROR)
		p->bad_arg = state->next;
	if (key == ARGP_KEY_ARG)
		rc = p->line->argument(p->args, arg, &p->err);
	else if (key != ARGP_KEY_END)
		rc = set_option(p, key, arg);
	else if (p->line->check && !s->help && !s->help_all && !s->version)
		rc = p->line->check(p->args, &p->err);
	return rc == ARGP_ERR_UNKNOWN ? ARGP_ERR_UNKNOWN : rc ? EINVAL : 0;
}

/* The long option that @name (of @len bytes) spells or abbreviates; *n_alike counts those it could be. */
static const struct argp_option *spelled(const struct argp_option *all, size_t n, const char *name, size_t len,
					 size_t *n_alike)
{
	const struct argp_option *found = NULL;

	*n_alike = 0;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(all[i].name, name, len))
			continue;
		found = &all[i];
		++*n_alike;
		if (strlen(all[i].name) == len) {
			*n_alike = 1;
			return found;
		}
	}
	return found;
}

static int explain_short(const struct argp_option *all, size_t n, const char *command, const char *arg,
			 struct assay_err *err)
{
	for (const char *p = arg + 1; arg[0] == '-' && *p; p++) {
		const struct argp_option *o = NULL;

		for (size_t i = 0; i < n; i++)
			if (all[i].key == *p)
				o = &all[i];
		if (!o)
			return assay_err_set(err, ASSAY_EUSAGE, "unknown option '-%c': see '%s --help'", *p, command);
		if (o->arg)
			return assay_err_set(err, ASSAY_EUSAGE, "option '-%c' needs a value: -%c %s", *p, *p, o->arg);
	}
	return assay_err_set(err, ASSAY_EUSAGE, "unknown option '%s': see '%s --help'", arg, command);
}

/* argp says only that something is wrong: find out what @arg lacks. */
static int explain(const struct argp_option *all, size_t n, const char *command, const char *arg, struct assay_err *err)
{
	const struct argp_option *o;
	const char *names[OPTIONS_MAX], *near;
	size_t len, n_alike;
	char word[64];

	if (strncmp(arg, "--", 2))
		return explain_short(all, n, command, arg, err);

	len = strcspn(arg + 2, "=");
	o = spelled(all, n, arg + 2, len, &n_alike);
	if (o && n_alike > 1)
		return assay_err_set(err, ASSAY_EUSAGE, "option '%s' is ambiguous: see '%s --help'", arg, command);
	if (o && o->arg)
		return assay_err_set(err, ASSAY_EUSAGE, "option '--%s' needs a value: --%s=%s", o->name, o->name,
				     o->arg);
	if (o)
		return assay_err_set(err, ASSAY_EUSAGE, "option '--%s' takes no value", o->name);

	for (size_t i = 0; i < n; i++)
		names[i] = all[i].name;
	snprintf(word, sizeof(word), "%.*s", (int)len, arg + 2);
	near = assay_nearest(word, names, n);
	return near ? assay_err_set(err, ASSAY_EUSAGE, "unknown option '--%s': did you mean '--%s'?", word, near)
		    : assay_err_set(err, ASSAY_EUSAGE, "unknown option '--%s': see '%s --help'", word, command);
}

static void print_help(struct parsing *p, const struct argp *argp, char *command)
{
	const struct assay_settings *s = p->args;
	size_t n_rare = 0;

	for (size_t i = 0; i < p->n && !s->help_all; i++)
		if (p->rows[i]->letter == ASSAY_RARELY) {
			p->all[i].flags |= OPTION_HIDDEN;
			n_rare++;
		}
	argp_help(argp, stdout, ARGP_HELP_LONG | ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC, command);
	if (n_rare)
		printf("\n%zu more option%s: %s --help-all\n", n_rare, n_rare == 1 ? "" : "s", command);
}

int assay_command_line_parse(const struct assay_command_line *c, int argc, char **argv, void *args,
			     struct assay_err *err)
{
	/* argp's own help keeps silent where its own errors do */
	struct parsing p = { .line = c, .args = args, .bad_arg = argc };
	const struct assay_settings *s = args;
	const struct argp argp = { .options = p.all, .parser = parse, .args_doc = c->usage, .doc = c->doc };
	int i, failed;

	for (size_t k = 0; c->tables[k].options; k++)
		add_table(&p, c->tables[k].options, c->tables[k].at, 0);
	add_table(&p, options_help, 0, -1);
	failed = argp_parse(&argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, &p);
	if (s->help || s->help_all || s->version) {
		if (s->help || s->help_all)
			print_help(&p, &argp, argv[0]);
		else
			assay_cli_print_version();
		exit(assay_cli_finish(ASSAY_EXIT_OK));
	}
	if (!failed)
		return 0;
	if (p.err.code) {
		*err = p.err;
		return err->code;
	}
	/* getopt has gone past a long option, but not past a cluster of short ones */
	i = p.bad_arg > 1 && (p.bad_arg >= argc || argv[p.bad_arg - 1][0] == '-') ? p.bad_arg - 1 : p.bad_arg;
	return explain(p.all, p.n, argv[0], argv[i < argc ? i : argc - 1], err);
}
