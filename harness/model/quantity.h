/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people: what tables, messages and reasons of verdicts write in the same way. */
#ifndef ASSAY_MODEL_QUANTITY_H
#define ASSAY_MODEL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/counter.h"

/*
 * "61.2 µs", "12.3 GB/s", "1.50 MiB", "0.973": three significant digits, unit scaled to fit. @unit is the SI base unit
 * of a metric; a number of unit "1" stands alone, with all digits of its integer part. "-" when @value is no finite
 * number.
 */
void assay_quantity_text(double value, const char *unit, bool utf8, char *buf, size_t size);
/*
 * The same of a metric, whose tag says more: of unit "1" what ends in _frac or _rate is a share, "97.3 %"; of unit
 * "1/s" the tag says what was counted, "41.7 tok/s".
 */
void assay_metric_text(const char *tag, double value, const char *unit, bool utf8, char *buf, size_t size);
/* "1024"; "about 1024" where it counted only part of the time. */
void assay_count_text(const struct assay_count *c, char *buf, size_t size);
/* What it rests on: "pmu, an iteration, counted nominally 43 % of the time (PAPI 7.0)". */
void assay_count_note(const struct assay_count *c, char *buf, size_t size);

#endif
