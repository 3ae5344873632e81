/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration files, read into a tree of sections, options and values that remember their lines. This is the only
 * module that knows libconfuse; it knows nothing about what the options mean.
 */
#ifndef ASSAY_BASE_CONF_H
#define ASSAY_BASE_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/* The grammar of a file. Tables end with an entry whose name is NULL; a NULL table is empty. */
struct assay_conf_option {
	const char *name;
	bool list; /* name = {"a", "b"}; one value without braces is a list of one */
};

struct assay_conf_grammar {
	const char *name; /* of the section; of the root: unused */
	bool titled;      /* name "title" { … } */
	const struct assay_conf_option *options;
	const struct assay_conf_grammar *sections; /* each may stand any number of times, also with the same title */
};

struct assay_conf_value {
	char *text;
	unsigned line;
};

/* One option that the file sets; n >= 1. */
struct assay_conf_entry {
	char *name;
	const char *path; /* of the file, for messages */
	struct assay_conf_value *values;
	size_t n;
};

struct assay_conf_section {
	char *name, *title; /* title NULL where the grammar has none */
	unsigned line;
	struct assay_conf_entry *entries;
	size_t n_entries;
	struct assay_conf_section *sections; /* in the order of the file */
	size_t n_sections;
};

struct assay_conf {
	char *path;
	struct assay_conf_section root;
};

/*
 * In double quotes, backslashes mean what they mean in C where they mean anything there, and otherwise stay; in single
 * quotes they all stay, but before a single quote or a backslash.
 *
 * ASSAY_ENOTFOUND when @path does not exist, ASSAY_EUSAGE when it cannot be read, and with "file:line: …" for bad
 * syntax, an option or section the grammar lacks (with the nearest it has), one set twice, or an empty list. On
 * error nothing is kept.
 */
int assay_conf_load(struct assay_conf *conf, const char *path, const struct assay_conf_grammar *root,
		    struct assay_err *err);
/* The same for a text of @len bytes followed by a NUL, whose comments are blanked; @path is named in messages. */
int assay_conf_parse(struct assay_conf *conf, char *text, size_t len, const char *path,
		     const struct assay_conf_grammar *root, struct assay_err *err);
void assay_conf_release(struct assay_conf *conf);

/* NULL when the section does not set it. */
const struct assay_conf_entry *assay_conf_entry(const struct assay_conf_section *s, const char *name);

/* "path:line: …" under ASSAY_EUSAGE. */
int assay_conf_fail(struct assay_err *err, const char *path, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * The end of a message about an unknown name: ", did you mean 'x'?" or ", expected one of a, b, c" (the first of many);
 * ", there are none" for an empty list. Returns @buf.
 */
const char *assay_conf_hint(const char *name, const char *const *known, size_t n, char *buf, size_t size);

#endif
