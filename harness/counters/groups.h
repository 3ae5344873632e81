/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of events and the metrics derived from them, as text files:
 *     group "cache" {
 *         summary = "hits and misses of the data caches"
 *         event "loads" { any = {"PAPI_LD_INS"} amd = {"LS_DISPATCH:LD_DISPATCH"} }
 *         events = {"PAPI_L1_DCM"}
 *         metric "d1_hit_rate" { formula = "1 - PAPI_L1_DCM / loads" unit = "1" range = {"0", "1"} better = "higher"
 * help = "…" }
 *     }
 * An event with alternatives is the first of them that the machine has, those of its own CPU vendor (intel, amd, arm)
 * before the others; the names in `events` stand for themselves.
 */
#ifndef ASSAY_COUNTERS_GROUPS_H
#define ASSAY_COUNTERS_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/conf.h"
#include "base/err.h"
#include "base/text.h"
#include "model/counter.h"
#include "model/metric.h"
#include "model/result.h"

/* ---- formula ---- */

/* Arithmetic over counts: `1 - PAPI_L1_DCM / PAPI_LST_INS`. Knows names, not what they count. */

/*
 * sum = product { ("+" | "-") product }; product = factor { ("*" | "/") factor };
 * factor = number | name | "-" factor | "(" sum ")". Names are letters, digits and '_'.
 * ASSAY_EUSAGE with what was expected at which column; on error nothing is kept.
 */
int assay_formula_parse(struct assay_formula *f, const char *text, struct assay_err *err);
void assay_formula_release(struct assay_formula *f);

/*
 * The value with values[i] for names.v[i]. ASSAY_EUNAVAILABLE with what divides by zero ("'kv_lookups' is 0") or that
 * the result is no finite number.
 */
int assay_formula_value(const struct assay_formula *f, const double *values, double *out, struct assay_err *err);

struct assay_counter_groups {
	struct assay_conf *files;
	size_t n_files;
	struct assay_counter_group *v; /* in the order of their names */
	size_t n;
};

/*
 * All @dir/NAME.group; @vendor ("intel", "amd", "arm" or "") chooses among alternatives. A folder that is not there
 * holds none. ASSAY_EUSAGE with "file:line: …": syntax of file or formula, a group in a file of another name, a name
 * used twice, a formula over an event that the group lacks, a bad range or direction. On error nothing is kept.
 */
int assay_counter_groups_load(struct assay_counter_groups *g, const char *dir, const char *vendor,
			      struct assay_err *err);
void assay_counter_groups_release(struct assay_counter_groups *g);
/* "intel", "amd", "arm" or "", from the name of the CPU's model. */
const char *assay_counter_vendor(const char *cpu_model);

/* The events that a case counts: pointers into groups. All-zero counts nothing. */
struct assay_counter_choice {
	const struct assay_counter_group **groups;
	size_t n_groups;
	struct assay_strings events; /* beyond the groups' */
	bool multiplex; /* all events at once, each for a share of the time, instead of some in every sample */
};

/* Add the groups of a comma list to @choice, each once. ASSAY_EUSAGE with the nearest name for one that there is not.
 */
int assay_counter_choice_add(struct assay_counter_choice *choice, const struct assay_counter_groups *g,
			     const char *list, struct assay_err *err);
void assay_counter_choice_release(struct assay_counter_choice *choice);
/*
 * The events of @choice for a worker: a line each, the name and what to try, with tabs between. @out grows.
 */
void assay_counter_choice_text(const struct assay_counter_choice *choice, struct assay_text *out);

/*
 * Append the metrics of the choice's groups to @metrics (malloc'ed, *n of them) from @counters; what cannot be derived
 * goes to counters->missing with the event that is missing, the division by zero with file and line, or the range it
 * left. Metrics whose tag is there already are left alone. Counts that are multiplexed make what is derived from them
 * an estimate, and the source of a metric is the lowest rung among its counts. 0 or ASSAY_ENOMEM.
 */
int assay_counter_derive(const struct assay_counter_choice *choice, struct assay_counters *counters,
			 struct assay_metric **metrics, size_t *n, struct assay_err *err);

/* ---- event names ---- */

/*
 * Checks the names of events before anything is loaded: a typing error should be reported at once, not after an hour.
 */

/*
 * 0 when @name is an event of a group, one that a provider lists, or one of @published (counters of ops). Names with
 * ':' or '-' are native events, which only PAPI on the machine knows. Otherwise ASSAY_EUSAGE with the nearest name.
 */
int assay_counter_event_check(const char *name, const struct assay_counter_groups *g,
			      const struct assay_strings *published, struct assay_err *err);

/*
 * 0 if something counts every event that the groups of @choice name, by the rules above except those for groups; names
 * under a CPU vendor are native ones. Otherwise ASSAY_EUSAGE with file and line of the group, and the nearest name.
 */
int assay_counter_choice_check(const struct assay_counter_choice *choice, const struct assay_strings *published,
			       struct assay_err *err);

/*
 * Append what may be counted besides what ops publish: events and derived metrics of the groups, all that providers
 * list, and what the harness counts by itself; for each of them to @units its base unit, "1" of events, and to @groups
 * the group that has it, "" where none has. ASSAY_ENOMEM.
 */
int assay_counter_names(struct assay_strings *names, struct assay_strings *units, struct assay_strings *groups,
			const struct assay_counter_groups *g, struct assay_err *err);

#endif
