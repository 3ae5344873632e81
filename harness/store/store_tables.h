/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of every table, by the struct that holds a row; keys that refer to another table are bound beside them.
 * A column is added here and in a file of schema/. Inside of the store.
 */
#ifndef ASSAY_STORE_STORE_TABLES_H
#define ASSAY_STORE_STORE_TABLES_H

#include "model/comparison.h"
#include "store/store_columns.h"

extern const struct assay_columns assay_store_machine_columns; /* assay_fingerprint, without its facts */
extern const struct assay_columns assay_store_fact_columns;    /* assay_fact, of a machine or an environment */
extern const struct assay_columns assay_store_build_columns;   /* assay_build */

extern const struct assay_columns assay_store_case_columns;    /* assay_case: what bench_case has of it, but no axes */
extern const struct assay_columns assay_store_limit_columns;   /* assay_case: what results and comparisons have of it */
extern const struct assay_columns assay_store_axis_columns;    /* assay_axis_value */
extern const struct assay_columns assay_store_metric_columns;  /* assay_metric */
extern const struct assay_columns assay_store_count_columns;   /* assay_count */
extern const struct assay_columns assay_store_missing_columns; /* assay_unavailable */

extern const struct assay_columns assay_store_run_columns;     /* assay_run, before its end */
extern const struct assay_columns assay_store_outcome_columns; /* assay_result: what the whole run may still change */
extern const struct assay_columns assay_store_measurement_columns; /* assay_result: what only a measurement changes */
extern const struct assay_columns assay_store_statistics_columns;  /* assay_result: what follows from its samples */

extern const struct assay_columns assay_store_comparison_columns; /* assay_comparison, before its end */
extern const struct assay_columns assay_store_control_columns;    /* assay_comparison_case: what is known before */
extern const struct assay_columns assay_store_presence_columns;   /* assay_comparison_case: what turns out later */
extern const struct assay_columns assay_store_pair_columns;       /* assay_pair */
extern const struct assay_columns assay_store_side_columns;       /* assay_pair_side, without its samples */

extern const struct assay_columns assay_store_exact_run_columns;      /* assay_exact_run */
extern const struct assay_columns assay_store_exact_case_columns;     /* assay_exact_case */
extern const struct assay_columns assay_store_exact_function_columns; /* assay_exact_function */

/* By enum assay_side, as tables write it. */
extern const char *const assay_store_side_names[2];

#endif
