/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of a thread, found by their address: an array in order of arrival, and hashes into it. */
#include <stdlib.h>
#include <string.h>

#include "counters/step/decode.h"

#define PAGE_BYTES 4096

struct assay_step_table {
	struct assay_step_insn *insns;
	uint32_t *slots; /* index + 1 into insns; 0 is empty */
	size_t n, most, slot_mask;
};

int assay_step_table_new(struct assay_step_table **out, size_t instructions, struct assay_err *err)
{
	struct assay_step_table *t;
	struct assay_step_insn first;
	size_t slots = 2;
	int rc;

	*out = NULL;
	rc = assay_step_probe(err);
	if (rc)
		return rc;
	if (!instructions || instructions > UINT32_MAX / 4)
		return assay_err_set(err, ASSAY_EUSAGE, "no table of %zu instructions", instructions);
	while (slots < 2 * instructions)
		slots *= 2;
	t = calloc(1, sizeof(*t));
	if (t) {
		t->most = instructions;
		t->slot_mask = slots - 1;
		t->insns = calloc(instructions, sizeof(*t->insns));
		t->slots = calloc(slots, sizeof(*t->slots));
	}
	if (!t || !t->insns || !t->slots) {
		assay_step_table_free(t);
		return assay_err_set(err, ASSAY_ENOMEM, "no memory for a table of %zu instructions", instructions);
	}
	/* The dynamic linker binds the decoder's functions at their first call, which is not to be in a handler. */
	assay_step_decode((const uint8_t[]){ 0x90 }, 1, 0, &first);
	*out = t;
	return 0;
}

void assay_step_table_free(struct assay_step_table *t)
{
	if (!t)
		return;
	free(t->insns);
	free(t->slots);
	free(t);
}

/* Do not read behind the page, of which the next may not be there, unless the instruction does. */
static enum assay_step_status decode_in_memory(uint64_t address, struct assay_step_insn *out)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)address;
	const size_t left = PAGE_BYTES - address % PAGE_BYTES;
	enum assay_step_status rc;

	if (left >= ASSAY_STEP_LENGTH_MAX)
		return assay_step_decode(code, ASSAY_STEP_LENGTH_MAX, address, out);
	rc = assay_step_decode(code, left, address, out);
	if (rc == ASSAY_STEP_CUT)
		rc = assay_step_decode(code, ASSAY_STEP_LENGTH_MAX, address, out);
	return rc;
}

static const struct assay_step_insn *refuse(struct assay_step_refusal *why, enum assay_step_status status,
					    const struct assay_step_insn *insn)
{
	*why = (struct assay_step_refusal){ .status = status, .address = insn->address, .length = insn->length };
	memcpy(why->code, insn->code, sizeof(why->code));
	return NULL;
}

const struct assay_step_insn *assay_step_table_get(struct assay_step_table *t, uint64_t address,
						   struct assay_step_refusal *why)
{
	size_t slot = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & t->slot_mask;
	struct assay_step_insn *insn;
	enum assay_step_status rc;

	for (; t->slots[slot]; slot = (slot + 1) & t->slot_mask) {
		insn = &t->insns[t->slots[slot] - 1];
		if (insn->address != address)
			continue;
		if (memcmp(insn->code, (const void *)(uintptr_t)address, insn->length))
			return refuse(why, ASSAY_STEP_CHANGED, insn);
		return insn;
	}
	if (t->n == t->most)
		return refuse(why, ASSAY_STEP_TABLE_FULL, &(struct assay_step_insn){ .address = address });
	insn = &t->insns[t->n];
	rc = decode_in_memory(address, insn);
	if (rc)
		return refuse(why, rc, insn);
	t->slots[slot] = (uint32_t)++t->n;
	return insn;
}

size_t assay_step_table_size(const struct assay_step_table *t)
{
	return t->n;
}

const struct assay_step_insn *assay_step_table_at(const struct assay_step_table *t, size_t i)
{
	return &t->insns[i];
}

size_t assay_step_table_index(const struct assay_step_table *t, const struct assay_step_insn *insn)
{
	return (size_t)(insn - t->insns);
}
