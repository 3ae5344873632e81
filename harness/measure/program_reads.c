/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that measure their benchmarks by themselves: which there are, and what one process says of one of them. */
#include "measure/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* ---- what a process writes ---- */

int assay_program_asking_begin(struct assay_program_asking *a, enum assay_format_question question,
			       const struct assay_strings *command, struct assay_err *err)
{
	char path[sizeof(a->place.path) + 8];
	int rc = assay_temporary_make(&a->place, "output", err);

	if (rc)
		return rc;
	a->made = true;
	snprintf(path, sizeof(path), "%s/out", a->place.path);
	for (size_t i = 0; i < command->n && !rc; i++)
		rc = assay_strings_add(&a->words, command->v[i], err);
	if (!rc)
		rc = assay_format_ask(a->format, question, a->benchmark, path, &a->words, err);
	return rc;
}

/* Append what the format was written as, where standard output is not that. */
static int take_text(const struct assay_program_asking *a, struct assay_text *text, struct assay_err *err)
{
	char path[sizeof(a->place.path) + 8], *data = NULL;
	size_t len = 0;
	int rc;

	snprintf(path, sizeof(path), "%s/out", a->place.path);
	if (a->format->program.place == ASSAY_FORMAT_STDOUT)
		return 0;
	assay_text_release(text);
	if (a->format->program.place == ASSAY_FORMAT_FOLDER)
		return assay_format_gather(path, text, err);
	if (!assay_file_exists(path))
		return 0;
	rc = assay_file_read(path, &data, &len, err);
	if (!rc)
		assay_text_addn(text, data, len);
	free(data);
	return rc;
}

void assay_program_asking_end(struct assay_program_asking *a)
{
	if (a->made)
		assay_temporary_remove(&a->place);
	assay_strings_release(&a->words);
}

/* ---- one benchmark ---- */

struct looking {
	const char *benchmark; /* NULL: the only one */
	size_t n;              /* benchmarks that were there */
	bool found;
	char other[96]; /* one of them */
	struct assay_result *out;
};

static int look(void *arg, const struct assay_format_facts *facts, struct assay_result *r, const char *name,
		struct assay_err *err)
{
	struct looking *l = arg;

	(void)facts;
	(void)err;
	l->n++;
	if (l->benchmark && strcmp(l->benchmark, name) != 0) {
		snprintf(l->other, sizeof(l->other), "%s", name);
		return 0;
	}
	if (l->found) /* the same again, or another of those that nobody named */
		return 0;
	l->found = true;
	l->out->status = r->status;
	memcpy(l->out->reason, r->reason, sizeof(r->reason));
	l->out->median_ns = r->median_ns;
	l->out->metrics = r->metrics;
	l->out->n_metrics = r->n_metrics;
	r->metrics = NULL;
	r->n_metrics = 0;
	return 0;
}

int assay_program_asking_read(const struct assay_program_asking *a, struct assay_text *text, struct assay_result *out,
			      char why[ASSAY_PROGRAM_WHY_MAX], struct assay_err *err)
{
	struct looking l = { .benchmark = a->benchmark, .out = out };
	struct assay_format_reading q = { .format = a->format->name,
					  .path = "its output",
					  .sink = { .result = look, .arg = &l } };
	struct assay_err said = { 0 };
	int rc = take_text(a, text, &said);

	why[0] = '\0';
	if (!rc && !text->len) {
		snprintf(why, ASSAY_PROGRAM_WHY_MAX, "it wrote no results of %s", a->format->name);
		return 0;
	}
	if (!rc)
		rc = assay_format_read(&q, text, &said);
	if (rc && rc != ASSAY_EUSAGE)
		return assay_err_set(err, rc, "%s", said.text);
	if (rc)
		snprintf(why, ASSAY_PROGRAM_WHY_MAX, "it is not what %s writes: %.150s", a->format->name, said.text);
	else if (!l.found)
		snprintf(why, ASSAY_PROGRAM_WHY_MAX, "it measured %s%.80s%s, and not '%.80s'", l.n ? "'" : "nothing",
			 l.other, l.n ? "'" : "", a->benchmark ? a->benchmark : "");
	else if (!a->benchmark && l.n > 1)
		snprintf(why, ASSAY_PROGRAM_WHY_MAX, "it measured %zu benchmarks, and did not list them", l.n);
	else if (out->status != ASSAY_STATUS_OK)
		snprintf(why, ASSAY_PROGRAM_WHY_MAX, "%.200s", out->reason);
	return 0;
}

/* ---- all of them ---- */

struct listing {
	struct assay_case *v;
	size_t n;
};

static int list(void *arg, const struct assay_format_facts *facts, struct assay_result *r, const char *name,
		struct assay_err *err)
{
	struct listing *l = arg;
	struct assay_case *c, *grown;
	char threads[16];

	(void)facts;
	grown = realloc(l->v, (l->n + 1) * sizeof(*grown));
	if (!grown)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the benchmarks of a program");
	l->v = grown;
	c = &l->v[l->n++];
	*c = (struct assay_case){ .cache = ASSAY_CACHE_NONE };
	c->benchmark = assay_text_kept(name);
	if (!c->benchmark)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the benchmarks of a program");
	assay_format_axis(c, ASSAY_BENCHMARK_AXIS, r->c.op);
	for (unsigned i = 0; i < r->c.n_axes; i++)
		assay_format_axis(c, r->c.axes[i].name, r->c.axes[i].text);
	/* its own, which are not the CPUs that the case has; one goes without saying */
	snprintf(threads, sizeof(threads), "%u", r->c.threads);
	if (r->c.threads > 1)
		assay_format_axis(c, "threads", threads);
	return 0;
}

/* Read them from @text, which the program wrote. A text that cannot be read says nothing, not half of them. */
static int read_list(const struct assay_program_asking *a, bool lists, struct assay_text *text, struct listing *l,
		     struct assay_err *err)
{
	struct assay_format_reading q = { .format = a->format->name,
					  .path = "its output",
					  .sink = { .result = list, .arg = l } };
	int rc = lists ? 0 : take_text(a, text, err);

	if (!rc && text->len)
		rc = lists ? assay_format_list(&q, text->s, err) : assay_format_read(&q, text, err);
	if (rc != ASSAY_EUSAGE)
		return rc;
	l->n = 0;
	return 0;
}

int assay_program_benchmarks(const struct assay_catalog_op *op, const struct assay_case *c, const char *folder,
			     const volatile sig_atomic_t *interrupted, struct assay_case **out, size_t *n,
			     struct assay_err *err)
{
	struct assay_program_runner runner;
	struct assay_program_asking a = { 0 };
	struct assay_strings command = { 0 };
	struct assay_time_process run = { 0 };
	struct assay_text text = { 0 };
	const struct assay_format *f;
	struct listing l = { 0 };
	struct assay_err why = { 0 };
	bool lists;
	int rc = assay_format_find(op->program->reads, &f, err);

	if (rc)
		return rc;
	lists = f->program.list;
	a.format = f;
	assay_program_runner_init(&runner);
	runner.folder = folder;
	runner.timeout_ns = c->timeout_ns;
	runner.limit = "its bench";
	runner.interrupted = interrupted;
	rc = assay_program_words(op, c, &command, err);
	if (!rc)
		rc = assay_program_asking_begin(&a, lists ? ASSAY_ASK_LIST : ASSAY_ASK_MEASURE, &command, err);
	if (!rc)
		rc = assay_program_keep(&runner, true, err);
	if (!rc) {
		/* a program that cannot do this says why when it is measured */
		rc = assay_program_run(&runner, &a.words, &run, &why);
		if (rc && rc != ASSAY_EUSAGE)
			assay_err_set(err, rc, "%s", why.text);
		else if (!rc && run.status == ASSAY_STATUS_OK)
			rc = assay_program_kept(&runner, 0, &text, err);
		rc = rc == ASSAY_EUSAGE ? 0 : rc;
	}
	if (!rc && run.status == ASSAY_STATUS_OK)
		rc = read_list(&a, lists, &text, &l, err);
	assay_program_runner_release(&runner);
	assay_program_asking_end(&a);
	assay_strings_release(&command);
	assay_text_release(&text);
	*out = l.v;
	*n = l.n;
	if (rc) {
		free(l.v);
		*out = NULL;
		*n = 0;
	}
	return rc;
}
