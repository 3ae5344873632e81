/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact counts by valgrind's tool callgrind, which runs a program on a simulated processor with two levels of cache:
 * how it is found and started, what the program under it says to it, and what it writes. Must not start processes that
 * it does not wait for.
 */
#ifndef ASSAY_COUNTERS_CALLGRIND_CALLGRIND_H
#define ASSAY_COUNTERS_CALLGRIND_CALLGRIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "model/exact.h"

/* ---- the side that starts it ---- */

/*
 * Is there a valgrind that can run this program? *version gets "valgrind-3.19.0". ASSAY_EUNAVAILABLE says why not, and
 * what to install: no valgrind, one too old, a program that was built without its headers or with a sanitizer.
 */
int assay_callgrind_probe(char *version, size_t size, struct assay_err *err);
/* The part of it that looks at what `valgrind --version` printed. */
int assay_callgrind_check_version(const char *text, struct assay_err *err);

/*
 * The first of the comma separated CPU features @needs that it cannot simulate, copied into @unknown (may be NULL);
 * true when there is none. NULL needs nothing.
 */
bool assay_callgrind_knows(const char *needs, char *unknown, size_t size);
/* Those of the comma separated features of a CPU that it can simulate, comma separated. */
void assay_callgrind_cap(const char *features, char *buf, size_t size);

/* Command and environment for a worker. Points into itself: not to be copied. */
struct assay_callgrind_command {
	const char *prefix[24];
	const char *env[12];
	char i1[64], d1[64], ll[64], out[8300], log[8300], library_path[4200];
};
/* Counts go to @out_path, what valgrind says to @log_path. */
void assay_callgrind_command(struct assay_callgrind_command *c, const struct assay_cache_model *model,
			     const char *out_path, const char *log_path);
/* The variables that fix which code libraries choose, blank separated. */
void assay_callgrind_environment(char *buf, size_t size);

/*
 * Names of the two dumps, which must be equal but for mispredictions: nothing empties the branch predictors in between.
 */
#define ASSAY_CALLGRIND_CHECK "check"
#define ASSAY_CALLGRIND_RUN   "run"

/* Stepping adds to a file of this format: a column of branches taken, and lines for the mix. */
#define ASSAY_CALLGRIND_TAKEN "Taken"
#define ASSAY_CALLGRIND_MIX   "desc: Mix: "

/*
 * Add to @out the functions of dump @name in @text, a file in callgrind's format (version 1; valgrind's manual,
 * "Callgrind Format Specification"), but for those of the file @skip_object, and set out->detail if that is NULL.
 * ASSAY_EIO when the dump is missing, cut short, damaged, or does not hold what its own sums say; @out is then to be
 * released as it is.
 */
int assay_callgrind_parse(const char *text, const char *name, const char *skip_object, struct assay_exact_case *out,
			  struct assay_err *err);

/* ---- inside the program that it runs ---- */

/* Running under valgrind, and built with its headers? */
bool assay_callgrind_inside(void);
/* Simulate from here on, with empty caches. */
void assay_callgrind_start(void);
/* Count from 0; caches stay as they are. */
void assay_callgrind_zero(void);
/* Write what was counted under one of the two names. */
void assay_callgrind_dump(bool check);
void assay_callgrind_stop(void);

#endif
