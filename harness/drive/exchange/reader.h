/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An import under way: what the readers of formats share. A reader goes over a file twice: once for what is said of
 * all of it, wherever that stands, and once for its benchmarks.
 */
#ifndef ASSAY_DRIVE_EXCHANGE_READER_H
#define ASSAY_DRIVE_EXCHANGE_READER_H

#include "base/json_reader.h"
#include "base/name_index.h"
#include "drive/exchange/request.h"
#include "model/import_report.h"

struct assay_store;

/* What the whole file says of each of its benchmarks, unless that says otherwise. 0 and "": nothing. */
struct assay_importing_defaults {
	char name[256], unit[32];
	double loops, inner_loops;
};

struct assay_importing {
	const struct assay_import_request *q;
	struct assay_json *j;
	struct assay_store *store;
	struct assay_run run;         /* of the cases that follow */
	bool same;                    /* the store has this run, so that its cases are passed over */
	struct assay_name_index keys; /* of this run, with the number of each */
	struct assay_importing_defaults defaults;
	struct assay_import_report *report;
	struct assay_err *err;
};

/* How a format is read; the first that recognises a file is its. */
struct assay_import_format {
	const char *name;
	/* What the whole file says into im->run, to the end of the file. */
	void (*head)(struct assay_importing *im);
	/* Its benchmarks, by assay_importing_put(). Errors stay in im->j. */
	void (*benchmarks)(struct assay_importing *im);
};

extern const struct assay_import_format assay_import_google_benchmark, assay_import_llama_bench, assay_import_hyperfine,
	assay_import_pyperf, assay_import_csv;

/* ---- the run ---- */

/* Something that the file says of machine or surroundings; "" is nothing. The first of a name stays. */
void assay_importing_fact(struct assay_importing *im, const char *name, const char *value);
/* The value of a fact that was added; NULL: there is none. */
const char *assay_importing_fact_of(const struct assay_importing *im, const char *name);
/* The value that comes next, if it is a text or a number; others are passed over. */
void assay_importing_fact_here(struct assay_importing *im, const char *name);
void assay_importing_machine(struct assay_importing *im, const char *name);
void assay_importing_commit(struct assay_importing *im, const char *hash);
/* "2026-01-31T12:00:00+01:00", "2026-01-31 12:00:00.5", "2026/01/31-12:00:00"; without a zone it is taken as UTC. */
void assay_importing_started(struct assay_importing *im, const char *when);
/* End the run at hand; the next case begins another. */
void assay_importing_end_run(struct assay_importing *im);

/* ---- cases ---- */

/*
 * @text as a part of a key: blanks become '_', what separates parts of a key or is special in a glob becomes %2F and
 * the like. What is too long is cut in the middle and told apart by a digest.
 */
void assay_importing_word(const char *text, char out[ASSAY_NAME_MAX]);
/* @text as the op of a key: as it was typed, but printable and not too long. */
void assay_importing_command(const char *text, char out[ASSAY_NAME_MAX]);
/* Append an axis; what has no room goes, with its name, into the last one. */
void assay_importing_axis(struct assay_case *c, const char *name, const char *text);
/* @iterations took @ns together. 0 or less, and what is no number, makes the result fail. */
void assay_importing_sample(struct assay_importing *im, struct assay_result *r, double iterations, double ns,
			    uint32_t flags);
/*
 * The tag of what a tool's user called @name: the name, wherever that can be shown and stands for nothing else. Names
 * that differ get tags that differ.
 */
void assay_importing_tag(const char *name, char tag[ASSAY_METRIC_TAG_MAX]);
/* Add @value to the metric, which becomes the mean of as many. What is no finite number is unavailable instead. */
void assay_importing_metric(struct assay_importing *im, struct assay_result *r, const char *tag, const char *unit,
			    int better, double value);
/* Why it has no time. The first reason stays. */
void assay_importing_no_time(struct assay_result *r, enum assay_status status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Call @each at every element of the array @name of the object that begins here; other members are passed over. */
void assay_importing_each(struct assay_importing *im, const char *name, void (*each)(struct assay_importing *im));

/* Make the key of @r, complete and store it, and release it. @name is what the tool calls it, for messages. */
void assay_importing_put(struct assay_importing *im, struct assay_result *r, const char *name);

#endif
