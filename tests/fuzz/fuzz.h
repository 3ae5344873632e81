/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by every fuzz target. A target is a file fuzz_NAME.c with LLVMFuzzerTestOneInput(): libFuzzer calls it
 * where there is clang, plain_fuzzer.c elsewhere. fuzz.sh knows its seeds and starts it in an empty folder.
 */
#ifndef ASSAY_TESTS_FUZZ_H
#define ASSAY_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that must hold whatever the input is. */
#define FUZZ_CHECK(what)                                                                                               \
	do {                                                                                                           \
		if (!(what)) {                                                                                         \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #what);                      \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* A refusal says why, and is never the program's own fault, which would end it with 70. */
static inline void fuzz_check_refusal(int rc, const struct assay_err *err)
{
	FUZZ_CHECK(rc == err->code);
	FUZZ_CHECK(rc != ASSAY_EINTERNAL);
	FUZZ_CHECK(!rc == !err->text[0]);
}

/* Write the input to a file of this name in the current folder, for what reads files. */
static inline void fuzz_write(const char *name, const void *data, size_t size)
{
	FILE *f = fopen(name, "w");

	FUZZ_CHECK(f);
	FUZZ_CHECK(fwrite(data, 1, size, f) == size);
	FUZZ_CHECK(!fclose(f));
}

/* The input as a string, to be freed. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	FUZZ_CHECK(s);
	memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

#endif
