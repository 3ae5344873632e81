/* SPDX-License-Identifier: Apache-2.0 */
/* A file of another tool into the database. All of it is held in memory. */
#include "drive/exchange/exchange.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/conf.h"
#include "drive/exchange/reader.h"
#include "store/merge.h"

static const struct assay_import_format *const formats[] = {
	&assay_import_google_benchmark, &assay_import_llama_bench, &assay_import_hyperfine,
	&assay_import_pyperf,           &assay_import_csv,
};
#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *const assay_import_formats[] = { "auto", "google-benchmark", "llama-bench", "hyperfine", "pyperf", "csv" };
const size_t assay_n_import_formats = sizeof(assay_import_formats) / sizeof(assay_import_formats[0]);

/* What storing takes, for the time that is left. */
#define NS_PER_BYTE 60

/* ---- the file ---- */

#define SIZE_MAX_MIB 256

static int cannot_read(const struct assay_import_job *im, const char *why)
{
	return assay_err_set(im->err, ASSAY_EUSAGE, "cannot read '%.250s': %s", im->path, why);
}

static int read_all(const struct assay_import_job *im, int fd, struct assay_text *t)
{
	char *room;
	ssize_t n;

	do {
		if (assay_watch_check(im->watch, im->err))
			return assay_err_set(im->err, ASSAY_EINTERRUPTED, "interrupted: nothing of '%.250s' was stored",
					     im->path);
		room = assay_text_room(t, 1 << 16);
		if (!room)
			return assay_err_set(im->err, ASSAY_ENOMEM, "out of memory");
		n = read(fd, room, 1 << 16);
		if (n < 0 && errno != EINTR)
			return cannot_read(im, strerror(errno));
		if (n > 0)
			assay_text_grow(t, (size_t)n);
		if (t->len > (size_t)SIZE_MAX_MIB << 20)
			return assay_err_set(im->err, ASSAY_EUSAGE,
					     "'%.250s' has more than %d MiB: split it, or keep fewer repetitions",
					     im->path, SIZE_MAX_MIB);
	} while (n);
	return 0;
}

/* By its first bytes: is it something that must first be turned into text in
 * UTF-8? Then the message says how. */
static int check_encoding(const struct assay_import_job *im, const struct assay_text *t)
{
	static const struct {
		const char *bytes, *what, *command;
		size_t n;
	} known[] = {
		{ "\x1f\x8b", "compressed with gzip", "gzip -dc", 2 },
		{ "\x28\xb5\x2f\xfd", "compressed with Zstandard", "zstd -dc", 4 },
		{ "\xfd\x37zXZ", "compressed with xz", "xz -dc", 5 },
		{ "BZh", "compressed with bzip2", "bzip2 -dc", 3 },
		{ "PK\x03\x04", "a ZIP archive", "unzip -p", 4 },
		{ "\xff\xfe\0\0", "text in UTF-32", "iconv -f UTF-32 -t UTF-8", 4 },
		{ "\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8", 2 },
		{ "\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8", 2 },
		/* without a mark: a first character of ASCII is one byte beside a zero */
		{ "{\0", "text in UTF-16 without a mark", "iconv -f UTF-16LE -t UTF-8", 2 },
		{ "[\0", "text in UTF-16 without a mark", "iconv -f UTF-16LE -t UTF-8", 2 },
		{ "\0{", "text in UTF-16 without a mark", "iconv -f UTF-16BE -t UTF-8", 2 },
		{ "\0[", "text in UTF-16 without a mark", "iconv -f UTF-16BE -t UTF-8", 2 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (t->len >= known[i].n && !memcmp(t->s, known[i].bytes, known[i].n))
			return assay_err_set(im->err, ASSAY_EUSAGE,
					     "'%.250s' is %s: import what '%s' makes of it, with '-' for the file",
					     im->path, known[i].what, known[i].command);
	return 0;
}

static int read_file(struct assay_import_job *im, struct assay_text *t)
{
	struct stat st;
	int fd, rc;

	assay_text_add(t, "");
	im->path = strcmp(im->q->path, "-") != 0 ? im->q->path : "standard input";
	if (im->path != im->q->path) {
		rc = read_all(im, STDIN_FILENO, t);
		return rc ? rc : check_encoding(im, t);
	}
	fd = open(im->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	rc = fd < 0 || fstat(fd, &st) ? cannot_read(im, strerror(errno))
	     : S_ISDIR(st.st_mode)    ? cannot_read(im, strerror(EISDIR))
	     : !S_ISREG(st.st_mode)   ? cannot_read(im, "it is no regular file; '-' reads standard input")
				      : read_all(im, fd, t);
	if (fd >= 0)
		close(fd);
	return rc ? rc : check_encoding(im, t);
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
 * ASSAY_IMPORT_NO_NUMBER, jansson passes them on. */
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

static size_t lines(const char *from, const char *to)
{
	size_t n = 0;

	while ((from = memchr(from, '\n', (size_t)(to - from)))) {
		from++;
		n++;
	}
	return n;
}

/* Take away the mark at the beginning of texts in UTF-8; no text has bytes that
 * are zero. */
static void check_text(struct assay_import_job *im, struct assay_text *t)
{
	const char *zero = memchr(t->s, '\0', t->len);

	if (!strncmp(t->s, "\xef\xbb\xbf", 3))
		memset(t->s, ' ', 3);
	if (!zero)
		return;
	im->line = lines(t->s, zero) + 1;
	assay_import_fail(im, "a byte of this line is zero: this is no text");
}

/* All values of the text, one behind the other, as JSON lines have them. */
static json_t *read_json(struct assay_import_job *im, struct assay_text *t)
{
	const size_t flags = JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL;
	json_t *values = json_array(), *one;
	json_error_t why;
	const char *at, *end;

	if (mark_no_numbers(t))
		im->rc = assay_err_set(im->err, ASSAY_ENOMEM, "out of memory");
	at = t->s;
	end = t->s + t->len;
	for (at += strspn(at, " \t\r\n"); !im->rc && (*at || !json_array_size(values)); at += strspn(at, " \t\r\n")) {
		one = json_loadb(at, (size_t)(end - at), flags, &why);
		if (one) {
			json_array_append_new(values, one);
			at += why.position;
			continue;
		}
		im->line = lines(t->s, at) + (size_t)(why.line > 0 ? why.line : 1);
		assay_import_fail(im, "%s", *at ? why.text : "the file ends, expected an object or an array");
	}
	return values;
}

/* ---- the format ---- */

/*
 * A member that no other tool's results have. Several tools call their lists
 * "benchmarks" or "results" (nvbench, pytest-benchmark, ASV), so that what
 * stands in the first element decides.
 */
static const struct {
	const char *list, *member; /* list "": a member of the object itself */
	const struct assay_import_format *format;
} marks[] = {
	{ "benchmarks", "real_time", &assay_import_google_benchmark },
	{ "benchmarks", "cpu_coefficient", &assay_import_google_benchmark },
	{ "benchmarks", "error_occurred", &assay_import_google_benchmark },
	{ "benchmarks", "runs", &assay_import_pyperf },
	{ "results", "command", &assay_import_hyperfine },
	{ "", "build_commit", &assay_import_llama_bench },
	{ "", "n_prompt", &assay_import_llama_bench },
	{ "", "avg_ts", &assay_import_llama_bench },
};
#define N_MARKS (sizeof(marks) / sizeof(marks[0]))

/* By the members of an object, or else of those in its lists. */
static const struct assay_import_format *recognise(const json_t *one)
{
	if (json_is_array(one))
		one = json_array_get(one, 0);
	for (size_t i = 0; i < N_MARKS; i++) {
		const json_t *list = json_object_get(one, marks[i].list);

		if (!marks[i].list[0] && json_object_get(one, marks[i].member))
			return marks[i].format;
		for (size_t k = 0; k < json_array_size(list); k++)
			if (json_object_get(json_array_get(list, k), marks[i].member))
				return marks[i].format;
	}
	return NULL;
}

static int find_format(const char *name, const struct assay_import_format **out, struct assay_err *err)
{
	char hint[256];

	*out = NULL;
	for (size_t i = 0; i < N_FORMATS; i++)
		if (!strcmp(formats[i]->name, name))
			*out = formats[i];
	if (*out || !strcmp(name, "auto"))
		return 0;
	return assay_err_set(err, ASSAY_EUSAGE, "unknown format '%s'%s", name,
			     assay_conf_hint(name, assay_import_formats, assay_n_import_formats, hint, sizeof(hint)));
}

/* ---- storing ---- */

/* It comes last and in a transaction of its own, since one of many results
 * looks at no references. */
static int remove_replaced(struct assay_import_job *im)
{
	struct assay_import_report *r = im->report;
	struct assay_store_pruned pruned;
	struct assay_err why = { 0 };
	int rc;

	if (!assay_import_is_other(r, im->q->replace))
		return 0;
	rc = assay_store_prune(im->store, &im->q->replace, 1, 0, false, &pruned, &why);
	if (rc)
		return assay_err_set(im->err, rc, "the file was imported, but the other run stays: %.700s", why.text);
	r->replaced = im->q->replace;
	return 0;
}

static int store_all(struct assay_import_job *im, const struct assay_import_format *f, size_t size)
{
	int rc;

	/* how far it is shows from here on */
	assay_watch_tell(im->watch,
			 &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = NS_PER_BYTE * (double)size });
	f->read(im);
	if (!im->report->n_runs && !im->report->n_same)
		assay_import_fail(im, "there are no benchmarks in it");
	assay_import_end_run(im);
	assay_watch_tell(im->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	rc = im->begun ? assay_store_bulk_end(im->store, im->rc, im->err) : im->rc;
	return rc ? rc : remove_replaced(im);
}

static void set_up(struct assay_import_job *im, const struct assay_import_format *f)
{
	const struct assay_import_request *q = im->q;
	struct assay_run *run = &im->run;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(run->suite, sizeof(run->suite), "%s", q->suite ? q->suite : f->name);
	snprintf(run->label, sizeof(run->label), "%s", q->label ? q->label : "");
	snprintf(run->imported.format, sizeof(run->imported.format), "%s", f->name);
	snprintf(im->report->format, sizeof(im->report->format), "%s", f->name);
	run->started_ns = q->started_ns ? q->started_ns : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	run->started_unknown = !q->started_ns;
	assay_import_machine(im, "");
	assay_import_commit(im, "");
}

int assay_import(const struct assay_import_request *q, const struct assay_watch *w, struct assay_import_report *out,
		 struct assay_err *err)
{
	struct assay_import_job im = { .q = q, .watch = w, .report = out, .err = err };
	const struct assay_import_format *f;
	struct assay_text text = { 0 };
	json_t *values = NULL;
	int rc = find_format(q->format, &f, err);

	*out = (struct assay_import_report){ 0 };
	if (!rc)
		rc = read_file(&im, &text);
	if (!rc) {
		memcpy(im.run.imported.digest, assay_hash(text.s, text.len).hex, sizeof(im.run.imported.digest));
		check_text(&im, &text);
		if (!im.rc && f != &assay_import_csv)
			im.values = values = read_json(&im, &text);
		im.text = text.s;
	}
	if (!rc && !im.rc && !f)
		f = recognise(json_array_get(values, 0));
	if (!rc && !f)
		assay_import_fail(&im, "this is none of the formats that are known: "
				       "google-benchmark, llama-bench, "
				       "hyperfine, pyperf; 'assay import csv' takes "
				       "lines of name, value and unit");
	if (!rc && json_array_size(values) > 1 && f != &assay_import_llama_bench)
		assay_import_fail(&im, "something follows behind the end of the results");
	if (!rc && !im.rc)
		set_up(&im, f);
	memcpy(out->digest, im.run.imported.digest, sizeof(out->digest));
	rc = rc ? rc : im.rc;
	if (!rc)
		rc = store_all(&im, f, text.len);
	assay_store_close(im.store);
	json_decref(values);
	assay_text_release(&text);
	assay_name_index_release(&im.keys);
	assay_run_release(&im.run);
	return rc;
}
