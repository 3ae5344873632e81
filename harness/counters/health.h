/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `assay doctor` says about the providers. They are probed in a child, so that a library that crashes while it
 * starts takes nothing with it.
 */
#ifndef ASSAY_COUNTERS_HEALTH_H
#define ASSAY_COUNTERS_HEALTH_H

#include "base/text.h"
#include "model/finding.h"

/* argv[1] of the child. */
#define ASSAY_COUNTER_HEALTH_COMMAND "__counters"

/*
 * In the child: probe every provider, test what hardware counters count, and time what counting takes beside a sample.
 * A line each: name, health, value, advice, tabs between.
 */
void assay_counter_health_probe(struct assay_text *out);
/*
 * In the program: is there a valgrind that can count? Then start the child and add what it found; a child that fails is
 * a finding, too.
 */
void assay_counter_health_add(struct assay_findings *l);

#endif
