/* SPDX-License-Identifier: Apache-2.0 */
/* Programs as cases: a process is a sample, and two programs take turns process by process. */
#ifndef ASSAY_MEASURE_PROGRAM_H
#define ASSAY_MEASURE_PROGRAM_H

#include "base/file.h"
#include "counters/counting.h"
#include "formats/formats.h"
#include "measure/options.h"
#include "model/catalog.h"
#include "model/comparison.h"
#include "worker/program/program.h"

/*
 * Run one process of @side and make @s a sample of it. What became of the process is in @run. Negative: the harness
 * cannot go on.
 */
typedef int assay_program_once(void *arg, enum assay_side side, struct assay_time_process *run, struct assay_sample *s,
			       struct assay_err *err);

/*
 * Take the p->n_blocks blocks of a pair. Each has four processes, in an order that follows from p->seed as that of
 * kernels does. The first that fails ends the pair; its status and reason are those of its side then, and there are no
 * samples. What the processes used is among the metrics of both sides.
 */
int assay_program_blocks(struct assay_pair *p, assay_program_once *once, void *arg, struct assay_err *err);
/* So many blocks, which take @block_ns each, that the looks of a comparison fit into @budget_ns. */
size_t assay_program_blocks_in(double budget_ns, double block_ns);

/* ---- counters ---- */

/* Events of a program and of all that it starts. All-zero counts nothing. */
struct assay_program_counts {
	struct assay_counter_context ctx;
	struct assay_counting *counting; /* NULL: nothing is counted */
};
/*
 * Count @events, as assay_counter_choice_text() writes them, in what this thread starts. @c stays where it is. Fails
 * only for lack of memory; close it in either case.
 */
int assay_program_counts_open(struct assay_program_counts *c, const char *events, bool multiplex,
			      struct assay_err *err);
void assay_program_counts_close(struct assay_program_counts *c);
/* As assay_program_run(); what is counted meanwhile is added once assay_program_counts_keep() says that it counts. */
int assay_program_counts_run(struct assay_program_counts *c, const struct assay_program_runner *r,
			     const struct assay_strings *words, struct assay_time_process *out, struct assay_err *err);
void assay_program_counts_keep(struct assay_program_counts *c);
/* Add the means of a process to @to, with reasons for the others, and what @choice derives from them. ASSAY_ENOMEM. */
int assay_program_counts_take(const struct assay_program_counts *c, const struct assay_counter_choice *choice,
			      struct assay_result *to, struct assay_err *err);

/* Add to @to, as metrics and counts, what @n processes used: means, and the most memory. ASSAY_ENOMEM. */
int assay_program_usage(const struct assay_time_process *p, size_t n, struct assay_result *to, struct assay_err *err);

/* The words of the command of @op for @c, with the values of the case in them. Release @out. ASSAY_ENOMEM. */
int assay_program_words(const struct assay_catalog_op *op, const struct assay_case *c, struct assay_strings *out,
			struct assay_err *err);

/* Where the program of @words lies that is started in @folder; a name without a slash is looked for in PATH. */
void assay_program_path(const char *folder, const struct assay_strings *words, char *path, size_t size);
/*
 * The CPUs that @c may use, as many as it has threads: a list, malloc'ed in either case, and a set. ASSAY_EUSAGE, as
 * assay_placement_pick() says it; ASSAY_ENOMEM.
 */
int assay_program_place(const struct assay_case *c, const struct assay_measure_options *o, int **cpus, cpu_set_t *set,
			struct assay_err *err);

/* As assay_measure_case(), of a case whose op is a program. */
int assay_program_case(const struct assay_case *c, const struct assay_catalog_op *op,
		       const struct assay_measure_options *o, struct assay_result *out, struct assay_err *err);
/* As assay_measure_pair(), likewise; the sides run in @po->folders. */
int assay_program_pair(const struct assay_case *c, const struct assay_catalog_op *op,
		       const struct assay_measure_options *o, const struct assay_pair_options *po,
		       struct assay_pair_calibration *calibration, struct assay_pair *out, struct assay_err *err);

/* ---- benchmarks of a program ---- */

/*
 * Ask the program of @op, in @folder, which benchmarks it has; *out is malloc'ed, see struct assay_plan_options. A
 * program that lists them is asked for that, another one is run once. None: it failed, which its case will tell.
 */
int assay_program_benchmarks(const struct assay_catalog_op *op, const struct assay_case *c, const char *folder,
			     const volatile sig_atomic_t *interrupted, struct assay_case **out, size_t *n,
			     struct assay_err *err);

#define ASSAY_PROGRAM_WHY_MAX 224

/* A process that is asked for benchmarks: the words to run, and where it may write. End it in either case. */
struct assay_program_asking {
	const struct assay_format *format; /* set by the caller */
	const char *benchmark;             /* likewise; NULL: the only one, or all where they are listed */
	struct assay_temporary place;
	bool made; /* the place */
	struct assay_strings words;
};
int assay_program_asking_begin(struct assay_program_asking *a, enum assay_format_question question,
			       const struct assay_strings *command, struct assay_err *err);
/*
 * Once it has ended, with @text on its standard output: median time and metrics of the benchmark in @out. @why says
 * what is wrong with what it wrote; "": nothing is.
 */
int assay_program_asking_read(const struct assay_program_asking *a, struct assay_text *text, struct assay_result *out,
			      char why[ASSAY_PROGRAM_WHY_MAX], struct assay_err *err);
void assay_program_asking_end(struct assay_program_asking *a);

/* ---- what a program prints ---- */

/* Reads numbers out of text. Pure. */

/*
 * Make @text what a terminal shows of it in the end: what follows a carriage return is written over the line. Otherwise
 * progress that a program shows would be taken for its result.
 */
void assay_program_as_shown(struct assay_text *text);
/*
 * The number in the first group of @pattern, an extended regular expression, where that matches @text once. False, with
 * @why of @size bytes, where it is not there, there twice, or no number.
 */
bool assay_program_find_number(const char *text, const char *pattern, double *value, char *why, size_t size);
/* All numbers that @pattern finds, of which there has to be one; else @why says what is wrong, and there are none. */
struct assay_program_numbers {
	double *v; /* malloc'ed */
	size_t n;
};
bool assay_program_find_numbers(const char *text, const char *pattern, struct assay_program_numbers *out, char *why,
				size_t size);

#endif
