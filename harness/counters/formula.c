/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recursive descent serves both reading and evaluation: reading evaluates with all names at 1 and cares only for
 * the syntax. Formulas are a line long, so that a tree would save nothing.
 */
#include "counters/groups.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64
#define MAX_LEN   4000

struct walk {
	struct assay_formula *f;
	const char *at;
	const double *values; /* NULL: only the syntax counts */
	unsigned depth;
	int rc;
	struct assay_err *err;
};

static double sum(struct walk *w);

static void skip_blanks(struct walk *w)
{
	w->at += strspn(w->at, " \t\n");
}

static double expected(struct walk *w, const char *what)
{
	size_t column = (size_t)(w->at - w->f->text) + 1;

	if (w->rc)
		return 0;
	if (*w->at)
		w->rc = assay_err_set(w->err, ASSAY_EUSAGE, "cannot read '%s': expected %s at column %zu, not '%c'",
				      w->f->text, what, column, *w->at);
	else
		w->rc = assay_err_set(w->err, ASSAY_EUSAGE, "cannot read '%s': expected %s at its end", w->f->text,
				      what);
	return 0;
}

static double name(struct walk *w)
{
	size_t len = 0;

	while (isalnum((unsigned char)w->at[len]) || w->at[len] == '_')
		len++;
	w->at += len;
	for (size_t i = 0; i < w->f->names.n; i++)
		if (strlen(w->f->names.v[i]) == len && !memcmp(w->f->names.v[i], w->at - len, len))
			return w->values ? w->values[i] : 1;
	w->rc = assay_strings_addn(&w->f->names, w->at - len, len, w->err);
	return 1;
}

static double factor(struct walk *w)
{
	double v;
	char *end;

	skip_blanks(w);
	if (w->depth == MAX_DEPTH)
		return expected(w, "fewer nested parts");
	if (*w->at == '-') {
		w->at++;
		w->depth++;
		v = -factor(w);
		w->depth--;
		return v;
	}
	if (*w->at == '(') {
		w->at++;
		w->depth++;
		v = sum(w);
		w->depth--;
		skip_blanks(w);
		if (w->rc || *w->at != ')')
			return expected(w, "')'");
		w->at++;
		return v;
	}
	if (isalpha((unsigned char)*w->at) || *w->at == '_')
		return name(w);
	if (!isdigit((unsigned char)*w->at) && *w->at != '.')
		return expected(w, "a number, a name or '('");
	v = strtod(w->at, &end);
	if (end == w->at)
		return expected(w, "a number");
	w->at = end;
	return v;
}

static double product(struct walk *w)
{
	double v = factor(w);

	for (skip_blanks(w); !w->rc && (*w->at == '*' || *w->at == '/'); skip_blanks(w)) {
		bool divide = *w->at++ == '/';
		const char *from;
		double x;

		skip_blanks(w);
		from = w->at;
		x = factor(w);
		if (w->rc)
			break;
		if (divide && w->values && x == 0) {
			w->rc = assay_err_set(w->err, ASSAY_EUNAVAILABLE, "division by zero: '%.*s' is 0",
					      (int)(w->at - from), from);
			break;
		}
		v = divide ? v / x : v * x;
	}
	return v;
}

static double sum(struct walk *w)
{
	double v = product(w);

	for (skip_blanks(w); !w->rc && (*w->at == '+' || *w->at == '-'); skip_blanks(w)) {
		bool subtract = *w->at++ == '-';
		double x = product(w);

		v = subtract ? v - x : v + x;
	}
	return v;
}

int assay_formula_parse(struct assay_formula *f, const char *text, struct assay_err *err)
{
	struct walk w = { .f = f, .err = err };

	*f = (struct assay_formula){ .text = NULL };
	if (strlen(text) > MAX_LEN)
		return assay_err_set(err, ASSAY_EUSAGE, "the formula '%.40s…' has more than %d characters", text,
				     MAX_LEN);
	f->text = strdup(text);
	if (!f->text)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	w.at = f->text;
	sum(&w);
	if (!w.rc && *w.at)
		expected(&w, "an operator");
	if (w.rc)
		assay_formula_release(f);
	return w.rc;
}

void assay_formula_release(struct assay_formula *f)
{
	free(f->text);
	assay_strings_release(&f->names);
	*f = (struct assay_formula){ 0 };
}

int assay_formula_value(const struct assay_formula *f, const double *values, double *out, struct assay_err *err)
{
	struct assay_formula known = *f;
	struct walk w = { .f = &known, .at = f->text, .values = values, .err = err };
	double v = sum(&w);

	if (!w.rc && !isfinite(v))
		w.rc = assay_err_set(err, ASSAY_EUNAVAILABLE, "'%s' is not a finite number", f->text);
	if (!w.rc)
		*out = v;
	return w.rc;
}
