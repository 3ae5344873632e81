/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes are the low bits of addresses, so that code predicts alike wherever its page is loaded. */
#include "counters/callgrind/branch_model.h"

#define HISTORY_BITS 7
#define ADDRESS_BITS 7

bool assay_branch_conditional(struct assay_branch_model *m, uint64_t address, bool taken)
{
	const uint64_t history = m->history & ((1u << HISTORY_BITS) - 1);
	uint8_t *counter = &m->counters[history << ADDRESS_BITS | (address & ((1u << ADDRESS_BITS) - 1))];
	bool predicted = *counter >= 2;

	m->history = m->history << 1 | taken;
	if (taken && *counter < 3)
		++*counter;
	else if (!taken && *counter)
		--*counter;
	return predicted == taken;
}

bool assay_branch_indirect(struct assay_branch_model *m, uint64_t address, uint64_t target)
{
	uint64_t *known = &m->targets[address % (sizeof(m->targets) / sizeof(m->targets[0]))];
	bool right = *known == target;

	*known = target;
	return right;
}
