/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the names of events before anything is loaded: a typing error should be reported at once, not after an hour.
 */
#ifndef ASSAY_COUNTERS_EVENT_NAMES_H
#define ASSAY_COUNTERS_EVENT_NAMES_H

#include "base/text.h"
#include "counters/groups.h"

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
