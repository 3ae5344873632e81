/* SPDX-License-Identifier: Apache-2.0 */
/* An import under way: what the readers of formats share. The whole file is in memory. */
#ifndef ASSAY_DRIVE_EXCHANGE_READER_H
#define ASSAY_DRIVE_EXCHANGE_READER_H

#include <jansson.h>
#include <stdint.h>

#include "base/hash.h"
#include "drive/watch.h"
#include "model/reports.h"

/* ---- request ---- */

/* What an import is asked for. */

/* All-zero but for the first three is the default: what the file says, else unknown. Strings are borrowed. */
struct assay_import_request {
	const char *db, *format, *path; /* format "auto": the one that it is; path "-": standard input */
	const char *commit, *machine, *label;
	const char *suite;   /* NULL: named like the format */
	uint64_t started_ns; /* 0: as the file says */
	int64_t replace;     /* the run that these bytes became with wrong options, to be removed; 0: none */
};

struct assay_store;

struct assay_import_job {
	const struct assay_import_request *q;
	const struct assay_watch *watch;
	const char *path;             /* for messages */
	const char *text;             /* all of the file */
	const json_t *values;         /* those in it, an array: one, or several in JSON lines; NULL of CSV */
	size_t line;                  /* of CSV, for messages */
	char where[64];               /* the benchmark at hand, for messages: "benchmarks[3]" */
	int rc;                       /* the first error, which stays; what comes behind it does nothing */
	struct assay_store *store;    /* NULL before the first case */
	bool begun;                   /* its transaction */
	struct assay_run run;         /* of the cases that follow */
	bool same;                    /* the store has this run, so that its cases are passed over */
	struct assay_name_index keys; /* of this run, with the number of each */
	struct assay_import_report *report;
	struct assay_err *err;
};

/* How a format is read; the first that recognises a file is its. */
struct assay_import_format {
	const char *name;
	/* What the file says of the run, then its benchmarks by assay_import_put(). Errors go to im->rc. */
	void (*read)(struct assay_import_job *im);
};

extern const struct assay_import_format assay_import_google_benchmark, assay_import_llama_bench, assay_import_hyperfine,
	assay_import_pyperf, assay_import_csv;

/* "file.json: benchmarks[3]: …" under ASSAY_EUSAGE, unless something failed before. */
void assay_import_fail(struct assay_import_job *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- values ---- */

/* What NaN and Infinity begin with, as texts in im->values: JSON has no such numbers, and jansson reads none. */
#define ASSAY_IMPORT_NO_NUMBER "\1"

/* NaN and Infinity, which some programs write though JSON has no such thing, are numbers, too. */
bool assay_import_is_number(const json_t *v);
/* The number; what is none is an error that names @field. */
double assay_import_number(struct assay_import_job *im, const json_t *v, const char *field);
/*
 * The member @name of @from, which counts something; @otherwise where it is no number. A fraction is an error: "1.500"
 * was once a thousands separator, and a file in which a count is wrong by a factor of 1000 has other numbers that are
 * wrong.
 */
double assay_import_count(struct assay_import_job *im, const json_t *from, const char *name, double otherwise);
/* The text @name of @from; "" where there is none. */
const char *assay_import_text(const json_t *from, const char *name);
/*
 * Call @each at every object of the list, and say how far the import is. @name is what the list is called, for
 * messages. Another list, and another element, is an error.
 */
void assay_import_each(struct assay_import_job *im, const json_t *list, const char *name,
		       void (*each)(struct assay_import_job *im, const json_t *one, void *arg), void *arg);

/* ---- the run ---- */

/* Something that the file says of machine or surroundings; "" is nothing. The first of a name stays. */
void assay_import_fact(struct assay_import_job *im, const char *name, const char *value);
/* The value of a fact that was added; NULL: there is none. */
const char *assay_import_fact_of(const struct assay_import_job *im, const char *name);
/* The member @name of @from, if it is a text, a number, true or false. */
void assay_import_fact_in(struct assay_import_job *im, const json_t *from, const char *name);
void assay_import_machine(struct assay_import_job *im, const char *name);
void assay_import_commit(struct assay_import_job *im, const char *hash);
/* "2026-01-31T12:00:00+01:00", "2026-01-31 12:00:00.5", "2026/01/31-12:00:00"; without a zone it is taken as UTC. */
void assay_import_started(struct assay_import_job *im, const char *when);
/* End the run at hand; the next case begins another. */
void assay_import_end_run(struct assay_import_job *im);

/* ---- cases ---- */

/*
 * @text as the op of a key: as it stands there, but printable. What is too long is cut in the middle and told apart by
 * a digest.
 */
void assay_import_op(const char *text, char out[ASSAY_OP_MAX]);
/*
 * Append an axis. In name and text blanks become '_', and what separates parts of a key or is special in a glob becomes
 * %2F and the like; what is too long is cut as in an op, and what has no room goes, with its name, into the last axis.
 * False if any of it was cut or moved so.
 */
bool assay_import_axis(struct assay_case *c, const char *name, const char *text);
/* @iterations took @ns together. 0 or less, and what is no number, makes the result fail. */
void assay_import_sample(struct assay_import_job *im, struct assay_result *r, double iterations, double ns,
			 uint32_t flags);
/*
 * The tag of what a tool's user called @name: the name, wherever that can be shown and stands for nothing else. Names
 * that differ get tags that differ.
 */
void assay_import_tag(const char *name, char tag[ASSAY_METRIC_TAG_MAX]);
/* Add @value to the metric, which becomes the mean of as many. What is no finite number is unavailable instead. */
void assay_import_metric(struct assay_import_job *im, struct assay_result *r, const char *tag, const char *unit,
			 int better, double value);
/* Record why it has no time. The first reason stays. */
void assay_import_no_time(struct assay_result *r, enum assay_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Is @id a run that these bytes became in an earlier import, with other options? */
bool assay_import_is_other(const struct assay_import_report *r, int64_t id);
/* Make the key of @r, complete and store it, and release it. @name is what the tool calls it, for messages. */
void assay_import_put(struct assay_import_job *im, struct assay_result *r, const char *name);

#endif
