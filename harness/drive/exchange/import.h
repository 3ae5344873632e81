/* SPDX-License-Identifier: Apache-2.0 */
/* Imports results of other tools into the database: a file becomes runs, each of its benchmarks a case. */
#ifndef ASSAY_DRIVE_EXCHANGE_IMPORT_H
#define ASSAY_DRIVE_EXCHANGE_IMPORT_H

#include "drive/exchange/reader.h"
#include "drive/watch.h"
#include "model/reports.h"

/*
 * Import all of the file in one transaction. ASSAY_EUSAGE with file, line and place of what is wrong in it, or if the
 * format is unknown or a different one. A run that the same bytes became before, with the same suite, label, machine,
 * commit and date, is not added again; one that differs in these stays unless it is to be replaced. Release @out in
 * either case.
 */
int assay_import(const struct assay_import_request *q, const struct assay_watch *w, struct assay_import_report *out,
		 struct assay_err *err);

/* The names of the formats, "auto" among them. */
extern const char *const assay_import_formats[];
extern const size_t assay_n_import_formats;

#endif
