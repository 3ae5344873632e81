/* SPDX-License-Identifier: Apache-2.0 */
/* A program is asked once for its benchmarks, though several suites may be planned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/session.h"
#include "measure/program.h"

/* The answer of a program in one of its cases. */
struct assay_known_benchmarks {
	char key[ASSAY_KEY_MAX];
	struct assay_case *cases; /* malloc'ed */
	size_t n;
};

static int copy_cases(const struct assay_known_benchmarks *k, struct assay_case **out, size_t *n, struct assay_err *err)
{
	*out = malloc((k->n + 1) * sizeof(**out));
	if (!*out)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the benchmarks of a program");
	memcpy(*out, k->cases, k->n * sizeof(**out));
	*n = k->n;
	return 0;
}

static int ask(struct assay_session *s, const struct assay_catalog_op *op, const struct assay_case *c,
	       struct assay_known_benchmarks *k, struct assay_err *err)
{
	struct assay_known_benchmarks *grown;
	int rc =
		assay_program_benchmarks(op, c, s->folder[0] ? s->folder : NULL, s->interrupted, &k->cases, &k->n, err);

	if (rc)
		return rc;
	grown = realloc(s->known, (s->n_known + 1) * sizeof(*grown));
	if (!grown) {
		free(k->cases);
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory for the benchmarks of a program");
	}
	s->known = grown;
	s->known[s->n_known++] = *k;
	return 0;
}

int assay_session_benchmarks(void *session, const struct assay_catalog_op *op, const struct assay_case *c,
			     struct assay_case **out, size_t *n, struct assay_err *err)
{
	struct assay_known_benchmarks fresh = { .n = 0 };
	struct assay_session *s = session;
	struct assay_case of = *c;
	int rc = assay_case_make_key(&of, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < s->n_known; i++)
		if (!strcmp(s->known[i].key, of.key))
			return copy_cases(&s->known[i], out, n, err);
	memcpy(fresh.key, of.key, sizeof(fresh.key));
	rc = ask(s, op, c, &fresh, err);
	return rc ? rc : copy_cases(&fresh, out, n, err);
}

void assay_session_forget_benchmarks(struct assay_session *s)
{
	for (size_t i = 0; i < s->n_known; i++)
		free(s->known[i].cases);
	free(s->known);
	s->known = NULL;
	s->n_known = 0;
}
