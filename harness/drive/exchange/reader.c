/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of formats share: facts of the run, names that fit into keys, samples, metrics, storing. */
#include "drive/exchange/reader.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/text.h"
#include "model/summary.h"
#include "store/store.h"

/* Before the tag of a counter whose name means something else here. */
#define TAKEN "counter:"

/* What one sample may take: 30 years. Beyond it is nonsense, and too much for 64 bits. */
#define SAMPLE_MAX_NS 1e18

static void fail(struct assay_import_job *im, int rc)
{
	if (rc && !im->rc)
		im->rc = rc;
}

static void no_memory(struct assay_import_job *im)
{
	fail(im, assay_err_set(im->err, ASSAY_ENOMEM, "out of memory"));
}

void assay_import_fail(struct assay_import_job *im, const char *fmt, ...)
{
	char why[512], line[24] = "";
	va_list ap;

	if (im->rc)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	assay_printable_line(why, sizeof(why));
	if (im->line)
		snprintf(line, sizeof(line), ":%zu", im->line);
	im->rc = assay_err_set(im->err, ASSAY_EUSAGE, "%.250s%s: %s%s%s", im->path, line, im->where,
			       im->where[0] && why[0] != '.' ? ": " : "", why);
}

/* ---- values ---- */

bool assay_import_is_number(const json_t *v)
{
	return json_is_number(v) || (json_is_string(v) && json_string_value(v)[0] == ASSAY_IMPORT_NO_NUMBER[0]);
}

double assay_import_number(struct assay_import_job *im, const json_t *v, const char *field)
{
	if (json_is_number(v))
		return json_number_value(v);
	if (assay_import_is_number(v))
		return strtod(json_string_value(v) + 1, NULL);
	assay_import_fail(im, ".%s: expected a number", field);
	return NAN;
}

double assay_import_count(struct assay_import_job *im, const json_t *from, const char *name, double otherwise)
{
	const json_t *v = json_object_get(from, name);
	const double n = assay_import_is_number(v) ? assay_import_number(im, v, name) : otherwise;

	if (isfinite(n) && n != floor(n))
		assay_import_fail(im, ".%s: %.12g is no whole number", name, n);
	return n;
}

const char *assay_import_text(const json_t *from, const char *name)
{
	const char *text = json_string_value(json_object_get(from, name));

	return text ? text : "";
}

void assay_import_each(struct assay_import_job *im, const json_t *list, const char *name,
		       void (*each)(struct assay_import_job *im, const json_t *one, void *arg), void *arg)
{
	const size_t n = json_array_size(list);

	if (!json_is_array(list))
		assay_import_fail(im, "%s: expected an array", name);
	for (size_t i = 0; i < n && !im->rc; i++) {
		const json_t *one = json_array_get(list, i);

		if (assay_watch_check(im->watch, im->err)) {
			im->rc = assay_err_set(im->err, ASSAY_EINTERRUPTED,
					       "interrupted: nothing of '%.250s' was stored", im->path);
			break;
		}
		assay_watch_tell(im->watch, &(struct assay_event){ .kind = ASSAY_EVENT_SHARE,
								   .done_frac = (double)i / (double)n,
								   .text = "importing" });
		snprintf(im->where, sizeof(im->where), "%s[%zu]", name, i);
		if (json_is_object(one))
			each(im, one, arg);
		else
			assay_import_fail(im, "expected an object");
	}
	im->where[0] = '\0';
}

/* ---- the run ---- */

/* @text in an array of @size bytes, fit to be shown. */
static void set_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
	assay_printable_line(to, size);
}

void assay_import_fact(struct assay_import_job *im, const char *name, const char *value)
{
	struct assay_run *run = &im->run;
	struct assay_fact f;

	set_text(f.name, sizeof(f.name), name);
	set_text(f.value, sizeof(f.value), value);
	for (size_t i = 0; i < run->n_environment; i++)
		if (!strcmp(run->environment[i].name, f.name))
			return;
	if (!f.name[0] || !f.value[0])
		return;
	if (assay_grow(&run->environment, run->n_environment, sizeof(f)))
		no_memory(im);
	else
		run->environment[run->n_environment++] = f;
}

const char *assay_import_fact_of(const struct assay_import_job *im, const char *name)
{
	for (size_t i = 0; i < im->run.n_environment; i++)
		if (!strcmp(im->run.environment[i].name, name))
			return im->run.environment[i].value;
	return NULL;
}

void assay_import_fact_in(struct assay_import_job *im, const json_t *from, const char *name)
{
	const json_t *v = json_object_get(from, name);
	char number[40];

	if (json_is_boolean(v)) {
		assay_import_fact(im, name, json_is_true(v) ? "yes" : "no");
	} else if (assay_import_is_number(v)) {
		snprintf(number, sizeof(number), "%.12g", assay_import_number(im, v, name));
		assay_import_fact(im, name, number);
	} else if (json_is_string(v)) {
		assay_import_fact(im, name, json_string_value(v));
	}
}

void assay_import_machine(struct assay_import_job *im, const char *name)
{
	static const char salt[] = "imported machine";
	struct assay_hasher *h;
	struct assay_digest d;

	if (im->q->machine)
		name = im->q->machine;
	set_text(im->run.machine.label, sizeof(im->run.machine.label), *name ? name : ASSAY_MACHINE_UNKNOWN);
	h = assay_hasher_new();
	if (!h) {
		no_memory(im);
		return;
	}
	assay_hasher_add(h, salt, sizeof(salt));
	assay_hasher_add(h, im->run.machine.label, strlen(im->run.machine.label));
	d = assay_hasher_finish(h);
	memcpy(im->run.machine.id, d.hex, sizeof(d.hex));
}

void assay_import_commit(struct assay_import_job *im, const char *hash)
{
	static const char salt[] = "imported build";
	struct assay_build *b = &im->run.build;
	struct assay_hasher *h = assay_hasher_new();
	struct assay_digest d;

	if (!h) {
		no_memory(im);
		return;
	}
	set_text(b->commit, sizeof(b->commit), im->q->commit ? im->q->commit : hash);
	assay_hasher_add(h, salt, sizeof(salt));
	assay_hasher_add(h, b->commit, strlen(b->commit));
	d = assay_hasher_finish(h);
	memcpy(b->id, d.hex, sizeof(d.hex));
}

/* "+01:00", "-0500", "Z" in seconds; nothing is UTC. False where it is something else. */
static bool read_zone(const char *s, long *seconds)
{
	int hour, minute = 0, end = 0;

	*seconds = 0;
	if (!*s || !strcmp(s, "Z"))
		return true;
	if ((*s != '+' && *s != '-') || !isdigit((unsigned char)s[1]))
		return false;
	if (sscanf(s + 1, "%2d:%2d%n", &hour, &minute, &end) != 2 &&
	    sscanf(s + 1, "%2d%2d%n", &hour, &minute, &end) != 2)
		return false;
	*seconds = (*s == '-' ? -1 : 1) * (hour * 3600L + minute * 60L);
	return !s[1 + end];
}

void assay_import_started(struct assay_import_job *im, const char *when)
{
	struct tm tm = { 0 };
	int end = 0, year, month, day, hour, minute, second;
	const char *rest;
	long zone;
	time_t t;

	if (im->q->started_ns ||
	    (sscanf(when, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &end) != 6 &&
	     sscanf(when, "%4d/%2d/%2d-%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &end) != 6))
		return;
	rest = when + end;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (!read_zone(rest, &zone) || year < 1971 || year > 2500)
		return;
	tm = (struct tm){ .tm_year = year - 1900,
			  .tm_mon = month - 1,
			  .tm_mday = day,
			  .tm_hour = hour,
			  .tm_min = minute,
			  .tm_sec = second };
	t = timegm(&tm) - zone;
	im->run.started_ns = (uint64_t)t * 1000000000u;
	im->run.started_unknown = false;
	if (!*rest)
		assay_import_fact(im, "time zone", "not said, taken as UTC");
}

static void report_run(struct assay_import_job *im)
{
	struct assay_import_run r = { .id = im->run.id, .dated = !im->run.started_unknown };

	set_text(r.suite, sizeof(r.suite), im->run.suite);
	if (strcmp(im->run.machine.label, ASSAY_MACHINE_UNKNOWN))
		set_text(r.machine, sizeof(r.machine), im->run.machine.label);
	set_text(r.commit, sizeof(r.commit), im->run.build.commit);
	if (assay_grow(&im->report->runs, im->report->n_runs, sizeof(r)))
		no_memory(im);
	else
		im->report->runs[im->report->n_runs++] = r;
}

/* Is it a run that these bytes became in an earlier import? That one leaves the list of others. */
static bool find_same(struct assay_import_job *im)
{
	struct assay_import_report *r = im->report;
	bool same = false;

	for (size_t i = 0; i < r->n_other && !im->rc; i++) {
		fail(im, assay_store_is_same_import(im->store, r->other[i], &im->run, &same, im->err));
		if (!same)
			continue;
		im->run.id = r->other[i];
		if (assay_grow(&r->same, r->n_same, sizeof(*r->same))) {
			no_memory(im);
			break;
		}
		r->same[r->n_same++] = r->other[i];
		memmove(r->other + i, r->other + i + 1, (--r->n_other - i) * sizeof(*r->other));
		return true;
	}
	return false;
}

static void begin_run(struct assay_import_job *im)
{
	im->same = find_same(im);
	if (im->same || im->rc)
		return;
	fail(im, assay_store_run_begin(im->store, &im->run, im->err));
	if (!im->rc)
		report_run(im);
}

void assay_import_end_run(struct assay_import_job *im)
{
	/* how long it took is not said */
	if (!im->rc && im->run.id && !im->same)
		fail(im, assay_store_run_end(im->store, im->run.id, im->run.started_ns, im->err));
	im->run.id = 0;
	assay_name_index_release(&im->keys);
}

/* ---- names ---- */

/* @special: what is escaped; NULL: nothing, and blanks stay. False if it had to be cut. */
static bool put_name(const char *text, const char *special, char *out, size_t size)
{
	/* of what is cut, this much stays at the end, behind a digest of the whole */
	enum { TAIL = 18, MARK = 8 };
	char shown[4096];
	struct assay_text t = { 0 };
	size_t head = size - TAIL - MARK - sizeof("~~"), tail;
	bool whole = true;

	snprintf(shown, sizeof(shown), "%s", text);
	assay_printable_line(shown, sizeof(shown));
	for (const char *p = shown; *p; p++) {
		if (special && *p == ' ')
			assay_text_add(&t, "_");
		else if (special && strchr(special, *p))
			assay_text_addf(&t, "%%%02X", (unsigned char)*p);
		else
			assay_text_addn(&t, p, 1);
	}
	if (!t.len) {
		snprintf(out, size, "-");
	} else if (t.len < size) {
		memcpy(out, t.s, t.len + 1);
	} else {
		tail = t.len - TAIL;
		/* no character of several bytes is cut in two */
		while (head && ((unsigned char)t.s[head] & 0xc0) == 0x80)
			head--;
		while (((unsigned char)t.s[tail] & 0xc0) == 0x80)
			tail++;
		snprintf(out, size, "%.*s~%.*s~%s", (int)head, t.s, MARK, assay_hash(text, strlen(text)).hex,
			 t.s + tail);
		whole = false;
	}
	assay_text_release(&t);
	return whole;
}

void assay_import_op(const char *text, char out[ASSAY_OP_MAX])
{
	put_name(text, NULL, out, ASSAY_OP_MAX);
}

static bool put_word(const char *text, char out[ASSAY_NAME_MAX])
{
	/* parts of a key, globs, and what manifests and policies put names into */
	return put_name(text, "/,=%*?[]\"\\{}#", out, ASSAY_NAME_MAX);
}

bool assay_import_axis(struct assay_case *c, const char *name, const char *text)
{
	struct assay_axis_value *a = &c->axes[c->n_axes];
	struct assay_text more = { 0 };
	bool whole;
	char *end;

	if (c->n_axes == ASSAY_MAX_AXES) {
		a--;
		if (strcmp(a->name, "more") != 0)
			assay_text_addf(&more, "%s:", a->name);
		assay_text_addf(&more, "%s+%s:%s", a->text, name, text);
		snprintf(a->name, sizeof(a->name), "more");
		put_word(more.s ? more.s : "", a->text);
		a->value = 0;
		assay_text_release(&more);
		return false;
	}
	whole = put_word(name, a->name);
	whole &= put_word(text, a->text);
	a->value = strtoll(a->text, &end, 10);
	if (*end)
		a->value = 0;
	c->n_axes++;
	return whole;
}

/* ---- numbers ---- */

void assay_import_no_time(struct assay_result *r, enum assay_status status, const char *fmt, ...)
{
	va_list ap;

	if (r->status != ASSAY_STATUS_OK)
		return;
	r->status = status;
	va_start(ap, fmt);
	vsnprintf(r->reason, sizeof(r->reason), fmt, ap);
	va_end(ap);
	assay_printable_line(r->reason, sizeof(r->reason));
}

void assay_import_sample(struct assay_import_job *im, struct assay_result *r, double iterations, double ns,
			 uint32_t flags)
{
	if (!isfinite(ns) || ns < 0.5 || ns > SAMPLE_MAX_NS) {
		assay_import_no_time(r, ASSAY_STATUS_FAILED, "a sample took %.6g ns, which is no time", ns);
		return;
	}
	if (!isfinite(iterations) || iterations < 1 || iterations > SAMPLE_MAX_NS) {
		assay_import_no_time(r, ASSAY_STATUS_FAILED, "a sample has %.6g iterations", iterations);
		return;
	}
	if (assay_grow(&r->samples, r->n_samples, sizeof(*r->samples)))
		no_memory(im);
	else
		r->samples[r->n_samples++] = (struct assay_sample){ .iterations = (uint64_t)iterations,
								    .ns = (uint64_t)llround(ns),
								    .flags = flags };
}

/* Is it the tag of something that the harness, or a reader of a format, calls so itself? */
static bool is_taken(const char *tag)
{
	static const char *const own[] = { "bytes_per_s", "cpu_time_s",   "items_per_s",
					   "system_s",    "tokens_per_s", "user_s" };

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!strcmp(own[i], tag))
			return true;
	return assay_metric_find(tag) || !strncmp(tag, TAKEN, strlen(TAKEN));
}

void assay_import_tag(const char *name, char tag[ASSAY_METRIC_TAG_MAX])
{
	enum { MARK = 8 };
	char whole[1024 + sizeof(TAKEN)];
	size_t n;

	snprintf(whole, sizeof(whole), "%s%s", is_taken(name) ? TAKEN : "", name);
	assay_printable_line(whole, sizeof(whole));
	n = strlen(whole);
	if (n && n < ASSAY_METRIC_TAG_MAX && n >= strlen(name) && !strcmp(whole + n - strlen(name), name) &&
	    strncmp(name, TAKEN, strlen(TAKEN))) {
		memcpy(tag, whole, n + 1);
		return;
	}
	/* what cannot be shown, or not whole, is told apart by a digest; no character of several bytes is cut in two */
	if (n > ASSAY_METRIC_TAG_MAX - MARK - 2)
		n = ASSAY_METRIC_TAG_MAX - MARK - 2;
	while (n && ((unsigned char)whole[n] & 0xc0) == 0x80)
		n--;
	snprintf(tag, ASSAY_METRIC_TAG_MAX, "%.*s~%.*s", (int)n, whole, MARK, assay_hash(name, strlen(name)).hex);
}

void assay_import_metric(struct assay_import_job *im, struct assay_result *r, const char *tag, const char *unit,
			 int better, double value)
{
	struct assay_metric m = { .better = better, .value = value, .source = ASSAY_SOURCE_IMPORTED };
	char why[64];

	snprintf(m.tag, sizeof(m.tag), "%s", tag);
	snprintf(m.unit, sizeof(m.unit), "%s", unit);
	for (size_t i = 0; i < r->n_metrics && isfinite(value); i++) {
		struct assay_metric *old = &r->metrics[i];

		if (strcmp(old->tag, m.tag))
			continue;
		old->more_rounds++;
		old->value += (value - old->value) / (old->more_rounds + 1);
		return;
	}
	if (isfinite(value)) {
		if (assay_result_put_metric(r, &m))
			no_memory(im);
	} else if (!assay_counters_find_missing(&r->counters, m.tag)) {
		snprintf(why, sizeof(why), "the file says %g", value);
		if (assay_counters_add_missing(&r->counters, m.tag, ASSAY_SOURCE_IMPORTED, why))
			no_memory(im);
	}
}

/* ---- storing ---- */

/* What the harness would know of its own result, and nobody said of this one. */
static void complete(struct assay_import_job *im, struct assay_result *r)
{
	r->max_rel_err = -1;
	r->numa_node = -1;
	r->c.cache = ASSAY_CACHE_UNKNOWN;
	if (r->status == ASSAY_STATUS_OK && !r->n_samples)
		assay_import_no_time(r, ASSAY_STATUS_SKIPPED, "the file has no time of it");
	if (r->status != ASSAY_STATUS_OK)
		assay_result_drop_numbers(r);
	else
		fail(im, assay_summary_fill(r, im->err));
	if (r->status == ASSAY_STATUS_OK && r->median_ns <= 0) {
		assay_import_no_time(r, ASSAY_STATUS_FAILED, "its median time is below what a double can tell");
		assay_result_drop_numbers(r);
	}
	if (r->status == ASSAY_STATUS_OK)
		assay_import_metric(im, r, "time_s", "s", -1, r->median_ns * 1e-9);
	r->iterations = r->n_samples ? r->samples[0].iterations : 0;
	r->converged = r->ci95_reached && assay_summary_half_width_frac(r) <= ASSAY_GOAL_HALF_WIDTH_FRAC;
	/* whether warm-up was enough is not said; nothing speaks against it */
	r->steady = r->n_samples > 0;
}

bool assay_import_is_other(const struct assay_import_report *r, int64_t id)
{
	for (size_t i = 0; i < r->n_other; i++)
		if (r->other[i] == id)
			return true;
	return false;
}

/* All of the file is one transaction. It begins with the first case, so that a bad file leaves no new database. */
static void open_store(struct assay_import_job *im)
{
	struct assay_import_report *r = im->report;

	fail(im, assay_store_open(&im->store, im->q->db, ASSAY_STORE_WRITE, im->err));
	if (!im->rc)
		fail(im, assay_store_bulk_begin(im->store, im->err));
	if (im->rc)
		return;
	im->begun = true;
	fail(im, assay_store_imported(im->store, im->run.imported.digest, &r->other, &r->n_other, im->err));
	if (!im->rc && im->q->replace && !assay_import_is_other(r, im->q->replace))
		fail(im,
		     assay_err_set(im->err, ASSAY_EUSAGE,
				   "cannot replace run %" PRId64 ": it did not come from this file", im->q->replace));
}

static void store(struct assay_import_job *im, struct assay_result *r, const char *name)
{
	const size_t number = im->keys.n;
	size_t first = 0;
	bool twice = false;

	if (assay_name_index_put(&im->keys, r->c.key, number, &first, &twice, im->err)) {
		fail(im, im->err->code);
		return;
	}
	if (twice) {
		assay_import_fail(im, "'%.100s' is a case that the file has before (benchmark %zu, key '%.120s')", name,
				  first + 1, r->c.key);
		return;
	}
	if (!im->store)
		open_store(im);
	if (!im->rc && !im->run.id)
		begin_run(im);
	if (im->rc || im->same)
		return;
	if (!im->rc)
		fail(im, assay_store_result_add(im->store, im->run.id, r, im->err));
	if (!im->rc) {
		struct assay_import_run *run = &im->report->runs[im->report->n_runs - 1];

		run->n_cases++;
		run->n_ok += r->status == ASSAY_STATUS_OK;
		run->n_samples += r->n_samples;
	}
}

void assay_import_put(struct assay_import_job *im, struct assay_result *r, const char *name)
{
	struct assay_err why = { 0 };

	if (!im->rc)
		complete(im, r);
	if (!im->rc && assay_case_make_key(&r->c, &why))
		assay_import_fail(im, "%s", why.text);
	if (!im->rc)
		store(im, r, name);
	assay_result_release(r);
}
