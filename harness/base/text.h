/* SPDX-License-Identifier: Apache-2.0 */
/* A growing string, and the parsing of numbers and lists that options, environment and files share. */
#ifndef ASSAY_BASE_TEXT_H
#define ASSAY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* All-zero is a valid empty text. `s` is NUL-terminated once anything was added; NULL before. */
struct assay_text {
	char *s;
	size_t len, cap;
	bool failed; /* an allocation failed; what was added after it is lost */
};

void assay_text_add(struct assay_text *t, const char *s);
void assay_text_addn(struct assay_text *t, const char *s, size_t n);
void assay_text_addf(struct assay_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Make room for @n bytes at the end, for the caller to fill and then to add with _grow; NULL if an allocation failed.
 */
char *assay_text_room(struct assay_text *t, size_t n);
void assay_text_grow(struct assay_text *t, size_t n);
/* Add @word as one would type it in a shell: in double quotes if it needs them. */
void assay_text_add_word(struct assay_text *t, const char *word);
void assay_text_release(struct assay_text *t);
/* Hand the string over to the caller, who frees it; "" when nothing was added, NULL when an allocation failed. */
char *assay_text_take(struct assay_text *t);

/* A copy of @s that stays until the process ends, one for all equal texts; NULL without memory. From any thread. */
const char *assay_text_kept(const char *s);

/* A heap list of heap strings. All-zero is empty. */
struct assay_strings {
	char **v;
	size_t n;
};

int assay_strings_add(struct assay_strings *l, const char *s, struct assay_err *err);
int assay_strings_addn(struct assay_strings *l, const char *s, size_t n, struct assay_err *err);
bool assay_strings_has(const struct assay_strings *l, const char *s);
void assay_strings_release(struct assay_strings *l);
/* Append the parts of @s between @sep, trimmed of blanks; empty parts are kept. */
int assay_strings_split(struct assay_strings *l, const char *s, char sep, struct assay_err *err);

/*
 * These parse the whole string, without blanks around it. On an error, @err gets one line that quotes @s under the name
 * @what.
 */
int assay_parse_u64(const char *s, const char *what, uint64_t lo, uint64_t hi, uint64_t *out, struct assay_err *err);
/* Decimal or 0x…; any 64-bit value. */
int assay_parse_seed(const char *s, const char *what, uint64_t *out, struct assay_err *err);
/* Above 0: "250ms", "2s", "5min", "1h"; a bare number is seconds. */
int assay_parse_duration_ns(const char *s, const char *what, uint64_t *out, struct assay_err *err);
/* "512MiB", "2G", "4096" (bytes); K, M, G, T are powers of 1024 with or without "iB". */
int assay_parse_bytes(const char *s, const char *what, uint64_t *out, struct assay_err *err);
/* "0.5%" or "0.005" → 0.005. */
int assay_parse_frac(const char *s, const char *what, double lo, double hi, double *out, struct assay_err *err);
/* "0,2,4-7" → {0,2,4,5,6,7}; @out is malloc'ed, ascending order is not required, duplicates are refused. */
int assay_parse_cpu_list(const char *s, const char *what, int **out, size_t *n, struct assay_err *err);

/*
 * Match a shell glob against a whole key ('*' also matches '/'). A pattern without special characters matches any
 * substring.
 */
bool assay_glob_match(const char *pattern, const char *s);

/* The entry of @names nearest to @s by edit distance, for "did you mean"; NULL when none is near. */
const char *assay_nearest(const char *s, const char *const *names, size_t n);

/* ---- words ---- */

/* Command lines: words as a shell would split them, and names in braces that are filled in. Pure functions. */

/*
 * Append the words of @command. Quotes and backslashes mean what they mean in a shell, and nothing else does: what a
 * shell would expand or act upon, such as an unquoted '|' or '*', is ASSAY_EUSAGE, because passing it on to the program
 * is never what was meant.
 */
int assay_words_split(const char *command, struct assay_strings *out, struct assay_err *err);
/*
 * @text with each {name} replaced by its @value; one for which that is NULL stays. A new string. NULL: out of memory.
 */
char *assay_words_fill(const char *text, const char *(*value)(const void *arg, const char *name), const void *arg);

/* ---- code point ---- */

/* UTF-8 one character at a time, and text from elsewhere made fit to be shown. */

#define ASSAY_CODE_POINT_BAD 0xfffdu /* the replacement character */

/*
 * The character at *s, which is advanced past it; 0 at the end. ASSAY_CODE_POINT_BAD for a byte that begins no valid
 * sequence.
 */
uint32_t assay_code_point_next(const char **s);
/* Add @c, a valid code point, to @out as UTF-8. */
void assay_code_point_add(struct assay_text *out, uint32_t c);

/*
 * Make text that a plugin or its process wrote fit for terminals, reports and the database. Control characters and
 * escapes, characters that are invisible or change the direction of writing, and bytes that are not UTF-8 become '?';
 * everything else stays. Call these where such text enters the program, so that no code after that has to.
 *
 * assay_printable_line() is for one line in an array of @size bytes, which is terminated; line ends and tabs become
 * blanks.
 */
void assay_printable_line(char *s, size_t size);
/*
 * Likewise for the first @len bytes of @s, whose next byte is 0; line ends and tabs stay. Returns the new length, which
 * is never longer.
 */
size_t assay_printable_lines(char *s, size_t len);
/*
 * For terminals that do not show UTF-8: signs that messages are written with become ASCII in the first @len bytes of
 * @s, whose next byte is 0, as "us" for "µs". Other characters stay. Returns the new length, which is never longer.
 */
size_t assay_ascii_signs(char *s, size_t len);

/* ---- demangle ---- */

/* Turns the symbols that compilers of C++ and Rust make back into the names of functions in their source. */

/*
 * For example "ns::Table<long>::count" from "_ZN2ns5TableIlE5countERKSt6vectorIiSaIiEE": without parameters and return
 * type, as perf shows it. Suffixes that tell clones apart (".cold") stay. Malloc'ed; NULL if @symbol is not such a
 * name, or if this system has no libstdc++.so.6, which does the work. Rust's newer names ("_R…") stay as they are.
 */
char *assay_demangle(const char *symbol);

#endif
