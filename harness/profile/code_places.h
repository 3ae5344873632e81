/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function and line of which file an address of a process belongs to, by the symbols and the debug information
 * of the files that are mapped.
 */
#ifndef ASSAY_PROFILE_CODE_PLACES_H
#define ASSAY_PROFILE_CODE_PLACES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct assay_code_places;

/* Can this build do that? ASSAY_EUNAVAILABLE says why not. */
int assay_code_places_probe(struct assay_err *err);

/*
 * For everything that this process has mapped at this moment. Names are symbols from the mapped files alone, because
 * what is recorded must not depend on the packages of a machine.
 */
int assay_code_places_open(struct assay_code_places **out, struct assay_err *err);
/*
 * Nothing is mapped yet: for another process, about which assay_code_places_map() will tell. Names are those of the
 * source. Separate debug files count as well; they are found by build ID or link as perf and gdb do it: in
 * /usr/lib/debug, beside the file, and on the debuginfod servers that DEBUGINFOD_URLS names.
 */
int assay_code_places_open_empty(struct assay_code_places **out, struct assay_err *err);
/* Code of the file @path, from @file_offset on, is mapped at @start. False where it is no program or library. */
bool assay_code_places_map(struct assay_code_places *p, const char *path, uint64_t start, uint64_t file_offset);
void assay_code_places_close(struct assay_code_places *p);

/* Texts are valid until it is closed; "" and 0 where something is not known. */
struct assay_code_place {
	const char *function;
	const char *object; /* path of the program or library */
	/*
	 * Of the source: name without folders. Code of a header of the system that was inlined, such as an intrinsic,
	 * belongs to where it was called.
	 */
	const char *file;
	unsigned line;
};
struct assay_code_place assay_code_places_find(struct assay_code_places *p, uint64_t address);

/*
 * The function at @address, behind those that were inlined there, the innermost first: at most @most, at least one.
 * Functions of the system's headers are left out. *offset: of the instruction, as the object's disassembly has it.
 */
size_t assay_code_places_inlined(struct assay_code_places *p, uint64_t address, struct assay_code_place *out,
				 size_t most, uint64_t *offset);

/* ---- code places dwfl ---- */

/* For what unwinds stacks: the files of a process as libdwfl has them. */

struct assay_code_places;

Dwfl *assay_code_places_dwfl(struct assay_code_places *p);

#endif
