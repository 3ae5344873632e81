/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON that others wrote, read once from its beginning to its end: a value at a time, in memory that does not grow with
 * the text. Numbers may be NaN and Infinity, which some programs write though JSON has no such thing. Several texts may
 * follow each other, as in JSON lines.
 *
 * The first error stays: every call behind it does nothing, and lists end. So callers ask for @rc only where they end.
 */
#ifndef ASSAY_BASE_JSON_READER_H
#define ASSAY_BASE_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"

enum assay_json_kind {
	ASSAY_JSON_END, /* no further text, or an error */
	ASSAY_JSON_OBJECT,
	ASSAY_JSON_ARRAY,
	ASSAY_JSON_TEXT,
	ASSAY_JSON_NUMBER,
	ASSAY_JSON_BOOL,
	ASSAY_JSON_NULL,
};

#define ASSAY_JSON_DEPTH_MAX 32
#define ASSAY_JSON_NAME_MAX  1024 /* of members; what is longer is an error */
#define ASSAY_JSON_TEXT_MAX  (1 << 20)

/* The next bytes: 0 at the end, enum assay_error with @err filled. */
typedef ssize_t assay_json_source_fn(void *arg, char *buf, size_t size, struct assay_err *err);

struct assay_json_level {
	bool object;
	size_t n; /* members or elements that began */
	char name[ASSAY_JSON_NAME_MAX];
};

/* All-zero but for the first four, then ready. Release it. */
struct assay_json {
	const char *path; /* for messages */
	assay_json_source_fn *source;
	void *arg;
	struct assay_err *err;

	int rc;
	uint64_t line; /* lines that ended before what comes next */
	unsigned depth;
	struct assay_json_level levels[ASSAY_JSON_DEPTH_MAX];
	struct assay_text token;
	char buf[1 << 16];
	size_t at, len;
	bool ended, begun;
};

void assay_json_release(struct assay_json *j);

/* The kind of the value that comes next, which stays. */
enum assay_json_kind assay_json_peek(struct assay_json *j);
/* Go into the object or array that comes next; another value is an error. */
void assay_json_enter(struct assay_json *j, enum assay_json_kind kind);
/* Is there a further member or element? After the last one it has gone out again. */
bool assay_json_next(struct assay_json *j);
/* The name of the member that is at hand; until the next one. */
const char *assay_json_name(const struct assay_json *j);
bool assay_json_is(const struct assay_json *j, const char *name);

/* The value, which must be of that kind. A text stays until the next call; a NUL in it becomes '?'. */
const char *assay_json_take_text(struct assay_json *j);
double assay_json_take_number(struct assay_json *j);
/*
 * A number that counts something. A fraction is an error: "1.500" was once a thousands separator, and a file in which
 * a count is wrong by a factor of 1000 has other numbers that are wrong.
 */
double assay_json_take_count(struct assay_json *j);
bool assay_json_take_bool(struct assay_json *j);
/* Pass over the value, whatever it is. */
void assay_json_skip(struct assay_json *j);

/*
 * For texts that are no JSON: the next line into @line, without its end, which stays so that an error names the line.
 * False at the end. A line has no more than ASSAY_JSON_TEXT_MAX bytes, and no zeros.
 */
bool assay_json_next_line(struct assay_json *j, struct assay_text *line);

/* "file.json:12: benchmarks[3].real_time: …" under ASSAY_EUSAGE, unless something failed before; returns j->rc. */
int assay_json_fail(struct assay_json *j, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
