/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program of a new bench once, so that a bench which cannot work is never written. */
#include "drive/author/author.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "worker/program/program.h"

#define TIMEOUT_NS UINT64_C(600000000000)

struct trial {
	const struct assay_new_request *q;
	struct assay_new_result *r;
	struct assay_strings words;
};

/* The last line that the program wrote, for a message; "" if it wrote nothing. */
static void last_line(const char *text, char *buf, size_t size)
{
	size_t end, begin;

	text = text ? text : "";
	end = strlen(text);
	while (end && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	for (begin = end; begin && text[begin - 1] != '\n'; begin--)
		;
	snprintf(buf, size, "%s%.*s", end ? ": " : "", (int)(end - begin < 200 ? end - begin : 200), text + begin);
	assay_printable_line(buf, size);
}

static int run(struct trial *t, struct assay_err *err)
{
	struct assay_program_runner runner;
	struct assay_time_process p = { 0 };
	struct assay_text out = { 0 }, complaint = { 0 };
	char said[256];
	int rc;

	assay_program_runner_init(&runner);
	runner.timeout_ns = TIMEOUT_NS;
	runner.limit = "'assay init'";
	runner.interrupted = t->q->interrupted;
	rc = assay_program_keep(&runner, true, err);
	if (!rc)
		rc = assay_program_run(&runner, &t->words, &p, err);
	if (!rc)
		rc = assay_program_kept(&runner, 0, &out, err);
	if (!rc)
		rc = assay_program_kept(&runner, 1, &complaint, err);
	if (!rc && p.status != ASSAY_STATUS_OK) {
		last_line(complaint.len ? complaint.s : out.s, said, sizeof(said));
		rc = assay_err_set(err, ASSAY_EUSAGE, "'%.200s': %.200s%s", t->q->program, p.reason, said);
	}
	t->r->ran_s = (double)p.wall_ns * 1e-9;
	assay_program_runner_release(&runner);
	assay_text_release(&out);
	assay_text_release(&complaint);
	return rc;
}

int assay_new_try(const struct assay_new_request *q, struct assay_new_result *r, struct assay_err *err)
{
	struct trial t = { .q = q, .r = r };
	struct assay_err why = { 0 };
	int rc = assay_words_split(q->program, &t.words, &why);

	if (rc)
		rc = assay_err_set(err, rc, "--program: %s", why.text);
	if (!rc && assay_program_check(NULL, &t.words, &why))
		rc = assay_err_set(err, ASSAY_EUSAGE, "%.700s; it is run once, so build it first", why.text);
	/* one that measures itself is asked for its benchmarks instead, which may be all that it takes time for */
	if (!rc && !q->reads)
		rc = run(&t, err);
	assay_strings_release(&t.words);
	return rc;
}
