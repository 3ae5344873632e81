/* SPDX-License-Identifier: Apache-2.0 */
/* Options and environment that several commands take. An option beats the environment, the environment beats the files.
 */
#ifndef ASSAY_CLI_CLI_OPTIONS_H
#define ASSAY_CLI_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "drive/request.h"

/* For an argument of --evidence; ASSAY_EUSAGE names what is expected. */
int assay_cli_parse_evidence(const char *arg, enum assay_take *out, struct assay_err *err);

/* Parse the number of a stored run or comparison; `last` gives 0. Messages name the option @what and its @kind. */
int assay_cli_parse_id(const char *arg, const char *what, const char *kind, int64_t *out, struct assay_err *err);

/* What options and environment say. */
struct assay_settings {
	struct assay_request r;
	bool json, verbose, help, version;

	/* of the parser */
	struct assay_err err;
	int bad_arg; /* index into argv, when err is unset */
};

/* Defaults, then the environment, all of it checked. Release in either case. */
int assay_settings_init(struct assay_settings *s, struct assay_err *err);
void assay_settings_release(struct assay_settings *s);

/* Groups of options for the children of a command's argp; their input is a struct assay_settings. */
extern const struct argp assay_argp_load;        /* --plugin --no-default-plugins --bench-dir */
extern const struct argp assay_argp_select;      /* these and --suite --only --isa */
extern const struct argp assay_argp_place;       /* --threads --cpus --placement --smt */
extern const struct argp assay_argp_measure;     /* --seed --memory-limit */
extern const struct argp assay_argp_counters;    /* --counters --events --multiplex */
extern const struct argp assay_argp_cache_model; /* --cache-model */
extern const struct argp assay_argp_store;       /* --db */
extern const struct argp assay_argp_output;      /* --json --verbose */
extern const struct argp assay_argp_help;        /* --help --version; every command has it last */
/* All of them, for commands that measure; and those of commands that read the store. */
extern const struct argp assay_argp_measuring, assay_argp_reading;

/*
 * Parse; @input begins with a struct assay_settings, which all children of @argp share. Parsers of a command fill
 * settings->err and return EINVAL. 0, or ASSAY_EUSAGE with one line. `--help` and `--version` end the program.
 */
int assay_cli_parse(const struct argp *argp, int argc, char **argv, void *input, struct assay_err *err);
/* For ARGP_KEY_INIT of a command's parser: hand its input, which begins with the settings, to all children. */
void assay_cli_parse_children(struct argp_state *state);

#endif
