/* SPDX-License-Identifier: Apache-2.0 */
/* Options and environment that several commands take, and parsing with one line for whatever is wrong. */
#include "cli/cli_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum {
	OPT_NO_DEFAULT_PLUGINS = 0x100,
	OPT_BENCH_DIR,
	OPT_ISA,
	OPT_CPUS,
	OPT_PLACEMENT,
	OPT_SMT,
	OPT_MEMORY_LIMIT,
	OPT_DB,
	OPT_JSON,
	OPT_COUNTERS,
	OPT_EVENTS,
	OPT_MULTIPLEX,
	OPT_CACHE_MODEL,
};

int assay_cli_parse_evidence(const char *arg, enum assay_take *out, struct assay_err *err)
{
	static const char *const names[] = { "all", "stored", "exact" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(arg, names[i])) {
			*out = (enum assay_take)i;
			return 0;
		}
	return assay_err_set(err, ASSAY_EUSAGE, "--evidence is '%s', expected exact (counts), stored (times) or all",
			     arg);
}

int assay_cli_parse_id(const char *arg, const char *what, const char *kind, int64_t *out, struct assay_err *err)
{
	uint64_t id = 0;

	if (strcmp(arg, "last") != 0 && assay_parse_u64(arg, what, 1, INT64_MAX, &id, NULL))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s is '%s', expected the number of a %s or 'last'; 'assay show%s' lists them",
				     what, arg, kind, strcmp(kind, "run") != 0 ? " comparisons" : "");
	*out = (int64_t)id;
	return 0;
}

static int read_environment(struct assay_request *q, struct assay_err *err)
{
	const char *v;
	uint64_t n;
	int rc;

	if ((v = getenv("ASSAY_SEED"))) {
		rc = assay_parse_seed(v, "ASSAY_SEED", &q->seed, err);
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
	if ((v = getenv("ASSAY_BATCH_SIZE"))) {
		rc = assay_parse_u64(v, "ASSAY_BATCH_SIZE", 1, INT32_MAX, &n, err);
		if (rc)
			return rc;
		q->batch_size = (int64_t)n;
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

static int set_option(struct assay_settings *s, int key, const char *arg)
{
	struct assay_request *q = &s->r;
	struct assay_err *err = &s->err;

	switch (key) {
	case 's':
		q->suite = arg;
		return 0;
	case 'o':
		if (!arg[0])
			return assay_err_set(err, ASSAY_EUSAGE,
					     "bad --only '': expected a part of a key or a glob, such as 'matmul.*'");
		return assay_strings_add(&q->only, arg, err);
	case 'p':
		return assay_strings_add(&q->plugins, arg, err);
	case OPT_NO_DEFAULT_PLUGINS:
		q->no_default_plugins = true;
		return 0;
	case OPT_BENCH_DIR:
		q->bench_dir = arg;
		return 0;
	case OPT_ISA:
		return assay_request_set_isa(q, arg, "--isa", err);
	case 't':
		return assay_request_set_threads(q, arg, "--threads", err);
	case OPT_CPUS:
		return assay_request_set_cpus(q, arg, "--cpus", err);
	case OPT_PLACEMENT:
		return assay_request_set_placement(q, arg, "--placement", err);
	case OPT_SMT:
		q->placement.smt = true;
		return 0;
	case 'S':
		return assay_parse_seed(arg, "--seed", &q->seed, err);
	case OPT_MEMORY_LIMIT:
		return assay_request_set_memory(q, arg, "--memory-limit", err);
	case OPT_DB:
		if (!arg[0])
			return assay_err_set(err, ASSAY_EUSAGE, "--db is '', expected the path of a database file");
		q->db = arg;
		return 0;
	case OPT_COUNTERS:
		q->counter_groups = arg;
		return 0;
	case OPT_EVENTS:
		return assay_strings_split(&q->events, arg, ',', err);
	case OPT_MULTIPLEX:
		q->multiplex = true;
		return 0;
	case OPT_CACHE_MODEL:
		return assay_request_set_cache_model(q, arg, err);
	case OPT_JSON:
		s->json = true;
		return 0;
	case 'v':
		s->verbose = true;
		return 0;
	case 'h':
		s->help = true;
		return 0;
	case 'V':
		s->version = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_setting(int key, char *arg, struct argp_state *state)
{
	struct assay_settings *s = state->input;
	int rc;

	if (key == ARGP_KEY_ERROR)
		s->bad_arg = state->next;
	rc = set_option(s, key, arg);
	return rc == ARGP_ERR_UNKNOWN ? ARGP_ERR_UNKNOWN : rc ? EINVAL : 0;
}

static const struct argp_option load_options[] = {
	{ "plugin", 'p', "FILE", 0, "Load this plugin as well; may be given several times", 0 },
	{ "no-default-plugins", OPT_NO_DEFAULT_PLUGINS, NULL, 0, "Load only the plugins named with --plugin", 0 },
	{ "bench-dir", OPT_BENCH_DIR, "DIR", 0, "Read bench files from DIR and suites from DIR/suites", 0 },
	{ 0 },
};
static const struct argp_option select_options[] = {
	{ "suite", 's', "NAME", 0, "Suite of benches (default " ASSAY_DEFAULT_SUITE ")", 0 },
	{ "only", 'o', "GLOB", 0,
	  "Only the cases whose key matches, such as 'matmul.*/avx2/*'; without * any part of the key. May be given "
	  "several times: the cases that any of them selects",
	  0 },
	{ "isa", OPT_ISA, "NAME", 0, "Skip variants that need more than this instruction set, such as avx2", 0 },
	{ 0 },
};
static const struct argp_option place_options[] = {
	{ "threads", 't', "LIST", 0,
	  "Threads of every case, such as 1,all; doubling is 1, 2, 4, ... all (default: as each bench says)", 0 },
	{ "cpus", OPT_CPUS, "LIST", 0, "Bind to these CPUs in this order, such as 0,2,4-7", 0 },
	{ "placement", OPT_PLACEMENT, "POLICY", 0, "compact: fill one cache before the next (default); scatter: spread",
	  0 },
	{ "smt", OPT_SMT, NULL, 0, "Use all hardware threads of a core, not one", 0 },
	{ 0 },
};
static const struct argp_option measure_options[] = {
	{ "seed", 'S', "N", 0, "Seed of all inputs, decimal or 0x... (default 42)", 0 },
	{ "memory-limit", OPT_MEMORY_LIMIT, "SIZE", 0, "Memory that the process of a case may take, such as 2GiB", 0 },
	{ 0 },
};
static const struct argp_option counter_options[] = {
	{ "counters", OPT_COUNTERS, "GROUP,...", 0, "Count these groups of events as well, such as cache,branch", 0 },
	{ "events", OPT_EVENTS, "EVENT,...", 0, "Count these events as well, such as PAPI_L1_DCM", 0 },
	{ "multiplex", OPT_MULTIPLEX, NULL, 0,
	  "Count all events in every sample, each for a share of it, instead of some in each: values become estimates",
	  0 },
	{ 0 },
};
static const struct argp_option cache_model_options[] = {
	{ "cache-model", OPT_CACHE_MODEL, "NAME", 0,
	  "Caches of the simulated processor: canon, host (default: as the suite says, else canon)", 0 },
	{ 0 },
};
static const struct argp_option store_options[] = {
	{ "db", OPT_DB, "FILE", 0, "Database of results (default " ASSAY_DEFAULT_DB " in the current folder)", 0 },
	{ 0 },
};
static const struct argp_option output_options[] = {
	{ "json", OPT_JSON, NULL, 0, "Print one JSON object instead of text", 0 },
	{ "verbose", 'v', NULL, 0, "Print more", 0 },
	{ 0 },
};
static const struct argp_option help_options[] = {
	{ "help", 'h', NULL, 0, "Print this help", -1 },
	{ "version", 'V', NULL, 0, "Print what this program was built from", -1 },
	{ 0 },
};

const struct argp assay_argp_load = { .options = load_options, .parser = parse_setting };
const struct argp assay_argp_place = { .options = place_options, .parser = parse_setting };
const struct argp assay_argp_measure = { .options = measure_options, .parser = parse_setting };
const struct argp assay_argp_counters = { .options = counter_options, .parser = parse_setting };
const struct argp assay_argp_cache_model = { .options = cache_model_options, .parser = parse_setting };
const struct argp assay_argp_store = { .options = store_options, .parser = parse_setting };
const struct argp assay_argp_help = { .options = help_options, .parser = parse_setting };
const struct argp assay_argp_output = { .options = output_options, .parser = parse_setting };

static void hand_on(const struct argp_child *children, struct argp_state *state)
{
	for (size_t i = 0; children[i].argp; i++)
		state->child_inputs[i] = state->input;
}

static const struct argp_child selecting[] = {
	{ &assay_argp_load, 0, NULL, 0 },
	{ 0 },
};

static error_t parse_select(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_INIT)
		hand_on(selecting, state);
	return parse_setting(key, arg, state);
}

const struct argp assay_argp_select = { .options = select_options, .parser = parse_select, .children = selecting };

void assay_cli_parse_children(struct argp_state *state)
{
	hand_on(state->root_argp->children, state);
}

static const struct argp_child measuring[] = {
	{ &assay_argp_select, 0, NULL, 0 },
	{ &assay_argp_place, 0, NULL, 0 },
	{ &assay_argp_measure, 0, NULL, 0 },
	{ &assay_argp_store, 0, NULL, 0 },
	{ &assay_argp_output, 0, NULL, 0 },
	{ &assay_argp_help, 0, NULL, 0 },
	{ 0 },
};
static const struct argp_child reading[] = {
	{ &assay_argp_store, 0, NULL, 0 },
	{ &assay_argp_output, 0, NULL, 0 },
	{ &assay_argp_help, 0, NULL, 0 },
	{ 0 },
};

static error_t parse_measuring(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	hand_on(measuring, state);
	return 0;
}

static error_t parse_reading(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	hand_on(reading, state);
	return 0;
}

const struct argp assay_argp_measuring = { .children = measuring, .parser = parse_measuring };
const struct argp assay_argp_reading = { .children = reading, .parser = parse_reading };

#define OPTIONS_MAX 64

/* Add all long options of a command to the @n in @out. */
static size_t gather(const struct argp *argp, const struct argp_option **out, size_t n)
{
	for (const struct argp_option *o = argp->options; o && o->name && n < OPTIONS_MAX; o++)
		out[n++] = o;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		n = gather(c->argp, out, n);
	return n;
}

/* The long option that @name (of @len bytes) spells or abbreviates; *n_alike counts those it could be. */
static const struct argp_option *spelled(const struct argp_option *const *all, size_t n, const char *name, size_t len,
					 size_t *n_alike)
{
	const struct argp_option *found = NULL;

	*n_alike = 0;
	for (size_t i = 0; i < n; i++) {
		if (strncmp(all[i]->name, name, len))
			continue;
		found = all[i];
		++*n_alike;
		if (strlen(all[i]->name) == len) {
			*n_alike = 1;
			return found;
		}
	}
	return found;
}

static int explain_short(const struct argp_option *const *all, size_t n, const char *command, const char *arg,
			 struct assay_err *err)
{
	for (const char *p = arg + 1; arg[0] == '-' && *p; p++) {
		const struct argp_option *o = NULL;

		for (size_t i = 0; i < n; i++)
			if (all[i]->key == *p)
				o = all[i];
		if (!o)
			return assay_err_set(err, ASSAY_EUSAGE, "unknown option '-%c': see '%s --help'", *p, command);
		if (o->arg)
			return assay_err_set(err, ASSAY_EUSAGE, "option '-%c' needs a value: -%c %s", *p, *p, o->arg);
	}
	return assay_err_set(err, ASSAY_EUSAGE, "unknown option '%s': see '%s --help'", arg, command);
}

/* argp says only that something is wrong: find out what @arg lacks. */
static int explain(const struct argp *argp, const char *command, const char *arg, struct assay_err *err)
{
	const struct argp_option *all[OPTIONS_MAX], *o;
	const char *names[OPTIONS_MAX], *near;
	size_t n = gather(argp, all, 0), len = 0, n_alike;
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
		names[i] = all[i]->name;
	snprintf(word, sizeof(word), "%.*s", (int)len, arg + 2);
	near = assay_nearest(word, names, n);
	return near ? assay_err_set(err, ASSAY_EUSAGE, "unknown option '--%s': did you mean '--%s'?", word, near)
		    : assay_err_set(err, ASSAY_EUSAGE, "unknown option '--%s': see '%s --help'", word, command);
}

int assay_cli_parse(const struct argp *argp, int argc, char **argv, void *input, struct assay_err *err)
{
	struct assay_settings *s = input;
	int i, failed;

	/* argp's own help keeps silent where its own errors do */
	s->bad_arg = argc;
	failed = argp_parse(argp, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, input);
	if (s->help || s->version) {
		if (s->help)
			argp_help(argp, stdout, ARGP_HELP_LONG | ARGP_HELP_SHORT_USAGE | ARGP_HELP_DOC, argv[0]);
		else
			assay_cli_print_version();
		exit(fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	if (!failed)
		return 0;
	if (s->err.code) {
		*err = s->err;
		return err->code;
	}
	/* getopt has gone past a long option, but not past a cluster of short ones */
	i = s->bad_arg > 1 && (s->bad_arg >= argc || argv[s->bad_arg - 1][0] == '-') ? s->bad_arg - 1 : s->bad_arg;
	return explain(argp, argv[0], argv[i < argc ? i : argc - 1], err);
}
