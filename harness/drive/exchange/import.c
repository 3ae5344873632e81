/* SPDX-License-Identifier: Apache-2.0 */
/* A file of another tool into the database. All of it is held in memory. */
#include "drive/exchange/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "formats/formats.h"
#include "store/merge.h"
#include "store/store.h"

/* The time that storing takes, for the progress bar. */
#define NS_PER_BYTE 60

/* An import under way. The whole file is in memory. */
struct job {
	const struct assay_import_request *q;
	const struct assay_watch *watch;
	struct assay_format_reading reading;
	struct assay_store *store; /* NULL before the first case */
	bool begun;                /* its transaction */
	struct assay_run run;      /* of the cases that follow */
	unsigned run_of_facts;     /* which of the file's that is; 0: none */
	bool same;                 /* the store has this run, so that its cases are passed over */
	struct assay_import_report *report;
	struct assay_err *err;
};

/* ---- the file ---- */

#define SIZE_MAX_MIB 256

static int cannot_read(const struct job *im, const char *why)
{
	return assay_err_set(im->err, ASSAY_EUSAGE, "cannot read '%.250s': %s", im->reading.path, why);
}

static int read_all(const struct job *im, int fd, struct assay_text *t)
{
	char *room;
	ssize_t n;

	do {
		if (assay_watch_check(im->watch, im->err))
			return assay_err_set(im->err, ASSAY_EINTERRUPTED, "interrupted: nothing of '%.250s' was stored",
					     im->reading.path);
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
					     im->reading.path, SIZE_MAX_MIB);
	} while (n);
	return 0;
}

/* All that a format in folders has there. */
static int read_folder(const struct job *im, bool in_folders, struct assay_text *t)
{
	const int rc =
		in_folders || !strcmp(im->q->format, "auto") ? assay_format_gather(im->reading.path, t, im->err) : 0;

	if (rc || t->len)
		return rc;
	return cannot_read(im, in_folders ? "there is no benchmark.json in it, or in a folder 'new' below it"
					  : strerror(EISDIR));
}

static int read_file(struct job *im, const struct assay_format *f, struct assay_text *t)
{
	const bool in_folders = f && f->program.place == ASSAY_FORMAT_FOLDER;
	struct stat st;
	int fd, rc;

	assay_text_add(t, "");
	im->reading.path = strcmp(im->q->path, "-") != 0 ? im->q->path : "standard input";
	if (im->reading.path != im->q->path)
		return read_all(im, STDIN_FILENO, t);
	fd = open(im->reading.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	rc = fd < 0 || fstat(fd, &st)            ? cannot_read(im, strerror(errno))
	     : in_folders || S_ISDIR(st.st_mode) ? read_folder(im, in_folders, t)
	     : !S_ISREG(st.st_mode)              ? cannot_read(im, "it is not a regular file; '-' reads standard input")
						 : read_all(im, fd, t);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- the run ---- */

static int no_memory(const struct job *im)
{
	return assay_err_set(im->err, ASSAY_ENOMEM, "out of memory");
}

/* An identifier for an import: the digest of @salt and @name. */
static int identify(const struct job *im, const char *salt, const char *name, char id[ASSAY_DIGEST_LEN + 1])
{
	struct assay_hasher *h = assay_hasher_new();
	struct assay_digest d;

	if (!h)
		return no_memory(im);
	assay_hasher_add(h, salt, strlen(salt) + 1);
	assay_hasher_add(h, name, strlen(name));
	d = assay_hasher_finish(h);
	memcpy(id, d.hex, sizeof(d.hex));
	return 0;
}

/* @text in an array of @size bytes, fit to be shown. */
static void set_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
	assay_printable_line(to, size);
}

/* Facts about the run as the user gives them, or else as the file does; the environment is borrowed. */
static int set_up(struct job *im, const struct assay_format_facts *facts)
{
	const struct assay_import_request *q = im->q;
	const char *machine = q->machine ? q->machine : facts->machine;
	struct assay_run *run = &im->run;
	struct timespec now;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(run->suite, sizeof(run->suite), "%s", q->suite ? q->suite : im->reading.format);
	snprintf(run->label, sizeof(run->label), "%s", q->label ? q->label : "");
	snprintf(run->imported.format, sizeof(run->imported.format), "%s", im->reading.format);
	run->started_unknown = !q->started_ns && !facts->started_ns;
	run->started_ns = q->started_ns       ? q->started_ns
			  : facts->started_ns ? facts->started_ns
					      : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	set_text(run->machine.label, sizeof(run->machine.label), *machine ? machine : ASSAY_MACHINE_UNKNOWN);
	set_text(run->build.commit, sizeof(run->build.commit), q->commit ? q->commit : facts->commit);
	rc = identify(im, "imported machine", run->machine.label, run->machine.id);
	if (!rc)
		rc = identify(im, "imported build", run->build.commit, run->build.id);
	for (size_t i = 0; i < facts->n && !rc; i++) {
		/* it is about a date that the user knows better */
		if (q->started_ns && !strcmp(facts->v[i].name, ASSAY_FORMAT_FACT_ZONE))
			continue;
		if (assay_grow(&run->environment, run->n_environment, sizeof(*run->environment)))
			return no_memory(im);
		run->environment[run->n_environment++] = facts->v[i];
	}
	return rc;
}

static int report_run(struct job *im)
{
	struct assay_import_run r = { .id = im->run.id, .dated = !im->run.started_unknown };

	set_text(r.suite, sizeof(r.suite), im->run.suite);
	if (strcmp(im->run.machine.label, ASSAY_MACHINE_UNKNOWN))
		set_text(r.machine, sizeof(r.machine), im->run.machine.label);
	set_text(r.commit, sizeof(r.commit), im->run.build.commit);
	if (assay_grow(&im->report->runs, im->report->n_runs, sizeof(r)))
		return no_memory(im);
	im->report->runs[im->report->n_runs++] = r;
	return 0;
}

/* Is it a run that these bytes became in an earlier import? That one leaves the list of others. */
static int find_same(struct job *im)
{
	struct assay_import_report *r = im->report;

	im->same = false;
	for (size_t i = 0; i < r->n_other; i++) {
		const int rc = assay_store_is_same_import(im->store, r->other[i], &im->run, &im->same, im->err);

		if (rc)
			return rc;
		if (!im->same)
			continue;
		im->run.id = r->other[i];
		if (assay_grow(&r->same, r->n_same, sizeof(*r->same)))
			return no_memory(im);
		r->same[r->n_same++] = r->other[i];
		memmove(r->other + i, r->other + i + 1, (--r->n_other - i) * sizeof(*r->other));
		return 0;
	}
	return 0;
}

static int end_run(struct job *im)
{
	char digest[sizeof(im->run.imported.digest)];
	int rc = 0;

	/* how long it took is not said */
	if (im->run.id && !im->same)
		rc = assay_store_run_end(im->store, im->run.id, im->run.started_ns, im->err);
	memcpy(digest, im->run.imported.digest, sizeof(digest));
	assay_run_release(&im->run);
	im->run = (struct assay_run){ 0 };
	memcpy(im->run.imported.digest, digest, sizeof(digest));
	return rc;
}

static int begin_run(struct job *im, const struct assay_format_facts *facts)
{
	int rc = end_run(im);

	im->run_of_facts = facts->run;
	if (!rc)
		rc = set_up(im, facts);
	if (!rc)
		rc = find_same(im);
	if (rc || im->same)
		return rc;
	rc = assay_store_run_begin(im->store, &im->run, im->err);
	return rc ? rc : report_run(im);
}

/* ---- storing ---- */

static bool is_other(const struct assay_import_report *r, int64_t id)
{
	for (size_t i = 0; i < r->n_other; i++)
		if (r->other[i] == id)
			return true;
	return false;
}

/* All of the file is one transaction. It begins with the first case, so that a bad file leaves no new database. */
static int open_store(struct job *im)
{
	struct assay_import_report *r = im->report;
	int rc = assay_store_open(&im->store, im->q->db, ASSAY_STORE_WRITE, im->err);

	if (!rc)
		rc = assay_store_bulk_begin(im->store, im->err);
	if (rc)
		return rc;
	im->begun = true;
	rc = assay_store_imported(im->store, im->run.imported.digest, &r->other, &r->n_other, im->err);
	if (!rc && im->q->replace && !is_other(r, im->q->replace))
		rc = assay_err_set(im->err, ASSAY_EUSAGE,
				   "cannot replace run %" PRId64 ": it did not come from this file", im->q->replace);
	return rc;
}

static int store(void *arg, const struct assay_format_facts *facts, struct assay_result *r, const char *name,
		 struct assay_err *err)
{
	struct job *im = arg;
	struct assay_import_run *run;
	int rc = im->store ? 0 : open_store(im);

	(void)name;
	if (!rc && im->run_of_facts != facts->run)
		rc = begin_run(im, facts);
	if (rc || im->same)
		return rc;
	rc = assay_store_result_add(im->store, im->run.id, r, err);
	if (rc)
		return rc;
	run = &im->report->runs[im->report->n_runs - 1];
	run->n_cases++;
	run->n_ok += r->status == ASSAY_STATUS_OK;
	run->n_failed += r->status == ASSAY_STATUS_FAILED;
	run->n_samples += r->n_samples;
	return 0;
}

static int show_share(void *arg, double done_frac, struct assay_err *err)
{
	const struct job *im = arg;

	if (assay_watch_check(im->watch, err))
		return assay_err_set(err, ASSAY_EINTERRUPTED, "interrupted: nothing of '%.250s' was stored",
				     im->reading.path);
	assay_watch_tell(im->watch, &(struct assay_event){
					    .kind = ASSAY_EVENT_SHARE, .done_frac = done_frac, .text = "importing" });
	return 0;
}

/* It comes last and in a transaction of its own, since one of many results looks at no references. */
static int remove_replaced(struct job *im)
{
	struct assay_import_report *r = im->report;
	struct assay_store_pruned pruned;
	struct assay_err why = { 0 };
	int rc;

	if (!is_other(r, im->q->replace))
		return 0;
	rc = assay_store_prune(im->store, &(struct assay_store_prune_rule){ .ids = &im->q->replace, .n = 1 }, &pruned,
			       &why);
	if (rc)
		return assay_err_set(im->err, rc, "the file was imported, but the other run stays: %.700s", why.text);
	r->replaced = im->q->replace;
	return 0;
}

static int store_all(struct job *im, struct assay_text *text)
{
	struct assay_import_report *out = im->report;
	int rc;

	/* how far it is shows from here on */
	assay_watch_tell(im->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SPAN,
							   .expected_ns = NS_PER_BYTE * (double)text->len });
	rc = assay_format_read(&im->reading, text, im->err);
	if (!rc)
		rc = end_run(im);
	assay_watch_tell(im->watch, &(struct assay_event){ .kind = ASSAY_EVENT_DONE });
	if (im->begun)
		rc = assay_store_bulk_end(im->store, rc, im->err);
	out->n_aggregates = im->reading.n_aggregates;
	snprintf(out->format, sizeof(out->format), "%s", im->reading.format ? im->reading.format : "");
	return rc ? rc : remove_replaced(im);
}

const char *assay_import_format(size_t i)
{
	return assay_format_name(i);
}

int assay_import(const struct assay_import_request *q, const struct assay_watch *w, struct assay_import_report *out,
		 struct assay_err *err)
{
	struct job im = { .q = q, .watch = w, .report = out, .err = err };
	const struct assay_format *f;
	struct assay_text text = { 0 };
	int rc = assay_format_find(q->format, &f, err);

	*out = (struct assay_import_report){ 0 };
	im.reading = (struct assay_format_reading){ .format = q->format, .sink = { store, show_share, &im } };
	if (!rc)
		rc = read_file(&im, f, &text);
	if (!rc) {
		memcpy(im.run.imported.digest, assay_hash(text.s, text.len).hex, sizeof(im.run.imported.digest));
		memcpy(out->digest, im.run.imported.digest, sizeof(out->digest));
		rc = store_all(&im, &text);
	}
	assay_store_close(im.store);
	assay_text_release(&text);
	assay_run_release(&im.run);
	return rc;
}
