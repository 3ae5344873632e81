/* SPDX-License-Identifier: Apache-2.0 */
/* The data for the script of a page: the JSON that scripts get, without blanks and without what a page never shows. */
#ifndef ASSAY_REPORTS_PAGE_DATA_H
#define ASSAY_REPORTS_PAGE_DATA_H

#include <jansson.h>

#include "reports/report.h"

/* Raw samples of a case that are drawn one by one; more are gathered in so many groups, in order of time. */
#define ASSAY_PAGE_SAMPLES 300
#define ASSAY_PAGE_GROUPS  120

/*
 * Append it, as text that is safe within <script>: nothing in it ends the element, and all is ASCII.
 *
 * {"schema","run" or "comparison","cases","exact"}, as the emitters of a run and a comparison write it, "gate" where
 * it was judged. Members that are null there are missing. "repeat" is a command. "past" has "runs" and by key
 * [[index of the run, median, low, high]], in ns; "bottlenecks" has by key what bounds a case. A case also has
 * - of a run "rate", the metric that its op is known by, and "points": [[ns per iteration, flags]], or
 *   "groups": [[samples, least, median, most, flags of all]] and "quantiles": 51 of them;
 * - of a comparison "quantiles" of each side, and "times": medians of each pair, of base and head.
 */
void assay_page_data(const struct assay_result_page *p, struct assay_text *out);

/* Append @root likewise, and drop the caller's reference; NULL makes @out fail. */
void assay_page_json(json_t *root, struct assay_text *out);

#endif
