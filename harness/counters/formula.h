/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic over counts: `1 - PAPI_L1_DCM / PAPI_LST_INS`. Knows names, not what they count. */
#ifndef ASSAY_COUNTERS_FORMULA_H
#define ASSAY_COUNTERS_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/*
 * sum = product { ("+" | "-") product }; product = factor { ("*" | "/") factor };
 * factor = number | name | "-" factor | "(" sum ")". Names are letters, digits and '_'.
 */
struct assay_formula {
	char *text;
	struct assay_strings names; /* each once, in the order of the text */
};

/* ASSAY_EUSAGE with what was expected at which column; on error nothing is kept. */
int assay_formula_parse(struct assay_formula *f, const char *text, struct assay_err *err);
void assay_formula_release(struct assay_formula *f);

/*
 * The value with values[i] for names.v[i]. ASSAY_EUNAVAILABLE with what divides by zero ("'kv_lookups' is 0") or that
 * the result is no finite number.
 */
int assay_formula_value(const struct assay_formula *f, const double *values, double *out, struct assay_err *err);

#endif
