/* SPDX-License-Identifier: Apache-2.0 */
/* Databases and files of others: importing, merging and pruning. */
#ifndef ASSAY_DRIVE_EXCHANGE_EXCHANGE_H
#define ASSAY_DRIVE_EXCHANGE_EXCHANGE_H

#include <stdint.h>

#include "drive/watch.h"
#include "model/reports.h"
#include "store/merge.h"

/* ---- import ---- */

/* Imports results of other tools into the database: a file becomes runs, each of its benchmarks a case. */

/* The name of the format @i that can be imported, and that programs are asked to write; NULL: there are no more. */
const char *assay_import_format(size_t i);

/* All-zero but for the first three is the default: what the file says, else unknown. Strings are borrowed. */
struct assay_import_request {
	const char *db, *format, *path; /* a name of formats/formats.h; path "-": standard input */
	const char *commit, *machine, *label;
	const char *suite;   /* NULL: named like the format */
	uint64_t started_ns; /* 0: as the file says */
	int64_t replace;     /* the run that these bytes became with wrong options, to be removed; 0: none */
};

/*
 * Import all of the file in one transaction. ASSAY_EUSAGE with file, line and place of what is wrong in it, or if the
 * format is unknown or a different one. A run that the same bytes became before, with the same suite, label, machine,
 * commit and date, is not added again; one that differs in these stays unless it is to be replaced. Release @out in
 * either case.
 */
int assay_import(const struct assay_import_request *q, const struct assay_watch *w, struct assay_import_report *out,
		 struct assay_err *err);

/* ---- merge ---- */

/* Merging databases, and pruning one. */

/*
 * In all of these @out is filled, also in part when there is an error; release it in either case. Strings are borrowed,
 * also by @out.
 */

/* Add what @others hold, each in one transaction. ASSAY_EUSAGE for @db itself among them. */
int assay_database_merge(const char *db, const struct assay_strings *others, const struct assay_watch *w,
			 struct assay_database_report *out, struct assay_err *err);

/* Something says what may go; where number and time do, runs go that both let go. */
struct assay_prune_request {
	const char *db;
	size_t keep_runs;  /* the newest of each suite on each machine stay; 0: nothing is said */
	uint64_t older_ns; /* unix time: what began later stays; 0: nothing is said */
	unsigned days;     /* in place of it, so many days ago; 0: not */
	bool dry;
};
/*
 * Remove old runs. Those that are needed stay: of baselines, on both sides of a change of a case's level, the newest of
 * each suite and machine, and what was begun within a day and did not end. Of comparisons only such go that did not
 * end and began before older_ns. Of profiles the newest of each name stays, with keep_runs so many of them.
 */
int assay_database_prune(const struct assay_prune_request *q, const struct assay_watch *w,
			 struct assay_database_report *out, struct assay_err *err);

#endif
