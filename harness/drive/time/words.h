/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines as text: words as a shell would split them, and parameters that are filled in. Pure. */
#ifndef ASSAY_DRIVE_TIME_WORDS_H
#define ASSAY_DRIVE_TIME_WORDS_H

#include "base/text.h"
#include "model/case.h"

/*
 * Append the words of @command. Quotes and backslashes mean what they mean in a shell, and nothing else does: what a
 * shell would expand or act upon, such as an unquoted '|' or '*', is ASSAY_EUSAGE, because passing it on to the program
 * is never what was meant.
 */
int assay_words_split(const char *command, struct assay_strings *out, struct assay_err *err);

/* A parameter and what it stands for in turn. */
struct assay_parameter {
	char name[ASSAY_NAME_MAX];
	struct assay_strings values;
};

/* Read "name=a,b,c". Release @out in either case. ASSAY_EUSAGE. */
int assay_parameter_read(const char *text, const char *what, struct assay_parameter *out, struct assay_err *err);

/* How many combinations of values there are; the first parameter varies fastest. */
size_t assay_parameters_count(const struct assay_parameter *p, size_t n);
/* The value of parameter @i of @p in combination @at. */
const char *assay_parameters_value(const struct assay_parameter *p, size_t i, size_t at);
/* @text with each {name} replaced by its value in combination @at; a new string. NULL: out of memory. */
char *assay_parameters_fill(const char *text, const struct assay_parameter *p, size_t n, size_t at);

#endif
