/* SPDX-License-Identifier: Apache-2.0 */
/* What an import is asked for. */
#ifndef ASSAY_DRIVE_EXCHANGE_REQUEST_H
#define ASSAY_DRIVE_EXCHANGE_REQUEST_H

#include <stdint.h>

/* All-zero but for the first three is the default: what the file says, else unknown. Strings are borrowed. */
struct assay_import_request {
	const char *db, *format, *path; /* format "auto": the one that it is; path "-": standard input */
	const char *commit, *machine, *label;
	const char *suite;   /* NULL: named like the format */
	uint64_t started_ns; /* 0: as the file says */
	int64_t replace;     /* the run that these bytes became with wrong options, to be removed; 0: none */
};

#endif
