/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A database as JSON lines. The first says what it is:
 *
 *     {"format": "assay database", "schema": 1, "database": 16}
 *
 * "database" is the version of the tables. Each other line is a row, by the name of its table: {"run": {"id": 3, …}}.
 * Values are as SQLite has them: null, whole numbers, reals with a point, text. Bytes, and text that is no UTF-8, are
 * {"hex": "0a1b"} and {"text_hex": "0a1b"}.
 */
#ifndef ASSAY_DRIVE_DATABASE_LINES_H
#define ASSAY_DRIVE_DATABASE_LINES_H

#include "drive/watch.h"
#include "store/store_dump.h"

/* Write all rows of @s; *rows is how many. The file is complete or not there. */
int assay_database_write(struct assay_store *s, const char *path, const struct assay_watch *w, size_t *rows,
			 struct assay_err *err);
/* Make the database @db of the file @path. ASSAY_EUSAGE names the line that makes no sense. */
int assay_database_read(const char *path, const char *db, const struct assay_watch *w, size_t *rows,
			struct assay_err *err);

#endif
