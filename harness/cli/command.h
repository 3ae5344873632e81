/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All commands do this in the same way: options, interrupts, the work, and showing what the driving layer tells
 * meanwhile.
 */
#ifndef ASSAY_CLI_COMMAND_H
#define ASSAY_CLI_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "cli/progress.h"
#include "drive/request.h"
#include "drive/watch.h"
#include "reports/emitter.h"

/* ---- options ---- */

/*
 * Tables say what an option is called and what it sets, also of those that several commands take. An option beats the
 * environment, the environment beats the files.
 */

/*
 * What an option does with its value (NULL where it takes none): set @to, the member that its row names. ASSAY_EUSAGE
 * with what is expected; @name is the option as the user wrote it, "--db".
 */
typedef int assay_option_fn(void *to, const char *arg, const char *name, struct assay_err *err);

/* In place of a letter: there is none, and as few people need the option, --help leaves it to --help-all. */
#define ASSAY_RARELY 1

/* A row of a table, which ends with one that has no name. */
struct assay_option {
	const char *name;
	char letter;     /* of the short form; 0: there is none; ASSAY_RARELY */
	const char *arg; /* what --help calls its value; NULL: it takes none */
	assay_option_fn *set;
	size_t at; /* of the member that it sets, in the struct of the table */
	const char *help;
};

/* Settings common to all commands, from options, environment and defaults. Arguments of a command begin with it. */
struct assay_settings {
	struct assay_request r;
	bool json, verbose, help, help_all, version;
	bool progress_json; /* events as lines of JSON, in place of a bar */
};

/* Defaults, then the environment, all of it checked. Release in either case. */
int assay_settings_init(struct assay_settings *s, struct assay_err *err);
void assay_settings_release(struct assay_settings *s);

/* Tables of struct assay_settings. */
extern const struct assay_option assay_options_load[];     /* --plugin --no-default-plugins --bench-dir */
extern const struct assay_option assay_options_models[];   /* --model --prompt */
extern const struct assay_option assay_options_select[];   /* --suite --only --isa */
extern const struct assay_option assay_options_place[];    /* --threads --cpus --device --placement --smt */
extern const struct assay_option assay_options_measure[];  /* --seed --memory-limit */
extern const struct assay_option assay_options_wrong[];    /* --even-if-wrong */
extern const struct assay_option assay_options_counters[]; /* --counters --events --multiplex */
extern const struct assay_option assay_options_exact[];    /* --cache-model, --counter-source, --steps */
extern const struct assay_option assay_options_store[];    /* --db */
extern const struct assay_option assay_options_output[];   /* --json --verbose */

/* In a list of tables: those of commands that read the store, that plan cases, and that measure and store them. */
/* clang-format off */
#define ASSAY_OPTIONS_READING { assay_options_store, 0 }, { assay_options_output, 0 }
#define ASSAY_OPTIONS_PLANNING                                                                                         \
	{ assay_options_load, 0 }, { assay_options_select, 0 }, { assay_options_place, 0 }, { assay_options_measure, 0 }
#define ASSAY_OPTIONS_MEASURING ASSAY_OPTIONS_PLANNING, ASSAY_OPTIONS_READING
/* clang-format on */

/* For bool: the option was given. */
int assay_option_flag(void *to, const char *arg, const char *name, struct assay_err *err);
/* For const char *: borrowed. */
int assay_option_text(void *to, const char *arg, const char *name, struct assay_err *err);
/* For uint64_t, in nanoseconds: "250ms", "2s", "5min". */
int assay_option_duration(void *to, const char *arg, const char *name, struct assay_err *err);
/* For uint64_t, unix time in nanoseconds: "2026-01-31", "2026-01-31T12:00". */
int assay_option_date(void *to, const char *arg, const char *name, struct assay_err *err);
/* For enum assay_take: exact, stored or all. */
int assay_option_evidence(void *to, const char *arg, const char *name, struct assay_err *err);

/* For const char *: a kind of profile. */
int assay_option_profile_kind(void *to, const char *arg, const char *name, struct assay_err *err);

/* Which options and arguments a command takes. */
struct assay_command_line {
	const char *usage; /* of its arguments, a line a form; NULL: it takes none */
	const char *doc;   /* for --help: what it does; behind \v, below the options, exit status and an example */
	struct {
		const struct assay_option *options;
		size_t at; /* of the struct of the table, in the arguments of the command */
	} tables[16];      /* those of --help and --version are added */
	/* Takes one argument. Of a command without arguments it says what to do instead: ASSAY_EUSAGE. */
	int (*argument)(void *args, const char *arg, struct assay_err *err);
	/* Do options and arguments go together? NULL: always. */
	int (*check)(void *args, struct assay_err *err);
	bool until_terminated; /* SIGTERM is how it is to end, and no interruption of its work */
};

/*
 * Fill @args, which begins with a struct assay_settings. 0, or ASSAY_EUSAGE with one line. `--help` and `--version` end
 * the program.
 */
int assay_command_line_parse(const struct assay_command_line *c, int argc, char **argv, void *args,
			     struct assay_err *err);

/* ---- interrupt ---- */

/*
 * The program handles Ctrl-C, SIGTERM and SIGHUP from its first lines to its last: it says so and ends with
 * ASSAY_CLI_EXIT_INTERRUPTED.
 */

/* Catch them. A SIGHUP that is ignored stays so, as nohup asks for it. Until work is held the program ends at once. */
void assay_interrupt_catch(void);
/*
 * From here on there is work that keeps what is finished and tidies up, and that looks at the flag. The first signal
 * sets it. A second one, half a second later or more, ends the program.
 */
void assay_interrupt_hold(void);
/* The number of that signal; 0: none has come. */
const volatile sig_atomic_t *assay_interrupt_flag(void);

/* ---- completion ---- */

/* From here on commands do not run, but say what may follow on their lines. */
void assay_complete_begin(void);
bool assay_completing(void);
/* Print @word, if it begins with @typed; @help may be NULL. */
void assay_complete_say(const char *typed, const char *word, const char *help);
/* The name of the format @i of 'assay export'; NULL: there are no more. */
const char *assay_export_format(size_t i);
/* The completions of the last argument, which may be empty. @args has its defaults. */
void assay_complete_command(const struct assay_command_line *line, int argc, char **argv, void *args);

/* ---- work ---- */

/* Shows progress, warnings and the head of a run. */
struct assay_watcher {
	struct assay_watch watch; /* for the driving layer */
	struct assay_progress progress;
	bool busy;      /* between an event that begins something and DONE */
	bool show_head; /* print what stands above the results */
	struct assay_emit_style style;
	bool lines;                     /* events as lines of JSON on standard error, and no bar */
	const struct assay_case *cases; /* of the last that said so, where lines are written */
	size_t n_cases;
	uint64_t part_ns;          /* when the last share of a case was written */
	bool hold;                 /* warnings wait until the work is done, to stand below what is printed */
	struct assay_strings late; /* those */
};

/* The work of a command. @args is what its options filled; *status is 0 before. An error is printed by the caller. */
typedef int assay_command_fn(void *args, struct assay_watcher *w, int *status, struct assay_err *err);

/*
 * Defaults and environment, options, @run, and the error that either ends with. @args begins with a struct
 * assay_settings, which is initialised and released here; what follows it is as the caller left it. Returns the exit
 * status.
 *
 * From where @run begins something long, an interrupt sets the flag of the watch, so that what is finished is kept.
 */
int assay_command(const struct assay_command_line *line, int argc, char **argv, void *args, assay_command_fn *run);

/*
 * As far as that goes before its work begins: are options, environment and the suite right? @check takes the request;
 * NULL: there is nothing else. 0, or ASSAY_EUSAGE with one line.
 */
int assay_command_check(const struct assay_command_line *line, int argc, char **argv, void *args,
			int (*check)(const struct assay_request *q, struct assay_err *err), struct assay_err *err);

#endif
