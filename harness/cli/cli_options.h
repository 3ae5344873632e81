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
#include "machine/topology.h"

/* What a command takes and judges: --evidence. */
enum assay_cli_evidence {
	ASSAY_CLI_EVIDENCE_ALL,    /* times, and counts where the suite names cases for them */
	ASSAY_CLI_EVIDENCE_STORED, /* times alone */
	ASSAY_CLI_EVIDENCE_EXACT,  /* counts alone */
};
/* For an argument of --evidence; ASSAY_EUSAGE names what is expected. */
int assay_cli_parse_evidence(const char *arg, enum assay_cli_evidence *out, struct assay_err *err);

/* For the number of a stored run or comparison, which @kind is, as @what names it; `last` is 0, as if left out. */
int assay_cli_parse_id(const char *arg, const char *what, const char *kind, int64_t *out, struct assay_err *err);

struct assay_settings {
	const char *suite;         /* NULL: not named */
	struct assay_strings only; /* empty: all cases */
	const char *db;
	const char *bench_dir;        /* NULL: the installed one */
	struct assay_strings plugins; /* named with --plugin */
	bool no_default_plugins;
	const char *isa; /* what variants may need; NULL: all that the CPU has */
	uint64_t seed;
	unsigned *threads; /* as in struct assay_plan_options */
	size_t n_threads;
	struct assay_placement_options placement;
	int *cpus; /* owns placement.cpus */
	uint64_t budget_ns, memory_bytes;
	unsigned rounds; /* 0: as the suite says */
	int64_t batch_size;
	bool deterministic;
	const char *counter_groups; /* NULL: those of the benches */
	struct assay_strings events;
	bool multiplex;
	bool roof_in_turn;
	enum assay_cli_evidence evidence;
	const char *cache_model; /* NULL: as the suite says */
	bool json, verbose, help, version;

	/* of the parser */
	struct assay_err err;
	int bad_arg; /* index into argv, when err is unset */
};

/* Defaults, then the environment, all of it checked. Release in either case. */
int assay_settings_init(struct assay_settings *s, struct assay_err *err);
void assay_settings_release(struct assay_settings *s);

/* Groups of options for the children of a command's argp; their input is a struct assay_settings. */
extern const struct argp assay_argp_select;   /* --suite --only --plugin --no-default-plugins --bench-dir --isa */
extern const struct argp assay_argp_place;    /* --threads --cpus --placement --smt */
extern const struct argp assay_argp_measure;  /* --seed --memory-limit */
extern const struct argp assay_argp_counters; /* --counters --events --multiplex */
extern const struct argp assay_argp_store;    /* --db */
extern const struct argp assay_argp_output;   /* --json --verbose */
extern const struct argp assay_argp_help;     /* --help --version; every command has it last */
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
