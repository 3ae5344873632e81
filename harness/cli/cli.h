/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all commands: their list, exit codes, output to a person or a script. */
#ifndef ASSAY_CLI_CLI_H
#define ASSAY_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "drive/user_text.h"
#include "drive/installed.h"
#include "model/catalog.h"
#include "model/result.h"
#include "reports/emitter.h"

/* 128 + SIGINT, as shells write it. */
#define ASSAY_CLI_EXIT_INTERRUPTED 130

/* One command; argv[0] is "assay NAME". Returns the exit status. */
int assay_cmd_list(int argc, char **argv);
int assay_cmd_run(int argc, char **argv);
int assay_cmd_init(int argc, char **argv);
int assay_cmd_new(int argc, char **argv);
int assay_cmd_verify(int argc, char **argv);
int assay_cmd_show(int argc, char **argv);
int assay_cmd_db(int argc, char **argv);
int assay_cmd_doctor(int argc, char **argv);
int assay_cmd_gate(int argc, char **argv);
int assay_cmd_baseline(int argc, char **argv);
int assay_cmd_export(int argc, char **argv);
int assay_cmd_history(int argc, char **argv);
int assay_cmd_import(int argc, char **argv);
int assay_cmd_plot(int argc, char **argv);
int assay_cmd_report(int argc, char **argv);
int assay_cmd_compare(int argc, char **argv);
int assay_cmd_diff(int argc, char **argv);
int assay_cmd_bisect(int argc, char **argv);
int assay_cmd_certify(int argc, char **argv);
int assay_cmd_profile(int argc, char **argv);
int assay_cmd_model(int argc, char **argv);
int assay_cmd_generate(int argc, char **argv);
int assay_cmd_serve(int argc, char **argv);
int assay_cmd_fleet(int argc, char **argv);
int assay_cmd_time(int argc, char **argv);

/* Would 'assay run' or 'assay compare' begin with this line? 0, or ASSAY_EUSAGE with what is wrong. */
int assay_cmd_run_check(int argc, char **argv, struct assay_err *err);
int assay_cmd_compare_check(int argc, char **argv, struct assay_err *err);

/* "assay: …" on standard error. */
void assay_cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void assay_cli_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* As printf() to standard output or standard error, but fit for a terminal, whatever the names in it. */
void assay_cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void assay_cli_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Print @err and return the exit status that goes with its code. */
int assay_cli_fail(const struct assay_err *err);

/* All that was printed reaches standard output: @status, or a message and ASSAY_EXIT_USAGE. */
int assay_cli_finish(int status);

/* Width and abilities of standard output. */
struct assay_emit_style assay_cli_style(void);
/* Print @r: as JSON where @json, otherwise as text in the style of standard output. */
int assay_cli_emit(const struct assay_report *r, bool json, bool verbose, struct assay_err *err);
/* NULL-safe: write @t to standard output and release it. */
void assay_cli_put(struct assay_text *t);

/* One line: version, commit, compiler. */
void assay_cli_print_version(void);

#endif
