/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other tools write about their benchmarks, one file a tool: text in, facts and results out through a callback.
 * `assay import` stores them as a run; a program that measures itself (`reads` in a bench file) becomes cases by them.
 * Nothing here knows of a store or starts a program, and only assay_format_gather() opens files.
 *
 * A program that measures itself, as cases:
 *
 *	assay_format_find("google-benchmark", &f, &err);
 *	assay_format_ask(f, ASSAY_ASK_LIST, NULL, NULL, &words, &err);        which benchmarks are there?
 *	… run the words, standard output into @text …
 *	assay_format_list(f, text, &sink, &err);                               sink.result() for each, with its name
 *	assay_format_ask(f, ASSAY_ASK_MEASURE, name, path, &words, &err);     one process, one benchmark
 *	… run the words; f->program.place says where @text is …
 *	assay_format_read(&(struct assay_format_reading){ .format = f->name, .path = …, .sink = sink }, &text, &err);
 *
 * A program that cannot list is run once as a whole; the results of that run are its cases.
 */
#ifndef ASSAY_FORMATS_FORMATS_H
#define ASSAY_FORMATS_FORMATS_H

#include "base/text.h"
#include "model/result.h"

/* ---- text to results ---- */

/* The facts in a text about the run that its results come from. */
struct assay_format_facts {
	char machine[128], commit[65]; /* "": the text does not say */
	uint64_t started_ns;           /* unix time; 0: likewise */
	struct assay_fact *v;          /* of machine and surroundings */
	size_t n;
	unsigned run; /* 1, 2 …: a text that was appended to has several runs, each with facts of its own */
};

/* Of @facts: the date is without a zone and was taken as UTC. */
#define ASSAY_FORMAT_FACT_ZONE "time zone"

struct assay_format_sink {
	/*
	 * A benchmark, which its tool calls @name. @r is complete: op, axes, threads and key; samples and what follows
	 * from them; metrics, the time of a call among them as "time_s"; or another status than ok, with its reason,
	 * and no numbers. Its variant is the format's name, its cache state unknown. No two of a run have one key. @r
	 * and @facts are borrowed, and what is taken out of @r must leave it so that it can be released. Any result but
	 * 0 ends the reading, which then returns it.
	 */
	int (*result)(void *arg, const struct assay_format_facts *facts, struct assay_result *r, const char *name,
		      struct assay_err *err);
	/* How much of the text is read, before each of its results; ends the reading likewise. NULL: nobody asks. */
	int (*share)(void *arg, double done_frac, struct assay_err *err);
	void *arg;
};

struct assay_format_reading {
	const char *
		format; /* "auto": the one that it is. In the end the one that it was; NULL: it is none that is known */
	const char *path; /* for messages */
	struct assay_format_sink sink;
	size_t n_aggregates; /* out: means and the like that it has besides, which are no samples */
};

/*
 * Read all of @text, which is changed. ASSAY_EUSAGE with path, line and place of what is wrong in it, if it has no
 * benchmarks, or if the format is unknown or another one. Results before the place of an error were handed over.
 */
int assay_format_read(struct assay_format_reading *q, struct assay_text *text, struct assay_err *err);

/* ---- names ---- */

/*
 * @text as the op of a key: as it stands there, but printable. What is too long is cut in the middle and told apart by
 * a digest.
 */
void assay_format_op(const char *text, char out[ASSAY_OP_MAX]);
/*
 * Append an axis. In name and text blanks become '_', and what separates parts of a key or is special in a glob becomes
 * %2F and the like; what is too long is cut as in an op, and what has no room goes, with its name, into the last axis.
 * False if any of it was cut or moved so.
 */
bool assay_format_axis(struct assay_case *c, const char *name, const char *text);

/* ---- programs ---- */

struct assay_reading;

/* Where a program leaves what it is asked for. */
enum assay_format_place {
	ASSAY_FORMAT_STDOUT,
	ASSAY_FORMAT_FILE,   /* at the path that it was given, where nothing may be yet */
	ASSAY_FORMAT_FOLDER, /* below that path, likewise: assay_format_gather() makes one text of it */
};

/* How to ask programs. In words, %p is the path and %b the benchmark. */
struct assay_format_program {
	enum assay_format_place place;
	/* Changes the command before anything is added; @path is NULL where it is to list. NULL: it needs no change. */
	int (*prepare)(struct assay_strings *words, const char *path, struct assay_err *err);
	const char *measure; /* what makes it write the format */
	const char *list;    /* writes names to standard output; NULL: programs cannot */
	/* In what `list` writes one of these follows a name; lines without it are none. NULL: a name is a line. */
	const char *behind_name[2];
	const char *only; /* measures one benchmark alone; NULL: programs measure all of them each time */
	/* Names have parts, between tabs: `only` takes the first, and this each of the others. NULL: they have none. */
	const char *only_part;
	/* The name of the benchmark is part of a regular expression. */
	bool escaped;
};

struct assay_format {
	const char *name;
	void (*read)(struct assay_reading *in);
	/* Fill op, axes and threads of @c from the @name that a program lists. NULL where programs cannot list. */
	int (*name_case)(const char *name, struct assay_case *c);
	struct assay_format_program program;
};

/* The name of the format @i; NULL: there are no more. */
const char *assay_format_name(size_t i);
/* ASSAY_EUSAGE: there is none called @name. Of "auto" *@out is NULL. */
int assay_format_find(const char *name, const struct assay_format **out, struct assay_err *err);

enum assay_format_question { ASSAY_ASK_LIST, ASSAY_ASK_MEASURE };

/*
 * Add to @words, a command, what asks it to list its benchmarks, or to measure and write the format to @path. Each
 * process is to give one value: a program that would repeat itself does so as little as it can. @benchmark is the one
 * to be measured, by the name that the sink got; it is passed over where programs cannot choose, so ask
 * f->program.only first. NULL: all.
 */
int assay_format_ask(const struct assay_format *f, enum assay_format_question question, const char *benchmark,
		     const char *path, struct assay_strings *words, struct assay_err *err);
/* Hand over the benchmarks that standard output lists: status skipped, without numbers. As assay_format_read(). */
int assay_format_list(struct assay_format_reading *q, const char *text, struct assay_err *err);
/*
 * Append to @out one text, for assay_format_read(), of all that a format in folders has at @path, a folder or one of
 * the files in it. Nothing is appended where there is none. ASSAY_EUSAGE for a file that is none of the format.
 */
int assay_format_gather(const char *path, struct assay_text *out, struct assay_err *err);
#endif
