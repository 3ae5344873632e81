/* SPDX-License-Identifier: Apache-2.0 */
/* The table of formats, which of them a text is, and how programs are asked to write them. */
#include "formats/formats.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/conf.h"
#include "formats/reader.h"

static const struct assay_format *const formats[] = {
	&assay_format_google_benchmark, &assay_format_llama_bench, &assay_format_hyperfine, &assay_format_pyperf,
	&assay_format_nvbench,          &assay_format_criterion,   &assay_format_csv,
};
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *assay_format_name(size_t i)
{
	return i < N_FORMATS ? formats[i]->name : NULL;
}

int assay_format_find(const char *name, const struct assay_format **out, struct assay_err *err)
{
	const char *names[N_FORMATS + 1] = { "auto" };
	char hint[256];

	*out = NULL;
	for (size_t i = 0; i < N_FORMATS; i++) {
		names[i + 1] = formats[i]->name;
		if (!strcmp(formats[i]->name, name))
			*out = formats[i];
	}
	if (*out || !strcmp(name, "auto"))
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "unknown format '%s'%s", name,
			     assay_conf_hint(name, names, N_FORMATS + 1, hint, sizeof(hint)));
}

/* ---- JSON ---- */

/* NaN, Infinity and nan, -inf and their like where a value may stand: their
 * length. */
static size_t no_number(const char *at)
{
	static const char *const words[] = { "NaN", "nan", "Infinity", "inf" };
	const size_t sign = *at == '-' || *at == '+';

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(at + sign, words[i], strlen(words[i])) &&
		    !isalnum((unsigned char)at[sign + strlen(words[i])]))
			return sign + strlen(words[i]);
	return 0;
}

/* JSON has no NaN and no Infinity: as texts that begin with
 * ASSAY_READING_NO_NUMBER, jansson passes them on. */
static int mark_no_numbers(struct assay_text *t)
{
	struct assay_text out = { 0 };
	const char *from = t->s;
	bool text = false;
	size_t n;

	for (const char *at = t->s; *at; at++) {
		if (text && *at == '\\' && at[1]) {
			at++;
		} else if (*at == '"') {
			text = !text;
		} else if (!text && strchr("Nn-+Ii", *at) && (n = no_number(at))) {
			assay_text_addn(&out, from, (size_t)(at - from));
			assay_text_addf(&out, "\"\\u0001%.*s\"", (int)n, at);
			from = at + n;
			at = from - 1;
		}
	}
	if (from == t->s)
		return 0;
	assay_text_add(&out, from);
	assay_text_release(t);
	*t = out;
	return out.failed ? ASSAY_ENOMEM : 0;
}

/* Refuse what is no text in UTF-8, and take away the mark at its beginning. */
static void check_text(struct assay_reading *in, struct assay_text *t)
{
	char why[160];

	if (!assay_reading_is_text(t->s, t->len, &in->line, why, sizeof(why)))
		assay_reading_fail(in, "%s", why);
	else if (!strncmp(t->s, "\xef\xbb\xbf", 3))
		memset(t->s, ' ', 3);
}

/* All values of the text, one behind the other, as JSON lines have them. */
static json_t *read_json(struct assay_reading *in, struct assay_text *t)
{
	const size_t flags = JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
	json_t *values = json_array(), *one;
	json_error_t why;
	const char *at, *end;

	if (mark_no_numbers(t))
		in->rc = assay_err_set(in->err, ASSAY_ENOMEM, "out of memory");
	at = t->s;
	end = t->s + t->len;
	for (at += strspn(at, " \t\r\n"); !in->rc && (*at || !json_array_size(values)); at += strspn(at, " \t\r\n")) {
		one = json_loadb(at, (size_t)(end - at), flags, &why);
		if (one) {
			json_array_append_new(values, one);
			at += why.position;
			continue;
		}
		in->line = assay_reading_line_of(t->s, at) - 1 + (size_t)(why.line > 0 ? why.line : 1);
		assay_reading_fail(in, "%s", *at ? why.text : "the file ends, expected an object or an array");
	}
	return values;
}

/* ---- the format ---- */

/*
 * Members that a tool writes in each of its versions, and that no other one writes together. Several tools call their
 * lists "benchmarks" or "results" (pytest-benchmark and ASV, too), and commands have times elsewhere as well.
 */
static const struct {
	const struct assay_format *format;
	const char *members[4], *list, *in_list[6]; /* of the object itself, and of the first element of a list in it */
} marks[] = {
	{ &assay_format_google_benchmark, { "context" }, "benchmarks", { "name", "iterations", "real_time" } },
	{ &assay_format_pyperf, { "version" }, "benchmarks", { "runs" } },
	{ &assay_format_nvbench, { "meta", "devices" }, "benchmarks", { "name", "states" } },
	{ &assay_format_criterion, { "criterion" }, NULL, { NULL } },
	{ &assay_format_hyperfine, { NULL }, "results", { "command", "mean", "min", "max", "user", "system" } },
	{ &assay_format_llama_bench, { "build_commit", "n_prompt", "n_gen", "avg_ts" }, NULL, { NULL } },
};
#define N_MARKS (sizeof(marks) / sizeof(marks[0]))

/* "a.b" is the member b of the member a. */
static bool has_all(const json_t *one, const char *const *names, size_t n)
{
	char outer[32];

	for (size_t i = 0; i < n && names[i]; i++) {
		const char *dot = strchr(names[i], '.');
		const json_t *from = one;

		if (dot) {
			snprintf(outer, sizeof(outer), "%.*s", (int)(dot - names[i]), names[i]);
			from = json_object_get(one, outer);
		}
		if (!json_object_get(from, dot ? dot + 1 : names[i]))
			return false;
	}
	return true;
}

static const struct assay_format *recognise(const json_t *one)
{
	if (json_is_array(one))
		one = json_array_get(one, 0);
	for (size_t i = 0; i < N_MARKS && json_is_object(one); i++) {
		const json_t *list = marks[i].list ? json_object_get(one, marks[i].list) : NULL;

		if (has_all(one, marks[i].members, 4) &&
		    (!marks[i].list || has_all(json_array_get(list, 0), marks[i].in_list, 6)))
			return marks[i].format;
	}
	return NULL;
}

/* ---- reading ---- */

static void release(struct assay_reading *in)
{
	free(in->facts.v);
	assay_name_index_release(&in->keys);
}

int assay_format_read(struct assay_format_reading *q, struct assay_text *text, struct assay_err *err)
{
	struct assay_reading in = { .q = q, .facts.run = 1, .err = err };
	const struct assay_format *f;
	json_t *values = NULL;

	in.rc = assay_format_find(q->format, &f, err);
	q->format = f ? f->name : NULL;
	if (!in.rc)
		check_text(&in, text);
	if (!in.rc && f != &assay_format_csv)
		in.values = values = read_json(&in, text);
	in.text = text->s;
	if (!in.rc && !f)
		f = recognise(json_array_get(values, 0));
	if (!f)
		assay_reading_fail(&in, "this format is not known: expected google-benchmark, llama-bench, "
					"hyperfine, pyperf or nvbench; 'assay import criterion' takes a folder, 'assay "
					"import csv' lines of name, value and unit");
	if (json_array_size(values) > 1 && f != &assay_format_llama_bench)
		assay_reading_fail(&in, "something follows the end of the results");
	if (!in.rc) {
		q->format = f->name;
		f->read(&in);
	}
	if (!in.n_results)
		assay_reading_fail(&in, "there are no benchmarks in it");
	json_decref(values);
	release(&in);
	return in.rc;
}

/* ---- programs ---- */

/* @name where a regular expression matches it alone, whether that is ECMAScript's, POSIX's or Rust's. */
static void add_escaped(struct assay_text *t, const char *name)
{
	for (const char *p = name; *p; p++)
		assay_text_addf(t, "%s%c", strchr("\\^$.|?*+()[]{}", *p) ? "\\" : "", *p);
}

/* Add the words of @pattern, which stand between blanks. */
static int add_words(const struct assay_format *f, const char *pattern, const char *benchmark, const char *path,
		     struct assay_strings *words, struct assay_err *err)
{
	struct assay_text word = { 0 };
	int rc = 0;

	for (const char *p = pattern; *p && !rc; p++) {
		if (*p == '%' && p[1] == 'p') {
			assay_text_add(&word, path);
			p++;
		} else if (*p == '%' && p[1] == 'b') {
			if (f->program.escaped)
				add_escaped(&word, benchmark);
			else
				assay_text_add(&word, benchmark);
			p++;
		} else if (*p != ' ') {
			assay_text_addn(&word, p, 1);
		}
		if (p[1] && p[1] != ' ')
			continue;
		if (word.failed)
			rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		else if (word.len)
			rc = assay_strings_add(words, word.s, err);
		word.len = 0;
	}
	assay_text_release(&word);
	return rc;
}

/* Add to @words what chooses the benchmark. */
static int add_choice(const struct assay_format *f, const char *benchmark, struct assay_strings *words,
		      struct assay_err *err)
{
	const struct assay_format_program *p = &f->program;
	struct assay_text part = { 0 };
	int rc = 0;

	for (size_t n = 0, len; !rc; n++, benchmark += len + 1) {
		len = p->only_part ? strcspn(benchmark, "\t") : strlen(benchmark);
		part.len = 0;
		assay_text_addn(&part, benchmark, len);
		rc = part.failed ? assay_err_set(err, ASSAY_ENOMEM, "out of memory")
				 : add_words(f, n ? p->only_part : p->only, part.s, "", words, err);
		if (!benchmark[len])
			break;
	}
	assay_text_release(&part);
	return rc;
}

int assay_format_ask(const struct assay_format *f, enum assay_format_question question, const char *benchmark,
		     const char *path, struct assay_strings *words, struct assay_err *err)
{
	const struct assay_format_program *p = &f->program;
	const bool list = question == ASSAY_ASK_LIST;
	int rc = p->prepare ? p->prepare(words, list ? NULL : path, err) : 0;

	if (!rc)
		rc = add_words(f, list ? p->list : p->measure, "", path, words, err);
	if (!rc && !list && benchmark && p->only)
		rc = add_choice(f, benchmark, words, err);
	return rc;
}

/* The name in a line of a list; false: there is none. */
static bool take_name(const struct assay_format_program *p, const char *line, size_t len, struct assay_text *name)
{
	bool found = !p->behind_name[0];

	if (len && line[len - 1] == '\r')
		len--;
	for (size_t i = 0; i < 2 && !found && p->behind_name[i]; i++) {
		const size_t end = strlen(p->behind_name[i]);

		found = len > end && !strncmp(line + len - end, p->behind_name[i], end);
		len -= found ? end : 0;
	}
	name->len = 0;
	if (found && len)
		assay_text_addn(name, line, len);
	return found && len;
}

int assay_format_list(struct assay_format_reading *q, const char *text, struct assay_err *err)
{
	struct assay_reading in = { .q = q, .facts.run = 1, .err = err };
	const struct assay_format *f;
	struct assay_text name = { 0 };
	size_t len;

	in.rc = assay_format_find(q->format, &f, err);
	for (const char *at = text; *at && !in.rc; at += len + (at[len] == '\n')) {
		struct assay_result r = { 0 };

		len = strcspn(at, "\n");
		if (!take_name(&f->program, at, len, &name))
			continue;
		if (name.failed)
			assay_reading_no_memory(&in);
		else
			in.rc = f->name_case(name.s, &r.c);
		assay_reading_put(&in, &r, name.s ? name.s : "");
	}
	assay_text_release(&name);
	if (!in.n_results)
		assay_reading_fail(&in, "it lists no benchmarks");
	release(&in);
	return in.rc;
}
