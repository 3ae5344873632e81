/* SPDX-License-Identifier: Apache-2.0 */
/* Set-associative caches: each set is a short list of lines, the one used last in front. */
#include "counters/callgrind/cache_model.h"

#include <stdlib.h>
#include <string.h>

/* No line has this number: addresses are below it. */
#define EMPTY UINT64_MAX

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

int assay_cache_sim_init(struct assay_cache_sim *c, const struct assay_cache_level *level, struct assay_err *err)
{
	uint64_t set_bytes = (uint64_t)level->ways * level->line_bytes, sets = set_bytes ? level->bytes / set_bytes : 0;

	if (!is_power_of_two(level->line_bytes) || !is_power_of_two(sets) || sets * set_bytes != level->bytes)
		return assay_err_set(
			err, ASSAY_EUSAGE,
			"no cache of %llu bytes, %u ways and lines of %u bytes: lines and sets are powers of two",
			(unsigned long long)level->bytes, level->ways, level->line_bytes);
	*c = (struct assay_cache_sim){ .ways = level->ways,
				       .set_mask = sets - 1,
				       .line_shift = (unsigned)__builtin_ctz(level->line_bytes) };
	c->lines = malloc(sets * level->ways * sizeof(*c->lines));
	if (!c->lines)
		return assay_err_set(err, ASSAY_ENOMEM, "no memory for a model of a cache of %llu bytes",
				     (unsigned long long)level->bytes);
	assay_cache_sim_empty(c);
	return 0;
}

void assay_cache_sim_release(struct assay_cache_sim *c)
{
	free(c->lines);
	c->lines = NULL;
}

void assay_cache_sim_empty(struct assay_cache_sim *c)
{
	for (size_t i = 0; i < (c->set_mask + 1) * c->ways; i++)
		c->lines[i] = EMPTY;
}

static bool use_line(struct assay_cache_sim *c, uint64_t line)
{
	uint64_t *const set = c->lines + (line & c->set_mask) * c->ways;
	unsigned way = 0;

	if (set[0] == line)
		return true;
	while (way < c->ways && set[way] != line)
		way++;
	if (way < c->ways) {
		memmove(set + 1, set, way * sizeof(*set));
		set[0] = line;
		return true;
	}
	memmove(set + 1, set, (c->ways - 1) * sizeof(*set));
	set[0] = line;
	return false;
}

bool assay_cache_sim_use(struct assay_cache_sim *c, uint64_t address, uint32_t bytes)
{
	const uint64_t last = (address + bytes - 1) >> c->line_shift;
	bool found = true;

	for (uint64_t line = address >> c->line_shift; line <= last; line++)
		if (!use_line(c, line))
			found = false;
	return found;
}

static void lose_line(struct assay_cache_sim *c, uint64_t line)
{
	uint64_t *const set = c->lines + (line & c->set_mask) * c->ways;
	unsigned way = 0;

	while (way < c->ways && set[way] != line)
		way++;
	if (way == c->ways)
		return;
	memmove(set + way, set + way + 1, (c->ways - 1 - way) * sizeof(*set));
	set[c->ways - 1] = EMPTY;
}

void assay_cache_sim_lose(struct assay_cache_sim *c, uint64_t address, uint32_t bytes)
{
	const uint64_t last = (address + bytes - 1) >> c->line_shift;

	for (uint64_t line = address >> c->line_shift; line <= last; line++)
		lose_line(c, line);
}

enum assay_cache_found assay_cache_sim_access(struct assay_cache_sim *first, struct assay_cache_sim *l2,
					      struct assay_cache_sim *ll, uint64_t address, uint32_t bytes)
{
	if (assay_cache_sim_use(first, address, bytes))
		return ASSAY_CACHE_L1;
	if (l2 && assay_cache_sim_use(l2, address, bytes))
		return ASSAY_CACHE_L2;
	return assay_cache_sim_use(ll, address, bytes) ? ASSAY_CACHE_LL : ASSAY_CACHE_MEMORY;
}

/* ---- branch model ---- */

/* Indexes are the low bits of addresses, so that code predicts alike wherever its page is loaded. */

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
