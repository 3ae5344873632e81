/* SPDX-License-Identifier: Apache-2.0 */
/* Values that all JSON emitters write in the same way. */
#ifndef ASSAY_REPORTS_JSON_PARTS_H
#define ASSAY_REPORTS_JSON_PARTS_H

#include <stdint.h>

#include <jansson.h>

#include "base/text.h"
#include "model/exact.h"
#include "model/gate_report.h"
#include "model/result.h"
#include "reports/report.h"

/* null for what is no finite number. */
json_t *assay_json_number(double v);
/* Integer up to 2^63 - 1, a decimal string above: jansson, like most readers, has no wider integer. */
json_t *assay_json_u64(uint64_t v);
/* null for "" and NULL; bytes that are no UTF-8 become '?'. */
json_t *assay_json_text(const char *s);
/* "2026-01-31T12:00:00Z"; null for 0. */
json_t *assay_json_time(uint64_t unix_ns);

/*
 * Objects by name: of metrics; of histograms, whose buckets are [from, to, values]; of counts; of what could not be
 * counted, with the reason.
 */
json_t *assay_json_metrics(const struct assay_metric *v, size_t n);
json_t *assay_json_histograms(const struct assay_histogram *v, size_t n);
/* Of a program, an array of what each process gave by name. */
json_t *assay_json_raw_metrics(const struct assay_result *r);
json_t *assay_json_counters(const struct assay_counters *counters);
json_t *assay_json_unavailable(const struct assay_counters *counters);

/* {"commit","dirty"}; an unknown commit is null. */
json_t *assay_json_commit(const struct assay_commit *c);
json_t *assay_json_build(const struct assay_build *b);
/* An object by name. */
json_t *assay_json_facts(const struct assay_fact *facts, size_t n);
/* "higher" or "lower"; null for 0. */
json_t *assay_json_better(int better);
/* Add "run" and "cases" of exact counts to @root. */
void assay_json_add_exact(json_t *root, const struct assay_exact_run *run);

/*
 * What scripts read: of a run all but its cases, and one of these; a gate, and one verdict of it; a comparison; what
 * bounds a case; a fleet. NULL when out of memory.
 */
json_t *assay_json_run(const struct assay_run *run);
json_t *assay_json_run_case(const struct assay_run *run, const struct assay_result *r, bool samples);
json_t *assay_json_gate(const struct assay_gate_report *r);
json_t *assay_json_gate_case(const struct assay_gate_case *c);
json_t *assay_json_comparison(const struct assay_report_comparison *v);
json_t *assay_json_bottleneck(const struct assay_bottleneck *b);
json_t *assay_json_fleet(const struct assay_fleet_report *f);
/*
 * Add the functions that are named to @o as a list "because", or the reason why none is as "because_unknown". Neither
 * if nothing was asked.
 */
void assay_json_add_because(json_t *o, const struct assay_gate_because *b);

/* Append @root and a newline to @out and drop the caller's reference; NULL makes @out fail. */
void assay_json_print(json_t *root, struct assay_text *out);
/*
 * Append @before and then @v, a part of what is written by hand @depth levels deep, and drop the reference: long lists
 * are never held as a whole. NULL makes @out fail.
 */
void assay_json_part(const char *before, json_t *v, unsigned depth, struct assay_text *out);

#endif
