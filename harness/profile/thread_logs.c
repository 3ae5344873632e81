/* SPDX-License-Identifier: Apache-2.0 */
/* A process that was killed leaves what was right at each thread's last mark. What a file says is checked first. */
#include "profile/thread_logs.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grow.h"
#include "base/monotonic.h"
#include "base/text.h"

static const struct {
	const char *name;
	bool meets;
} calls[] = {
#define CALL(id, text, all) { text, all },
	ASSAY_WAIT_CALLS(CALL)
#undef CALL
};

const char *assay_wait_call_name(uint32_t call)
{
	return call < ASSAY_N_WAIT_CALLS ? calls[call].name : "";
}

bool assay_wait_call_meets(uint32_t call)
{
	return call < ASSAY_N_WAIT_CALLS && calls[call].meets;
}

static size_t least_bytes(uint32_t kind)
{
	static const size_t sizes[] = {
		[ASSAY_THREAD_LOG_THREAD] = sizeof(struct assay_thread_record),
		[ASSAY_THREAD_LOG_SITE] = sizeof(struct assay_thread_site),
		[ASSAY_THREAD_LOG_MAP] = sizeof(struct assay_thread_map) + 1,
		[ASSAY_THREAD_LOG_NAME] = sizeof(struct assay_thread_name) + 1,
		[ASSAY_THREAD_LOG_CHUNK] = sizeof(struct assay_thread_chunk),
		[ASSAY_THREAD_LOG_COUNT] = sizeof(struct assay_thread_count),
	};

	return kind < sizeof(sizes) / sizeof(sizes[0]) && sizes[kind] ? sizes[kind] : SIZE_MAX;
}

void *assay_thread_log_next(const struct assay_thread_log *l, enum assay_thread_log_kind kind, uint64_t *at)
{
	if (!*at)
		*at = sizeof(*l->head);
	while (*at + sizeof(struct assay_thread_log_head) <= l->head->used) {
		struct assay_thread_log_head *h = (void *)(l->text + *at);

		if (h->bytes < sizeof(*h) || h->bytes % 8 || h->bytes > l->head->used - *at)
			return NULL;
		*at += h->bytes;
		if (h->kind == (uint32_t)kind && h->bytes >= least_bytes(kind))
			return h;
	}
	return NULL;
}

const void *assay_thread_log_at(const struct assay_thread_log *l, uint32_t number, enum assay_thread_log_kind kind)
{
	const uint64_t at = (uint64_t)number * 8;
	const struct assay_thread_log_head *h = (const void *)(l->text + at);

	if (at < sizeof(*l->head) || at + sizeof(*h) > l->head->used || h->kind != (uint32_t)kind ||
	    h->bytes > l->head->used - at || h->bytes < least_bytes(kind))
		return NULL;
	return h;
}

size_t assay_thread_logs_find(const struct assay_thread_logs *logs, const struct assay_thread_log *l, uint32_t tid)
{
	for (size_t i = 0; i < logs->n_threads; i++)
		if (logs->threads[i].log == l && logs->threads[i].record->tid == tid)
			return i;
	return SIZE_MAX;
}

/* ---- threads ---- */

/* Close the account of a thread of a process that lives. False where it does not. */
static bool settle(const struct assay_thread_log *l, struct assay_thread_record *r)
{
	unsigned long long cpu, ready;
	char path[96], text[96];

	snprintf(path, sizeof(path), "/proc/%lld/task/%u/schedstat", (long long)l->head->pid, r->tid);
	if (!assay_file_line(path, text, sizeof(text)) || sscanf(text, "%llu %llu", &cpu, &ready) != 2)
		return false;
	if (r->call && r->site && r->watched) {
		struct assay_thread_site *s = (void *)assay_thread_log_at(l, r->site, ASSAY_THREAD_LOG_SITE);
		const uint64_t now = assay_monotonic_ns(), ns = now > r->since_ns ? now - r->since_ns : 0;

		if (s) {
			s->waits++;
			s->ns += ns;
			s->longest_ns = ns > s->longest_ns ? ns : s->longest_ns;
		}
	}
	assay_thread_mark(r, l->head->base_ns, assay_monotonic_ns(), cpu, ready, assay_wait_call_meets(r->call));
	return true;
}

static int by_making(const void *a, const void *b)
{
	const struct assay_logged_thread *x = a, *y = b;

	if (x->log != y->log)
		return x->log < y->log ? -1 : 1;
	return x->record->tid < y->record->tid ? -1 : x->record->tid > y->record->tid;
}

/* How many programs this process was before. */
static unsigned programs_before(const struct assay_thread_logs *l, const struct assay_thread_log *log)
{
	unsigned n = 0;

	for (const struct assay_thread_log *x = l->v; x < log; x++)
		n += x->head->pid == log->head->pid;
	return n;
}

static int find_threads(struct assay_thread_logs *l, struct assay_err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		struct assay_thread_record *r;
		uint64_t at = 0;

		while ((r = assay_thread_log_next(&l->v[i], ASSAY_THREAD_LOG_THREAD, &at))) {
			r->name[sizeof(r->name) - 1] = '\0';
			if (!r->bin_ns || r->call >= ASSAY_N_WAIT_CALLS)
				continue; /* it was being made */
			if (!r->ended && r->watched && !settle(&l->v[i], r))
				l->cut++;
			if (!r->total.wall_ns)
				continue;
			if (assay_grow(&l->threads, l->n_threads, sizeof(*l->threads)))
				return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the threads of a profile");
			l->threads[l->n_threads++] = (struct assay_logged_thread){ .log = &l->v[i], .record = r };
		}
	}
	if (l->n_threads)
		qsort(l->threads, l->n_threads, sizeof(*l->threads), by_making);
	for (size_t i = 0, number = 0; i < l->n_threads; i++) {
		struct assay_logged_thread *t = &l->threads[i];
		const struct assay_thread_log_header *h = t->log->head;
		const bool first = !i || l->threads[i - 1].log != t->log;
		char process[48] = "", program[16] = "";

		number = first ? 1 : number + 1;
		if (programs_before(l, t->log))
			snprintf(program, sizeof(program), "/%u", programs_before(l, t->log) + 1);
		if (l->n > 1)
			snprintf(process, sizeof(process), "%.15s %lld%s: ", h->name, (long long)h->pid, program);
		if (strncmp(t->record->name, h->name, sizeof(t->record->name) - 1) && t->record->name[0])
			snprintf(t->name, sizeof(t->name), "%sthread %zu: %.15s", process, number, t->record->name);
		else
			snprintf(t->name, sizeof(t->name), "%sthread %zu", process, number);
		assay_printable_line(t->name, sizeof(t->name));
	}
	return 0;
}

/* ---- files ---- */

static int read_file(struct assay_thread_logs *l, const char *path, struct assay_err *err)
{
	struct assay_thread_log *log = &l->v[l->n];
	const struct assay_thread_map *m;
	uint64_t at = 0;
	size_t len;
	int rc = assay_file_read(path, &log->text, &len, err);

	if (rc)
		return rc;
	log->head = (void *)log->text;
	if (len < sizeof(*log->head) || log->head->magic != ASSAY_THREAD_LOG_MAGIC || log->head->used > len) {
		free(log->text); /* its process ended while it made it */
		return 0;
	}
	log->head->name[sizeof(log->head->name) - 1] = '\0';
	rc = assay_code_places_open_empty(&log->places, err);
	if (rc) {
		free(log->text);
		return rc;
	}
	while ((m = assay_thread_log_next(log, ASSAY_THREAD_LOG_MAP, &at)))
		if (m->path[0] && ((const char *)m)[m->head.bytes - 1] == '\0')
			assay_code_places_map(log->places, m->path, m->start, m->file_offset);
	l->lost += log->head->lost;
	l->n++;
	return 0;
}

int assay_thread_logs_open(struct assay_thread_logs *l, const char *dir, struct assay_err *err)
{
	struct assay_strings names = { 0 };
	char path[8192];
	int rc = assay_code_places_probe(err);

	*l = (struct assay_thread_logs){ 0 };
	if (!rc)
		rc = assay_file_list(dir, ASSAY_THREAD_LOG_ENDING, &names, err);
	if (!rc) {
		l->v = calloc(names.n + 1, sizeof(*l->v));
		rc = l->v ? 0 : assay_err_set(err, ASSAY_ENOMEM, "out of memory for the threads of a profile");
	}
	for (size_t i = 0; i < names.n && !rc; i++) {
		snprintf(path, sizeof(path), "%s/%s" ASSAY_THREAD_LOG_ENDING, dir, names.v[i]);
		rc = read_file(l, path, err);
	}
	assay_strings_release(&names);
	if (!rc && !l->n)
		rc = assay_err_set(err, ASSAY_ENOTFOUND, "no process had the object for threads preloaded");
	return rc ? rc : find_threads(l, err);
}

void assay_thread_logs_close(struct assay_thread_logs *l)
{
	for (size_t i = 0; i < l->n; i++) {
		assay_code_places_close(l->v[i].places);
		free(l->v[i].text);
	}
	free(l->v);
	free(l->threads);
	*l = (struct assay_thread_logs){ 0 };
}

/* ---- logged frames ---- */

#define MOST_INLINED 32

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int assay_logged_frames(struct assay_code_places *p, struct assay_stack_table *t, uint64_t address,
			struct assay_logged_list *list, bool *known, struct assay_err *err)
{
	struct assay_code_place places[MOST_INLINED] = { { "", "", "", 0 } };
	uint64_t offset = 0;
	const size_t found = assay_code_places_inlined(p, address, places, MOST_INLINED, &offset);
	int rc = 0;

	for (size_t i = found; i-- > 0 && !rc && list->n < list->most;) {
		const struct assay_frame f = { .kind = i + 1 < found ? ASSAY_FRAME_INLINED : ASSAY_FRAME_CODE,
					       .name = places[i].function,
					       .object = file_name(places[found - 1].object),
					       .file = places[i].file,
					       .line = places[i].line };

		rc = assay_stack_table_frame(t, &f, &list->v[list->n], err);
		list->n++;
	}
	*known = places[0].function[0];
	return rc;
}

int assay_logged_label(struct assay_stack_table *t, const char *text, struct assay_logged_list *list,
		       struct assay_err *err)
{
	if (list->n == list->most)
		return 0;
	return assay_stack_table_frame(t, &(struct assay_frame){ .kind = ASSAY_FRAME_LABEL, .name = text },
				       &list->v[list->n++], err);
}
