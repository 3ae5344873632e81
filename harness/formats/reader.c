/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of the readers of formats: facts of the run, names that fit into keys, samples, metrics. */
#include "formats/reader.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/grow.h"
#include "base/text.h"
#include "model/summary.h"

/* Before the tag of a counter whose name means something else here. */
#define TAKEN "counter:"

/* The longest sample: 30 years. More is nonsense, and too much for 64 bits. */
#define SAMPLE_MAX_NS 1e18

void assay_reading_keep(struct assay_reading *in, int rc)
{
	if (rc && !in->rc)
		in->rc = rc;
}

void assay_reading_no_memory(struct assay_reading *in)
{
	assay_reading_keep(in, assay_err_set(in->err, ASSAY_ENOMEM, "out of memory"));
}

void assay_reading_fail(struct assay_reading *in, const char *fmt, ...)
{
	char why[512], line[24] = "";
	va_list ap;

	if (in->rc)
		return;
	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	assay_printable_line(why, sizeof(why));
	if (in->line)
		snprintf(line, sizeof(line), ":%zu", in->line);
	in->rc = assay_err_set(in->err, ASSAY_EUSAGE, "%.250s%s: %s%s%s", in->q->path, line, in->where,
			       in->where[0] && why[0] != '.' ? ": " : "", why);
}

/* ---- encoding ---- */

size_t assay_reading_line_of(const char *text, const char *at)
{
	size_t line = 1;

	while ((text = memchr(text, '\n', (size_t)(at - text)))) {
		text++;
		line++;
	}
	return line;
}

/* By its first bytes: what has to be done to it first? NULL: nothing. */
static const char *encoding_of(const char *s, size_t len, const char **command)
{
	static const struct {
		const char *bytes, *what, *command;
		size_t n;
	} known[] = {
		{ "\x1f\x8b", "compressed with gzip", "gzip -dc", 2 },
		{ "\x28\xb5\x2f\xfd", "compressed with Zstandard", "zstd -dc", 4 },
		{ "\xfd\x37zXZ", "compressed with xz", "xz -dc", 5 },
		{ "BZh", "compressed with bzip2", "bzip2 -dc", 3 },
		{ "\x04\x22\x4d\x18", "compressed with LZ4", "lz4 -dc", 4 },
		{ "PK\x03\x04", "a ZIP archive", "unzip -p", 4 },
		{ "\xff\xfe\0\0", "text in UTF-32", "iconv -f UTF-32 -t UTF-8", 4 },
		{ "\0\0\xfe\xff", "text in UTF-32", "iconv -f UTF-32 -t UTF-8", 4 },
		{ "\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8", 2 },
		{ "\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8", 2 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (len >= known[i].n && !memcmp(s, known[i].bytes, known[i].n)) {
			*command = known[i].command;
			return known[i].what;
		}
	/* without a mark, the first characters are of ASCII, each one byte beside a zero */
	if (len < 4 || !s[0] == !s[1] || !s[2] == !s[3] || !s[0] != !s[2])
		return NULL;
	*command = s[0] ? "iconv -f UTF-16LE -t UTF-8" : "iconv -f UTF-16BE -t UTF-8";
	return "text in UTF-16 without a mark";
}

bool assay_reading_is_text(const char *s, size_t len, size_t *line, char *why, size_t size)
{
	const char *command, *what = encoding_of(s, len, &command), *at, *from;

	*line = 0;
	if (what) {
		snprintf(why, size, "this is %s: import the output of '%s' instead, with '-' as the file", what,
			 command);
		return false;
	}
	for (at = from = s; assay_code_point_next(&at); from = at) {
		/* the replacement character itself has three bytes */
		if (at - from > 1 || !(*from & 0x80))
			continue;
		*line = assay_reading_line_of(s, from);
		snprintf(why, size,
			 "byte 0x%02x is not UTF-8: if this is Latin-1 or Windows-1252, import the output of 'iconv "
			 "-f WINDOWS-1252 -t UTF-8' instead, with '-' as the file",
			 (unsigned char)*from);
		return false;
	}
	if (at == s + len)
		return true;
	*line = assay_reading_line_of(s, at);
	snprintf(why, size, "a byte of this line is zero: this is not text");
	return false;
}

/* ---- values ---- */

bool assay_reading_is_number(const json_t *v)
{
	return json_is_number(v) || (json_is_string(v) && json_string_value(v)[0] == ASSAY_READING_NO_NUMBER[0]);
}

double assay_reading_number(struct assay_reading *in, const json_t *v, const char *field)
{
	if (json_is_number(v))
		return json_number_value(v);
	if (assay_reading_is_number(v))
		return strtod(json_string_value(v) + 1, NULL);
	assay_reading_fail(in, ".%s: expected a number", field);
	return NAN;
}

double assay_reading_count(struct assay_reading *in, const json_t *from, const char *name, double otherwise)
{
	const json_t *v = json_object_get(from, name);
	const double n = assay_reading_is_number(v) ? assay_reading_number(in, v, name) : otherwise;

	if (isfinite(n) && n != floor(n))
		assay_reading_fail(in, ".%s: %.12g is not a whole number", name, n);
	return n;
}

const char *assay_reading_text(const json_t *from, const char *name)
{
	const char *text = json_string_value(json_object_get(from, name));

	return text ? text : "";
}

void assay_reading_each(struct assay_reading *in, const json_t *list, const char *name,
			void (*each)(struct assay_reading *in, const json_t *one, void *arg), void *arg)
{
	const size_t n = json_array_size(list);

	if (!json_is_array(list))
		assay_reading_fail(in, "%s: expected an array", name);
	for (size_t i = 0; i < n && !in->rc; i++) {
		const json_t *one = json_array_get(list, i);

		if (in->q->sink.share)
			in->rc = in->q->sink.share(in->q->sink.arg, (double)i / (double)n, in->err);
		if (in->rc)
			break;
		snprintf(in->where, sizeof(in->where), "%s[%zu]", name, i);
		if (json_is_object(one))
			each(in, one, arg);
		else
			assay_reading_fail(in, "expected an object");
	}
	in->where[0] = '\0';
}

/* ---- the run ---- */

/* @text in an array of @size bytes, fit to be shown. */
static void set_text(char *to, size_t size, const char *text)
{
	snprintf(to, size, "%s", text);
	assay_printable_line(to, size);
}

void assay_reading_fact(struct assay_reading *in, const char *name, const char *value)
{
	struct assay_format_facts *all = &in->facts;
	struct assay_fact f;

	set_text(f.name, sizeof(f.name), name);
	set_text(f.value, sizeof(f.value), value);
	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].name, f.name))
			return;
	if (!f.name[0] || !f.value[0])
		return;
	if (assay_grow(&all->v, all->n, sizeof(f)))
		assay_reading_no_memory(in);
	else
		all->v[all->n++] = f;
}

const char *assay_reading_fact_of(const struct assay_reading *in, const char *name)
{
	for (size_t i = 0; i < in->facts.n; i++)
		if (!strcmp(in->facts.v[i].name, name))
			return in->facts.v[i].value;
	return NULL;
}

void assay_reading_fact_in(struct assay_reading *in, const json_t *from, const char *name)
{
	const json_t *v = json_object_get(from, name);
	char number[40];

	if (json_is_boolean(v)) {
		assay_reading_fact(in, name, json_is_true(v) ? "yes" : "no");
	} else if (assay_reading_is_number(v)) {
		snprintf(number, sizeof(number), "%.12g", assay_reading_number(in, v, name));
		assay_reading_fact(in, name, number);
	} else if (json_is_string(v)) {
		assay_reading_fact(in, name, json_string_value(v));
	}
}

void assay_reading_machine(struct assay_reading *in, const char *name)
{
	set_text(in->facts.machine, sizeof(in->facts.machine), name);
}

void assay_reading_commit(struct assay_reading *in, const char *hash)
{
	set_text(in->facts.commit, sizeof(in->facts.commit), hash);
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

void assay_reading_started(struct assay_reading *in, const char *when)
{
	struct tm tm = { 0 };
	int end = 0, year, month, day, hour, minute, second;
	const char *rest;
	long zone;
	time_t t;

	if (sscanf(when, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &end) != 6 &&
	    sscanf(when, "%4d/%2d/%2d-%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &end) != 6)
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
	in->facts.started_ns = (uint64_t)t * 1000000000u;
	if (!*rest)
		assay_reading_fact(in, ASSAY_FORMAT_FACT_ZONE, "not said, taken as UTC");
}

void assay_reading_new_run(struct assay_reading *in)
{
	in->facts.run++;
	in->facts.n = 0;
	assay_name_index_release(&in->keys);
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

void assay_format_op(const char *text, char out[ASSAY_OP_MAX])
{
	put_name(text, NULL, out, ASSAY_OP_MAX);
}

static bool put_word(const char *text, char out[ASSAY_NAME_MAX])
{
	/* parts of a key, globs, and what manifests and policies put names into */
	return put_name(text, "/,=%*?[]\"\\{}#", out, ASSAY_NAME_MAX);
}

bool assay_format_axis(struct assay_case *c, const char *name, const char *text)
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

void assay_reading_no_time(struct assay_result *r, enum assay_status status, const char *fmt, ...)
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

void assay_reading_sample(struct assay_reading *in, struct assay_result *r, double iterations, double ns,
			  uint32_t flags)
{
	if (!isfinite(ns) || ns < 0.5 || ns > SAMPLE_MAX_NS) {
		assay_reading_no_time(r, ASSAY_STATUS_FAILED, "a sample took %.6g ns, which is not a time", ns);
		return;
	}
	if (!isfinite(iterations) || iterations < 1 || iterations > SAMPLE_MAX_NS) {
		assay_reading_no_time(r, ASSAY_STATUS_FAILED, "a sample has %.6g iterations", iterations);
		return;
	}
	if (assay_grow(&r->samples, r->n_samples, sizeof(*r->samples)))
		assay_reading_no_memory(in);
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

void assay_reading_tag(const char *name, char tag[ASSAY_METRIC_TAG_MAX])
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

void assay_reading_metric(struct assay_reading *in, struct assay_result *r, const char *tag, const char *unit,
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
			assay_reading_no_memory(in);
	} else if (!assay_counters_find_missing(&r->counters, m.tag)) {
		snprintf(why, sizeof(why), "the file says %g", value);
		if (assay_counters_add_missing(&r->counters, m.tag, ASSAY_SOURCE_IMPORTED, why))
			assay_reading_no_memory(in);
	}
}

/* ---- results ---- */

/* Facts that the harness would know of its own result, and that are unknown of this one. */
static void complete(struct assay_reading *in, struct assay_result *r)
{
	r->max_rel_err = -1;
	r->numa_node = -1;
	r->c.cache = ASSAY_CACHE_UNKNOWN;
	if (r->status == ASSAY_STATUS_OK && !r->n_samples)
		assay_reading_no_time(r, ASSAY_STATUS_SKIPPED, "the file has no time for it");
	if (r->status != ASSAY_STATUS_OK)
		assay_result_drop_numbers(r);
	else
		assay_reading_keep(in, assay_summary_fill(r, in->err));
	if (r->status == ASSAY_STATUS_OK && r->median_ns <= 0) {
		assay_reading_no_time(r, ASSAY_STATUS_FAILED, "its median time is below what a double can tell");
		assay_result_drop_numbers(r);
	}
	if (r->status == ASSAY_STATUS_OK)
		assay_reading_metric(in, r, "time_s", "s", -1, r->median_ns * 1e-9);
	r->iterations = r->n_samples ? r->samples[0].iterations : 0;
	r->converged = r->ci95_reached && assay_summary_half_width_frac(r) <= ASSAY_GOAL_HALF_WIDTH_FRAC;
	/* whether warm-up was enough is not said; nothing speaks against it */
	r->steady = r->n_samples > 0;
}

/* Make the key, which no other result of the run may have. */
static void make_key(struct assay_reading *in, struct assay_result *r, const char *name)
{
	struct assay_err why = { 0 };
	size_t first = 0;
	bool twice = false;

	if (assay_case_make_key(&r->c, &why))
		assay_reading_fail(in, "%s", why.text);
	if (!in->rc && assay_name_index_put(&in->keys, r->c.key, in->keys.n, &first, &twice, in->err))
		in->rc = in->err->code;
	if (twice)
		assay_reading_fail(in, "'%.100s' is the same case as an earlier one (benchmark %zu, key '%.120s')",
				   name, first + 1, r->c.key);
}

void assay_reading_put(struct assay_reading *in, struct assay_result *r, const char *name)
{
	if (!in->rc)
		complete(in, r);
	if (!in->rc)
		make_key(in, r, name);
	if (!in->rc) {
		in->n_results++;
		in->rc = in->q->sink.result(in->q->sink.arg, &in->facts, r, name, in->err);
	}
	assay_result_release(r);
}
