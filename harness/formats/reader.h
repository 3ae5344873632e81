/* SPDX-License-Identifier: Apache-2.0 */
/* A text that is being read: what the formats share. */
#ifndef ASSAY_FORMATS_READER_H
#define ASSAY_FORMATS_READER_H

#include <jansson.h>
#include <stdint.h>

#include "base/hash.h"
#include "formats/formats.h"

struct assay_reading {
	struct assay_format_reading *q;
	const char *text;     /* all of it */
	const json_t *values; /* those in it, an array: one, or several in JSON lines; NULL of CSV */
	size_t line;          /* of CSV, for messages */
	char where[64];       /* the benchmark at hand, for messages: "benchmarks[3]" */
	int rc;               /* the first error, which stays; what comes behind it does nothing */
	struct assay_format_facts facts;
	struct assay_name_index keys; /* of this run, with the number of each */
	size_t n_results;             /* of all runs */
	struct assay_err *err;
};

extern const struct assay_format assay_format_google_benchmark, assay_format_llama_bench, assay_format_hyperfine,
	assay_format_pyperf, assay_format_nvbench, assay_format_criterion, assay_format_csv;

/* "file.json: benchmarks[3]: …" under ASSAY_EUSAGE, unless something failed before. */
void assay_reading_fail(struct assay_reading *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Keep @rc, which in->err explains, unless something failed before. */
void assay_reading_keep(struct assay_reading *in, int rc);
void assay_reading_no_memory(struct assay_reading *in);

/* ---- encoding ---- */

/* The number of the line that @at of @text is in. */
size_t assay_reading_line_of(const char *text, const char *at);
/*
 * Is it text in UTF-8, without bytes that are zero? @why says what else it seems to be, and how it becomes that; @line
 * is where, 0: at the beginning.
 */
bool assay_reading_is_text(const char *s, size_t len, size_t *line, char *why, size_t size);

/* ---- values ---- */

/* The prefix of texts in in->values that stand for NaN and Infinity, which JSON does not have as numbers. */
#define ASSAY_READING_NO_NUMBER "\1"

/* NaN and Infinity, which some programs write though JSON has no such thing, are numbers, too. */
bool assay_reading_is_number(const json_t *v);
/* The number; what is none is an error that names @field. */
double assay_reading_number(struct assay_reading *in, const json_t *v, const char *field);
/*
 * The member @name of @from, which counts something; @otherwise where it is no number. A fraction is an error: "1.500"
 * was once a thousands separator, and a file in which a count is wrong by a factor of 1000 has other numbers that are
 * wrong.
 */
double assay_reading_count(struct assay_reading *in, const json_t *from, const char *name, double otherwise);
/* The text @name of @from; "" where there is none. */
const char *assay_reading_text(const json_t *from, const char *name);
/*
 * Call @each at every object of the list, and say how far the reading is. @name is what the list is called, for
 * messages. Another list, and another element, is an error.
 */
void assay_reading_each(struct assay_reading *in, const json_t *list, const char *name,
			void (*each)(struct assay_reading *in, const json_t *one, void *arg), void *arg);

/* ---- the run ---- */

/* Something that the text says of machine or surroundings; "" is nothing. The first of a name stays. */
void assay_reading_fact(struct assay_reading *in, const char *name, const char *value);
/* The value of a fact that was added; NULL: there is none. */
const char *assay_reading_fact_of(const struct assay_reading *in, const char *name);
/* The member @name of @from, if it is a text, a number, true or false. */
void assay_reading_fact_in(struct assay_reading *in, const json_t *from, const char *name);
void assay_reading_machine(struct assay_reading *in, const char *name);
void assay_reading_commit(struct assay_reading *in, const char *hash);
/* "2026-01-31T12:00:00+01:00", "2026-01-31 12:00:00.5", "2026/01/31-12:00:00"; without a zone it is taken as UTC. */
void assay_reading_started(struct assay_reading *in, const char *when);
/* Begin another run, about which nothing but machine and date is known yet. */
void assay_reading_new_run(struct assay_reading *in);

/* ---- cases ---- */

/* @iterations took @ns together. 0 or less, and what is no number, makes the result fail. */
void assay_reading_sample(struct assay_reading *in, struct assay_result *r, double iterations, double ns,
			  uint32_t flags);
/*
 * The tag of what a tool's user called @name: the name, wherever that can be shown and stands for nothing else. Names
 * that differ get tags that differ.
 */
void assay_reading_tag(const char *name, char tag[ASSAY_METRIC_TAG_MAX]);
/* Add @value to the metric, which becomes the mean of as many. What is no finite number is unavailable instead. */
void assay_reading_metric(struct assay_reading *in, struct assay_result *r, const char *tag, const char *unit,
			  int better, double value);
/* Record why it has no time. The first reason stays. */
void assay_reading_no_time(struct assay_result *r, enum assay_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Make the key of @r, complete it, hand it over and release it. @name is what the tool calls it. */
void assay_reading_put(struct assay_reading *in, struct assay_result *r, const char *name);

#endif
