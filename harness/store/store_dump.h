/* SPDX-License-Identifier: Apache-2.0 */
/* All rows of a database as plain values, and back into an empty one, numbers and all. */
#ifndef ASSAY_STORE_STORE_DUMP_H
#define ASSAY_STORE_STORE_DUMP_H

#include "store/store.h"

enum assay_cell_kind { ASSAY_CELL_NULL, ASSAY_CELL_INT, ASSAY_CELL_REAL, ASSAY_CELL_TEXT, ASSAY_CELL_BLOB };

struct assay_cell {
	const char *column;
	enum assay_cell_kind kind;
	int64_t whole;
	double real;
	const void *bytes; /* of texts and blobs */
	size_t len;
};

/* Borrowed for the call. */
struct assay_dumped_row {
	const char *table;
	const struct assay_cell *cells;
	size_t n;
};

/* The version of the databases that this program writes. */
unsigned assay_store_version(void);
/* Call @each for every row of every table, those that others refer to first, all of one state. */
int assay_store_dump(struct assay_store *s,
		     int (*each)(void *arg, const struct assay_dumped_row *row, struct assay_err *err), void *arg,
		     struct assay_err *err);

/*
 * A new database @path of version @version, open for rows. ASSAY_EUSAGE for a version that this program does not know.
 * End it with assay_store_refill_end(), which closes it; it is worth nothing unless that gives 0.
 */
int assay_store_refill_begin(struct assay_store **s, const char *path, unsigned version, struct assay_err *err);
/* ASSAY_EUSAGE when there is no such table or column, or the database refuses the values. */
int assay_store_refill(struct assay_store *s, const struct assay_dumped_row *row, struct assay_err *err);
/* @rc: 0, or the error that came before. ASSAY_EUSAGE when a row refers to one that did not come. */
int assay_store_refill_end(struct assay_store *s, int rc, struct assay_err *err);

#endif
