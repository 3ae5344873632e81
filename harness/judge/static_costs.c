/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the static costs of kernels and judges them. No statistics: a cost is equal, or it is not. */
#include "judge/static_costs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "judge/rows.h"

/* The row of all kernels that are as they were. */
#define ALL "kernels"

static const struct {
	const char *name, *words;
	bool more_is_better;
} costs[] = {
#define ROW(cost, name, words, more) { name, words, more },
	ASSAY_STATIC_COSTS(ROW)
#undef ROW
};

/* ---- in --------------------------------------------------------------------------------------------------------- */

static bool is_ours(const json_t *root)
{
	const json_t *columns = json_object_get(root, "columns");
	bool same = json_integer_value(json_object_get(root, "schema")) == 1 &&
		    json_is_string(json_object_get(root, "compiler")) &&
		    json_is_object(json_object_get(root, "kernels")) &&
		    json_array_size(columns) == ASSAY_N_STATIC_COSTS;

	for (size_t i = 0; i < ASSAY_N_STATIC_COSTS && same; i++) {
		const char *name = json_string_value(json_array_get(columns, i));

		same = name && !strcmp(name, costs[i].name);
	}
	return same;
}

static bool take_kernel(const char *name, const json_t *j, struct assay_static_kernel *k)
{
	bool ok = json_array_size(j) == ASSAY_N_STATIC_COSTS && strlen(name) < sizeof(k->name);

	snprintf(k->name, sizeof(k->name), "%s", name);
	for (size_t i = 0; i < ASSAY_N_STATIC_COSTS && ok; i++) {
		const json_t *v = json_array_get(j, i);

		k->v[i] = json_integer_value(v);
		ok = json_is_integer(v) && k->v[i] >= 0;
	}
	return ok;
}

static int take(const json_t *root, const char *path, struct assay_static_costs *c, struct assay_err *err)
{
	json_t *kernels = json_object_get(root, "kernels"), *one;
	const char *name;

	if (!is_ours(root))
		return assay_err_set(err, ASSAY_EUSAGE,
				     "%s: not the static costs that this assay knows: record them again", path);
	snprintf(c->compiler, sizeof(c->compiler), "%s", json_string_value(json_object_get(root, "compiler")));
	c->kernels = calloc(json_object_size(kernels) + 1, sizeof(*c->kernels));
	if (!c->kernels)
		return assay_err_set(err, ASSAY_ENOMEM, "out of memory");
	json_object_foreach(kernels, name, one) if (!take_kernel(name, one, &c->kernels[c->n++])) return assay_err_set(
		err, ASSAY_EUSAGE, "%s: expected as many costs as columns for '%s'", path, name);
	return 0;
}

int assay_static_costs_load(struct assay_static_costs *out, const char *path, struct assay_err *err)
{
	struct assay_static_costs c = { .n = 0 };
	json_error_t why;
	json_t *root;
	char *text = NULL;
	size_t len;
	int rc = assay_file_read_as(path, ASSAY_FILE_EXACT, &text, &len, err);

	if (rc)
		return rc;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	rc = root ? take(root, path, &c, err) : assay_err_set(err, ASSAY_EUSAGE, "%s:%d: %s", path, why.line, why.text);
	json_decref(root);
	free(text);
	if (rc)
		assay_static_costs_release(&c);
	else
		*out = c;
	return rc;
}

void assay_static_costs_release(struct assay_static_costs *c)
{
	free(c->kernels);
	*c = (struct assay_static_costs){ .n = 0 };
}

/* ---- verdicts --------------------------------------------------------------------------------------------------- */

static const struct assay_static_kernel *find(const struct assay_static_costs *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->kernels[i].name, name))
			return &c->kernels[i];
	return NULL;
}

static struct assay_row_name named(const char *key, const char *metric)
{
	return (struct assay_row_name){ key, metric, ASSAY_EVIDENCE_EXACT };
}

/* A row where something changed: of the first cost that is worse, else of the first one that differs. */
static int judge_kernel(const struct assay_static_kernel *base, const struct assay_static_kernel *head,
			const char *base_name, struct assay_gate_report *r, struct assay_err *err)
{
	struct assay_gate_case *c;
	size_t at = 0;
	bool worse;
	const char *between = "";

	while (at < ASSAY_N_STATIC_COSTS &&
	       !(costs[at].more_is_better ? head->v[at] < base->v[at] : head->v[at] > base->v[at]))
		at++;
	worse = at < ASSAY_N_STATIC_COSTS;
	for (size_t i = 0; !worse && i < ASSAY_N_STATIC_COSTS; i++)
		if (head->v[i] != base->v[i] && at == ASSAY_N_STATIC_COSTS)
			at = i;
	if (at == ASSAY_N_STATIC_COSTS)
		return 0;
	c = assay_row_add(r, named(head->name, costs[at].name), err);
	if (!c)
		return ASSAY_ENOMEM;
	c->verdict = worse ? ASSAY_REGRESSED : ASSAY_INCOMPARABLE;
	c->value = (double)head->v[at];
	c->limit = (double)base->v[at];
	if (!worse)
		assay_row_note(c, "less than in %s, which is out of date: record it again; ", base_name);
	/* "40 → 72 registers, 100 → 56 % occupancy", behind what stands in c. */
	for (size_t i = 0; i < ASSAY_N_STATIC_COSTS; i++) {
		if (head->v[i] == base->v[i])
			continue;
		assay_row_note(c, "%s%" PRId64 " → %" PRId64 " %s", between, base->v[i], head->v[i], costs[i].words);
		between = ", ";
	}
	return 0;
}

int assay_static_costs_judge(const struct assay_static_costs *base, const struct assay_static_costs *head,
			     const char *base_name, struct assay_gate_report *report, bool strict,
			     struct assay_err *err)
{
	const size_t first = report->n_cases;
	size_t n_new = 0;
	int rc = 0;

	if (strcmp(base->compiler, head->compiler)) {
		rc = assay_row_say(report, named(ALL, "exact"), ASSAY_INCOMPARABLE, err, "compiled by %s, %s is of %s",
				   head->compiler, base_name, base->compiler);
		assay_rows_sum(report, first, strict);
		return rc;
	}
	for (size_t i = 0; i < base->n && !rc; i++) {
		const struct assay_static_kernel *h = find(head, base->kernels[i].name);

		rc = h ? judge_kernel(&base->kernels[i], h, base_name, report, err)
		       : assay_row_say(report, named(base->kernels[i].name, "exact"), ASSAY_NOT_MEASURED, err,
				       "in %s, but not compiled", base_name);
	}
	for (size_t i = 0; i < head->n; i++)
		n_new += !find(base, head->kernels[i].name);
	if (!rc && report->n_cases == first)
		rc = assay_row_say(report, named(ALL, "exact"), ASSAY_PASS, err,
				   "%zu kernels cost what %s says, and %zu are not in it", head->n - n_new, base_name,
				   n_new);
	if (!rc)
		assay_rows_sum(report, first, strict);
	return rc;
}
