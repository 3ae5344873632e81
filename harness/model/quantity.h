/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for people: how tables, messages and reasons of verdicts write them, and how they are read back. */
#ifndef ASSAY_MODEL_QUANTITY_H
#define ASSAY_MODEL_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "model/counter.h"
#include "model/metric.h"

/*
 * "61.2 µs", "12.3 GB/s", "1.50 MiB", "0.973": three significant digits, unit scaled to fit. @unit is the SI base unit
 * of a metric; a number of unit "1" stands alone, with all digits of its integer part. "-" when @value is no finite
 * number.
 */
void assay_quantity_text(double value, const char *unit, bool utf8, char *buf, size_t size);
/*
 * The same for a metric, whose tag says more: with unit "1", a tag that ends in _frac or _rate is a share, "97.3 %",
 * and a roof_frac has its mark; with unit "1/s" the tag says what was counted, "41.7 tok/s".
 */
void assay_metric_text(const char *tag, double value, const char *unit, bool utf8, char *buf, size_t size);
/*
 * The unit @text that such a text ends in, of the metric @tag: it is @factor of the SI base unit @unit. "GB/s" is 1e9
 * of "B/s", "us" 1e-6 of "s", "k tok/s" 1e3 of "1/s", "%" 0.01 of "1". What no table writes stands for itself, as "J"
 * does. False where it is too long for a unit.
 */
bool assay_unit_read(const char *tag, const char *text, double *factor, char unit[ASSAY_METRIC_UNIT_MAX]);
/* Does a number of this base unit count something that there is a whole number of, such as bytes? */
bool assay_unit_is_counted(const char *unit);
/* The units that may follow a number of the metric @tag, whose base unit is @unit: "ns, us, ms or s". */
void assay_unit_choice(const char *tag, const char *unit, char *buf, size_t size);
/* "1024"; "about 1024" where it counted only part of the time. */
void assay_count_text(const struct assay_count *c, char *buf, size_t size);
/* The evidence behind it: "pmu, an iteration, counted nominally 43 % of the time (PAPI 7.0)". */
void assay_count_note(const struct assay_count *c, char *buf, size_t size);

#endif
