/* SPDX-License-Identifier: Apache-2.0 */
/* How every command names stored objects: r3 (a run), c3 (a comparison), p3 (a profile), a label, last. */
#ifndef ASSAY_DRIVE_SHOW_NAME_H
#define ASSAY_DRIVE_SHOW_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Kinds of stored objects, to be or-ed. */
enum assay_stored_kind {
	ASSAY_STORED_RUN = 1,
	ASSAY_STORED_COMPARISON = 2,
	ASSAY_STORED_PROFILE = 4,
};

/* The kinds of stored object that a command takes. */
struct assay_name_wanted {
	const char *db;
	unsigned kinds;
	const char *what; /* the argument in messages, "run", "--run" */
};

struct assay_stored_name {
	enum assay_stored_kind kind;
	int64_t id; /* 0: the newest of its kind */
};

/*
 * Read @text. A label is that of an imported run, of a baseline (its newest run), or of a profile (its newest); `last`
 * is the newest object of the kinds that are wanted. Numbers alone, which JSON has in its "id" fields, are runs where
 * runs are wanted. Whether an object of a number exists is left to what loads it. ASSAY_EUSAGE with the nearest label.
 */
int assay_stored_name_read(const char *text, const struct assay_name_wanted *w, struct assay_stored_name *out,
			   struct assay_err *err);
/* The number of a run, with `last` 0. */
int assay_stored_run_read(const char *db, const char *text, const char *what, int64_t *id, struct assay_err *err);
/* Is @text r3, c3, p3, a number or last? Then it cannot be a label. */
bool assay_stored_name_is(const char *text);

#endif
