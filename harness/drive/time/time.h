/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs as cases, from a command line: one is run again and again, several are compared with a reference in process
 * pairs, by the judge that compares builds.
 */
#ifndef ASSAY_DRIVE_TIME_TIME_H
#define ASSAY_DRIVE_TIME_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "drive/request.h"
#include "drive/watch.h"
#include "model/case.h"
#include "model/gate_report.h"
#include "model/reports.h"

/* ---- parameters ---- */

/* A parameter and what it stands for in turn. */
struct assay_parameter {
	char name[ASSAY_NAME_MAX];
	struct assay_strings values;
};

/* Read "name=a,b,c". Release @out in either case. ASSAY_EUSAGE. */
int assay_parameter_read(const char *text, const char *what, struct assay_parameter *out, struct assay_err *err);

/* How many combinations of values there are; the first parameter varies fastest. */
size_t assay_parameters_count(const struct assay_parameter *p, size_t n);
/* The value of parameter @i of @p in combination @at. */
const char *assay_parameters_value(const struct assay_parameter *p, size_t i, size_t at);
/* @text with each {name} replaced by its value in combination @at; a new string. NULL: out of memory. */
char *assay_parameters_fill(const char *text, const struct assay_parameter *p, size_t n, size_t at);

/* ---- a timing ---- */

#define ASSAY_TIME_BUDGET_NS UINT64_C(3000000000) /* of one command alone */
#define ASSAY_TIME_MIN_RUNS  10
#define ASSAY_TIME_MARGIN    0.01

/* All-zero but for `what`, `commands` and `warmup` is the default. Strings are borrowed. */
struct assay_time_request {
	const struct assay_request *what; /* database, seed, CPUs */
	struct assay_strings commands, names;
	struct assay_parameter *parameters; /* malloc'ed */
	size_t n_parameters;
	const char *reference; /* one of the commands or names, else a further command; NULL: the first */
	const char *shell;     /* that runs the commands; NULL: none */
	const char *setup, *prepare, *conclude, *cleanup;
	const char *input, *output; /* as in struct assay_program_runner */
	bool to_stderr, ignore_failure, strict;
	uint64_t warmup, min_runs, timeout_ns;
	uint64_t budget_ns;        /* of the command, or of each that is compared; 0: 3 s, or as a comparison has */
	double margin_frac, alpha; /* 0: 1 % */
};
void assay_time_request_release(struct assay_time_request *q);

/* All-zero is empty. */
struct assay_time_outcome {
	struct assay_time_report report;
	struct assay_gate_report gate; /* that the report points to, where there are several commands */
	enum assay_exit exit;
};

/*
 * ASSAY_EUSAGE when a command is none, cannot be started, or one that prepares it fails. ASSAY_EINTERRUPTED when the
 * watch says so, with what was measured until then. That a command fails is a status, a verdict and an exit code.
 * Release @out in either case.
 */
int assay_time(const struct assay_time_request *q, const struct assay_watch *w, struct assay_time_outcome *out,
	       struct assay_err *err);
void assay_time_outcome_release(struct assay_time_outcome *out);

#endif
