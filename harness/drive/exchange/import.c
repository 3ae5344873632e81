/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of another tool into the database. It is read three times, a piece at a time: its beginning for the format,
 * all of it for the digest and what is said of the whole, and all of it again for the benchmarks. What comes through a
 * pipe is put into a temporary file first.
 */
#include "drive/exchange/import.h"

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
#include "store/prune.h"

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

/* What is read, and the digest of what was. */
struct source {
	const struct assay_watch *w;
	const char *path; /* for messages */
	FILE *spool;      /* of a pipe */
	int fd;
	struct assay_hasher *hasher; /* NULL: no digest is taken */
	uint64_t size, at;           /* of the pass that stores: all bytes, and those that were read; else size is 0 */
};

static int cannot_read(const struct source *s, const char *why, struct assay_err *err)
{
	return assay_err_set(err, ASSAY_EUSAGE, "cannot read '%.250s': %s", s->path, why);
}

static ssize_t read_some(void *arg, char *buf, size_t size, struct assay_err *err)
{
	struct source *s = arg;
	ssize_t n;

	if (assay_watch_check(s->w, err))
		return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted: nothing of '%.250s' was stored", s->path);
	if (s->size)
		assay_watch_tell(s->w, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
							      .done_frac = (double)s->at / (double)s->size,
							      .text = "importing" });
	do
		n = read(s->fd, buf, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return cannot_read(s, strerror(errno), err);
	if (s->hasher)
		assay_hasher_add(s->hasher, buf, (size_t)n);
	s->at += (uint64_t)n;
	return n;
}

/* All that a pipe gives, in a file that nobody else sees. */
static int spool(struct source *s, struct assay_err *err)
{
	char buf[1 << 16];
	ssize_t n;

	s->spool = tmpfile();
	if (!s->spool)
		return assay_err_set(err, ASSAY_EUSAGE, "cannot keep what comes through the pipe: %s", strerror(errno));
	while ((n = read_some(s, buf, sizeof(buf), err)) > 0)
		if (fwrite(buf, 1, (size_t)n, s->spool) != (size_t)n)
			return assay_err_set(err, ASSAY_EUSAGE, "cannot keep what comes through the pipe: %s",
					     strerror(errno));
	if (n < 0)
		return (int)n;
	if (fflush(s->spool))
		return assay_err_set(err, ASSAY_EUSAGE, "cannot keep what comes through the pipe: %s", strerror(errno));
	s->fd = fileno(s->spool);
	return 0;
}

/* By its first bytes: is it something that must first be turned into text in UTF-8? Then the message says how. */
static int check_encoding(const struct source *s, struct assay_err *err)
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
	char head[8];
	ssize_t n = pread(s->fd, head, sizeof(head), 0);

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (n >= (ssize_t)known[i].n && !memcmp(head, known[i].bytes, known[i].n))
			return assay_err_set(err, ASSAY_EUSAGE,
					     "'%.250s' is %s: import what '%s' makes of it, with '-' for the file",
					     s->path, known[i].what, known[i].command);
	return 0;
}

static int open_source(struct source *s, const char *path, struct assay_err *err)
{
	struct stat st;
	int rc;

	if (!strcmp(path, "-")) {
		s->path = "standard input";
		s->fd = STDIN_FILENO;
		rc = spool(s, err);
		return rc ? rc : check_encoding(s, err);
	}
	s->path = path;
	s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (s->fd < 0 || fstat(s->fd, &st))
		return cannot_read(s, strerror(errno), err);
	if (S_ISDIR(st.st_mode))
		return cannot_read(s, strerror(EISDIR), err);
	if (!S_ISREG(st.st_mode))
		return cannot_read(s, "it is no regular file; '-' reads standard input", err);
	return check_encoding(s, err);
}

static void close_source(struct source *s)
{
	if (s->spool)
		fclose(s->spool);
	else if (s->fd > STDERR_FILENO)
		close(s->fd);
}

/* ---- the format ---- */

/*
 * A member that no other tool's results have. Several tools call their lists "benchmarks" or "results" (nvbench,
 * pytest-benchmark, ASV), so that what stands in the first element decides.
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

static bool is_list(const char *name)
{
	for (size_t i = 0; i < N_MARKS; i++)
		if (!strcmp(marks[i].list, name))
			return name[0] != '\0';
	return false;
}

/* By the members of the object that comes next, before all of it was read. */
static const struct assay_import_format *recognise_object(struct assay_json *j, const char *list)
{
	const struct assay_import_format *found = NULL;
	char name[16];

	assay_json_enter(j, ASSAY_JSON_OBJECT);
	while (!found && assay_json_next(j)) {
		for (size_t i = 0; i < N_MARKS && !found; i++)
			if (!strcmp(marks[i].list, list) && assay_json_is(j, marks[i].member))
				found = marks[i].format;
		if (!found && !list[0] && is_list(assay_json_name(j)) && assay_json_peek(j) == ASSAY_JSON_ARRAY) {
			snprintf(name, sizeof(name), "%s", assay_json_name(j));
			assay_json_enter(j, ASSAY_JSON_ARRAY);
			while (!found && assay_json_next(j)) {
				if (assay_json_peek(j) == ASSAY_JSON_OBJECT)
					found = recognise_object(j, name);
				else
					assay_json_skip(j);
			}
		} else if (!found) {
			assay_json_skip(j);
		}
	}
	return found;
}

static const struct assay_import_format *recognise(struct assay_json *j)
{
	const struct assay_import_format *found = NULL;

	if (assay_json_peek(j) == ASSAY_JSON_ARRAY) {
		assay_json_enter(j, ASSAY_JSON_ARRAY);
		if (assay_json_next(j))
			found = recognise_object(j, "");
	} else {
		found = recognise_object(j, "");
	}
	if (!found)
		assay_json_fail(j, "this is none of the formats that are known: google-benchmark, llama-bench, "
				   "hyperfine, pyperf; 'assay import csv' takes lines of name, value and unit");
	return found;
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

/* ---- the passes ---- */

/* A reader at the beginning of @s. It is large, so it lies on the heap. */
static struct assay_json *begin(struct source *s, bool digest, struct assay_err *err)
{
	struct assay_json *j = calloc(1, sizeof(*j));

	if (!j) {
		assay_err_set(err, ASSAY_ENOMEM, "out of memory");
		return NULL;
	}
	*j = (struct assay_json){ .path = s->path, .source = read_some, .arg = s, .err = err };
	s->hasher = NULL;
	if (lseek(s->fd, 0, SEEK_SET))
		j->rc = cannot_read(s, strerror(errno), err);
	if (digest && !(s->hasher = assay_hasher_new()))
		j->rc = assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	return j;
}

/* The result of a pass, and the digest of what was read; all of it where nothing failed. */
static int end(struct assay_json *j, struct source *s, struct assay_digest *digest)
{
	int rc = j->rc;

	if (s->hasher)
		*digest = assay_hasher_finish(s->hasher);
	s->hasher = NULL;
	assay_json_release(j);
	free(j);
	return rc;
}

static int detect(struct source *s, const struct assay_import_format **format, struct assay_err *err)
{
	struct assay_json *j = begin(s, false, err);

	if (!j)
		return ASSAY_ENOMEM;
	if (!j->rc)
		*format = recognise(j);
	return end(j, s, NULL);
}

static int read_head(struct assay_importing *im, struct source *s, const struct assay_import_format *f)
{
	struct assay_digest digest = { "" };
	int rc;

	im->j = begin(s, true, im->err);
	if (!im->j)
		return ASSAY_ENOMEM;
	assay_importing_machine(im, "");
	assay_importing_commit(im, "");
	if (!im->j->rc)
		f->head(im);
	if (!im->j->rc && assay_json_peek(im->j) != ASSAY_JSON_END)
		assay_json_fail(im->j, "something follows behind the end of the results");
	rc = end(im->j, s, &digest);
	im->j = NULL;
	memcpy(im->run.imported.digest, digest.hex, sizeof(digest.hex));
	return rc;
}

/* How far it is shows from here on. */
static void begin_span(struct source *s)
{
	struct stat st;

	s->at = 0;
	s->size = fstat(s->fd, &st) ? 0 : (uint64_t)st.st_size;
	assay_watch_tell(
		s->w, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN, .expected_ns = NS_PER_BYTE * (double)s->size });
}

static int read_benchmarks(struct assay_importing *im, struct source *s, const struct assay_import_format *f)
{
	struct assay_digest digest = { "" };
	int rc;

	im->j = begin(s, true, im->err);
	if (!im->j)
		return ASSAY_ENOMEM;
	begin_span(s);
	if (!im->j->rc)
		f->benchmarks(im);
	/* so that all of it was read */
	if (!im->j->rc)
		assay_json_peek(im->j);
	if (!im->j->rc && !im->report->n_runs && !im->report->n_same)
		assay_json_fail(im->j, "there are no benchmarks in it");
	assay_importing_end_run(im);
	rc = end(im->j, s, &digest);
	im->j = NULL;
	assay_watch_tell(s->w, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	if (!rc && strcmp(digest.hex, im->run.imported.digest))
		rc = cannot_read(s, "it changed while it was read", im->err);
	return rc;
}

static bool is_other(const struct assay_import_report *r, int64_t id)
{
	for (size_t i = 0; i < r->n_other; i++)
		if (r->other[i] == id)
			return true;
	return false;
}

/* It comes last and in a transaction of its own, since one of many results looks at no references. */
static int remove_replaced(struct assay_importing *im)
{
	struct assay_import_report *r = im->report;
	struct assay_store_pruned pruned;
	struct assay_err why = { 0 };
	int rc;

	if (!is_other(r, im->q->replace))
		return 0;
	rc = assay_store_prune(im->store, &im->q->replace, 1, 0, false, &pruned, &why);
	if (rc)
		return assay_err_set(im->err, rc, "the file was imported, but the other run stays: %.700s", why.text);
	r->replaced = im->q->replace;
	return 0;
}

/* All of the file in one transaction. */
static int store_all(struct assay_importing *im, struct source *s, const struct assay_import_format *f)
{
	int rc = assay_store_bulk_begin(im->store, im->err);

	if (rc)
		return rc;
	rc = assay_store_imported(im->store, im->run.imported.digest, &im->report->other, &im->report->n_other,
				  im->err);
	if (!rc && im->q->replace && !is_other(im->report, im->q->replace))
		rc = assay_err_set(im->err, ASSAY_EUSAGE,
				   "cannot replace run %" PRId64 ": it did not come from this file", im->q->replace);
	if (!rc)
		rc = read_benchmarks(im, s, f);
	rc = assay_store_bulk_end(im->store, rc, im->err);
	return rc ? rc : remove_replaced(im);
}

static void set_up(struct assay_importing *im, const struct assay_import_format *f)
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
}

int assay_import(const struct assay_import_request *q, const struct assay_watch *w, struct assay_import_report *out,
		 struct assay_err *err)
{
	struct assay_importing im = { .q = q, .report = out, .err = err };
	const struct assay_import_format *f;
	struct source s = { .w = w, .fd = -1 };
	int rc = find_format(q->format, &f, err);

	*out = (struct assay_import_report){ 0 };
	if (!rc)
		rc = open_source(&s, q->path, err);
	if (!rc && !f)
		rc = detect(&s, &f, err);
	if (!rc) {
		set_up(&im, f);
		rc = read_head(&im, &s, f);
	}
	memcpy(out->digest, im.run.imported.digest, sizeof(out->digest));
	if (!rc)
		rc = assay_store_open(&im.store, q->db, ASSAY_STORE_WRITE, err);
	if (!rc)
		rc = store_all(&im, &s, f);
	assay_store_close(im.store);
	close_source(&s);
	assay_name_index_release(&im.keys);
	assay_run_release(&im.run);
	return rc;
}
